"""Counts the calls of stores, and the entries in their answers."""

import asyncio
from collections import Counter
from collections.abc import Sized
from types import SimpleNamespace
from typing import Any

from datasources.protocols import Lease, Sides, Stores, Window

_FILLING = {"fill", "fill_pages", "fill_heads", "drop"}


class Counts:
    """The counts since the last `clear`: `calls` of each store, `entries` of their answers."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.entries = 0

    def clear(self) -> None:
        self.calls.clear()
        self.entries = 0

    @property
    def reads(self) -> int:
        """The number of calls, without calls that fill a cache after a read."""
        return sum(n for name, n in self.calls.items() if name.rpartition(".")[2] not in _FILLING)

    def of(self, stores: Stores) -> Stores:
        """The stores, with their calls counted."""
        shards = stores.shards
        counted: Any = SimpleNamespace(
            objects=_Counted(shards.objects, "objects", self),
            mappings=_Counted(shards.mappings, "mappings", self),
            outbox=_Counted(shards.outbox, "outbox", self),
            visits=_Counted(shards.visits, "visits", self),
            mod=_Counted(shards.mod, "mod", self),
        )
        calls: Any = (
            _Counted(stores.object_cache, "cached objects", self),
            _Counted(stores.mapping_cache, "cached lists", self),
        )
        return stores._replace(
            shards=counted,
            object_cache=calls[0],
            mapping_cache=calls[1],
            pools=_sides(stores.pools, "pools", self),
            feeds=_sides(stores.feeds, "feeds", self),
        )


class _Counted:
    def __init__(self, store: Any, name: str, counts: Counts) -> None:
        self._store, self._name, self._counts = store, name, counts

    def __getattr__(self, attribute: str) -> Any:
        call = getattr(self._store, attribute)
        if not asyncio.iscoroutinefunction(call):
            return call

        async def counted(*args: Any, **kwargs: Any) -> Any:
            self._counts.calls[f"{self._name}.{attribute}"] += 1
            answer = await call(*args, **kwargs)
            self._counts.entries += _entries(answer)
            return answer

        return counted


def _sides(sides: Sides, name: str, counts: Counts) -> Sides:
    counted: Any = [_Counted(side, name, counts) for side in sides]
    return Sides(*counted)


def _entries(answer: Any) -> int:
    """The rows, objects and cells in an answer. A write that fills a cache with a list's window
    counts as one entry."""
    if isinstance(answer, dict):
        return sum(not isinstance(value, Lease) for value in answer.values())
    if isinstance(answer, list) and answer and isinstance(answer[0], list | Lease | None):
        return sum(len(rows) for rows in answer if isinstance(rows, Sized) and not _lease(rows))
    if isinstance(answer, list) and answer and isinstance(answer[0], Window):
        return len(answer)
    return len(answer) if isinstance(answer, list) else 0


def _lease(rows: object) -> bool:
    return isinstance(rows, Lease)
