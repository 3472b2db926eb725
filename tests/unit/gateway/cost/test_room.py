"""The operations of one client that run at the same time cost no more together than the limit."""

import asyncio
import random
from collections.abc import Callable

import pytest

from gateway.cost.room import REST, Room

pytestmark = pytest.mark.anyio


class Running:
    """Operations in a room, and the most that they cost together."""

    def __init__(self, room: Room) -> None:
        self.room, self.cost, self.count, self.most, self.ended = room, 0, 0, 0, list[int]()

    async def run(self, cost: int, turns: int = 3, client: str = "a") -> None:
        if not self.room.enter(client, cost):
            await self.room.wait(client, cost)
        try:
            self.cost += cost
            self.count += 1
            if self.count > 1:
                self.most = max(self.most, self.cost)
            for _ in range(turns):
                await asyncio.sleep(0)
        finally:
            self.cost -= cost
            self.count -= 1
            self.room.leave(client, cost)
        self.ended.append(cost)


async def test_they_cost_no_more_together_and_a_dearer_one_runs_alone() -> None:
    running = Running(Room(10))
    await asyncio.gather(*(running.run(cost) for cost in (3, 4, 5, 30, 2, 2, 11, 10, 1)))
    assert running.most <= 10
    assert sorted(running.ended) == [1, 2, 2, 3, 4, 5, 10, 11, 30]


async def test_a_dear_operation_is_not_passed_by_cheap_ones_for_ever() -> None:
    running = Running(Room(10))
    await asyncio.gather(*(running.run(cost) for cost in (5, 30, *[5] * 20)))
    assert running.ended.index(30) <= 1


async def test_clients_do_not_wait_for_one_another() -> None:
    room = Room(10)
    assert room.enter("a", 10)
    assert not room.enter("a", 1)
    assert room.enter("b", 10)


async def test_the_room_of_a_dear_operation_stays_taken_for_a_while() -> None:
    timers = list[tuple[float, Callable[[], None]]]()
    room = Room(10_000, later=lambda seconds, call: timers.append((seconds, call)))
    assert room.enter("a", 9_000)
    room.leave("a", 9_000)
    [(seconds, ends)] = timers
    assert seconds == pytest.approx(9_000 * REST)
    assert not room.enter("a", 2_000)
    assert room.enter("b", 2_000)
    waiting = asyncio.ensure_future(room.wait("a", 2_000))
    await asyncio.sleep(0)
    assert not waiting.done()
    ends()
    await waiting
    room.leave("a", 1_000)
    assert timers.pop()[0] == pytest.approx(5_000 * REST)
    room.leave("a", 100)  # a cheap one leaves at once
    assert len(timers) == 1


async def test_without_a_bound_nobody_waits() -> None:
    room = Room(0)
    assert all(room.enter("a", 10**9) for _ in range(5))


@pytest.mark.parametrize("seed", range(50))
async def test_cancelled_ones_take_no_room(seed: int) -> None:
    rng, running = random.Random(seed), Running(Room(10))
    tasks = [
        asyncio.ensure_future(running.run(rng.randrange(1, 20), rng.randrange(4)))
        for _ in range(30)
    ]
    for _ in range(20):
        await asyncio.sleep(0)
        rng.choice(tasks).cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert running.most <= 10
    assert (running.room._taken, running.room._waiting) == ({}, {})
