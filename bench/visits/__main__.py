"""New visits of the home feed on the embedded stores: first visits of viewers, and visits of a
viewer who has seen all pins of what they follow.

    make bench NAME=visits [QUICK=1]

A visit is measured from the call to the page of 25 pins, with its transaction. Its job is measured
beside it.
Each viewer follows 20 users and two interests. Processor time is of this process, with the stores'
threads; pool reads are calls to read a row.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.call_counts import Counts
from bench.rows import Row, table, write
from datasources.protocols import Stores
from datasources.records import User
from datasources.valkey import ValkeyServer
from feed_engine.feeds.bulk import build_feeds
from feed_engine.feeds.rows import Reason
from feed_engine.feeds.settings import Feeds, FeedSettings
from feed_engine.feeds.smart.popular_bulk import build_popular
from feed_engine.feeds.smart.results import HomePage
from feed_engine.feeds.smart.service import home_page
from feed_engine.outbox.completion import settle
from feed_engine.speculation import Race
from tests.embedded_stores import drain, embedded_config, embedded_stores
from tests.feeds import START, Feeding

OWNERS, FOLLOWED = 40, 20
FIRST = 25
FOLLOWS = {Reason.FOLLOWED_USER, Reason.FOLLOWED_BOARD, Reason.FOLLOWED_INTEREST}


class World(NamedTuple):
    feeding: Feeding
    owners: list[User]
    interests: list[int]

    async def viewer(self) -> User:
        """A new viewer, who follows users and the interests."""
        viewer = await self.feeding.user()
        for id in [*(owner.id for owner in self.owners[:FOLLOWED]), *self.interests]:
            await self.feeding.follow(viewer, id)
        return viewer


class Visits(NamedTuple):
    """Measured visits: milliseconds of processor time, reads of pools, and milliseconds of their
    jobs."""

    milliseconds: list[float]
    reads: list[int]
    jobs: list[float]


async def _world(stores: Stores, each: int, of_interest: int) -> World:
    """Users with `each` pins, and two interests with `of_interest` pins of other users."""
    feeding = Feeding(stores)
    owners = [await feeding.user() for _ in range(OWNERS)]
    interests = [(await feeding.interest()).id for _ in range(2)]
    at = START
    for owner in owners:
        board = await feeding.board(owner)
        for _ in range(each):
            await feeding.pin_at(board, at)
            at += 1000
    board = await feeding.board(await feeding.user())
    for _ in range(of_interest):
        for interest in interests:
            await feeding.pin_at(board, at, interest)
            at += 1000
    return World(feeding, owners, interests)


async def _forget_jobs(stores: Stores) -> None:
    await settle()
    while rows := await stores.shards.outbox.pending(2**62, 1000):
        for row in rows:
            await stores.shards.outbox.finish(row.shard, row.id)


async def _visit(world: World, feeds: Feeds, viewer: User, found: Visits | None) -> HomePage:
    began = time.process_time()
    page = await home_page(
        feeds,
        viewer.id,
        first=FIRST,
        visible=world.feeding.visible(viewer),
        likes=world.feeding.likes,
        causes=True,
    )
    if found is not None:
        found.milliseconds.append((time.process_time() - began) * 1000)
    return page


async def _jobs(stores: Stores, found: Visits) -> None:
    began = time.process_time()
    await drain(stores)
    found.jobs.append((time.process_time() - began) * 1000)


async def _measure(world: World, viewers: int, caught_up: int) -> tuple[Visits, Visits, int]:
    """First visits; visits of a caught-up viewer; and the visits until the viewer caught up."""
    stores, counts = world.feeding.stores, Counts()
    settings = FeedSettings(generator_seconds=60)  # on a busy machine, the deadline cuts chunks
    counted = counts.of(stores)
    feeds = Feeds(
        counted,
        Race(counted.pools, cutoff=60, deadline=120),
        Race(counted.feeds, cutoff=60, deadline=120),
        settings,
    )
    people = [await world.viewer() for _ in range(viewers + 1)]
    await drain(stores)
    await build_feeds(stores, [viewer.id for viewer in people])
    await build_popular(stores)
    fresh, late = Visits([], [], []), Visits([], [], [])
    for viewer in people[:-1]:
        counts.clear()
        await _visit(world, feeds, viewer, fresh)
        await settle()
        fresh.reads.append(counts.calls["pools.read"])
        await _jobs(stores, fresh)
    viewer, visits = people[-1], 0
    while True:
        page = await _visit(world, feeds, viewer, None)
        await drain(stores)
        visits += 1
        if not FOLLOWS & {item.reason for item in page.items}:
            break
    while len(late.reads) < caught_up:
        counts.clear()
        await _visit(world, feeds, viewer, late)
        await settle()
        late.reads.append(counts.calls["pools.read"])
        await _jobs(stores, late)
    return fresh, late, visits


async def _run(quick: bool) -> list[Row]:
    each, of_interest, viewers = (20, 150, 10) if quick else (30, 600, 20)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        async with (
            ValkeyServer(Path(directory)) as valkey,
            embedded_stores(embedded_config(Path(directory), valkey)) as stores,
        ):
            world = await _world(stores, each, of_interest)
            await _forget_jobs(stores)
            fresh, late, visits = await _measure(world, viewers, viewers // 2)
    ratio = median(late.milliseconds) / median(fresh.milliseconds)
    return [
        Row("a first visit", median(fresh.milliseconds), "ms of processor time"),
        Row("pool reads of a first visit", median(fresh.reads), ""),
        Row("the job of a first visit", median(fresh.jobs), "ms of processor time"),
        Row("visits until all followed pins came", visits, ""),
        Row("a caught-up visit", median(late.milliseconds), "ms of processor time"),
        Row("a caught-up visit", ratio, "x", "<= 1.1", "a first visit"),
        Row("pool reads of a caught-up visit", median(late.reads), "", "<= 12"),
        Row("the job of a caught-up visit", median(late.jobs), "ms of processor time"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.visits", description=__doc__)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    rows = asyncio.run(_run(args.quick))
    print(table(rows))
    if not args.quick:
        write("visits", rows)


if __name__ == "__main__":
    main()
