"""The adversaries of the simulation on a real board, through the real write and the real job."""

from bench.order.servers import BigBoard, Rig
from bench.order.simulation import ADVERSARIES, Adversary, Board, Tally, targets
from bench.rows import Row
from datasources.errors import RequestError, StoreError
from datasources.ids import shard_of
from datasources.mappings import EdgeKey, ListKey, Mapping
from datasources.protocols import Job, ShardTx
from feed_engine import writes
from feed_engine.ordering.spacing import SPACING
from feed_engine.outbox.completion import settle
from feed_engine.outbox.jobs import run_job

ON_BOARD = Mapping.BOARD_HAS_PINS


async def adversaries_on(rig: Rig, owner: int, pins: int, moves: int) -> list[Row]:
    """Rows relabelled for each move, compared with the simulation of the same moves; failures; and
    the largest transaction, also on a board without room between any two pins."""
    rows, tallies = [], list[Tally]()
    for adversary in ADVERSARIES:
        real, simulated = await _attack(rig, owner, pins, moves, adversary)
        tallies.append(real)
        rows.append(
            Row(
                f"{rig.name}: relabelled rows a move, {adversary}, {moves:,} real moves",
                real.mean,
                "",
                "<= 2",
                f"simulated {simulated.mean:.4g}",
            )
        )
    tallies.append(await _packed(rig, owner, pins))
    return [
        *rows,
        Row(
            f"{rig.name}: real adversarial moves that failed",
            sum(tally.failures for tally in tallies),
            "",
            "<= 0",
            f"of {sum(tally.moves for tally in tallies):,}",
        ),
        Row(
            f"{rig.name}: rows relabelled in a transaction at most",
            max(tally.worst_transaction for tally in tallies),
            "",
            f"<= {SPACING.rows}",
            f"under the adversaries {max(tally.worst_transaction for tally in tallies[:-1])}; of "
            f"a board of {pins:,} without any room, in {tallies[-1].spreads} transactions",
        ),
    ]


async def _attack(
    rig: Rig, owner: int, pins: int, moves: int, adversary: Adversary
) -> tuple[Tally, Tally]:
    """The board in memory chooses the moves. The real board follows, and its jobs run at once."""
    board = await rig.board(owner, pins)
    model = Board(pins, SPACING)
    target, real = targets(model, adversary), Tally()
    for number in range(moves):
        row, below = target(number)
        asking = model.move(row, below)
        await _move(rig, board, real, row - 1, below - 1)
        if asking is not None:
            model.job(asking)
            await _work(rig)
    await _count(rig, board, real)
    return real, model.tally


async def _packed(rig: Rig, owner: int, pins: int) -> Tally:
    """A move on a board whose pins have consecutive numbers: all pins are relabelled."""
    board, tally = await rig.board(owner, pins), Tally()
    lowest = 10**37

    async def pack(tx: ShardTx) -> None:
        keys = [EdgeKey(ON_BOARD, board.board.id, board.pin(number)) for number in range(pins)]
        rows = await tx.edges(keys)
        for number, key in enumerate(keys):
            row = rows[key]
            await tx.put_edge(
                ON_BOARD, row._replace(sequence=lowest + number, version=row.version + 1)
            )

    await rig.stores.shards.objects.transact(shard_of(board.board.id), pack)
    await _move(rig, board, tally, 0, pins // 2)
    await _work(rig)
    await _count(rig, board, tally)
    return tally


async def _move(rig: Rig, board: BigBoard, tally: Tally, number: int, below: int) -> None:
    tally.moves += 1
    try:
        await writes.reorder_pin(
            *(rig.stores, board.board.owner_id, board.board.id, board.pin(number)),
            after_pin_id=board.pin(below),
        )
    except (RequestError, StoreError):
        tally.failures += 1


async def _count(rig: Rig, board: BigBoard, tally: Tally) -> None:
    """Count the relabelled rows, from the log of each transaction's rows."""
    key = ListKey(ON_BOARD, board.board.id)
    for entry in await rig.stores.shards.mappings.respacings(key, 0):
        tally.spreads += 1
        tally.by_job += len(entry.moves)
        tally.worst_transaction = max(tally.worst_transaction, len(entry.moves))


async def _work(rig: Rig) -> None:
    """Run the queued jobs, as a worker would."""
    await settle()
    for row in await rig.stores.shards.outbox.pending(2**62, 1000):
        await run_job(rig.stores, Job(row.shard, row.id))
