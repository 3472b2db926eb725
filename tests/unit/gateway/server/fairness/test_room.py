"""The operations of one client that run at the same time cost no more together than the limit."""

import asyncio
import random
from collections.abc import Callable

import pytest

from gateway.http.peers import Unit
from gateway.server.fairness.room import REST, Room

pytestmark = pytest.mark.anyio
A, B = (Unit("a", 1),), (Unit("b", 1),)
OFFICE, NETWORK = Unit("office", 4), Unit("network", 16)


def viewer(number: int, *around: Unit) -> tuple[Unit, ...]:
    """The units of an operation of one viewer."""
    return (Unit(f"v{number}", 1), *around)


class Running:
    """Operations in a room, and the most that they cost together."""

    def __init__(self, room: Room) -> None:
        self.room, self.cost, self.count, self.most, self.ended = room, 0, 0, 0, list[int]()

    async def run(self, cost: int, turns: int = 3, units: tuple[Unit, ...] = A) -> None:
        if not self.room.enter(units, cost):
            await self.room.wait(units, cost)
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
            self.room.leave(units, cost)
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
    assert room.enter(A, 10)
    assert not room.enter(A, 1)
    assert room.enter(B, 10)


async def test_the_room_of_a_dear_operation_stays_taken_for_a_while() -> None:
    timers = list[tuple[float, Callable[[], None]]]()
    room = Room(10_000, later=lambda seconds, call: timers.append((seconds, call)))
    assert room.enter(A, 9_000)
    room.leave(A, 9_000)
    [(seconds, ends)] = timers
    assert seconds == pytest.approx(9_000 * REST)
    assert not room.enter(A, 2_000)
    assert room.enter(B, 2_000)
    waiting = asyncio.ensure_future(room.wait(A, 2_000))
    await asyncio.sleep(0)
    assert not waiting.done()
    ends()
    await waiting
    room.leave(A, 1_000)
    assert timers.pop()[0] == pytest.approx(5_000 * REST)
    room.leave(A, 100)  # a cheap one leaves at once
    assert len(timers) == 1


async def test_without_a_bound_nobody_waits() -> None:
    room = Room(0)
    assert all(room.enter(A, 10**9) for _ in range(5))


async def test_many_viewers_of_an_address_run_four_times_as_much_together() -> None:
    running = Running(Room(10))
    await asyncio.gather(*(running.run(10, units=viewer(n, OFFICE)) for n in range(20)))
    assert running.most == 40
    assert len(running.ended) == 20
    running = Running(Room(10))
    many = [viewer(n, Unit(f"office{n % 10}", 4), NETWORK) for n in range(100)]
    await asyncio.gather(*(running.run(10, units=units) for units in many))
    assert running.most == 160


async def test_expensive_operations_of_an_address_run_one_for_each_of_four_viewers() -> None:
    running = Running(Room(10))
    tasks = [asyncio.ensure_future(running.run(90, units=viewer(n, OFFICE))) for n in range(20)]
    tasks.append(asyncio.ensure_future(running.run(90, units=viewer(0, OFFICE))))
    await asyncio.gather(*tasks)
    assert running.most == 4 * 90


async def test_the_operations_of_other_addresses_and_viewers_do_not_wait() -> None:
    room = Room(10)
    for number in range(4):
        assert room.enter(viewer(number, OFFICE), 10)
    assert not room.enter(viewer(5, OFFICE), 1)
    assert room.enter(viewer(5, Unit("another", 4)), 10)
    waiting = asyncio.ensure_future(room.wait(viewer(6, OFFICE), 5))
    await asyncio.sleep(0)
    assert not room.enter(viewer(6), 6), "it waits in the line of the address, with its own room"
    room.leave(viewer(0, OFFICE), 10)
    await waiting


@pytest.mark.parametrize("seed", range(50))
async def test_cancelled_operations_of_viewers_take_no_room(seed: int) -> None:
    rng, running = random.Random(seed), Running(Room(10))

    def some_units() -> tuple[Unit, ...]:
        office = Unit(f"office{rng.randrange(3)}", 4)
        return viewer(rng.randrange(4), office, NETWORK)[: rng.randrange(1, 4)]

    tasks = [
        asyncio.ensure_future(running.run(rng.randrange(0, 20), rng.randrange(4), some_units()))
        for _ in range(60)
    ]
    for _ in range(20):
        await asyncio.sleep(0)
        rng.choice(tasks).cancel()
    async with asyncio.timeout(60):
        await asyncio.gather(*tasks, return_exceptions=True)
    assert (running.room._taken, running.room._waiting) == ({}, {})


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
