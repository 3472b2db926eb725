"""Many pins that were deleted or hidden at once don't keep a viewer from the live pins below."""

import asyncio
from typing import Any

import pytest

from datasources.protocols import Sides
from feed_engine import writes
from feed_engine.feeds.rows import POOLS, Reason, Source, parse_pool, pool_row
from feed_engine.feeds.settings import FeedSettings
from feed_engine.feeds.smart import pools
from feed_engine.feeds.wide import read_row
from tests.faulty import Interrupted, Preceded
from tests.feeds import START, Feeding

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("how", ["made secret", "deleted"])
@pytest.mark.parametrize("seconds", [0.0, 60.0])
async def test_pins_below_many_dead_ones_come_as_followed(
    feeding: Feeding, how: str, seconds: float
) -> None:
    """With time, the first visit finds them. Without, its job frees the pool for the next one."""
    feeding.settings = FeedSettings(chunk=25, generator_seconds=seconds)
    viewer, one, other = [await feeding.user() for _ in range(3)]
    await feeding.follow(viewer, one.id)
    await feeding.follow(viewer, other.id)
    live = await feeding.pins(await feeding.board(other), 30)
    board = await feeding.board(one)
    await feeding.pins(board, 750, start=START + 10**6)
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

    async def wait() -> None:
        await is_back.wait()

    primary, standby = feeding.stores.pools
    sides: Any = Sides(Interrupted(primary, "delete", come_back), Preceded(standby, "read", wait))
    await pools.sweep(feeding.stores._replace(pools=sides), viewer.id)
    for store in feeding.stores.pools:
        found = {parse_pool(cell.column).pin_id for cell in await read_row(store, POOLS, row)}
        assert found == {pin.id for pin in pins}
