"""Sharded objects and mappings on MySQL or MariaDB masters, a database a shard."""

from datasources.mysql.shards import MySqlShards

__all__ = ["MySqlShards"]
