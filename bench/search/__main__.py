"""Compares the two search stores, and SQLite's FTS5, over the same generated pins; and measures
search through a gateway with each of the two stores.

    python -m bench.search [--quick]

The process that asks an engine is new for each engine. Queries arrive at a constant rate, while a
second process adds pins; a query's time counts from the moment at which it was due. OpenSearch is
the server of `pinway stack`, started for this run. All processes share the machine's cores.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import quantiles
from urllib.parse import urlsplit

from bench.processes import most_resident, resident
from bench.rows import Row, table, write
from bench.search.engines import OPENSEARCH, TANTIVY, Engine, engine_at
from bench.search.gateway import in_gateways
from bench.search.server import opensearch
from bench.search.titles import Texts
from bench.search.writing import keep_writing

PINS, SECONDS, RATE = 100_000, 20, 50
LIMIT = 50  # hits of a query


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="rough figures; writes no file")
    parser.add_argument("--engine", metavar="URL", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    pins, seconds = (2_000, 2) if asked.quick else (PINS, SECONDS)
    if asked.engine:
        print(json.dumps(asyncio.run(measured(asked.engine, pins, seconds))))
        return
    with (
        tempfile.TemporaryDirectory(prefix="search-") as name,
        opensearch(Path(name) / "stack") as server,
    ):
        assert server.pid is not None
        folder, rows, at = Path(name), list[Row](), f"opensearch://127.0.0.1:{server.port}"
        for url in (f"tantivy://{folder}/index", f"{at}/engine", f"fts5://{folder}/fts5"):
            rows += _rows(url, server.pid, quick=asked.quick)
        found = 3 if asked.quick else 20
        rows += asyncio.run(in_gateways(folder, at, server.pid, pins, seconds, found))
    print(table(rows))
    if not asked.quick:
        print(f"written to {write('search', rows)}")


def _rows(url: str, server: int, *, quick: bool) -> list[Row]:
    engine, options = urlsplit(url).scheme, ["--quick"] if quick else []
    done = subprocess.run(
        [sys.executable, "-m", "bench.search", "--engine", url, *options],
        check=True,
        stdout=subprocess.PIPE,
    )
    found: dict[str, tuple[float, str]] = json.loads(done.stdout)
    if engine == OPENSEARCH:
        found["memory of the server"] = (resident(server) / 2**20, "MiB")
    kinds = ("whole", "unfinished", "mistyped") if engine == TANTIVY else ()
    goals = {f"p99 of {kind} words": "<= 20" for kind in kinds}
    return [
        Row(f"{engine}: {name}", value, unit, goals.get(name, ""))
        for name, (value, unit) in found.items()
    ]


async def measured(url: str, pins: int, seconds: float) -> dict[str, tuple[float, str]]:
    """The measures of an engine by name, with their units."""
    texts = Texts()
    documents = texts.pins(pins)
    before = most_resident(os.getpid())
    engine = engine_at(url)
    began = time.perf_counter()
    await engine.build(documents)
    found = {
        "pins indexed": (pins / (time.perf_counter() - began), "/s"),
        "size on the disk": (await engine.size() / 2**20, "MiB"),
    }
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    writer = context.Process(target=keep_writing, args=(url, pins, stop))
    writer.start()
    try:
        for name, made, prefix, typing_errors in (
            ("whole words", texts.query, False, False),
            ("unfinished words", texts.unfinished, True, False),
            ("mistyped words", texts.mistyped, False, True),
        ):
            times, some = await _load(engine, made, prefix, typing_errors, seconds)
            found[f"p50 of {name}"] = (quantiles(times, n=100)[49], "ms")
            found[f"p99 of {name}"] = (quantiles(times, n=100)[98], "ms")
            found[f"queries with hits, {name}"] = (100 * some / len(times), "%")
    finally:
        stop.set()
        writer.join()
    found["memory beside the pins"] = ((most_resident(os.getpid()) - before) / 2**20, "MiB")
    await engine.close()
    return found


async def _load(
    engine: Engine, made: Callable[[], str], prefix: bool, typing_errors: bool, seconds: float
) -> tuple[list[float], int]:
    """The milliseconds of each query, and how many queries had hits."""
    times, hits, tasks = list[float](), list[bool](), list[asyncio.Task[None]]()
    start = time.perf_counter() + 0.1

    async def one(text: str, due: float) -> None:
        found = await engine.search(text, LIMIT, prefix=prefix, typing_errors=typing_errors)
        hits.append(found > 0)
        times.append(1000 * (time.perf_counter() - due))

    for number in range(int(seconds * RATE)):
        due = start + number / RATE
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        tasks.append(asyncio.create_task(one(made(), due)))
    await asyncio.gather(*tasks)
    return times, sum(hits)


if __name__ == "__main__":
    main()
