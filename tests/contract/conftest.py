"""The backends that the contract suites run over."""

from tests.contract.shards import deployment, mysql, shards, sqlite

__all__ = ["deployment", "mysql", "shards", "sqlite"]
