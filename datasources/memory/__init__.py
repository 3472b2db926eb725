"""The object cache in the process itself. It needs no server, and ends with the process."""

from datasources.memory.cache import MemoryObjectCache

__all__ = ["MemoryObjectCache"]
