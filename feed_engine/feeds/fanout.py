"""Fan-out of a new pin to the following feeds and pools of the followers of its owner and board,
and to the pool of each of its interests.

The pin's mappings are written before the followers are read, and a follow writes its edge before it
reads the target's pins. So whichever is first, either the fan-out finds the follower or the follow
finds the pin. A cell's stamp is the version of the edge that brought it, which is read with the
followers.

Popular pins, pools and feeds have a lane for each side (`feed_engine.feeds.lanes`). While one side
is unavailable, pins still reach the other.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from datasources.errors import StoreCorrupt
from datasources.ids import Kind, kind_of
from datasources.mappings import Edge, EdgeKey, ListKey, PageRequest, Position
from datasources.mappings import Mapping as Mappings
from datasources.protocols import Stores, WideColumnStore
from datasources.records import Pin
from datasources.together import together
from feed_engine.feeds import batches
from feed_engine.feeds.content import public_pin
from feed_engine.feeds.dual import write_both
from feed_engine.feeds.lanes import DONE, Lane, Save, on_side, places_of, run_lanes
from feed_engine.feeds.row_cap import trim_following
from feed_engine.feeds.rows import (
    FOLLOWING,
    POOLS,
    FollowingColumn,
    Source,
    follow_stamp,
    following_column,
    id_row,
    pool_row,
    unfollow_stamp,
)
from feed_engine.feeds.settings import DEFAULTS, FeedSettings
from feed_engine.feeds.smart import cuts, pools
from feed_engine.feeds.smart.interests import put_pin
from feed_engine.feeds.smart.lanes import interests, popular
from feed_engine.feeds.wide import due_rows
from feed_engine.outbox.change import Advance, FanOutBatch, PinArrived, PinPublished

PAGE = 2000  # followers in a step; the lane's place is saved after each step
SHARED = 16  # pages that are kept for lanes that are a little behind
TRIMS = 4  # rows of a side that are trimmed at the same time

_FOLLOWED = bytes((Source.FOLLOWED,))  # the end of the key of a user's pool

FOLLOWED_BY = {
    Kind.USER: Mappings.USER_FOLLOWED_BY_USERS,
    Kind.BOARD: Mappings.BOARD_FOLLOWED_BY_USERS,
}


class Reached(NamedTuple):
    """The progress of a lane: the index of a cause, and the last of its followers that was
    written."""

    number: int
    sequence: str  # up to 38 digits
    follower_id: int


_REACHED = msgspec.json.Decoder(Reached)


async def pin_published(
    stores: Stores,
    task: PinPublished,
    cursor: bytes | None,
    advance: Advance,
    *,
    settings: FeedSettings = DEFAULTS,
    page: int = PAGE,
    batch: int = batches.BATCH,
) -> None:
    """Write the pin to every follower's rows, on both sides. Causes with many followers are left to
    batches. A pin that is not public, or no longer public, is left out. When it becomes public,
    another task is posted."""
    pin = await public_pin(stores, task.pin_id)
    if pin is None:
        return
    lanes: dict[str, Lane] = {}
    for side, store in zip(stores.pools._fields, stores.pools, strict=True):
        lanes[f"popular {side}"] = popular(stores, store, pin, settings)
        lanes[f"interests {side}"] = interests(
            stores, store, pin, task.interest_ids, task.at, settings
        )
    fanout = _Fanout(stores, pin, [pin.owner_id, pin.board_id], task.at, settings, page)
    await fanout.run(lanes, cursor, advance, batch)


async def pin_arrived(
    stores: Stores,
    task: PinArrived,
    cursor: bytes | None,
    advance: Advance,
    *,
    settings: FeedSettings = DEFAULTS,
    page: int = PAGE,
) -> None:
    """Write the pin to the rows of the users who follow its new board. Its cells in the rows of the
    old board's followers are no longer shown, because readers check the pin's own board. If the pin
    has moved again, another task does the work."""
    pin = await public_pin(stores, task.pin_id)
    if pin is not None and pin.board_id == task.board_id:
        fanout = _Fanout(stores, pin, [pin.board_id], task.at, settings, page)
        await fanout.run({}, cursor, advance, batches.BATCH)


async def pin_to_batch(
    stores: Stores,
    task: FanOutBatch,
    cursor: bytes | None,
    advance: Advance,
    *,
    settings: FeedSettings = DEFAULTS,
    page: int = PAGE,
) -> None:
    """Write the pin to the rows of one batch of a cause's followers, on both sides. If the pin has
    moved to another board, another task reaches that board's followers."""
    pin = await public_pin(stores, task.pin_id)
    if pin is None or (kind_of(task.cause_id) is Kind.BOARD and pin.board_id != task.cause_id):
        return
    if kind_of(task.cause_id) is Kind.INTEREST:  # planned by an earlier version
        await write_both(
            stores.pools,
            lambda store: put_pin(store, stores, pin, [task.cause_id], task.at, settings),
        )
        return
    fanout = _Fanout(stores, pin, [task.cause_id], task.at, settings, page)
    fanout.start, fanout.end = batches.position(task.start), batches.position(task.end)
    await fanout.run({}, cursor, advance)


