"""Fan-out while one side of a feed store is unavailable: the other side gets everything."""

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from datasources.errors import StoreError, StoreUnavailable
from datasources.protocols import Job, OutboxRow, WideColumnStore
from datasources.records import Board, User
from feed_engine import writes
from feed_engine.feeds.fanout import pin_published
from feed_engine.feeds.lanes import DONE, FIRST_REST, on_side
from feed_engine.feeds.rows import (
    FOLLOWING,
    POOLS,
    Source,
    id_row,
    parse_following,
    parse_pool,
    pool_row,
)
from feed_engine.feeds.wide import read_row
from feed_engine.outbox import newest_first
from feed_engine.outbox.change import PinPublished
from feed_engine.outbox.completion import settle
from feed_engine.outbox.jobs import run_job
from tests.faulty import without
from tests.feeds import START, Feeding

pytestmark = pytest.mark.anyio

AWAY = [(kind, side) for kind in ("pools", "feeds") for side in ("primary", "standby")]


async def followed(feeding: Feeding) -> tuple[Board, list[User]]:
    """A board, three who follow its owner and two who follow the board alone."""
    owner = await feeding.user()
    board = await feeding.board(owner)
    viewers = [await feeding.user() for _ in range(5)]
    for number, viewer in enumerate(viewers):
        await feeding.follow(viewer, owner.id if number < 3 else board.id)
    await feeding.drain()
    return board, viewers


async def reached(
    store: WideColumnStore, kind: str, viewers: list[User], pin_id: int
) -> list[bool]:
    found = []
    for viewer in viewers:
        if kind == "feeds":
            row = await read_row(store, FOLLOWING, id_row(viewer.id))
            found.append(pin_id in {parse_following(cell.column).pin_id for cell in row})
        else:
            row = await read_row(store, POOLS, pool_row(viewer.id, Source.FOLLOWED))
            found.append(pin_id in {parse_pool(cell.column).pin_id for cell in row})
    return found


@pytest.mark.parametrize(("kind", "side"), AWAY)
async def test_all_pins_of_a_board_that_becomes_public_reach_the_other_sides(
    feeding: Feeding, kind: str, side: str
) -> None:
    board, viewers = await followed(feeding)
    for secret in (True, False):
        await writes.update_board(
            feeding.stores, board.owner_id, board.id, writes.BoardChange(secret=secret)
        )
        if secret:
            pins = await feeding.pins(board, 3)
            await feeding.drain()
    stores = without(feeding.stores, kind, side)
    for _ in range(3):  # jobs post the pins, give each a row, and fail on the side that is away
        for row in await feeding.pending():
            with contextlib.suppress(StoreError):
                await run_job(stores, Job(row.shard, row.id))
        await settle()
    living = next(name for name in ("primary", "standby") if name != side)
    for other in ("pools", "feeds"):
        for pin in pins:
            store = getattr(getattr(feeding.stores, other), living)
            assert await reached(store, other, viewers, pin.id) == [True] * 5, (other, pin.id)


@pytest.mark.parametrize(("kind", "side"), AWAY)
async def test_a_side_that_is_away_keeps_no_pin_from_the_others_and_catches_up_alone(
    feeding: Feeding, kind: str, side: str
) -> None:
    board, viewers = await followed(feeding)
    pin = await feeding.pin_at(board, START)
    (task,) = await feeding.tasks()
    assert isinstance(task, PinPublished)
    cursors: list[bytes] = []

    async def save(cursor: bytes) -> None:
        cursors.append(cursor)

    with pytest.raises(StoreError):
        await pin_published(without(feeding.stores, kind, side), task, None, save, page=2)
    for each, sides in (("pools", feeding.stores.pools), ("feeds", feeding.stores.feeds)):
        for name, store in zip(sides._fields, sides, strict=True):
            there = (each, name) != (kind, side)
            assert await reached(store, each, viewers, pin.id) == [there] * 5, (each, name)

    # It is back, and now every other side is away: what they got already isn't written again.
    back = feeding.stores
    for other in AWAY:
        if other != (kind, side):
            back = without(back, *other)
    await pin_published(back, task, cursors[-1], save, page=2)
    store = getattr(getattr(feeding.stores, kind), side)
    assert await reached(store, kind, viewers, pin.id) == [True] * 5


async def test_a_side_that_failed_rests_and_is_tried_by_one_call_at_a_time() -> None:
    now, calls, well = [100.0], list[float](), [False]
    store: Any = type("Store", (), {})()

    async def write(_: WideColumnStore) -> None:
        calls.append(now[0])
        if not well[0]:
            raise StoreUnavailable("no answer")

    async def attempt() -> bool:
        try:
            await on_side(store, write, clock=lambda: now[0])
        except StoreUnavailable:
            return False
        return True

    assert [await attempt() for _ in range(3)] == [False] * 3
    assert calls == [100.0]
    now[0] += FIRST_REST
    assert [await attempt() for _ in range(3)] == [False] * 3
    assert len(calls) == 2
    well[0] = True
    now[0] += 2 * FIRST_REST
    assert [await attempt() for _ in range(3)] == [True] * 3


