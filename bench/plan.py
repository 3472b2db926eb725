"""Cells that one HBase server writes, and bytes that a pin takes on its shards, for `pinway plan`.

    make bench NAME=plan [QUICK=1]

It starts the servers of `pinway stack` in a temporary folder. The pins are imported into embedded
shards: each has a title, a description of 120 characters, a link and an image.
"""

import argparse
import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

from bench.rows import Row, table, write
from datasources.hbase import HBaseWideColumns
from datasources.ids import Kind, compose
from datasources.valkey import ValkeyServer
from deploy.stack import Stack
from feed_engine.feeds.rows import (
    FOLLOWING,
    FollowingColumn,
    follow_stamp,
    following_column,
    id_row,
)
from gateway.operate.imports.entries import Entry
from gateway.operate.imports.jsonl import (
    AnyLine,
    BoardLine,
    ImageField,
    PinLine,
    UserLine,
    canonical,
)
from gateway.operate.imports.loader import import_entries
from gateway.operate.imports.report import ImportOptions
from tests.embedded_stores import embedded_config, embedded_stores

BATCH, AT_A_TIME = 1000, 4
START = 1_700_000_000_000


async def cells(stack: Stack, pins: int, followers: int) -> Row:
    """Cells a second that one server writes: each pin's cells into the rows of all followers, as in
    fan-out."""
    at = urlsplit(stack.settings["stores.feeds_primary"])
    assert at.hostname is not None
    assert at.port is not None
    store = HBaseWideColumns(at.hostname, at.port, deadline=30.0, prefix="bench_")
    try:
        await store.create([FOLLOWING])
        rows = [id_row(compose(0, Kind.USER, number + 1)) for number in range(followers)]
        room = asyncio.Semaphore(AT_A_TIME)

        async def put(pin: int, start: int) -> None:
            cause = compose(0, Kind.USER, followers + 1)
            column = FollowingColumn(START + pin, compose(0, Kind.PIN, pin + 1), cause)
            cell = {following_column(column): b""}
            async with room:
                some = rows[start : start + BATCH]
                await store.put(FOLLOWING, dict.fromkeys(some, cell), follow_stamp(1))

        for pin in range(-(-pins // 10)):  # to warm the server
            await put(pins + pin, 0)
        began = time.perf_counter()
        await asyncio.gather(
            *(put(pin, start) for pin in range(pins) for start in range(0, followers, BATCH))
        )
        rate = pins * followers / (time.perf_counter() - began)
    finally:
        await store.close()
    measure = f"HBase: cells/s of {AT_A_TIME} clients, batches of {BATCH:,}"
    return Row(measure, rate, "/s", "", f"{pins * followers:,} cells, one server")


def lines(first: int, last: int) -> Iterator[AnyLine]:
    """A user with a board, and its pins by number."""
    yield UserLine(key="u", username="planner")
    yield BoardLine(key="b", owner="u", name="Everything")
    for number in range(first, last):
        yield PinLine(
            key=f"p{number}",
            board="b",
            title=f"The title of pin {number}",
            description=f"{number} " + "described in a hundred and twenty characters " * 3,
            link=f"https://example.org/pins/{number}",
            image=ImageField(
                url=f"https://images.example.org/{number}.jpg",
                width=736,
                height=1104,
                color="#aabbcc",
            ),
        )


async def bytes_of_a_pin(folder: Path, count: int) -> Row:
    """The growth of the shards' files for each pin, in bytes."""
    async with ValkeyServer(folder) as valkey:
        config = embedded_config(folder, valkey)
        async with embedded_stores(config) as stores:

            async def load(first: int, last: int) -> int:
                entries = (
                    Entry(number, line, canonical(line))
                    for number, line in enumerate(lines(first, last), 1)
                )
                options = ImportOptions(strict=True, feeds=False, spool_dir=str(folder))
                await import_entries(
                    stores, entries, options=options, progress=lambda progress: None
                )
                return sum(map(_size, (folder / "shards").glob("*.sqlite")))

            before = await load(0, count // 10)
            after = await load(count // 10, count // 10 + count)
    return Row("SQLite: bytes a pin", (after - before) / count, "bytes", "", f"{count:,} pins")


def _size(path: Path) -> int:
    """Bytes of a shard's pages in use, without its log."""
    with closing(sqlite3.connect(path)) as shard:
        (pages,), (free,), (size,) = (
            shard.execute(f"PRAGMA {name}").fetchone()
            for name in ("page_count", "freelist_count", "page_size")
        )
    return int((pages - free) * size)


async def _run(quick: bool) -> list[Row]:
    pins, followers, imported = (10, 5_000, 2_000) if quick else (60, 10_000, 20_000)
    with tempfile.TemporaryDirectory(prefix="pinway-plan-") as name:
        stack = Stack(Path(name) / "stack")
        try:
            await asyncio.to_thread(stack.up)
            rows = [await cells(stack, pins, followers)]
        finally:
            await asyncio.to_thread(stack.down)
        (Path(name) / "embedded").mkdir()
        return [*rows, await bytes_of_a_pin(Path(name) / "embedded", imported)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.plan", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes; keeps no results")
    given = parser.parse_args()
    rows = asyncio.run(_run(given.quick))
    print(table(rows))
    if not given.quick:
        write("plan", rows)


if __name__ == "__main__":
    main()
