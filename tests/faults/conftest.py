"""An embedded Valkey for the tests of what goes wrong."""

from tests.embedded import valkey

__all__ = ["valkey"]
