"""Measures related pins: their quality on people's real saves, and the cost of walks and graph.

    python -m bench.related --data FOLDER [--quick]

FOLDER has the saves (`bench.related.saves` says which set, and where it is from); the project does
not have them. Without it, only times and sizes are measured. All figures are of the product's own
walk, graph and build.
"""

import argparse
import asyncio
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bench.related.baselines import BESIDE, EASE, NEAREST, POPULAR, baselines
from bench.related.freshness import build_rate, seconds_until_found
from bench.related.learned import learned
from bench.related.saves import Quality, Rank, Saves
from bench.rows import Row, table, write
from datasources.ids import Kind, compose
from feed_engine.related import snapshot
from feed_engine.related.arrays import Saves as Edges
from feed_engine.related.graph import Graph
from feed_engine.related.taste import HALVED, MOST
from feed_engine.related.walk import BRIEF, PLAN, Plan, Query, related_roots

T = TypeVar("T")
SEEDS = (1, 2, 3)
EDGES = 5_000_000


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="the folder with saves.tsv.gz and follows.tsv.gz")
    parser.add_argument("--quick", action="store_true", help="rough figures; writes no file")
    asked = parser.parse_args()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="related-") as folder:
        if asked.data is not None:
            rows += quality(asked.data, Path(folder), quick=asked.quick)
        rows += large(Path(folder), EDGES // (10 if asked.quick else 1))
        rows += asyncio.run(build_rate(Path(folder), 2_000 if asked.quick else 50_000))
        rows += asyncio.run(seconds_until_found(Path(folder), 3 if asked.quick else 20))
    print(table(rows))
    if not asked.quick:
        print(f"written to {write('related', rows)}")


def quality(data: Path, folder: Path, *, quick: bool) -> list[Row]:
    saves = Saves(data)
    users = saves.judged[:: 6 if quick else 1]
    told = f"{len(users)} users, {saves.pins:,} pins, {len(saves.boards):,} boards"
    found: dict[str, Quality] = {}
    for name, rank in baselines(saves):
        found[name] = saves.judge(rank, users)
        print(name, found[name], flush=True)
    graph = _graph(saves, folder)
    took: list[float] = []
    walked = [saves.judge(_walks(saves, graph, seed, PLAN, took), users) for seed in SEEDS]

    def over(some: Saves, seed: int) -> Rank:
        return _walks(some, _graph(some, folder), seed, PLAN, [])

    brief = saves.judge(_walks(saves, graph, SEEDS[0], BRIEF, []), users)
    gains = [learned(data, saves, users, over, seed) for seed in SEEDS[: 1 if quick else None]]
    ndcg = float(np.mean([one.ndcg for one in walked]))
    coverage = float(np.mean([one.coverage for one in walked]))
    best = max((EASE, NEAREST), key=lambda name: found[name].ndcg)
    spread = ", ".join(f"{one.ndcg:.4f}" for one in walked)
    rows = [Row(f"NDCG@50: {name}", it.ndcg, "", "", told) for name, it in found.items()]
    rows += [
        Row("NDCG@50: walks", ndcg, "", "", f"mean of the seeds' {spread}"),
        Row("NDCG@50: walks of an answer", brief.ndcg, "", "", f"{BRIEF.steps:,} steps"),
        Row("walks over the best baseline", ndcg / found[best].ndcg, "x", ">= 1.05", best),
        Row(
            *("learned over walks", float(np.mean([one.ratio for one in gains])), "x", ">= 1.1"),
            "90%: " + ", ".join(f"{one.low:.2f} to {one.high:.2f}" for one in gains),
        ),
        Row("walks over the rule before", ndcg / found[BESIDE].ndcg, "x", ">= 2.3", BESIDE),
        Row("users with a hit: walks", float(np.mean([w.hits for w in walked])), "", "", told),
        Row(
            *("coverage: walks over popular", coverage / found[POPULAR].coverage, "x", ">= 20"),
            "share of all pins that anybody is shown",
        ),
        Row("a user's walks, processor time", 1000 * median(took), "ms", "", "saves of people"),
    ]
    return rows


def _graph(saves: Saves, folder: Path) -> Graph:
    edges = Edges()
    for board, pins in enumerate(saves.boards):
        for pin in pins:
            edges.add(pin + 1, pin + 1, board + 1, saves.dates[board, pin])
    path = folder / "saves"
    snapshot.write(path, edges.arrange(), built=1, pins=len(edges))
    return Graph(snapshot.opened(path))


def _walks(saves: Saves, graph: Graph, seed: int, plan: Plan, took: list[float]) -> Rank:
    def rank(user: int) -> NDArray[np.float64]:
        queries = [
            Query(pin + 1, 0.5 ** (place / HALVED))
            for place, pin in enumerate(saves.history[user][:MOST])
        ]
        began = time.process_time()
        ranked = related_roots(graph, queries, seed=seed, plan=plan)
        took.append(time.process_time() - began)
        scores = np.zeros(saves.pins)
        scores[graph.root_names.ids(ranked.numbers) - 1] = ranked.scores
        return scores

    return rank


def large(folder: Path, edges: int) -> list[Row]:
    """A graph of many edges, whose degrees have heavy tails, as saves have."""
    random = np.random.default_rng(1)
    roots = (random.zipf(1.6, edges) * 7_919 + random.integers(0, edges // 8, edges)) % (edges // 2)
    boards = (random.pareto(1.2, edges) * edges / 200).astype(np.int64) % (edges // 40)
    saves = Edges()
    began = time.process_time()
    for root, board in zip(roots.tolist(), boards.tolist(), strict=True):
        pin = compose(root % 4096, Kind.PIN, root + 1)
        saves.add(pin, pin, compose(board % 4096, Kind.BOARD, board + 1), 0)
    collected = time.process_time() - began
    arranged_in, arrays = _timed(saves.arrange)
    path = folder / "large"
    began = time.process_time()
    header = snapshot.write(path, arrays, built=1, pins=len(saves))
    arranging = collected + arranged_in + time.process_time() - began
    del saves, arrays
    before = _private()
    took, graph = _timed(lambda: Graph(snapshot.opened(path)))
    millions = header.edges / 1e6
    told = f"{header.edges:,} edges, {header.roots:,} roots, {header.boards:,} boards"
    disk = path.stat().st_blocks * 512
    rows = [
        Row("file, a million edges", disk / 2**20 / millions, "MiB", "", told),
        Row(
            "arranging and writing a million edges",
            arranging / millions,
            "s",
            "",
            told,
        ),
        Row("opening and checking, processor time", took * 1000, "ms", "", told),
    ]
    names = np.random.default_rng(2).integers(0, header.roots, (50, MOST))
    for name, plan in (("a user's walks", PLAN), ("walks of an answer", BRIEF)):
        times = []
        for seed, some in enumerate(names):
            ids = graph.root_names.ids(some if plan is PLAN else some[:1]).tolist()
            queries = [Query(id, 0.5 ** (at / HALVED)) for at, id in enumerate(ids)]
            began = time.process_time()
            related_roots(graph, queries, seed=seed, plan=plan)
            times.append(time.process_time() - began)
        slow = f"slowest {1000 * max(times):.1f} ms; {told}"
        rows.append(
            Row(f"{name}, large graph, processor time", 1000 * median(times), "ms", "", slow)
        )
    for number in range(10_000):
        pin = compose(0, Kind.PIN, 10_000_000 + number)
        graph.save(pin, pin, graph.board_names.id(number % header.boards))
    own = (_private() - before) / 2**20
    rows.append(Row("a process' own memory, 10,000 changes later", own, "MiB", "", told))
    return rows


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    began = time.process_time()
    found = work()
    return time.process_time() - began, found


def _private() -> int:
    """The bytes of memory that only this process has."""
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
        if line.startswith("Private_Dirty:"):
            return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main()
