"""An embedded Valkey for the tests of what goes wrong."""

from tests.contract.shards import deployment, mysql, shards, sqlite
from tests.embedded_stores import valkey

__all__ = ["deployment", "mysql", "shards", "sqlite", "valkey"]
