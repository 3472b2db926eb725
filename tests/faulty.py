"""Stores that fail: real stores whose calls are lost, interrupted, or combined with other
events."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

from datasources.errors import StoreUnavailable
from datasources.protocols import Sides, Stores, Table, WideColumnStore


class Unwell:
    """A real store that stops answering: at once, or from its n-th call on, counted from 0.

    Lost calls don't reach the store.
    """

    def __init__(self, store: Any, *, after: int = 0) -> None:
        self._store, self._left = store, after

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._store, name)

        async def counted(*args: Any, **kwargs: Any) -> Any:
            self._left -= 1
            if self._left < 0:
                raise StoreUnavailable(f"no answer to {name}")
            return await call(*args, **kwargs)

        return counted


class Marking:
    """A real store that trims as HBase does: removed cells are deleted at their own stamps."""

    def __init__(self, store: WideColumnStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def trim(self, table: Table, row: bytes, keep: int) -> None:
        for cell in (await self._store.read(table, row, limit=10_000))[keep:]:
            await self._store.delete(table, {row: [cell.column]}, cell.stamp)


class Interrupted:
    """A real store. After the first or the n-th call of a method, another function runs."""

    def __init__(
        self, store: Any, method: str, action: Callable[[], Awaitable[None]], *, after: int = 1
    ) -> None:
        self._store, self._method, self._left = store, method, after
        self._actions = [action]

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._store, name)
        if name != self._method:
            return call

        async def interrupted(*args: Any, **kwargs: Any) -> Any:
            answer = await call(*args, **kwargs)
            self._left -= 1
            if self._left == 0 and self._actions:
                await self._actions.pop()()
            return answer

        return interrupted


class Preceded:
    """A real store. Before the first call of a method, another function runs."""

    def __init__(self, store: Any, method: str, action: Callable[[], Awaitable[None]]) -> None:
        self._store, self._method = store, method
        self._actions = [action]

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._store, name)

        async def preceded(*args: Any, **kwargs: Any) -> Any:
            if name == self._method and self._actions:
                await self._actions.pop()()
            return await call(*args, **kwargs)

        return preceded


def down(sides: Sides) -> Sides:
    return Sides(Unwell(sides.primary), Unwell(sides.standby))


def without_primary(sides: Sides) -> Sides:
    return Sides(Unwell(sides.primary), sides.standby)


def without(stores: Stores, kind: str, side: str) -> Stores:
    """The stores, with one side of the pools or feeds unavailable."""
    sides: Sides = getattr(stores, kind)
    away: Any = Unwell(getattr(sides, side))
    return stores._replace(**{kind: sides._replace(**{side: away})})


def marking(sides: Sides) -> Sides:
    return Sides(*(cast(WideColumnStore, Marking(side)) for side in sides))


def with_part(stores: Stores, name: str, part: object) -> Stores:
    """The stores, with one part of the shards replaced."""

    class Shards:
        def __getattr__(self, asked: str) -> object:
            return part if asked == name else getattr(stores.shards, asked)

    return stores._replace(shards=Shards())  # type: ignore[arg-type]


def lacking(stores: Stores, part: str) -> Stores:
    """The stores, with one part of the shards failing."""
    return with_part(stores, part, Unwell(getattr(stores.shards, part)))
