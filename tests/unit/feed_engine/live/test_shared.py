"""Values that the streams of a process make once."""

import asyncio
from typing import Any

import pytest

from feed_engine.live.shared import FRESH, Shared

pytestmark = pytest.mark.anyio


def counting(result: Any = None, until: asyncio.Event | None = None) -> tuple[list[int], Any]:
    """The calls so far, and a function that returns their number or raises `result`."""
    calls: list[int] = []

    async def make() -> int:
        calls.append(1)
        if until is not None:
            await until.wait()
        if result is not None:
            raise result
        return len(calls)

    return calls, make


async def test_readers_at_the_same_time_and_soon_afterwards_get_one_value() -> None:
    calls, make = counting()
    shared = Shared()
    assert await asyncio.gather(*(shared.get("key", make) for _ in range(5))) == [1] * 5
    assert await shared.get("key", make) == 1
    assert await shared.get("other", make) == 2
    assert len(calls) == 2


async def test_a_late_reader_makes_the_value_again() -> None:
    now = 100.0
    _, make = counting()
    shared = Shared(lambda: now)
    assert not shared.has("key")
    assert await shared.get("key", make) == 1
    now += FRESH
    assert shared.has("key")
    assert await shared.get("key", make) == 1
    now += 0.01
    assert not shared.has("key")
    assert await shared.get("key", make) == 2


async def test_if_the_first_reader_is_cancelled_the_next_makes_the_value_for_all() -> None:
    may = asyncio.Event()
    calls, make = counting(until=may)
    shared = Shared()
    readers = [asyncio.create_task(shared.get("key", make)) for _ in range(4)]
    await asyncio.sleep(0)
    readers[0].cancel()
    readers[2].cancel()
    await asyncio.wait(readers[::2])
    may.set()
    assert await asyncio.gather(*readers[1::2]) == [2, 2]
    assert len(calls) == 2


async def test_all_readers_get_the_error() -> None:
    _, make = counting(ValueError("no"))
    shared = Shared()
    found = await asyncio.gather(
        *(shared.get("key", make) for _ in range(3)), return_exceptions=True
    )
    assert [str(error) for error in found] == ["no"] * 3
