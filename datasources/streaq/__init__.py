"""The job queue on Redis Streams, through streaq."""

from datasources.streaq.queue import StreaqQueue

__all__ = ["StreaqQueue"]
