"""Sharded objects and mappings in SQLite, with a file for each shard."""

from datasources.sqlite.shards import SqliteShards

__all__ = ["SqliteShards"]
