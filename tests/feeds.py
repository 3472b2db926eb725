"""Feeds over embedded stores: users who write, and the feeds that they read."""

from collections.abc import AsyncIterator, Collection
from pathlib import Path
from typing import Any

import pytest
import redis.asyncio

from datasources.clocks import now_ms
from datasources.mappings import ListKey, Mapping
from datasources.protocols import OutboxRow, Stores
from datasources.records import Board, Pin, User
from datasources.valkey import ValkeyServer
from feed_engine import writes
from feed_engine.feeds import content
from feed_engine.feeds.following import FollowingPage, following_page
from feed_engine.feeds.rows import FOLLOWING, POOLS, POPULAR_ROWS, id_row, parse_following
from feed_engine.feeds.settings import Feeds, FeedSettings
from feed_engine.feeds.smart.results import HomePage
from feed_engine.feeds.smart.service import home_page
from feed_engine.feeds.visible import Visible
from feed_engine.feeds.wide import read_row
from feed_engine.outbox.change import Task, decode
from feed_engine.outbox.tasks import HANDLERS, name_of
from feed_engine.speculation import Race
from tests.embedded_stores import drain, embedded_config, embedded_stores, valkey
from tests.people import People

__all__ = ["START", "Feeding", "feeding", "pins_of", "reader", "valkey"]

FEEDS = {
    "PinPublished",
    "PinArrived",
    "FanOutBatch",
    "Followed",
    "Unfollowed",
    "FeedShort",
    "InterestShort",
    "PoolShort",
    "PinLiked",
    "VisitShown",
}
"""The tasks of the feeds, by name."""
START = 1_700_000_000_000  # epoch ms of the first pins; in the past, so that follows come later


class Feeding(People):
    """Writes as users do, reads their feeds, and runs jobs when a test asks for it."""

    def __init__(self, stores: Stores) -> None:
        super().__init__(stores)
        self.now = now_ms()
        self.settings = FeedSettings(chunk=5, generator_seconds=60)

    def feeds(self, stores: Stores | None = None) -> Feeds:
        stores = stores or self.stores
        return Feeds(
            stores,
            Race(stores.pools, cutoff=60, deadline=120),
            Race(stores.feeds, cutoff=60, deadline=120),
            self.settings,
            lambda: self.now,
        )

    def visible(self, viewer: User | None) -> Visible:
        async def visible(ids: list[int]) -> dict[int, Pin]:
            pins = await content.load_pins(self.stores, ids)
            public = await content.public_boards(self.stores, {p.board_id for p in pins.values()})
            own = viewer.id if viewer else 0
            return {
                pin.id: pin
                for pin in pins.values()
                if pin.board_id in public or pin.owner_id == own
            }

        return visible

    async def home(
        self, viewer: User | None, *, stores: Stores | None = None, first: int = 5, **rest: Any
    ) -> HomePage:
        viewer_id = viewer.id if viewer else None
        feeds, visible = self.feeds(stores), self.visible(viewer)
        return await home_page(
            feeds, viewer_id, first=first, visible=visible, likes=self.likes, **rest
        )

    async def likes(self, ids: Collection[int]) -> dict[int, int]:
        keys = [ListKey(Mapping.PIN_LIKED_BY_USERS, id) for id in ids]
        heads = await self.stores.shards.mappings.heads(keys)
        return {key.from_id: head.size for key, head in heads.items()}

    async def rest_of(
        self, viewer: User | None, page: HomePage, *, stores: Stores | None = None, first: int = 5
    ) -> list[int]:
        """The pins of all pages after a page."""
        pins: list[int] = []
        while page.has_next:
            after = page.items[-1].cursor
            page = await self.home(viewer, stores=stores, first=first, after=after)
            assert len(page.items) == first or not page.has_next
            pins += pins_of(page)
        return pins

    async def following(self, viewer: User, *, first: int = 50, **rest: Any) -> FollowingPage:
        stores = rest.pop("stores", None)
        feeds, visible = self.feeds(stores), self.visible(viewer)
        return await following_page(feeds, viewer.id, first=first, visible=visible, **rest)

    async def pin_at(self, board: Board, at: int, *interest_ids: int) -> Pin:
        new = writes.NewPin(board_id=board.id, title="a pin", interest_ids=interest_ids)
        return (await writes.create_pin(self.stores, board.owner_id, new, at=at)).pin

    async def pins(self, board: Board, count: int, *, start: int = START) -> list[Pin]:
        """New pins, a second apart, the newest last."""
        return [await self.pin_at(board, start + 1000 * number) for number in range(count)]

    async def follow(self, viewer: User, target_id: int) -> None:
        await writes.follow(self.stores, viewer.id, target_id)

    async def unfollow(self, viewer: User, target_id: int) -> None:
        await writes.unfollow(self.stores, viewer.id, target_id)

    async def following_ids(self, viewer: User) -> list[int]:
        return await self.list(Mapping.USER_FOLLOWS_USERS, viewer.id)

    async def cells(self, viewer: User) -> list[list[tuple[int, int]]]:
        """The (pin, cause) of the cells in the viewer's following row, for each side."""
        found = []
        for side in self.stores.feeds:
            row = await read_row(side, FOLLOWING, id_row(viewer.id))
            found.append([parse_following(cell.column)[1:] for cell in row])
        return found

    async def empty_popular(self) -> None:
        """Remove all popular pins: a pin of a followed user would come as a popular pin where it
        doesn't come as followed."""
        for side in self.stores.pools:
            for row in POPULAR_ROWS:
                await side.trim(POOLS, row, 0)

    async def drain(self) -> None:
        await drain(self.stores)

    async def pending(self) -> list[OutboxRow]:
        return await self.stores.shards.outbox.pending(2**62, 1000)

    async def tasks(self) -> list[Task]:
        """The feeds' tasks that no job has done yet."""
        return [
            task
            for row in await self.pending()
            for task in decode(row.payload).tasks
            if name_of(task) in FEEDS
        ]

    async def run(self, task: Task, *, stores: Stores | None = None) -> None:
        """Do a task, and leave it in the outbox so that it can be done again."""
        await HANDLERS[name_of(task)](stores or self.stores, task, None, _nowhere)


async def _nowhere(cursor: bytes) -> None: ...


def pins_of(page: HomePage | FollowingPage) -> list[int]:
    return [item.pin.id for item in page.items]


async def reader(feeding: Feeding, pins: int = 12) -> tuple[User, list[int]]:
    """A viewer who follows a user with `pins` pins, and these pins, best first."""
    viewer, owner = await feeding.user(), await feeding.user()
    await feeding.follow(viewer, owner.id)
    made = await feeding.pins(await feeding.board(owner), pins)
    await feeding.drain()
    return viewer, [pin.id for pin in reversed(made)]


@pytest.fixture
async def feeding(valkey: ValkeyServer, tmp_path: Path) -> AsyncIterator[Feeding]:
    """New stores for each test, because all users share popular pins."""
    client = redis.asyncio.Redis.from_url(valkey.url().replace("redis+unix:", "unix:"))
    await client.flushall()
    await client.aclose()
    async with embedded_stores(embedded_config(tmp_path, valkey)) as stores:
        yield Feeding(stores)
