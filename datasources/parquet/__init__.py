"""Rows as Parquet files. Needs the package pyarrow, which is large: only `pinway dump` imports
it."""
