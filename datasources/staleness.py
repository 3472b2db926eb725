"""The shards that one operation read from slaves because their masters did not answer."""

from contextvars import ContextVar, Token

Stale = dict[int, int]
"""Shard → the epoch ms since which its data may be stale."""

_stale: ContextVar[Stale | None] = ContextVar("pinway_stale", default=None)


class Collecting:
    """A context manager that collects the shards that are marked inside it, including marks by
    tasks that start inside it."""

    __slots__ = ("_token",)
    _token: Token[Stale | None]

    def __enter__(self) -> Stale:
        found: Stale = {}
        self._token = _stale.set(found)
        return found

    def __exit__(self, *raised: object) -> None:
        _stale.reset(self._token)


def mark(shards: set[int], since: int) -> None:
    found = _stale.get()
    if found is not None:
        for shard in shards:
            found[shard] = min(since, found.get(shard, since))
