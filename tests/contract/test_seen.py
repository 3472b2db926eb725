"""Seeing one's own write in a feed, over RocksDB and two real HBase clusters: jobs held back, run
while a read waits, and applied on one side alone."""

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from datasources.errors import StoreUnavailable
from datasources.ids import Kind
from datasources.mappings import EdgeKey, Mapping
from datasources.protocols import Sides, Stores, WideColumnStore
from datasources.records import Board, Pin, User
from datasources.valkey import ValkeyServer
from feed_engine import writes
from feed_engine.feeds import marks
from feed_engine.feeds.follow_edges import FOLLOWS
from feed_engine.feeds.following import FollowingPage, following_page
from feed_engine.feeds.own_writes import token_of
from feed_engine.feeds.rows import FOLLOWING_APPLIED, TABLES_FEEDS, TABLES_POOLS
from feed_engine.feeds.settings import Feeds
from feed_engine.feeds.smart.results import HomePage
from feed_engine.feeds.smart.service import home_page
from feed_engine.outbox.change import Followed, PinPublished, Task
from feed_engine.speculation import Race, Side
from tests.contract.wide_columns import drop_tables, hbase
from tests.embedded_stores import embedded_config, embedded_stores, flush, valkey
from tests.faulty import Interrupted, Unwell
from tests.feeds import Feeding, pins_of
from tests.servers import hbase_primary, hbase_standby

__all__ = ["valkey"]
pytestmark = pytest.mark.anyio
SHORT = 3.0
"""Seconds in which a busy machine reads a feed. A page for which nothing will arrive takes all of
them."""


@pytest.fixture(scope="module", params=["rocksdb", "hbase"])
async def stores(
    request: pytest.FixtureRequest,
    valkey: ValkeyServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Stores]:
    await flush(valkey)
    directory: Path = tmp_path_factory.mktemp("stores")
    async with embedded_stores(embedded_config(directory, valkey)) as opened:
        if request.param == "rocksdb":
            yield opened
            return
        stack, prefix = request.getfixturevalue("clusters"), f"seen_{uuid.uuid4().hex[:8]}_"
        urls, tables = [hbase_primary(stack), hbase_standby(stack)], TABLES_POOLS + TABLES_FEEDS
        sides = Sides(*(hbase(url, deadline=60.0, prefix=prefix) for url in urls))
        for side in sides:
            await side.create(tables)
        yield opened._replace(pools=sides, feeds=sides)
        for side, url in zip(sides, urls, strict=True):
            await side.close()
            await drop_tables(url, [table._replace(name=prefix + table.name) for table in tables])


class Seeing(Feeding):
    """Reads that wait for writes; only for a short time where nothing will arrive."""

    def __init__(self, stores: Stores, wait: float = 60.0) -> None:
        super().__init__(stores)
        self.wait = wait

    def feeds(self, stores: Stores | None = None) -> Feeds:
        stores = stores or self.stores
        races = (
            Race(sides, cutoff=5, deadline=self.wait) for sides in (stores.pools, stores.feeds)
        )
        return Feeds(stores, *races, self.settings, lambda: self.now)

    async def following_seeing(
        self, viewer: User, token: str | None, stores: Stores | None = None, dated: bool = True
    ) -> FollowingPage:
        return await following_page(
            self.feeds(stores), viewer.id, first=50, seen=token, dated=dated,
            visible=self.visible(viewer),
        )  # fmt: skip

    async def home_seeing(
        self, viewer: User, token: str | None, stores: Stores | None = None, **rest: Any
    ) -> HomePage:
        return await home_page(
            self.feeds(stores), viewer.id, first=5, seen=token, dated=True,
            visible=self.visible(viewer), **rest,
        )  # fmt: skip

    async def followed(self, viewer: User, target_id: int) -> str:
        token = token_of(await writes.follow(self.stores, viewer.id, target_id))
        assert token is not None
        return token

    async def task(self, kind: type[Task], id: int) -> Task:
        """The only task that belongs to an object."""
        [found] = [t for t in await self.tasks() if type(t) is kind and id in _ids(t)]
        return found


def _ids(task: Any) -> tuple[int, ...]:
    return (task.target_id,) if isinstance(task, Followed) else (task.pin_id,)


@pytest.fixture
async def seeing(stores: Stores) -> AsyncIterator[Seeing]:
    yield (one := Seeing(stores))
    await one.drain()


async def author(seeing: Seeing, pins: int = 3) -> tuple[User, User, Board, list[int]]:
    """A viewer, a user to follow, and the user's board and pins, newest first."""
    viewer, owner = await seeing.user(), await seeing.user()
    board = await seeing.board(owner)
    made = await seeing.pins(board, pins)
    await seeing.drain()
    return viewer, owner, board, [pin.id for pin in reversed(made)]


def on_primary(stores: Stores, wrap: Callable[[WideColumnStore], Any]) -> Stores:
    """The stores, with another primary for pools and feeds."""
    return stores._replace(
        **{name: Sides(wrap(s.primary), s.standby) for name, s in _sides(stores).items()}
    )


