"""Many pins that were deleted or hidden at once don't keep a viewer from the live pins below."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from datasources.errors import StoreCorrupt
from datasources.protocols import Sides
from feed_engine import writes
from feed_engine.feeds.rows import POOLS, Reason, Source, parse_pool, pool_row
from feed_engine.feeds.settings import FeedSettings
from feed_engine.feeds.smart import pools
from feed_engine.feeds.smart.pool_refill import refill_pool
from feed_engine.feeds.wide import read_row
from feed_engine.outbox.change import PoolShort
from feed_engine.times import CENTURY, DAY, HOUR
from tests.faulty import Interrupted, Preceded, marking
from tests.feeds import START, Feeding
from tests.following.jobs import drain

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("how", "seconds"),
    [
        ("made secret", 60.0),
        ("deleted", 0.0),
        pytest.param("made secret", 0.0, marks=pytest.mark.nightly),
        pytest.param("deleted", 60.0, marks=pytest.mark.nightly),
    ],
)
async def test_pins_below_many_dead_ones_come_as_followed(
    feeding: Feeding, how: str, seconds: float
) -> None:
    """With time, the first visit finds them. Without, its job frees the pool for the next one."""
    feeding.settings = FeedSettings(chunk=8, generator_seconds=seconds)
    viewer, one, other = [await feeding.user() for _ in range(3)]
    await feeding.follow(viewer, one.id)
    await feeding.follow(viewer, other.id)
    live = await feeding.pins(await feeding.board(other), 10)
    board = await feeding.board(one)
    await feeding.pins(board, 240, start=START + 10**6)
    await feeding.drain()
    if how == "deleted":
        await writes.delete_board(feeding.stores, one.id, board.id)
    else:
        change = writes.BoardChange(secret=True)
        await writes.update_board(feeding.stores, one.id, board.id, change)
    await feeding.drain()
    seen: list[int] = []
    for _ in range(3):
        page = await feeding.home(viewer, first=50)
        seen += [item.pin.id for item in page.items if item.reason is Reason.FOLLOWED_USER]
        if not seconds and not seen:
            assert page.items == []
        await feeding.drain()
    assert sorted(seen) == sorted(pin.id for pin in live)
    for store in feeding.stores.pools:
        assert await read_row(store, POOLS, pool_row(viewer.id, Source.FOLLOWED)) == []


async def test_a_board_that_comes_back_during_a_sweep_keeps_its_pins_on_both_sides(
    feeding: Feeding,
) -> None:
    """The standby reads the viewer's pool after the board is public again, and its pins are
    published again; the primary read its pool before."""
    viewer, owner = await feeding.user(), await feeding.user()
    await feeding.follow(viewer, owner.id)
    board = await feeding.board(owner)
    pins = await feeding.pins(board, 5)
    await feeding.drain()
    await writes.update_board(feeding.stores, owner.id, board.id, writes.BoardChange(secret=True))
    await feeding.drain()
    row = pool_row(viewer.id, Source.FOLLOWED)
    is_back = asyncio.Event()

    async def come_back() -> None:
        change = writes.BoardChange(secret=False)
        await writes.update_board(feeding.stores, owner.id, board.id, change)
        await feeding.drain()
        is_back.set()

    async def none(pins: Sequence[int]) -> set[int]:
        return set()

    async def wait() -> None:
        await is_back.wait()

    primary, standby = feeding.stores.pools
    sides: Any = Sides(Interrupted(primary, "delete", come_back), Preceded(standby, "read", wait))
    await pools.sweep(feeding.stores._replace(pools=sides), viewer.id, none, feeding.now)
    for store in feeding.stores.pools:
        found = {parse_pool(cell.column).pin_id for cell in await read_row(store, POOLS, row)}
        assert found == {pin.id for pin in pins}


@pytest.mark.parametrize("trims_by", ["removing", "marking"])
async def test_pins_that_a_trim_cut_come_when_the_pins_above_them_are_dead(
    feeding: Feeding, trims_by: str
) -> None:
    """The pool keeps 20 pins, all of one owner, who makes the board secret."""
    settings = feeding.settings = FeedSettings(chunk=25, pool_cap=20, generator_seconds=60)
    if trims_by == "marking":
        feeding.stores = feeding.stores._replace(pools=marking(feeding.stores.pools))
    viewer, one, other = [await feeding.user() for _ in range(3)]
    live = await feeding.pins(await feeding.board(other), 6)
    board = await feeding.board(one)
    await feeding.pins(board, 30, start=START + 10**6)
    await feeding.follow(viewer, other.id)
    await drain(feeding.stores, settings)
    await feeding.follow(viewer, one.id)
    await drain(feeding.stores, settings)
    row = pool_row(viewer.id, Source.FOLLOWED)
    assert len(await read_row(feeding.stores.pools.primary, POOLS, row)) == 20
    change = writes.BoardChange(secret=True)
    await writes.update_board(feeding.stores, one.id, board.id, change)
    await drain(feeding.stores, settings)
    await feeding.empty_popular()
    seen: list[int] = []
    for _ in range(3):
        page = await feeding.home(viewer, first=50)
        seen += [item.pin.id for item in page.items if item.reason is Reason.FOLLOWED_USER]
        await drain(feeding.stores, settings)
        await feeding.empty_popular()
        feeding.now += HOUR
    assert sorted(seen) == sorted(pin.id for pin in live)
    assert not [task for task in await feeding.tasks() if isinstance(task, PoolShort)]


async def test_all_pins_of_a_followed_user_come_and_each_once(feeding: Feeding) -> None:
    """The follow brings five of them; the pool keeps ten. The viewer unfollows one user during the
    refill."""
    settings = feeding.settings = FeedSettings(
        chunk=8, backfill=5, pool_cap=10, generator_seconds=60
    )
    viewer, owner, left = [await feeding.user() for _ in range(3)]
    pins = await feeding.pins(await feeding.board(owner), 30)
    await feeding.pins(await feeding.board(left), 7)
    for target in (owner, left):
        await feeding.follow(viewer, target.id)
    await drain(feeding.stores, settings)
    await refill_pool(feeding.stores, viewer.id, START + DAY, settings)

    async def unfollow() -> None:
        await feeding.unfollow(viewer, left.id)
        await drain(feeding.stores, settings)

    primary: Any = Preceded(feeding.stores.pools.primary, "put", unfollow)
    sides = feeding.stores.pools._replace(primary=primary)
    await refill_pool(feeding.stores._replace(pools=sides), viewer.id, START + DAY, settings)
    await feeding.empty_popular()
    seen: list[int] = []
    for _ in range(8):
        page = await feeding.home(viewer, first=8)
        seen += [item.pin.id for item in page.items if item.reason is Reason.FOLLOWED_USER]
        await drain(feeding.stores, settings)
        await feeding.empty_popular()
        feeding.now += HOUR
    assert sorted(seen) == sorted(pin.id for pin in pins)


async def test_a_removal_a_century_ahead_fails_the_job_that_brings_the_pin_again(
    feeding: Feeding,
) -> None:
    store, row = feeding.stores.pools.primary, pool_row(1, Source.FOLLOWED)
    await store.delete(POOLS, {row: [b"c" * 16]}, START + 3649 * DAY)
    await pools.bring(store, row, {b"c" * 16: b"[1]"}, START)
    assert len(await read_row(store, POOLS, row)) == 1
    await store.delete(POOLS, {row: [b"c" * 16]}, START + 5 * CENTURY)
    with pytest.raises(StoreCorrupt, match="1 cells"):
        await pools.bring(store, row, {b"c" * 16: b"[1]"}, START)


async def test_a_pin_that_is_removed_and_brought_again_stays_near_the_clock(
    feeding: Feeding,
) -> None:
    store, row, ahead = feeding.stores.pools.primary, pool_row(1, Source.FOLLOWED), HOUR
    await store.delete(POOLS, {row: [b"c" * 16]}, START + ahead)
    for _ in range(60):
        await pools.bring(store, row, {b"c" * 16: b"[1]"}, START)
        [cell] = await read_row(store, POOLS, row)
        await store.delete(POOLS, {row: [cell.column]}, cell.stamp)
    assert cell.stamp < START + 5 * ahead
