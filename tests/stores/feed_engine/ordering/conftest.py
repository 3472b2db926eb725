"""Embedded stores, and who writes to them."""

from tests.embedded_stores import stores, valkey
from tests.people import People, people

__all__ = ["People", "people", "stores", "valkey"]
