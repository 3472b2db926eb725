"""The mapping cache and the broadcasts in Redis or Valkey."""

from datasources.redis.broadcasts import RedisBroadcasts
from datasources.redis.cache import RedisMappingCache

__all__ = ["RedisBroadcasts", "RedisMappingCache"]
