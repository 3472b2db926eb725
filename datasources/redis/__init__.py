"""The mapping cache in Redis or Valkey."""

from datasources.redis.cache import RedisMappingCache

__all__ = ["RedisMappingCache"]
