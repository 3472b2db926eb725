"""`python -m bench.order [--quick]`: what a reorder costs on large boards and under adversaries,
beside its peers; a table last, bench/results/order.json, and growth.svg."""

import argparse
import asyncio
import random
import statistics
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.order import growth, measures
from bench.order.peers import Peers
from bench.order.real import adversaries_on
from bench.order.servers import BigBoard, Rig, mariadb, sqlite
from bench.order.simulation import ADVERSARIES, Adversary, Tally, simulate
from bench.rows import Row, table, write
from feed_engine.spacing import SPACING


@dataclass(frozen=True)
class Effort:
    """How much is done."""

    large: int
    sqlite_large: int
    rounds: int
    moves: int
    boards: tuple[int, ...]
    real_moves: int
    seconds: float
    many: int


FULL = Effort(10_000_000, 10_000_000, 300, 1_000_000, (100, 10_000, 1_000_000), 1_000, 6.0, 1_000)
QUICK = Effort(200_000, 200_000, 60, 30_000, (100, 10_000), 150, 2.0, 50)
SMALL, MIDDLE = 100, 1_000  # pins


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.order", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="under three minutes, smaller boards")
    effort = QUICK if parser.parse_args().quick else FULL
    rows = asyncio.run(_real(effort))
    rows += _simulated(effort)
    longest = growth.draw(min(effort.moves, 10_000))
    rows += [
        Row(
            f"longest key after {min(effort.moves, 10_000):,} moves, {name}",
            growth.DIGITS,
            "characters",
            versus=f"fractional-indexing: {length:,}",
        )
        for name, length in longest.items()
    ]
    write("order", rows)
    print(table(rows))


async def _real(effort: Effort) -> list[Row]:
    rows = list[Row]()
    for make, pins in ((mariadb, effort.large), (sqlite, effort.sqlite_large)):
        with tempfile.TemporaryDirectory(prefix="pinway-bench-") as folder:
            async with make(Path(folder)) as rig:
                rows += await _on(rig, pins, effort)
    return rows


async def _on(rig: Rig, pins: int, effort: Effort) -> list[Row]:
    owner = await rig.user()
    say(f"{rig.name}: loading {pins:,} pins")
    started = time.perf_counter()
    large = await rig.board(owner, pins)
    loaded = time.perf_counter() - started
    small = await rig.board(owner, SMALL)
    rows = [Row(f"{rig.name}: loading {pins:,} pins", loaded, "s")]
    say(f"{rig.name}: reorders in turn on both boards")
    found = await measures.latencies(rig, large, small, effort.rounds)
    each = ", ".join(
        f"{name} {statistics.median(times) * 1e3:.2f} ms"
        for name, times in ((f"{pins:,}", found.large), (f"{SMALL}", found.small))
    )
    rows.append(
        Row(f"{rig.name}: latency on {pins:,} pins / {SMALL}", found.ratio, "", "<= 1.2", each)
    )
    if rig.master is not None:
        rows += await _costs(rig, large, small, effort)
    say(f"{rig.name}: adversaries")
    rows += await adversaries_on(rig, owner, MIDDLE, effort.real_moves)
    say(f"{rig.name}: reorders at once")
    rows += await _rates(rig, owner, effort)
    return rows


async def _costs(rig: Rig, large: BigBoard, small: BigBoard, effort: Effort) -> list[Row]:
    """Of one reorder, by the server's counters."""
    costs = [await measures.cost(rig, board, effort.rounds) for board in (large, small)]
    big, little = costs
    versus = f"on {SMALL} pins"
    rows = [
        Row("mapping rows written a reorder", big.mapping_rows, "", "<= 1", f"{versus} the same"),
        Row(
            f"rows read (Handler_read_*) on {large.pins:,} pins / {SMALL}",
            big.handler_reads / little.handler_reads,
            "",
            "<= 1.02",
            f"{big.handler_reads:.2f} and {little.handler_reads:.2f}; of the mapping, by "
            f"TABLE_STATISTICS, {big.rows_read:.2f} and {little.rows_read:.2f}",
        ),
        Row("statements a reorder", big.statements, "", versus=f"{versus} {little.statements:.2f}"),
        Row("round trips a reorder", big.trips, "", versus=f"{versus} {little.trips:.2f}"),
    ]
    for name in big.handlers:
        other = little.handlers.get(name, 0.0)
        rows.append(
            Row(
                f"{name.capitalize()} a reorder",
                big.handlers[name],
                "",
                "",
                f"{versus} {other:.2f}",
            )
        )
    return rows


async def _rates(rig: Rig, owner: int, effort: Effort) -> list[Row]:
    """Of many clients on one board, and on many."""
    boards = [await rig.board(owner, MIDDLE) for _ in range(effort.many)]
    choosers = [random.Random(number) for number in range(measures.CLIENTS)]

    async def on_one(client: int) -> None:
        await measures.drag(rig, boards[0], choosers[client])

    async def on_many(client: int) -> None:
        await measures.drag(rig, choosers[client].choice(boards), choosers[client])

    one = await measures.rate(on_one, effort.seconds)
    many = await measures.rate(on_many, effort.seconds)
    texts = ["", ""]
    if rig.master is not None:
        texts = []
        for count in (1, min(effort.many, 100)):
            peers = Peers(rig, count, MIDDLE)
            await peers.open()
            try:
                rewrite = await measures.rate(peers.rewrite, effort.seconds)
                keys = await measures.rate(peers.fractional, effort.seconds)
            finally:
                await peers.close()
            texts.append(f"bare rewrite of positions {rewrite:,.0f}, bare text keys {keys:,.0f}")
    name = f"{rig.name}: reorders/s of {measures.CLIENTS} clients"
    return [
        Row(f"{name} on one board of {MIDDLE:,}", one, "/s", "", texts[0]),
        Row(f"{name} on {len(boards):,} boards of {MIDDLE:,}", many, "/s", "", texts[1]),
    ]


def _simulated(effort: Effort) -> list[Row]:
    tasks = [
        (pins, moves, adversary, is_late)
        for pins in effort.boards
        for adversary in ADVERSARIES
        for moves, is_late in ((effort.moves, False), (effort.moves // 10, True))
    ]
    say(f"{effort.moves:,} simulated moves each on boards of {effort.boards}")
    with ProcessPoolExecutor() as pool:
        tallies = list(pool.map(_tally, *zip(*tasks, strict=True)))
    rows = []
    for task, tally, late in zip(tasks[::2], tallies[::2], tallies[1::2], strict=True):
        rows.append(
            Row(
                f"relabelled rows a move, {task[2]}, {task[0]:,} pins, {task[1]:,} moves",
                tally.mean,
                "",
                "<= 2",
                f"largest region {tally.worst:,} rows, {tally.jobs:,} jobs; "
                f"jobs held back: {late.mean:.2f}, all inline",
            )
        )
    return [
        *rows,
        Row(
            "relabelled rows a move, mean of these",
            statistics.mean(tally.mean for tally in tallies[::2]),
            "",
            "<= 2",
        ),
        Row(
            "rows relabelled in a transaction at most",
            max(tally.worst_transaction for tally in tallies),
            "",
            f"<= {SPACING.rows}",
        ),
        Row("adversarial moves that failed", sum(it.failures for it in tallies), "", "<= 0"),
    ]


def _tally(pins: int, moves: int, adversary: Adversary, is_late: bool) -> Tally:
    return simulate(pins, moves, adversary, SPACING, late=lambda: is_late).tally


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
