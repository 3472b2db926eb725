"""An adversary who drags pins of a real board. The board's job runs at once after each move, later,
or is killed."""

import asyncio
from typing import Literal

from bench.order.simulation import Adversary, Board, targets
from datasources.ids import Kind, compose, shard_of
from datasources.mappings import Edge, ListKey, Mapping, PageRequest
from datasources.protocols import Job, Stores
from feed_engine import writes
from feed_engine.ordering.spacing import SPACING
from feed_engine.outbox.completion import settle
from feed_engine.outbox.jobs import run_job

Jobs = Literal["at work", "at once", "held back", "killed"]
ON_BOARD = Mapping.BOARD_HAS_PINS
_FIRST = 1 << 30  # local ids of no other pins


async def attack(
    stores: Stores, owner: int, pins: int, moves: int, adversary: Adversary, jobs: Jobs
) -> None:
    """Check that no move fails, the board's order is the moves' order, and few rows are rewritten,
    few of them at once. If jobs run in turn or never, the rows are also exactly the simulation's
    rows."""
    new = writes.NewBoard(name=f"{adversary}, {jobs}", secret=False)
    board = (await writes.create_board(stores, owner, new)).board
    model = Board(pins, SPACING)
    ids = [compose(shard_of(board.id), Kind.PIN, _FIRST + row) for row in range(pins + 1)]
    rows = [Edge(board.id, ids[row], model.sequence[row], 1) for row in range(1, pins + 1)]
    await stores.shards.mappings.load([(ON_BOARD, row) for row in rows])
    target, running = targets(model, adversary), list[asyncio.Task[None]]()
    for number in range(moves):
        row, below = target(number)
        asking = model.move(row, below)
        await writes.reorder_pin(stores, owner, board.id, ids[row], after_pin_id=ids[below])
        if asking is not None and jobs != "held back":
            model.job(asking)
            running.append(asyncio.create_task(_work(stores, board.id, jobs)))
            if jobs == "at once":
                await running[-1]
    await asyncio.gather(*running)
    key = ListKey(ON_BOARD, board.id)
    [page] = await stores.shards.mappings.pages([PageRequest(key, 2 * pins)])
    assert [edge.to_id for edge in reversed(page)] == [ids[row] for row in model.ascending()]
    log = await stores.shards.mappings.respacings(key, 0)
    assert log
    assert max(len(entry.moves) for entry in log) <= SPACING.rows
    rewritten = sum(len(entry.moves) for entry in log)
    assert rewritten <= 2 * moves
    if jobs in ("at once", "held back"):
        assert rewritten == model.tally.by_job + model.tally.inline
        assert [edge.sequence for edge in reversed(page)] == [
            model.sequence[row] for row in model.ascending()
        ]


async def _work(stores: Stores, board_id: int, jobs: Jobs) -> None:
    """Do a worker's work, or be killed in the middle and do it again."""
    await settle()
    for row in await stores.shards.outbox.pending(2**62, 1000):
        if row.shard != shard_of(board_id):
            continue
        job = Job(row.shard, row.id)
        if jobs == "killed":
            for steps in range(0, 40, 10):
                killed = asyncio.create_task(run_job(stores, job))
                for _ in range(steps):
                    await asyncio.sleep(0)
                killed.cancel()
                await asyncio.wait([killed])
        await run_job(stores, job)
