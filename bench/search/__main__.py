"""Compares the embedded search index with SQLite's FTS5 over the same generated pins, and measures
search in a whole gateway.

    python -m bench.search [--quick]

Each engine runs in a process of its own. Queries arrive at a constant rate, while a second process
adds pins; a query's time counts from the moment at which it was due.
"""

import argparse
import asyncio
import json
import multiprocessing
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import quantiles

from bench.rows import Row, table, write
from bench.search.fts5 import Fts5
from bench.search.gateway import in_a_gateway
from bench.search.titles import Texts
from bench.search.writing import keep_writing
from datasources.protocols import SearchRequest
from datasources.tantivy import TantivySearch

PINS, SECONDS, RATE = 100_000, 20, 50
LIMIT = 50  # hits of a query
BATCH = 1_000  # pins that are added at once
TANTIVY, FTS5 = "tantivy", "fts5"
Ask = Callable[[str, bool, bool], Awaitable[int]]
"""Searches for a text, which may be unfinished or mistyped. Returns the number of hits."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="rough figures; writes no file")
    parser.add_argument("--engine", choices=[TANTIVY, FTS5], help=argparse.SUPPRESS)
    asked = parser.parse_args()
    pins, seconds = (10_000, 5) if asked.quick else (PINS, SECONDS)
    if asked.engine:
        with tempfile.TemporaryDirectory(prefix="search-") as folder:
            print(json.dumps(asyncio.run(measured(asked.engine, Path(folder), pins, seconds))))
        return
    rows = [row for engine in (TANTIVY, FTS5) for row in _rows(engine, quick=asked.quick)]
    with tempfile.TemporaryDirectory(prefix="search-") as folder:
        found = 3 if asked.quick else 20
        rows += asyncio.run(in_a_gateway(Path(folder), pins, seconds, found))
    print(table(rows))
    if not asked.quick:
        print(f"written to {write('search', rows)}")


def _rows(engine: str, *, quick: bool) -> list[Row]:
    options = ["--quick"] if quick else []
    done = subprocess.run(
        [sys.executable, "-m", "bench.search", "--engine", engine, *options],
        check=True,
        stdout=subprocess.PIPE,
    )
    found: dict[str, tuple[float, str]] = json.loads(done.stdout)
    goals = {"p99 of whole words": "<= 20", "p99 of unfinished words": "<= 20"}
    goals["p99 of mistyped words"] = "<= 20"
    return [
        Row(f"{engine}: {name}", value, unit, goals.get(name, "") if engine == TANTIVY else "")
        for name, (value, unit) in found.items()
    ]


async def measured(
    engine: str, folder: Path, pins: int, seconds: float
) -> dict[str, tuple[float, str]]:
    """The measures of an engine by name, with their units."""
    texts = Texts()
    documents = texts.pins(pins)
    before = _memory()
    began = time.perf_counter()
    if engine == TANTIVY:
        store = TantivySearch(str(folder / "index"))
        async with store.rebuild(1) as new:
            for start in range(0, pins, BATCH):
                await new.index(documents[start : start + BATCH])
    else:
        fts5 = Fts5(folder / "index")
        for start in range(0, pins, BATCH):
            fts5.index(documents[start : start + BATCH])
        fts5.finish()
    took = time.perf_counter() - began
    size = _size(folder)

    async def ask(text: str, prefix: bool, typing_errors: bool) -> int:
        if engine == TANTIVY:
            return len(await store.search(SearchRequest(text, LIMIT, prefix=prefix)))
        return len(
            await asyncio.to_thread(
                fts5.search, text, LIMIT, prefix=prefix, typing_errors=typing_errors
            )
        )

    found = {
        "pins indexed": (pins / took, "/s"),
        "size on the disk": (size / 2**20, "MiB"),
    }
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    writer = context.Process(target=keep_writing, args=(engine == TANTIVY, folder, pins, stop))
    writer.start()
    try:
        for name, made, prefix, typing_errors in (
            ("whole words", texts.query, False, False),
            ("unfinished words", texts.unfinished, True, False),
            ("mistyped words", texts.mistyped, False, True),
        ):
            times, some = await _load(ask, made, prefix, typing_errors, seconds)
            found[f"p50 of {name}"] = (quantiles(times, n=100)[49], "ms")
            found[f"p99 of {name}"] = (quantiles(times, n=100)[98], "ms")
            found[f"queries with hits, {name}"] = (100 * some / len(times), "%")
    finally:
        stop.set()
        writer.join()
    found["memory beside the pins"] = ((_memory() - before) / 2**20, "MiB")
    return found


async def _load(
    ask: Ask, made: Callable[[], str], prefix: bool, typing_errors: bool, seconds: float
) -> tuple[list[float], int]:
    """The milliseconds of each query, and how many queries had hits."""
    times, hits, tasks = list[float](), list[bool](), list[asyncio.Task[None]]()
    start = time.perf_counter() + 0.1

    async def one(text: str, due: float) -> None:
        hits.append(await ask(text, prefix, typing_errors) > 0)
        times.append(1000 * (time.perf_counter() - due))

    for number in range(int(seconds * RATE)):
        due = start + number / RATE
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        tasks.append(asyncio.create_task(one(made(), due)))
    await asyncio.gather(*tasks)
    return times, sum(hits)


def _size(folder: Path) -> int:
    return sum(found.stat().st_size for found in folder.rglob("*") if found.is_file())


def _memory() -> int:
    """The most memory that this process had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main()
