"""An outage of one side while a user with very many followers creates pins.

    python -m bench.following --outage [--followers 200000]

Four workers deliver the published pins: without an outage, and while one side of a feed store is
unavailable. A delay is the time from a pin's publication until a batch of its followers has the pin
on the available sides. Afterwards the side returns, and the jobs come in random order.
"""

import asyncio
import itertools
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from bench.execution.openloop import percentile
from bench.rows import Row
from datasources.errors import StoreError
from datasources.protocols import Job, OutboxRow, Sides, Stores
from datasources.records import Board
from feed_engine import writes
from feed_engine.outbox.change import FanOutBatch, PinPublished, decode
from feed_engine.outbox.jobs import run_job
from tests.faulty import Unwell, with_part

WORKERS = 4
PINS = 3


class Delivered(NamedTuple):
    pin_id: int
    delay: float  # seconds after publication


async def outage(
    stores: Stores, board: Board, sides: Sequence[tuple[str, str]], start: int
) -> list[Row]:
    """Rows for an outage of each of these sides in turn (pools or feeds, primary or standby)."""
    rows: list[Row] = []
    for number, (kind, side) in enumerate(sides):
        at = start + number * 1_000_000
        well = await _publish(stores, stores, board, at)
        away = _without(stores, kind, side)
        living = await _publish(stores, away, board, at + 1000)
        began = time.perf_counter()
        order = await _catch_up(stores)
        took = time.perf_counter() - began
        before, during = (percentile([d.delay for d in some], 0.99) for some in (well, living))
        pins = list(dict.fromkeys(d.pin_id for d in living))
        newest = [order.index(pin_id) for pin_id in pins]
        name = f"embedded: {kind} {side} away"
        rows += [
            Row(
                f"{name}: p99 delay on the living sides", during, "s", "", f"{before:.2f} s before"
            ),
            Row(f"{name}: p99 delay over the delay before", during / before, "x", "<= 1.5"),
            Row(f"{name}: {len(pins)} pins caught up", took, "s"),
            Row(
                f"{name}: pins caught up before an older one",
                sum(a > b for a, b in itertools.pairwise(newest)) / (len(pins) - 1),
                "of 1",
                ">= 1",
            ),
        ]
    return rows


async def _publish(stores: Stores, reached: Stores, board: Board, at: int) -> list[Delivered]:
    """Publish pins, each after the delivery of the one before, to the sides that are reachable."""
    found: list[Delivered] = []
    done = {(row.shard, row.id) for row in await _pending(stores)}
    for number in range(PINS):
        new = writes.NewPin(board_id=board.id, title="a pin")
        pin = (await writes.create_pin(stores, board.owner_id, new, at=at + number)).pin
        began = time.perf_counter()

        async def note(row: OutboxRow, began: float = began, pin_id: int = pin.id) -> None:
            if any(isinstance(task, FanOutBatch) for task in decode(row.payload).tasks):
                found.append(Delivered(pin_id, time.perf_counter() - began))

        while rows := [r for r in await _pending(stores) if (r.shard, r.id) not in done]:
            done.update((row.shard, row.id) for row in rows)
            await _work(reached, rows, note)
    return found


async def _catch_up(stores: Stores) -> list[int]:
    """Run the remaining jobs in random order. Returns the pins in the order in which their last row
    was finished."""
    rng, outbox = random.Random(5), stores.shards.outbox
    pins = {(row.shard, row.id): _pin(row) for row in await _pending(stores)}
    finished: dict[int, None] = {}

    class Noting:
        def __getattr__(self, name: str) -> Any:
            return getattr(outbox, name)

        async def finish(self, shard: int, id: int) -> None:
            await outbox.finish(shard, id)
            pin_id = pins[shard, id]
            finished.pop(pin_id, None)
            finished[pin_id] = None

    noting = with_part(stores, "outbox", Noting())

    async def nothing(_: OutboxRow) -> None: ...

    while rows := await _pending(stores):
        rng.shuffle(rows)
        await _work(noting, rows, nothing)
    return list(finished)


async def _work(
    stores: Stores, rows: Sequence[OutboxRow], note: Callable[[OutboxRow], Awaitable[None]]
) -> None:
    waiting = iter(rows)

    async def worker() -> None:
        for row in waiting:
            with suppress(StoreError):
                await run_job(stores, Job(row.shard, row.id))
            await note(row)

    await asyncio.gather(*(worker() for _ in range(WORKERS)))


async def _pending(stores: Stores) -> list[OutboxRow]:
    return await stores.shards.outbox.pending(2**62, 10_000)


def _pin(row: OutboxRow) -> int:
    [task, *_] = decode(row.payload).tasks
    assert isinstance(task, FanOutBatch | PinPublished)
    return task.pin_id


def _without(stores: Stores, kind: str, side: str) -> Stores:
    sides: Sides = getattr(stores, kind)
    away: Any = Unwell(getattr(sides, side))
    return stores._replace(**{kind: sides._replace(**{side: away})})
