"""The cost of a reorder on a large and a small board, and the number of reorders a second."""

import asyncio
import random
import statistics
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from bench.order.servers import BigBoard, Rig
from feed_engine import writes
from feed_engine.outbox.completion import settle

CLIENTS = 32
FEW_CLIENTS = 4  # on boards where rewriting positions takes a second
ROUNDS = 3


@dataclass
class Latencies:
    """Seconds of reorders on a large and on a small board, measured in turn."""

    large: list[float]
    small: list[float]

    @property
    def ratio(self) -> float:
        return statistics.median(self.large) / statistics.median(self.small)


@dataclass
class Cost:
    """The average cost of one reorder."""

    mapping_rows: float
    rows_read: float
    statements: float
    """The statements of a reorder, including the removal of the outbox row after the answer."""
    trips: float
    handlers: dict[str, float]

    @property
    def handler_reads(self) -> float:
        return sum(it for name, it in self.handlers.items() if name.startswith("handler_read"))


async def drag(rig: Rig, board: BigBoard, chooser: random.Random) -> None:
    """One reorder: a random pin directly below another."""
    moved, anchor = chooser.sample(range(board.pins), 2)
    await writes.reorder_pin(
        *(rig.stores, board.board.owner_id, board.board.id),
        *(board.pin(moved), board.pin(anchor)),
    )


async def latencies(rig: Rig, large: BigBoard, small: BigBoard, rounds: int) -> Latencies:
    """Measure both boards in turn, so that other load on the machine affects both."""
    chooser = random.Random(1)
    found = Latencies([], [])
    for number in range(-rounds // 4, rounds):
        for board, times in ((large, found.large), (small, found.small)):
            started = time.perf_counter()
            await drag(rig, board, chooser)
            if number >= 0:
                times.append(time.perf_counter() - started)
    return found


async def cost(rig: Rig, board: BigBoard, rounds: int) -> Cost:
    """The cost by the server's own counters, before and after."""
    assert rig.master is not None
    chooser = random.Random(2)
    await settle()
    with without_renewals(rig):
        return await _cost(rig, board, rounds, chooser)


async def _cost(rig: Rig, board: BigBoard, rounds: int, chooser: random.Random) -> Cost:
    first, before = counters(rig), counters(rig)
    own = {name: before[name] - first[name] for name in before}  # from reading the counters
    trips = sum(rig.trips.values())
    for _ in range(rounds):
        await drag(rig, board, chooser)
    await settle()
    trips = sum(rig.trips.values()) - trips
    after = counters(rig)
    each = {name: (after[name] - before[name] - own[name]) / rounds for name in after}
    return Cost(
        each["board_has_pins changed"],
        each["board_has_pins read"],
        sum(value for name, value in each.items() if name.startswith("com_")),
        trips / rounds,
        {name: value for name, value in each.items() if name.startswith("handler_") and value},
    )


@contextmanager
def without_renewals(rig: Rig) -> Iterator[None]:
    """Stop the renewals of the master's lease inside the block, because the server counts their
    statements, too."""
    if rig.master is None:
        yield
        return
    # A renewal that is already running holds the lock.
    rig.master.query("SET GLOBAL event_scheduler = OFF; DO GET_LOCK('pinway.lease', 10)")
    try:
        yield
    finally:
        rig.master.query("SET GLOBAL event_scheduler = ON")


def counters(rig: Rig) -> Counter[str]:
    assert rig.master is not None
    counted = Counter[str]()
    text = rig.master.query(
        "SHOW GLOBAL STATUS WHERE Variable_name LIKE 'Handler_read%' OR Variable_name IN "
        "('Handler_update', 'Handler_write', 'Com_select', 'Com_insert', 'Com_update', "
        "'Com_delete', 'Com_commit')"
    )
    for line in text.splitlines():
        name, value = line.split("\t")
        counted[name.lower()] = int(value)
    text = rig.master.query(
        "SELECT ROWS_READ, ROWS_CHANGED FROM information_schema.TABLE_STATISTICS "
        "WHERE TABLE_SCHEMA = 'db00000' AND TABLE_NAME = 'board_has_pins'"
    )
    read, changed = (text.split() or ["0", "0"])[:2]
    counted["board_has_pins read"], counted["board_has_pins changed"] = int(read), int(changed)
    return counted


Work = Callable[[int], Awaitable[None]]


async def rates(works: Sequence[Work], clients: int, seconds: float) -> list[float]:
    """How often a second `clients` concurrent clients do each of the works. The works take turns,
    so that other load on the machine affects all."""
    done = [0.0] * len(works)
    for _ in range(ROUNDS):
        for number, work in enumerate(works):
            done[number] += await _rate(work, clients, seconds / ROUNDS) / ROUNDS
    return done


async def _rate(work: Work, clients: int, seconds: float) -> float:
    until = time.perf_counter() + seconds
    done = 0

    async def client(number: int) -> None:
        nonlocal done
        while time.perf_counter() < until:
            await work(number)
            done += 1

    started = time.perf_counter()
    await asyncio.gather(*(client(number) for number in range(clients)))
    await settle()
    return done / (time.perf_counter() - started)
