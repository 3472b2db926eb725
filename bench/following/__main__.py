"""Deliveries of fan-out and pages of the following feed, on the embedded stores.

    make bench NAME=following [QUICK=1]
    python -m bench.following --hbase [--quick]
    python -m bench.following --outage [--followers 200000]

A delivery is one pin to one follower's feed and pool, on both sides. It is compared with the same
cells put in batches without other work, and with Redis sorted sets (one for each follower, capped).
Deliveries to real HBase servers, by wall time, and an outage (`bench.following.outage`) are
separate measurements.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

import redis.asyncio

from bench.following.outage import outage
from bench.rows import RESULTS, Row, replace, table
from datasources.ids import Kind, compose
from datasources.mappings import SEQUENCE_STEP, Edge, Mapping
from datasources.protocols import Sides, Stores
from datasources.records import Pin
from datasources.valkey import ValkeyServer
from deploy.stack import Stack
from feed_engine import writes
from feed_engine.feeds import batches
from feed_engine.feeds.bulk import build_feeds
from feed_engine.feeds.content import load_pins
from feed_engine.feeds.fanout import PAGE, pin_published
from feed_engine.feeds.following import following_page
from feed_engine.feeds.rows import (
    FOLLOWING,
    POOLS,
    TABLES_FEEDS,
    TABLES_POOLS,
    FollowingColumn,
    Source,
    follow_stamp,
    following_column,
    id_row,
    pool_row,
)
from feed_engine.feeds.settings import Feeds
from feed_engine.feeds.smart import pools
from feed_engine.outbox.change import PinPublished
from feed_engine.speculation import Race
from tests.contract.wide_columns import hbase
from tests.embedded_stores import drain, embedded_config, embedded_stores
from tests.people import People

START = 1_700_000_000_000
BATCH = 1000
CAP = 1000
EVERY = CAP // 4  # pins that come to a row between two cuts, on average
FILLED = 10  # rows that are filled at the same time


async def _nowhere(cursor: bytes) -> None: ...


async def _followers(stores: Stores, owner_id: int, count: int) -> list[int]:
    """Create followers of an owner, as edges only."""
    ids = [compose(0, Kind.USER, 1_000_000 + number) for number in range(count)]
    for start in range(0, count, BATCH):
        edges = [
            (
                Mapping.USER_FOLLOWED_BY_USERS,
                Edge(owner_id, id, (START + start + at) * SEQUENCE_STEP, 1),
            )
            for at, id in enumerate(ids[start : start + BATCH])
        ]
        await stores.shards.mappings.apply(edges)
    return ids


async def _bare(stores: Stores, pin: Pin, followers: list[int]) -> None:
    """Put the cells of a delivery to each follower, without other work."""
    column = following_column(FollowingColumn(pin.created, pin.id, pin.owner_id))
    pool_column, why = pools.followed_cell(pin, pin.owner_id)
    for start in range(0, len(followers), PAGE):
        some = followers[start : start + PAGE]
        in_feeds = {id_row(id): {column: b""} for id in some}
        in_pools = {pool_row(id, Source.FOLLOWED): {pool_column: why} for id in some}
        await asyncio.gather(
            *(store.put(FOLLOWING, in_feeds, follow_stamp(1)) for store in stores.feeds),
            *(store.put(POOLS, in_pools, pin.created) for store in stores.pools),
        )


async def _rate(
    count: int, work: Callable[[], Awaitable[None]], clock: Callable[[], float]
) -> float:
    """Deliveries a second."""
    began = clock()
    await work()
    return count / (clock() - began)


class Measured(NamedTuple):
    """The stores of the deliveries, the clock for their rate, and the goals."""

    name: str
    clock: Callable[[], float]
    unit: str
    rate: str = ""
    ratio: str = ""


# CPU time of this process, including its threads.
EMBEDDED = Measured("embedded", time.process_time, "/s of CPU time", rate=">= 60000")
HBASE = Measured("HBase", time.perf_counter, "/s", ratio=">= 0.6")


async def fanout(
    stores: Stores, people: People, count: int, rounds: int, measured: Measured = EMBEDDED
) -> list[Row]:
    """Deliveries of pins to many followers, alternating with bare puts of the same cells."""
    owner = await people.user()
    board = await people.board(owner)
    followers = await _followers(stores, owner.id, count)
    ours, bare = [], []
    name, clock = measured.name, measured.clock
    for number in range(rounds):
        new = writes.NewPin(board_id=board.id, title="a pin")
        pin = (await writes.create_pin(stores, owner.id, new, at=START + number)).pin
        for row in await stores.shards.outbox.pending(2**62, 100):
            await stores.shards.outbox.finish(row.shard, row.id)
        task = PinPublished(pin.id, board.id, owner.id, (), pin.created)
        ours.append(
            await _rate(
                count,
                lambda task=task: pin_published(stores, task, None, _nowhere, batch=2**62),  # type: ignore[misc]
                clock,
            )
        )
        bare.append(
            await _rate(count, lambda pin=pin: _bare(stores, pin, followers), clock)  # type: ignore[misc]
        )
    rate, puts = median(ours), median(bare)
    over = f"{name}: deliveries over bare batched puts"
    return [
        Row(f"{name}: deliveries, {count:,} followers", rate, measured.unit, measured.rate),
        Row(over, rate / puts, "x", measured.ratio, f"{puts:,.0f} /s"),
    ]


async def full_rows(stores: Stores, people: People, count: int) -> list[Row]:
    """Deliveries to followers whose feeds and pools are at their caps: each pin that comes cuts an
    old one. As many pins come as pass between two cuts of a row."""
    owner = await people.user()
    board = await people.board(owner)
    followers = await _followers(stores, owner.id, count)
    for start in range(0, count, FILLED):
        await _fill(stores, followers[start : start + FILLED])
    tasks = []
    for number in range(EVERY):
        new = writes.NewPin(board_id=board.id, title="a pin")
        at = START + CAP + number
        pin = (await writes.create_pin(stores, owner.id, new, at=at)).pin
        tasks.append(PinPublished(pin.id, board.id, owner.id, (), pin.created))
    for row in await stores.shards.outbox.pending(2**62, 1000):
        await stores.shards.outbox.finish(row.shard, row.id)

    async def deliver() -> None:
        for task in tasks:
            await pin_published(stores, task, None, _nowhere, batch=2**62)

    rate = await _rate(count * EVERY, deliver, time.process_time)
    return [Row("embedded: deliveries to full feeds", rate, "/s of CPU time")]


async def _fill(stores: Stores, followers: list[int]) -> None:
    """Fill the feeds and the pools of some users to their caps, with pins of one other user."""
    cause = compose(0, Kind.USER, 9_000_000)
    board_id = compose(0, Kind.BOARD, 9_000_000)
    pins = [
        Pin(
            id=compose(0, Kind.PIN, 9_000_000 + number),
            created=START + number,
            board_id=board_id,
            owner_id=cause,
        )
        for number in range(CAP)
    ]
    feed = {following_column(FollowingColumn(pin.created, pin.id, cause)): b"" for pin in pins}
    pool = dict(pools.followed_cell(pin, cause) for pin in pins)
    in_feeds = {id_row(id): feed for id in followers}
    in_pools = {pool_row(id, Source.FOLLOWED): pool for id in followers}
    await asyncio.gather(
        *(store.put(FOLLOWING, in_feeds, follow_stamp(1)) for store in stores.feeds),
        *(store.put(POOLS, in_pools, START) for store in stores.pools),
    )


async def pages(stores: Stores, people: People, many: int, rounds: int) -> list[Row]:
    """Pages of 50 pins for a user who follows many users, compared with a user who follows 10."""
    owners = [await people.user() for _ in range(10)]
    for owner in owners:
        board = await people.board(owner)
        for number in range(30):
            new = writes.NewPin(board_id=board.id, title="a pin")
            await writes.create_pin(stores, owner.id, new, at=START + number)
    viewers = [await people.user() for _ in range(2)]
    await drain(stores)
    for viewer, count in zip(viewers, (10, many), strict=True):
        quiet = [compose(0, Kind.USER, 5_000_000 + number) for number in range(count - 10)]
        targets = [*(owner.id for owner in owners), *quiet]
        for start in range(0, count, BATCH):
            edges = [
                (Mapping.USER_FOLLOWS_USERS, Edge(viewer.id, id, (START + at) * SEQUENCE_STEP, 1))
                for at, id in enumerate(targets[start : start + BATCH], start)
            ]
            await stores.shards.mappings.apply(edges)
    await build_feeds(stores, [viewer.id for viewer in viewers])
    race = Race(stores.feeds, cutoff=1, deadline=10)
    feeds = Feeds(stores, Race(stores.pools, cutoff=1, deadline=10), race)

    async def visible(ids: list[int]) -> dict[int, Pin]:
        return await load_pins(stores, ids)

    times: list[list[float]] = [[], []]
    for _ in range(rounds):
        for viewer, took in zip(viewers, times, strict=True):
            began = time.perf_counter()
            page = await following_page(feeds, viewer.id, first=50, visible=visible)
            took.append(time.perf_counter() - began)
            assert len(page.items) == 50
    few, lots = (sorted(took)[int(rounds * 0.99)] * 1000 for took in times)
    return [
        Row("embedded: page of 50, p99, 10 followees", few, "ms"),
        Row(f"embedded: page of 50, p99, {many:,} followees", lots, "ms"),
        Row(f"embedded: page of 50, p99, {many:,} followees over 10", lots / few, "x", "<= 1.2"),
    ]


async def sorted_sets(valkey: ValkeyServer, count: int, rounds: int) -> list[Row]:
    """The same fan-out to one capped sorted set for each follower: without causes, pools or
    sides."""
    client = redis.asyncio.Redis.from_url(valkey.url(3).replace("redis+unix:", "unix:"))
    before = (await client.info("memory"))["used_memory"]
    rates = []
    for pin in range(rounds):
        began = time.perf_counter()
        for start in range(0, count, BATCH):
            async with client.pipeline(transaction=False) as pipe:
                for follower in range(start, min(start + BATCH, count)):
                    pipe.zadd(f"f{follower}", {str(2**46 + pin): START + pin})
                    if (pin + follower) % 64 == 0:
                        pipe.zremrangebyrank(f"f{follower}", 0, -CAP - 1)
                await pipe.execute()
        rates.append(count / (time.perf_counter() - began))
    used = (await client.info("memory"))["used_memory"] - before
    took = []
    for follower in range(1000):
        began = time.perf_counter()
        await client.zrevrange(f"f{follower % count}", 0, 49)
        took.append((time.perf_counter() - began) * 1000)
    await client.aclose()
    return [
        Row("Redis sorted sets: deliveries to one side, one client", median(rates), "/s"),
        Row("Redis sorted sets: memory a cell", used / (count * rounds), "bytes"),
        Row("Redis sorted sets: 50 ids, p99", sorted(took)[990], "ms", "", "ids alone, no pins"),
    ]


async def _run(quick: bool) -> list[Row]:
    count, rounds, many, reads = (2_000, 3, 500, 100) if quick else (20_000, 7, 5_000, 1_000)
    async with _embedded() as (valkey, stores):
        people = People(stores)
        return [
            *await fanout(stores, people, count, rounds),
            *await full_rows(stores, people, count // 10),
            *await pages(stores, people, many, reads),
            *await sorted_sets(valkey, count, rounds),
        ]


async def _hbase(quick: bool) -> list[Row]:
    count, rounds = (2_000, 3) if quick else (20_000, 7)
    with tempfile.TemporaryDirectory(prefix="pinway-following-") as folder:
        stack = Stack(Path(folder))
        try:
            await asyncio.to_thread(stack.up)
            async with _embedded() as (_, stores):
                urls = [stack.settings[f"stores.feeds_{side}"] for side in Sides._fields]
                both = Sides(*(hbase(url, deadline=30.0, prefix="bench_") for url in urls))
                stores = stores._replace(pools=both, feeds=both)
                try:
                    for side in both:
                        await side.create([*TABLES_POOLS, *TABLES_FEEDS])
                    return await fanout(stores, People(stores), count, rounds, HBASE)
                finally:
                    for side in both:
                        await side.close()
        finally:
            await asyncio.to_thread(stack.down)


async def _outage(count: int) -> list[Row]:
    async with _embedded() as (_, stores):
        people = People(stores)
        owner = await people.user()
        board = await people.board(owner)
        await _followers(stores, owner.id, count)
        sides = [("feeds", "standby"), ("pools", "primary")]
        return await outage(stores, board, sides, START)


@asynccontextmanager
async def _embedded() -> AsyncIterator[tuple[ValkeyServer, Stores]]:
    """Empty stores in a temporary folder."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory)
        async with (
            ValkeyServer(path) as valkey,
            embedded_stores(embedded_config(path, valkey)) as stores,
        ):
            yield valkey, stores


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.following", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes; keeps no results")
    parser.add_argument("--hbase", action="store_true", help="deliveries to real HBase servers")
    parser.add_argument("--outage", action="store_true", help="an outage of one side")
    parser.add_argument("--followers", type=int, default=200_000, help="in an outage")
    args = parser.parse_args()
    if args.outage and args.followers <= batches.BATCH:
        parser.error(
            f"--followers must be over {batches.BATCH:,}: fewer are delivered to in one batch"
        )
    if args.outage:
        print(table(asyncio.run(_outage(args.followers))))
        return
    rows = asyncio.run(_hbase(args.quick) if args.hbase else _run(args.quick))
    if not args.quick:
        RESULTS.mkdir(exist_ok=True)
        replace("following", ("HBase",) if args.hbase else ("embedded", "Redis"), rows)
    print(table(rows))


if __name__ == "__main__":
    main()
