"""The adversaries of the simulation on a real board, through the write and the job themselves."""

from bench.order.servers import Rig
from bench.order.simulation import ADVERSARIES, Adversary, Board, Tally, targets
from bench.rows import Row
from datasources.mappings import ListKey, Mapping
from datasources.protocols import Job
from feed_engine import writes
from feed_engine.follow_through import settle
from feed_engine.jobs import run_job
from feed_engine.spacing import SPACING


async def adversaries_on(rig: Rig, owner: int, pins: int, moves: int) -> list[Row]:
    """Rows relabelled a move, and what the simulation says of the same moves."""
    rows = []
    for adversary in ADVERSARIES:
        real, simulated = await _attack(rig, owner, pins, moves, adversary)
        rows.append(
            Row(
                f"{rig.name}: relabelled rows a move, {adversary}, {moves:,} real moves",
                real.mean,
                "",
                "<= 2",
                f"simulated {simulated.mean:.4g}; at most {real.worst} rows at once, "
                f"{real.failures} failures",
            )
        )
    return rows


async def _attack(
    rig: Rig, owner: int, pins: int, moves: int, adversary: Adversary
) -> tuple[Tally, Tally]:
    """The board in memory chooses the moves; the real one follows, its jobs run as they come."""
    board = await rig.board(owner, pins)
    model = Board(pins, SPACING)
    target, real = targets(model, adversary), Tally()
    for number in range(moves):
        row, below = target(number)
        asking = model.move(row, below)
        await writes.reorder_pin(
            *(rig.stores, owner, board.board.id, board.pin(row - 1)),
            after_pin_id=board.pin(below - 1),
        )
        real.moves += 1
        if asking is not None:
            model.job(asking)
            await _work(rig)
    key = ListKey(Mapping.BOARD_HAS_PINS, board.board.id)
    for entry in await rig.stores.shards.mappings.respacings(key, 0):
        real.by_job += len(entry.moves)
        real.worst = max(real.worst, len(entry.moves))
    return real, model.tally


async def _work(rig: Rig) -> None:
    """Run what is queued, as a worker would."""
    await settle()
    for row in await rig.stores.shards.outbox.pending(2**62, 1000):
        await run_job(rig.stores, Job(row.shard, row.id))
