"""Stores whose calls have random pauses, so that calls of several tasks interleave."""

import asyncio
import random
from types import SimpleNamespace
from typing import Any

from datasources.protocols import Sides, Stores

TURNS = (0, 0, 1, 2, 5, 20)  # turns of the event loop
PAUSE = 0.0004  # seconds; a call of an embedded shard


def jittered(stores: Stores, rng: random.Random) -> Stores:
    """The stores, with random pauses around each call of the shards and of the feeds' sides."""
    shards = stores.shards
    parts = ("objects", "mappings", "outbox", "visits", "mod")
    paused: Any = SimpleNamespace(**{name: _Jittered(getattr(shards, name), rng) for name in parts})
    sides: dict[str, Any] = {
        name: Sides(*(_jittered(side, rng) for side in getattr(stores, name)))
        for name in ("pools", "feeds")
    }
    return stores._replace(shards=paused, **sides)


def _jittered(store: Any, rng: random.Random) -> Any:
    return _Jittered(store, rng)


class _Jittered:
    def __init__(self, store: Any, rng: random.Random) -> None:
        self._store, self._rng = store, rng

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._store, name)
        if not asyncio.iscoroutinefunction(call):
            return call

        async def paused(*args: Any, **kwargs: Any) -> Any:
            await self._pause()
            try:
                return await call(*args, **kwargs)
            finally:
                await self._pause()

        return paused

    async def _pause(self) -> None:
        if self._rng.random() < 0.1:
            await asyncio.sleep(self._rng.random() * PAUSE)
        for _ in range(self._rng.choice(TURNS)):
            await asyncio.sleep(0)
