"""Valkey for embedded stores."""

from tests.embedded_stores import valkey

__all__ = ["valkey"]
