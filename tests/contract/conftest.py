"""The backends of the contract suites."""

from tests.contract.shards import deployment, mysql, shards, sqlite

__all__ = ["deployment", "mysql", "shards", "sqlite"]
