"""The object cache in the process itself: no server, gone with the process."""

from datasources.memory.cache import MemoryObjectCache

__all__ = ["MemoryObjectCache"]
