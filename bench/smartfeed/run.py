"""Compares orders of the home feed by a population's week: the same population, the same filled
stores and the same draws for each order."""

import asyncio
import json
import resource
import shutil
import stat
import sys
import tempfile
import time
from collections import Counter, defaultdict
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench.rows import Row
from bench.smartfeed import liking
from bench.smartfeed.filling import fill
from bench.smartfeed.liking import NEWEST
from bench.smartfeed.population import Population, Shape, drawn
from bench.smartfeed.week import Found, clock, gateway, settings_of, week
from feed_engine.related.build import build
from gateway.operate.progress import Bars
from gateway.site.graph import graph_file
from gateway.site.installation import install

MEASURE = "a population's week"
PEER, ALONE, OURS = "newest first", "newest first, with walks", "affinity, likes, walks and shares"
_BY_TIME: dict[str, Any] = {
    "feeds.affinity_weight": NEWEST.affinity,
    "feeds.likes_weight": NEWEST.likes,
    "feeds.rates_power": 0,
}
ARMS: dict[str, dict[str, Any]] = {
    PEER: {**_BY_TIME, "jobs.related_hours": 0},
    OURS: {},
    ALONE: _BY_TIME,
}
"""The settings of each order. Without walks, related pins are the newest beside a liked pin."""


def compared(shape: Shape, folder: Path | None = None) -> list[Row]:
    """The rows of all orders. A given folder keeps the filled stores and each order's outcome for
    further runs. An order whose outcome is there is not run."""
    began = time.monotonic()
    population = drawn(shape)
    liked = _liked_before(population)
    found: dict[str, Found] = {}
    with ExitStack() as stack:
        place = folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        # Stores note where they are: each order's stores are a copy in the same place.
        data, filled = place / "data", place / "-".join(map(str, ("filled", *shape)))
        if not filled.exists():
            shutil.rmtree(data, ignore_errors=True)  # of a run that was killed
            asyncio.run(_fill(population, data))
            data.rename(filled)
        for name, given in ARMS.items():
            outcome = place / f"{name} {filled.name}.json"
            if not outcome.exists():
                shutil.rmtree(data, ignore_errors=True)
                shutil.copytree(filled, data, ignore=_sockets)
                of_order = asyncio.run(week(name, settings_of(data, given), population, liked))
                outcome.write_text(json.dumps(vars(of_order)))
            found[name] = _outcome(outcome)
            print(f"{name}: {found[name].likes.total():,} pins liked", file=sys.stderr, flush=True)
        shutil.rmtree(data, ignore_errors=True)
    return _rows(population, found, time.monotonic() - began)


def _outcome(kept: Path) -> Found:
    given = json.loads(kept.read_text())
    likes = Counter({int(user): count for user, count in given.pop("likes").items()})
    return Found(likes, Counter(given.pop("shown")), Counter(given.pop("liked")), **given)


def _liked_before(population: Population) -> dict[int, set[int]]:
    """Viewer → the roots that the viewer liked before the week."""
    found, viewers = defaultdict[int, set[int]](set), set(population.viewers)
    for like in population.earlier_likes():
        if like.user in viewers:
            found[like.user].add(int(population.root[like.pin]))
    return found


async def _fill(population: Population, data: Path) -> None:
    settings = settings_of(data)
    with clock(lambda: population.shape.begin), Bars() as progress:
        await install(settings, progress)
        async with gateway(settings) as runtime:
            await fill(runtime.stores, population, data, progress)
            await build(runtime.stores, graph_file(settings))


def _sockets(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if stat.S_ISSOCK(Path(folder, name).lstat().st_mode)]


def _rows(population: Population, found: dict[str, Found], seconds: float) -> list[Row]:
    shape, visits = population.shape, len(population.visits())
    plain = found[PEER]
    rows = [
        Row(
            f"{MEASURE}: pins liked a visit, {PEER}",
            plain.likes.total() / visits,
            "",
            "",
            f"{shape.users:,} users, {shape.pins:,} pins; {shape.viewers:,} viewers, {visits:,} "
            f"visits in {shape.days} days",
        )
    ]
    for name, of_order in found.items():
        if name != PEER:
            rows.append(
                liking.row(
                    f"{MEASURE}: pins liked a visit, {name}",
                    [of_order.likes[user] for user in population.viewers],
                    [plain.likes[user] for user in population.viewers],
                    goal=">= 1.5" if name == OURS else "",
                    peer=PEER,
                )
            )
        spent = 1000 * of_order.visit_seconds / visits
        rows.append(Row(f"{MEASURE}: a visit, {name}", spent, "ms of processor time"))
        rows.append(Row(f"{MEASURE}: all actions, {name}", of_order.seconds, "s of processor time"))
    for name, of_order in found.items():
        for reason, shown in sorted(of_order.shown.items()):
            rows.append(
                Row(
                    f"{MEASURE}: liked of 100 shown as {reason}, {name}",
                    100 * of_order.liked[reason] / shown,
                    "",
                    "",
                    f"{shown:,} shown",
                )
            )
    ours = found[OURS]
    rows += [
        Row(f"{MEASURE}: pictures that came twice as new", ours.repeats, "", "<= 0"),
        Row(f"{MEASURE}: hidden pictures that were shown", ours.hidden, "", "<= 0"),
        Row(f"{MEASURE}: the whole run", seconds, "s"),
        Row(f"{MEASURE}: memory at most", _memory(), "GB"),
    ]
    return rows


def _memory() -> float:
    """GB of this process, with the embedded stores."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