class _Page(NamedTuple):
    """Some followers of a cause. `version`: the version of the list of followers, read before the
    page. `rows`: the followers' rows by the version of their edges, without the pin's owner.
    `pools`: the followers' pools."""

    key: ListKey
    followers: Sequence[Edge]
    version: int
    is_last: bool
    rows: Mapping[int, list[bytes]]
    pools: list[bytes]


Deliver = Callable[[WideColumnStore, _Page], Awaitable[None]]


class _Fanout:
    """The delivery of one pin to the followers of several causes."""

    def __init__(
        self,
        stores: Stores,
        pin: Pin,
        causes: Sequence[int],
        at: int,
        settings: FeedSettings,
        page: int,
    ) -> None:
        self._stores, self._pin, self._causes = stores, pin, causes
        self._at, self._settings, self._limit = at, settings, page
        self.start: Position | None = None
        self.end: Position | None = None
        """The positions in the list of followers between which the pin is delivered."""
        self._planned: set[int] = set()
        """The causes that are left to batches."""
        self._pages: dict[tuple[int, Position | None], asyncio.Task[_Page]] = {}

    async def run(
        self,
        lanes: dict[str, Lane],
        cursor: bytes | None,
        advance: Advance,
        batch: int | None = None,
    ) -> None:
        """Deliver on both sides of both feeds, together with other lanes. Causes with more than
        `batch` followers are planned first and left to their batches."""
        for side, store in zip(self._stores.feeds._fields, self._stores.feeds, strict=True):
            lanes[f"feeds {side}"] = partial(self._lane, store, self._into_feeds)
        for side, store in zip(self._stores.pools._fields, self._stores.pools, strict=True):
            lanes[f"pools {side}"] = partial(self._lane, store, self._into_pools)
        places = _places(cursor, lanes)
        if batch is not None and not places:  # a fan-out of an earlier version has places: no plan
            places[batches.PLANNED] = await self._plan(batch)
            await advance(msgspec.json.encode(places))
        self._planned = batches.planned(places.get(batches.PLANNED, ""))
        try:
            await run_lanes(lanes, places, advance)
        finally:
            for task in self._pages.values():
                task.cancel()

    async def _plan(self, batch: int) -> str:
        keys = [ListKey(FOLLOWED_BY[kind_of(cause)], cause) for cause in self._causes]
        found = await batches.large(self._stores, keys, batch)
        for key in found:
            await batches.post_batches(self._stores, self._pin.id, key, self._at, batch)
        return batches.place_of([key.from_id for key in found])

    async def _lane(
        self,
        store: WideColumnStore,
        deliver: Deliver,
        place: str,
        save: Save,
    ) -> None:
        causes, reached = self._causes, _REACHED.decode(place) if place else None
        for number in range(reached.number if reached else 0, len(causes)):
            after = Position(int(reached.sequence), reached.follower_id) if reached else self.start
            reached = None
            while causes[number] not in self._planned:
                page = await self._page(number, after)
                if page.rows:
                    await on_side(store, lambda store, page=page: deliver(store, page))  # type: ignore[misc]
                if page.is_last:
                    break
                last = page.followers[-1]
                after = Position(last.sequence, last.to_id)
                here = Reached(number, str(last.sequence), last.to_id)
                await save(msgspec.json.encode(here).decode())

    async def _page(self, number: int, after: Position | None) -> _Page:
        """A page of followers, read once for lanes that are at similar places."""
        task = self._pages.get((number, after))
        if task is None:
            task = asyncio.create_task(self._read(number, after))
            self._pages[number, after] = task
            while len(self._pages) > SHARED:
                del self._pages[next(iter(self._pages))]
        return await asyncio.shield(task)

    async def _read(self, number: int, after: Position | None) -> _Page:
        cause_id = self._causes[number]
        key = ListKey(FOLLOWED_BY[kind_of(cause_id)], cause_id)
        version = (await self._stores.shards.mappings.heads([key]))[key].version
        request = PageRequest(key, self._limit, after)
        (followers,) = await self._stores.shards.mappings.pages([request])
        is_last = len(followers) < self._limit
        if self.end is not None:
            inside = [edge for edge in followers if (edge.sequence, edge.to_id) >= self.end]
            is_last |= len(inside) < len(followers)
            followers = inside
        rows: dict[int, list[bytes]] = defaultdict(list)
        for edge in followers:
            if edge.to_id != self._pin.owner_id:
                rows[edge.version].append(id_row(edge.to_id))
        pools_of = [row + _FOLLOWED for some in rows.values() for row in some]
        return _Page(key, followers, version, is_last, rows, pools_of)

    async def _into_feeds(self, store: WideColumnStore, page: _Page) -> None:
        pin = self._pin
        cell = following_column(FollowingColumn(pin.created, pin.id, page.key.from_id))
        cells = {cell: b""}
        for version, rows in page.rows.items():
            stamp = follow_stamp(version, self._at)
            await store.put(FOLLOWING, dict.fromkeys(rows, cells), stamp)
        for ended in await self._ended(page):
            gone = {id_row(ended.to_id): [cell]}
            await store.delete(FOLLOWING, gone, unfollow_stamp(ended.version))
        cap = self._settings.following_cap
        due = [row for rows in page.rows.values() for row in due_rows(rows, pin.id, cap)]
        await together((trim_following(store, row, cap) for row in due), at_a_time=TRIMS)

    async def _into_pools(self, store: WideColumnStore, page: _Page) -> None:
        pin, cause_id = self._pin, page.key.from_id
        cell, why = pools.followed_cell(pin, cause_id)
        # Cells that are written again get higher stamps, because an unfollow may have removed them.
        stamp = max(1, pin.created, self._at)
        cells = {cell: why}
        await store.put(POOLS, dict.fromkeys(page.pools, cells), stamp)
        if self._at:  # the pin comes back: an earlier removal's clock may have been ahead
            again = (pools.bring(store, row, cells, stamp) for row in page.pools)
            await together(again, at_a_time=TRIMS)
        if ended := await self._ended(page):
            gone = {pool_row(edge.to_id, Source.FOLLOWED): [cell] for edge in ended}
            await store.delete(POOLS, gone, stamp)
        cap = self._settings.pool_cap
        due = due_rows(page.pools, pin.id, cap)
        trims = (cuts.cut(store, row, int.from_bytes(row[:8], "big"), cap) for row in due)
        await together(trims, at_a_time=TRIMS)

    async def _ended(self, page: _Page) -> list[Edge]:
        """The follows that ended since the page was read. Their clean-up jobs may have run before
        the cells were written. While the list's version is unchanged, no follow has ended."""
        mappings = self._stores.shards.mappings
        if (await mappings.heads([page.key]))[page.key].version == page.version:
            return []
        keys = [EdgeKey(*page.key, edge.to_id) for edge in page.followers]
        now = await mappings.edges(keys)
        return [edge for edge in now.values() if not edge.active]


def _places(cursor: bytes | None, lanes: dict[str, Lane]) -> dict[str, str]:
    """The lanes' places. Raises StoreCorrupt.

    Earlier versions had no lanes: their cursor is one place for all lanes, and popular pins are
    done.
    """
    if cursor is None:
        return {}
    try:
        if cursor.startswith(b"["):
            place = msgspec.json.encode(_REACHED.decode(cursor)).decode()
            popular = {name: DONE for name in lanes if name.startswith("popular")}
            return {name: place for name in lanes if not name.startswith("interests")} | popular
        return places_of(cursor)
    except msgspec.MsgspecError as error:
        raise StoreCorrupt(f"the cursor of a fan-out: {error}") from error
