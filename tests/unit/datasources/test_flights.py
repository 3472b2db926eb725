"""Equal reads share one call, and no read gets an answer that is older than an acknowledged write:
in virtual time, with each interleaving forced."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Hashable
from typing import Any

import pytest

from datasources.errors import StoreUnavailable
from datasources.sql import flights
from datasources.sql.flights import LONGEST_WAIT, Flights
from datasources.staleness import Collecting, mark
from tests.scale import seeds
from tests.unit.feed_engine.virtual_time import run

TRIP = 0.01


class Shard:
    """A register, which a read sees half way between its begin and its answer."""

    def __init__(self) -> None:
        self.value = self.reads = self.most = self._at_once = 0
        self.trip = TRIP

    async def read(self) -> int:
        self.reads += 1
        self._at_once += 1
        self.most = max(self.most, self._at_once)
        try:
            await asyncio.sleep(self.trip / 2)
            seen = self.value
            await asyncio.sleep(self.trip / 2)
        finally:
            self._at_once -= 1
        return seen


def reading(found: Flights, shard: Shard) -> "asyncio.Task[int]":
    return asyncio.create_task(found.read("pin", shard.read))


def test_a_thousand_reads_at_a_time_are_the_first_and_one_for_all_others() -> None:
    async def case() -> None:
        found, shard = Flights(), Shard()
        shard.value = 7
        assert await asyncio.gather(*(reading(found, shard) for _ in range(1000))) == [7] * 1000
        assert shard.reads == 2

    run(case())


def test_reads_of_several_keys_do_not_wait_for_each_other() -> None:
    async def case() -> None:
        found, shard = Flights(), Shard()
        await asyncio.gather(*(found.read(key, shard.read) for key in range(5)))
        assert (shard.reads, shard.most) == (5, 5)

    run(case())


def test_a_read_after_an_acknowledged_write_joins_no_read_that_began_before() -> None:
    async def case() -> None:
        found, shard = Flights(), Shard()
        first = reading(found, shard)
        await asyncio.sleep(TRIP * 0.75)  # it has seen the value before the write
        shard.value = 1
        assert await reading(found, shard) == 1
        assert await first == 0

    run(case())


def test_a_read_after_an_acknowledged_write_joins_no_shared_read_that_began_before() -> None:
    async def case() -> None:
        found, shard = Flights(), Shard()
        early = [reading(found, shard) for _ in range(3)]
        await asyncio.sleep(TRIP * 1.75)  # the shared read has seen the value, too
        shard.value = 1
        assert await reading(found, shard) == 1
        assert await asyncio.gather(*early) == [0, 0, 0]

    run(case())


def test_a_read_that_hangs_delays_the_next_read_by_a_short_time() -> None:
    async def case() -> None:
        found, shard = Flights(), Shard()
        shard.trip = 60.0
        first = reading(found, shard)
        await asyncio.sleep(TRIP)
        began = asyncio.get_running_loop().time()
        shard.trip = TRIP
        await asyncio.gather(*(reading(found, shard) for _ in range(100)))
        assert asyncio.get_running_loop().time() - began == pytest.approx(LONGEST_WAIT + TRIP)
        assert shard.reads == 2
        await asyncio.gather(*(reading(found, shard) for _ in range(100)))
        assert shard.reads == 4
        assert not first.done()
        await first

    run(case())


def test_a_cancelled_read_affects_no_other_read() -> None:
    async def case() -> None:
        found, shard = Flights(), Shard()
        first, second, third = (reading(found, shard) for _ in range(3))
        await asyncio.sleep(TRIP / 4)
        first.cancel()
        await asyncio.sleep(TRIP / 4)
        second.cancel()
        assert await third == 0
        assert (first.cancelled(), second.cancelled()) == (True, True)
        assert shard.reads == 2

    run(case())


def test_a_shared_read_ends_when_nobody_waits_for_it() -> None:
    async def case() -> None:
        found, shard = Flights(), Shard()
        first = reading(found, shard)
        others = [reading(found, shard) for _ in range(2)]
        await first
        await asyncio.sleep(TRIP / 4)
        for other in others:
            other.cancel()
        await asyncio.wait(others)
        await asyncio.sleep(0)
        assert shard.reads == 2
        assert shard._at_once == 0
        assert await reading(found, shard) == 0

    run(case())


def test_a_read_that_nobody_waits_for_does_not_begin() -> None:
    async def case() -> None:
        found, shard = Flights(), Shard()
        first, second = reading(found, shard), reading(found, shard)
        await asyncio.sleep(TRIP / 4)
        second.cancel()
        await first
        await asyncio.sleep(TRIP)
        assert shard.reads == 1

    run(case())


def test_an_error_reaches_each_waiter_and_is_not_kept() -> None:
    async def case() -> None:
        found, shard, refused = Flights(), Shard(), 0

        async def refuse() -> int:
            nonlocal refused
            refused += 1
            await asyncio.sleep(TRIP)
            raise StoreUnavailable("nobody listens")

        calls = [found.read("pin", refuse) for _ in range(10)]
        answers = await asyncio.gather(*calls, return_exceptions=True)
        assert {type(answer) for answer in answers} == {StoreUnavailable}
        assert refused == 2
        assert await found.read("pin", shard.read) == 0

    run(case())


def test_each_waiter_learns_of_the_slave_that_was_read() -> None:
    async def case() -> None:
        found = Flights()

        async def read() -> None:
            await asyncio.sleep(TRIP)
            mark({5}, 1000)

        async def request() -> dict[int, int]:
            with Collecting() as stale:
                await found.read("pin", read)
            return stale

        assert await asyncio.gather(*(request() for _ in range(4))) == [{5: 1000}] * 4

    run(case())


async def joins_what_runs(self: Flights, key: Hashable, call: Callable[[], Awaitable[Any]]) -> Any:
    """The plain single flight, which is no protection."""
    running: dict[Hashable, asyncio.Task[Any]] = self.__dict__.setdefault("running", {})
    if key not in running:
        running[key] = asyncio.ensure_future(call())
        running[key].add_done_callback(lambda _: running.pop(key))
    return await asyncio.shield(running[key])


async def history(seed: int) -> None:
    """Writers and readers of two processes, in random times: no read returns a number before the
    last acknowledged one."""
    chooser, shard, acknowledged = random.Random(seed), Shard(), 0

    async def write() -> None:
        nonlocal acknowledged
        for number in range(1, 40):
            await asyncio.sleep(chooser.uniform(0, 3 * TRIP))
            shard.value = number
            await asyncio.sleep(chooser.choice([0, TRIP / 3]))
            acknowledged = number

    async def read(found: Flights) -> None:
        while acknowledged < 39:
            shard.trip = chooser.choice([TRIP / 5, TRIP, 2 * LONGEST_WAIT])
            least = acknowledged
            assert least <= await found.read("pin", shard.read) <= shard.value
            await asyncio.sleep(chooser.choice([0, 0, TRIP / 2, 2 * TRIP]))

    readers = [read(found) for found in (Flights(), Flights()) for _ in range(6)]
    await asyncio.gather(write(), *readers)


@pytest.mark.parametrize("seed", seeds(5, 200))
def test_no_read_is_older_than_an_acknowledged_write(seed: int) -> None:
    run(history(seed))


def test_the_history_would_see_a_read_that_joins_an_earlier_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(flights.Flights, "read", joins_what_runs)
    seen = 0
    for seed in range(5):
        try:
            run(history(seed))
        except AssertionError:
            seen += 1
    assert seen
