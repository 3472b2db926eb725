"""Sharded objects and mappings on MySQL or MariaDB masters, with a database for each shard."""

from datasources.mysql.shards import MySqlShards

__all__ = ["MySqlShards"]