def on_standby(stores: Stores, wrap: Callable[[WideColumnStore], Any]) -> Stores:
    return stores._replace(
        **{name: Sides(s.primary, wrap(s.standby)) for name, s in _sides(stores).items()}
    )


def _sides(stores: Stores) -> dict[str, Sides]:
    return {"pools": stores.pools, "feeds": stores.feeds}


async def test_a_read_with_a_token_shows_the_follow_that_was_applied(seeing: Seeing) -> None:
    viewer, owner, _, pins = await author(seeing)
    token = await seeing.followed(viewer, owner.id)
    await seeing.drain()
    page = await seeing.following_seeing(viewer, token)
    assert (pins_of(page), page.side, page.may_be_stale) == (pins, Side.PRIMARY, False)
    home = await seeing.home_seeing(viewer, token)
    assert set(pins) <= set(pins_of(home))
    assert not home.health.may_be_stale


@pytest.mark.parametrize("moment", ["get", "read"])
async def test_a_read_waits_for_the_job_and_then_shows_what_it_brought(
    seeing: Seeing, moment: str
) -> None:
    """The job runs after the primary was first asked what was applied, or after it was asked for
    the row."""
    viewer, owner, _, pins = await author(seeing)
    token = await seeing.followed(viewer, owner.id)
    task = await seeing.task(Followed, owner.id)
    told = 0

    async def run() -> None:
        nonlocal told
        told += 1
        await seeing.run(task)

    waiting = on_primary(seeing.stores, lambda store: Interrupted(store, moment, run))
    page = await seeing.following_seeing(viewer, token, waiting, dated=False)
    assert (pins_of(page), page.may_be_stale, told) == (pins, False, 1)


async def test_a_new_visit_waits_for_the_pools(seeing: Seeing) -> None:
    viewer, owner, _, pins = await author(seeing)
    token = await seeing.followed(viewer, owner.id)
    task = await seeing.task(Followed, owner.id)

    async def run() -> None:
        await seeing.run(task)

    waiting = seeing.stores._replace(
        pools=Sides(
            Interrupted(seeing.stores.pools.primary, "get", run),  # type: ignore[arg-type]
            seeing.stores.pools.standby,
        )
    )
    home = await seeing.home_seeing(viewer, token, waiting)
    assert set(pins) <= set(pins_of(home))
    assert not home.health.may_be_stale


async def test_what_is_not_applied_in_time_is_said_to_be_stale(seeing: Seeing) -> None:
    viewer, owner, board, pins = await author(seeing)
    await seeing.followed(viewer, board.id)
    await seeing.drain()
    token = await seeing.followed(viewer, owner.id)
    seeing.wait = SHORT
    page = await seeing.following_seeing(viewer, token)
    assert (pins_of(page), page.may_be_stale) == (pins, True)
    edges = await seeing.stores.shards.mappings.edges(
        [key := EdgeKey(FOLLOWS[Kind.BOARD], viewer.id, board.id)]
    )
    assert page.stale_since == edges[key].sequence // 10**25
    home = await seeing.home_seeing(viewer, token, visit="lacking")
    assert home.health.may_be_stale
    assert home.health.stale_since == page.stale_since
    again = await seeing.home_seeing(viewer, None, visit="lacking")
    assert (again.items, again.health) == (home.items, home.health)


async def test_what_one_side_alone_has_is_read_from_that_side(seeing: Seeing) -> None:
    for wrap, side in ((on_primary, Side.STANDBY), (on_standby, Side.PRIMARY)):
        viewer, owner, _, pins = await author(seeing)
        token = await seeing.followed(viewer, owner.id)
        task = await seeing.task(Followed, owner.id)
        with pytest.raises(StoreUnavailable, match="both sides"):
            await seeing.run(task, stores=wrap(seeing.stores, Unwell))
        page = await seeing.following_seeing(viewer, token)
        assert (pins_of(page), page.side) == (pins, side)
        assert page.may_be_stale == (side is Side.STANDBY)
        home = await seeing.home_seeing(viewer, token)
        assert set(pins) <= set(pins_of(home))
        assert home.health.pools is side


@pytest.mark.parametrize("done", [0, 1])
async def test_a_side_is_marked_after_it_has_what_the_job_brings(seeing: Seeing, done: int) -> None:
    viewer, owner, _, _ = await author(seeing)
    await seeing.followed(viewer, owner.id)
    task = await seeing.task(Followed, owner.id)
    with pytest.raises(StoreUnavailable):
        await seeing.run(task, stores=on_primary(seeing.stores, lambda s: Unwell(s, after=done)))
    primary, standby = seeing.stores.feeds
    asked = FOLLOWING_APPLIED, viewer.id, owner.id, 1
    assert not await marks.is_marked(primary, *asked)
    assert await marks.is_marked(standby, *asked)


