"""The shards that one operation read from slaves, because their masters did not answer."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Stale = dict[int, int]
"""Shard → the epoch ms since which its data may be stale."""

_stale: ContextVar[Stale | None] = ContextVar("pinway_stale", default=None)


@contextmanager
def collecting() -> Iterator[Stale]:
    """Collect what tasks that begin in this block mark."""
    found: Stale = {}
    token = _stale.set(found)
    try:
        yield found
    finally:
        _stale.reset(token)


def mark(shards: set[int], since: int) -> None:
    found = _stale.get()
    if found is not None:
        for shard in shards:
            found[shard] = min(since, found.get(shard, since))
