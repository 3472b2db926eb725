"""The object cache in memcached."""

from datasources.memcached.cache import MemcachedObjectCache

__all__ = ["MemcachedObjectCache"]