class _Noting:
    """A side of the feeds that notes which pins are put, in which order."""

    def __init__(self, store: WideColumnStore) -> None:
        self._store, self.put_pins = store, list[int]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def put(self, table: Any, cells: Any, stamp: int) -> None:
        for columns in cells.values():
            self.put_pins.extend(parse_following(column).pin_id for column in columns)
        for _ in range(5):
            await asyncio.sleep(0)
        await self._store.put(table, cells, stamp)


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("listed", [4, 500])
async def test_a_side_that_was_away_catches_up_newest_first(
    feeding: Feeding, monkeypatch: pytest.MonkeyPatch, workers: int, listed: int
) -> None:
    """The jobs come oldest first, as from a queue, moments after they failed; each does some newer
    ones in its place. Workers that run at once are all at the newest pins."""
    monkeypatch.setattr(newest_first, "IN_PLACE", 2)
    monkeypatch.setattr(newest_first, "LISTED", listed)
    board, viewers = await followed(feeding)
    pins = [await feeding.pin_at(board, START + 1000 * number) for number in range(9)]
    rows = await feeding.pending()
    away = without(feeding.stores, "feeds", "standby")
    for row in rows:
        with pytest.raises(StoreError):
            await run_job(away, Job(row.shard, row.id))
    standby = feeding.stores.feeds.standby
    assert await reached(standby, "feeds", viewers, pins[-1].id) == [False] * 5

    noting: Any = _Noting(standby)
    back = feeding.stores._replace(feeds=feeding.stores.feeds._replace(standby=noting))
    order = sorted(rows, key=lambda row: (row.created, row.id))
    while order:
        waiting, later = iter(order), list[OutboxRow]()

        async def work(waiting: Iterator[OutboxRow], later: list[OutboxRow]) -> None:
            for row in waiting:
                try:
                    await run_job(back, Job(row.shard, row.id))
                except StoreError:
                    later.append(row)

        await asyncio.gather(*(work(waiting, later) for _ in range(workers)))
        order = later
    left = [pin.id for pin in reversed(pins)]
    put = list(dict.fromkeys(noting.put_pins))
    assert sorted(put) == sorted(left)
    for pin_id in put:
        assert left.index(pin_id) < workers  # the newest that nobody else was doing
        left.remove(pin_id)
    assert await feeding.pending() == []
    for pin in pins:
        assert await reached(standby, "feeds", viewers, pin.id) == [True] * 5


async def test_a_fan_out_under_way_is_not_done_in_the_place_of_an_older_one(
    feeding: Feeding,
) -> None:
    """The newer fan-out's side is not away: that lane is a little behind the other."""
    board, _ = await followed(feeding)
    await feeding.pin_at(board, START)
    [older] = await feeding.pending()
    lame = without(feeding.stores, "feeds", "standby")
    with pytest.raises(StoreError):
        await run_job(lame, Job(older.shard, older.id))
    await feeding.pin_at(board, START + 1000)
    [newer] = [row for row in await feeding.pending() if row.id != older.id]
    places = {"feeds primary": DONE, "feeds standby": '[0,"5",6]'}
    progress = newest_first.Progress(0, msgspec.json.encode(places))
    cursor = msgspec.json.encode(progress)
    await feeding.stores.shards.outbox.advance(newer.shard, newer.id, cursor)
    await run_job(feeding.stores, Job(older.shard, older.id))
    assert [row.id for row in await feeding.pending()] == [newer.id]


async def test_fan_outs_that_lack_another_side_are_left_to_their_own_jobs(
    feeding: Feeding,
) -> None:
    board, viewers = await followed(feeding)
    older = await feeding.pin_at(board, START)
    [row] = await feeding.pending()
    with pytest.raises(StoreError):
        await run_job(without(feeding.stores, "pools", "standby"), Job(row.shard, row.id))
    newer = await feeding.pin_at(board, START + 1000)
    [other] = [each for each in await feeding.pending() if each.id != row.id]
    lame = without(feeding.stores, "feeds", "standby")
    with pytest.raises(StoreError):
        await run_job(lame, Job(other.shard, other.id))
    await run_job(lame, Job(row.shard, row.id))
    assert await reached(feeding.stores.pools.standby, "pools", viewers, older.id) == [True] * 5
    assert await reached(feeding.stores.feeds.standby, "feeds", viewers, newer.id) == [False] * 5
