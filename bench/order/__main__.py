"""`python -m bench.order [--quick]`: the cost of a reorder on large boards and under adversaries,
compared with peers, and of a page deep in a large board. Prints a table at the end, and writes
bench/results/order.json and growth.svg."""

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
from bench.order.pages import depth_rows
from bench.order.peers import Peers
from bench.order.real import adversaries_on
from bench.order.servers import BigBoard, Rig, mariadb, sqlite
from bench.order.simulation import ADVERSARIES, OTHERS, Adversary, Tally, simulate
from bench.rows import Row, replace, table, write
from feed_engine.ordering.spacing import SPACING


@dataclass(frozen=True)
class Effort:
    """The size of a run."""

    large: int
    sqlite_large: int
    rounds: int
    moves: int
    boards: tuple[int, ...]
    real_moves: int
    seconds: float
    many: int
    sizes: tuple[int, ...]
    """The sizes of the single boards that many clients reorder at the same time."""


SMALL, MIDDLE = 100, 1_000  # pins
FULL = Effort(
    *(10_000_000, 10_000_000, 300, 1_000_000, (100, 10_000, 1_000_000), 1_000, 6.0, 1_000),
    sizes=(MIDDLE, 10_000, 100_000),
)
QUICK = Effort(
    *(200_000, 200_000, 60, 30_000, (100, 10_000), 150, 1.5, 50),
    sizes=(MIDDLE, 10_000),
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.order", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="under three minutes, smaller boards")
    parser.add_argument("--pages", action="store_true", help="pages alone, into the kept results")
    chosen = parser.parse_args()
    effort = QUICK if chosen.quick else FULL
    if chosen.pages:
        found = asyncio.run(_pages(effort))
        replace("order", tuple(row.measure for row in found), found)
        print(table(found))
        return
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


async def _pages(effort: Effort) -> list[Row]:
    rows = list[Row]()
    for make, pins in ((mariadb, effort.large), (sqlite, effort.sqlite_large)):
        with tempfile.TemporaryDirectory(prefix="pinway-bench-") as folder:
            async with make(Path(folder)) as rig:
                say(f"{rig.name}: loading {pins:,} pins")
                board = await rig.board(await rig.user(), pins)
                rows += await depth_rows(rig, board, pins // 2, effort.rounds)
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
    say(f"{rig.name}: pages")
    rows += await depth_rows(rig, large, pins // 2, effort.rounds)
    say(f"{rig.name}: adversaries")
    rows += await adversaries_on(rig, owner, MIDDLE, effort.real_moves)
    say(f"{rig.name}: reorders at once")
    rows += await _rates(rig, owner, effort)
    return rows


async def _costs(rig: Rig, large: BigBoard, small: BigBoard, effort: Effort) -> list[Row]:
    """The costs of one reorder, by the server's counters."""
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
    """The rates of many clients on one board, on larger boards, and on many boards."""
    rows = []
    for count, pins in (
        *((1, size) for size in effort.sizes),
        (effort.many, MIDDLE),
    ):
        boards = [await rig.board(owner, pins) for _ in range(count)]
        rows.append(await _rate_on(rig, boards, effort))
    return rows


async def _rate_on(rig: Rig, boards: list[BigBoard], effort: Effort) -> Row:
    choosers = [random.Random(number) for number in range(measures.CLIENTS)]

    async def ours(client: int) -> None:
        await measures.drag(rig, choosers[client].choice(boards), choosers[client])

    text, pins = "", boards[0].pins
    clients = measures.CLIENTS if pins <= 10_000 else measures.FEW_CLIENTS
    if rig.master is None:
        [rate] = await measures.rates([ours], clients, effort.seconds)
    else:
        peers = Peers(rig, len(boards), pins)
        await peers.open()
        try:
            rate, rewrite, keys = await measures.rates(
                [ours, peers.rewrite, peers.fractional], clients, effort.seconds
            )
        finally:
            await peers.close()
        text = f"bare rewrite of positions {rewrite:,.1f}, bare text keys {keys:,.1f}"
    where = f"{len(boards):,} boards" if len(boards) > 1 else "one board"
    name = f"{rig.name}: reorders/s of {clients} clients on {where} of {pins:,}"
    return Row(name, rate, "/s", "", text)


def _simulated(effort: Effort) -> list[Row]:
    tasks: list[tuple[int, int, Adversary, bool]] = [
        *(
            (pins, moves, adversary, is_late)
            for pins in effort.boards
            for adversary in ADVERSARIES
            for moves, is_late in ((effort.moves, False), (effort.moves // 10, True))
        ),
        *((pins, effort.moves // 5, it, False) for pins in effort.boards for it in OTHERS),
    ]
    say(f"{effort.moves:,} simulated moves each on boards of {effort.boards}")
    with ProcessPoolExecutor() as pool:
        tallies = dict(zip(tasks, pool.map(_tally, *zip(*tasks, strict=True)), strict=True))
    rows = []
    for (pins, moves, adversary, is_late), tally in tallies.items():
        if is_late:
            continue
        text = f"largest region {tally.worst:,} rows, {tally.jobs:,} jobs"
        if adversary in ADVERSARIES:
            late = tallies[pins, moves // 10, adversary, True]
            text += f"; jobs held back: {late.mean:.2f}, all inline"
        rows.append(
            Row(
                f"relabelled rows a move, {adversary}, {pins:,} pins, {moves:,} moves",
                tally.mean,
                "",
                "<= 2" if adversary in ADVERSARIES else "",
                text,
            )
        )
    failures = sum(tally.failures for tally in tallies.values())
    made = sum(tally.moves for tally in tallies.values())
    return [
        *rows,
        Row("simulated adversarial moves that failed", failures, "", "<= 0", f"of {made:,}"),
    ]


def _tally(pins: int, moves: int, adversary: Adversary, is_late: bool) -> Tally:
    return simulate(pins, moves, adversary, SPACING, late=lambda: is_late).tally


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