async def test_marks_follow_versions_in_whatever_order_jobs_run(seeing: Seeing) -> None:
    viewer, owner, _, pins = await author(seeing)
    first = await seeing.followed(viewer, owner.id)
    ended = token_of(await writes.unfollow(seeing.stores, viewer.id, owner.id))
    last = await seeing.followed(viewer, owner.id)
    tasks = [t for t in await seeing.tasks() if getattr(t, "target_id", 0) == owner.id]
    assert len(tasks) == 3
    for task in reversed(tasks):
        await seeing.run(task)
        for side in seeing.stores.feeds:
            assert await marks.is_marked(side, FOLLOWING_APPLIED, viewer.id, owner.id, 3)
    for token in (first, ended, last):
        page = await seeing.following_seeing(viewer, token)
        assert (pins_of(page), page.may_be_stale) == (pins, False)


async def test_what_an_earlier_version_brought_is_not_a_later_one(seeing: Seeing) -> None:
    viewer, owner, _, _ = await author(seeing)
    await seeing.followed(viewer, owner.id)
    await seeing.drain()
    await seeing.unfollow(viewer, owner.id)
    token = await seeing.followed(viewer, owner.id)
    seeing.wait = SHORT
    assert (await seeing.following_seeing(viewer, token)).may_be_stale
    assert (await seeing.home_seeing(viewer, token)).health.may_be_stale


async def test_a_followers_read_waits_for_a_new_pin(seeing: Seeing) -> None:
    viewer, owner, board, pins = await author(seeing)
    await seeing.followed(viewer, board.id)
    await seeing.drain()
    new = writes.NewPin(board_id=board.id, title="new")
    written = await writes.create_pin(seeing.stores, owner.id, new)
    token, task = token_of(written.edge), await seeing.task(PinPublished, written.pin.id)

    async def run() -> None:
        await seeing.run(task)

    waiting = on_primary(seeing.stores, lambda store: Interrupted(store, "get", run))
    page = await seeing.following_seeing(viewer, token, waiting)
    assert (pins_of(page), page.may_be_stale) == ([written.pin.id, *pins], False)
    assert written.pin.id in pins_of(await seeing.home_seeing(viewer, token))


async def test_nothing_is_waited_for_that_will_not_come(seeing: Seeing) -> None:
    """No jobs have run; reads that wait would wait for a minute."""
    viewer, owner, board, _ = await author(seeing)
    secret, interest = await seeing.board(owner, secret=True), await seeing.interest()

    async def pin(on: Board) -> Pin:
        return await seeing.pin(on)

    async def token_for(make: Callable[[], Awaitable[Pin]]) -> str | None:
        made = await make()
        key = EdgeKey(Mapping.BOARD_HAS_PINS, made.board_id, made.id)
        return token_of((await seeing.stores.shards.mappings.edges([key]))[key])

    unfollowed = await token_for(lambda: pin(board))
    hidden = await token_for(lambda: pin(secret))
    await seeing.follow(owner, board.id)
    filed = await seeing.followed(viewer, interest.id)
    for reader, token in ((viewer, unfollowed), (owner, unfollowed), (viewer, hidden)):
        assert not (await seeing.following_seeing(reader, token)).may_be_stale
        assert not (await seeing.home_seeing(reader, token)).health.may_be_stale
    assert not (await seeing.following_seeing(viewer, filed)).may_be_stale


async def test_a_standby_says_since_when_it_may_be_stale(seeing: Seeing) -> None:
    viewer, owner, _, pins = await author(seeing)
    down = on_primary(seeing.stores, Unwell)
    assert (await seeing.following_seeing(viewer, None, down)).stale_since is None
    await writes.follow(seeing.stores, viewer.id, owner.id, at=seeing.now)
    await seeing.drain()
    page = await seeing.following_seeing(viewer, None, down)
    assert (pins_of(page), page.side) == (pins, Side.STANDBY)
    assert (page.may_be_stale, page.stale_since) == (True, seeing.now)
    home = await seeing.home_seeing(viewer, None, down)
    assert (home.health.may_be_stale, home.health.stale_since) == (True, seeing.now)
    later = await seeing.pin_at(await seeing.board(owner), seeing.now + 5000)
    await seeing.drain()
    page = await seeing.following_seeing(viewer, None, down)
    assert (pins_of(page)[0], page.stale_since) == (later.id, later.created)
    assert (await seeing.following_seeing(viewer, None)).stale_since is None


async def test_what_an_earlier_visit_showed_is_not_waited_for(seeing: Seeing) -> None:
    viewer, owner, board, _ = await author(seeing)
    await seeing.followed(viewer, owner.id)
    new = writes.NewPin(board_id=board.id, title="new")
    written = await writes.create_pin(seeing.stores, owner.id, new)
    token = token_of(written.edge)
    await seeing.drain()
    assert written.pin.id in pins_of(await seeing.home_seeing(viewer, token))
    await seeing.drain()  # with the hand-over it leaves the pools
    assert not (await seeing.home_seeing(viewer, token)).health.may_be_stale
