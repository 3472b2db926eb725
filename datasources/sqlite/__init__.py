"""Sharded objects and mappings in SQLite, a file a shard."""

from datasources.sqlite.shards import SqliteShards

__all__ = ["SqliteShards"]
