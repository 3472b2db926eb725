"""`pinway dump`: the objects and mappings of all shards as Parquet, for analytics."""
