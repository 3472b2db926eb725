"""Popular pins: what visitors see, and a pool that is right in whatever order updates run."""

import asyncio
import itertools
import random
from typing import Any

import pytest

from datasources.errors import StoreError
from datasources.protocols import Cell, Sides
from datasources.records import Pin
from feed_engine import writes
from feed_engine.feeds import content
from feed_engine.feeds.counts import COUNTS
from feed_engine.feeds.rows import (
    FORMER_POPULAR_ROW,
    POOLS,
    POPULAR_ROWS,
    POPULAR_SPREAD,
    POPULARITY,
    PoolColumn,
    Reason,
    id_row,
    inverted_version,
    parse_pool,
    pool_column,
    popular_row,
    why,
)
from feed_engine.feeds.settings import FeedSettings
from feed_engine.feeds.smart import popular, scores
from feed_engine.feeds.smart.diversity import MOST, is_diverse
from feed_engine.feeds.smart.popular import move_cell, spread, trim_row, update_popularity
from feed_engine.feeds.smart.popular_bulk import build_popular
from feed_engine.feeds.wide import read_row
from feed_engine.outbox.change import PinLiked
from feed_engine.speculation import Side
from tests.faulty import Unwell, marking
from tests.feeds import START, Feeding, pins_of

pytestmark = pytest.mark.anyio


async def pool(feeding: Feeding) -> list[tuple[int, float]]:
    """The (pin, score) in the popular pool, the same on both sides; each pin in its own row."""
    sides = []
    for side in feeding.stores.pools:
        cells = []
        for row in POPULAR_ROWS:
            found = await read_row(side, POOLS, row)
            assert all(popular_row(parse_pool(cell.column).pin_id) == row for cell in found)
            cells += found
        columns = (parse_pool(cell.column) for cell in sorted(cells, key=lambda c: c.column))
        sides.append([(pin_id, score) for score, pin_id in columns])
    assert sides[0] == sides[1]
    return sides[0]


def hot(*pins: tuple[Pin, int]) -> list[tuple[int, float]]:
    scored = [(pin.id, scores.hot(likes, pin.created)) for pin, likes in pins]
    return sorted(scored, key=lambda pin: -pin[1])


async def like(feeding: Feeding, pin: Pin, times: int = 1) -> None:
    for _ in range(times):
        await writes.like_pin(feeding.stores, (await feeding.user()).id, pin.id)


async def test_new_public_pins_are_there_for_visitors_newest_first(feeding: Feeding) -> None:
    owner = await feeding.user()
    pins = await feeding.pins(await feeding.board(owner), 3)
    await feeding.pins(await feeding.board(owner, secret=True), 2, start=START + 10**6)
    await feeding.drain()
    page = await feeding.home(None, first=10)
    assert pins_of(page) == [pin.id for pin in reversed(pins)]
    assert {item.reason for item in page.items} == {Reason.POPULAR}
    assert (page.has_next, page.health.pools) == (False, Side.PRIMARY)


async def test_likes_move_a_pin_up_and_leave_one_cell(feeding: Feeding) -> None:
    old, mid, new = await feeding.pins(await feeding.board(await feeding.user()), 3)
    await like(feeding, old, 3)
    await like(feeding, mid)
    await feeding.drain()
    assert await pool(feeding) == hot((old, 3), (mid, 1), (new, 0))
    assert pins_of(await feeding.home(None)) == [old.id, mid.id, new.id]
    for side in feeding.stores.pools:
        assert len(await read_row(side, POPULARITY, id_row(old.id))) == 1


async def test_pages_of_popular_pins_follow_each_other(feeding: Feeding) -> None:
    pins = await feeding.pins(await feeding.board(await feeding.user()), 7)
    await feeding.drain()
    page = await feeding.home(None, first=3, visit="mine")
    assert page.visit == "mine"
    rest = await feeding.rest_of(None, page, first=3)
    assert pins_of(page) + rest == [pin.id for pin in reversed(pins)]


async def test_a_page_of_popular_pins_is_full_in_spite_of_hidden_ones(feeding: Feeding) -> None:
    owner = await feeding.user()
    shown, hidden = await feeding.board(owner), await feeding.board(owner)
    pins = await feeding.pins(shown, 4)
    await feeding.pins(hidden, 60, start=START + 10**6)
    await feeding.drain()
    await writes.update_board(feeding.stores, owner.id, hidden.id, writes.BoardChange(secret=True))
    page = await feeding.home(None, first=3)
    assert pins_of(page) == [pin.id for pin in reversed(pins)][:3]
    assert page.has_next


async def test_popularity_is_right_however_its_jobs_are_run(feeding: Feeding) -> None:
    rng = random.Random(7)
    pins = await feeding.pins(await feeding.board(await feeding.user()), 3)
    await feeding.drain()
    likes = dict.fromkeys((pin.id for pin in pins), 0)
    for _ in range(12):
        pin = rng.choice(pins)
        await like(feeding, pin)
        likes[pin.id] += 1
        if rng.random() < 0.5:
            await feeding.run(rng.choice(await feeding.tasks()))
    tasks = [task for task in await feeding.tasks() if isinstance(task, PinLiked)]
    rng.shuffle(tasks)
    await asyncio.gather(*(feeding.run(task) for task in tasks))
    assert await pool(feeding) == hot(*((pin, likes[pin.id]) for pin in pins))


async def test_an_update_that_stops_at_any_call_leaves_no_cell_behind(feeding: Feeding) -> None:
    (pin,) = await feeding.pins(await feeding.board(await feeding.user()), 1)
    await feeding.drain()
    for calls in itertools.count():
        await like(feeding, pin)
        (task, *_) = await feeding.tasks()
        standby = Unwell(feeding.stores.pools.standby, after=calls)
        lame = feeding.stores._replace(pools=Sides(feeding.stores.pools.primary, standby))
        try:
            await feeding.run(task, stores=lame)
        except StoreError:
            continue
        break
    await feeding.run(task)
    assert await pool(feeding) == hot((pin, calls + 1))


async def test_an_update_with_an_older_count_changes_nothing(feeding: Feeding) -> None:
    (pin,) = await feeding.pins(await feeding.board(await feeding.user()), 1)
    await like(feeding, pin, 2)
    await feeding.drain()
    before = await pool(feeding)
    older = pool_column(PoolColumn(scores.hot(1, pin.created), pin.id))
    for side in feeding.stores.pools:
        await move_cell(side, pin.id, older, 1, why(0))
    assert await pool(feeding) == before


async def test_without_an_answer_from_the_pools_visitors_get_an_empty_page(
    feeding: Feeding,
) -> None:
    await feeding.pins(await feeding.board(await feeding.user()), 3)
    await feeding.drain()
    down = Sides(*(Unwell(side) for side in feeding.stores.pools))
    page = await feeding.home(None, stores=feeding.stores._replace(pools=down))
    assert (page.items, page.has_next, page.health.pools) == ([], False, None)
    half = Sides(Unwell(feeding.stores.pools.primary), feeding.stores.pools.standby)
    page = await feeding.home(None, stores=feeding.stores._replace(pools=half))
    assert (len(page.items), page.health.pools, page.health.may_be_stale) == (3, Side.STANDBY, True)


async def test_the_pool_built_from_all_pins_is_the_one_that_jobs_fill(feeding: Feeding) -> None:
    owner = await feeding.user()
    pins = await feeding.pins(await feeding.board(owner), 6)
    await feeding.pins(await feeding.board(owner, secret=True), 3)
    gone = pins.pop()
    await writes.delete_pin(feeding.stores, owner.id, gone.id)
    await like(feeding, pins[0], 3)
    told: list[int] = []
    await build_popular(feeding.stores, told.append)
    built = await pool(feeding)
    assert built == hot(*((pin, 3 if pin is pins[0] else 0) for pin in pins))
    assert sum(told) == 9
    await feeding.drain()
    assert await pool(feeding) == built
    await like(feeding, pins[0])
    await build_popular(feeding.stores)
    assert await pool(feeding) == hot(*((pin, 4 if pin is pins[0] else 0) for pin in pins))
    await feeding.drain()
    assert len(await pool(feeding)) == 5


async def test_only_the_hottest_are_kept_when_there_are_too_many(feeding: Feeding) -> None:
    pins = await feeding.pins(await feeding.board(await feeding.user()), 6)
    await build_popular(feeding.stores, settings=FeedSettings(popular_cap=2))
    kept = {popular_row(pin.id): pin.id for pin in pins[4:]}
    assert [pin_id for pin_id, _ in await pool(feeding)] == sorted(kept.values(), reverse=True)
    live = await content.load_pins(feeding.stores, [pin.id for pin in pins])
    settings = FeedSettings(popular_cap=POPULAR_SPREAD)
    await update_popularity(feeding.stores, list(live.values()), settings)
    best = {popular_row(pin.id): pin.id for pin in pins}  # one of each row
    assert {pin_id for pin_id, _ in await pool(feeding)} == set(best.values())


@pytest.mark.parametrize("trims_by", ["removing", "marking"])
async def test_pins_that_fell_out_leave_no_row_behind_and_may_come_back(
    feeding: Feeding, trims_by: str
) -> None:
    if trims_by == "marking":
        feeding.stores = feeding.stores._replace(pools=marking(feeding.stores.pools))
    board, fans = await feeding.board(await feeding.user()), await feeding.user()
    pins = await feeding.pins(board, 24)
    await feeding.drain()
    row = popular_row(pins[0].id)
    there = [pin for pin in pins if popular_row(pin.id) == row]
    for side in feeding.stores.pools:
        await trim_row(side, row, 1)
        noted = {int.from_bytes(key, "big") async for key, cells in side.scan(POPULARITY) if cells}
        assert noted == {pin.id for pin in pins} - {pin.id for pin in there[:-1]}
    await writes.like_pin(feeding.stores, fans.id, there[0].id)
    await feeding.drain()
    for side in feeding.stores.pools:
        found = [parse_pool(cell.column).pin_id for cell in await read_row(side, POOLS, row)]
        assert sorted(found) == sorted({there[0].id, there[-1].id})
        assert len(await read_row(side, POPULARITY, id_row(there[0].id))) == 1


async def test_popular_pins_are_spread_over_rows_and_read_as_one_pool(feeding: Feeding) -> None:
    before = list(COUNTS.popular_writes)
    pins = await feeding.pins(await feeding.board(await feeding.user()), 40)
    await feeding.drain()
    [side, _] = feeding.stores.pools
    sizes = [len(await read_row(side, POOLS, row)) for row in POPULAR_ROWS]
    written = [now - then for now, then in zip(COUNTS.popular_writes, before, strict=True)]
    assert written == [2 * size for size in sizes]  # on two sides
    assert sum(sizes) == 40
    assert max(sizes) < 20
    page = await feeding.home(None, first=30)
    rest = await feeding.rest_of(None, page, first=30)
    best = [pin.id for pin in reversed(pins)]
    assert pins_of(page) + rest == best
    assert pins_of(await feeding.home(await feeding.user(), first=5)) == best[:5]


async def test_a_page_reads_little_more_of_the_rows_than_it_shows(
    feeding: Feeding, monkeypatch: pytest.MonkeyPatch
) -> None:
    pins = await pins_of_many(feeding, 240)
    await feeding.drain()
    read = list[int]()
    for side in feeding.stores.pools:

        async def counted(*args: Any, plain: Any = side.read, **more: Any) -> list[Cell]:
            cells: list[Cell] = await plain(*args, **more)
            read.append(len(cells))
            return cells

        monkeypatch.setattr(side, "read", counted)
    page = await feeding.home(None, first=49)
    assert pins_of(page) == [pin.id for pin in reversed(pins)][:49]
    assert sum(read) <= 2 * (49 + POPULAR_SPREAD)
    rest = await feeding.rest_of(None, page, first=49)
    assert pins_of(page) + rest == [pin.id for pin in reversed(pins)]


@pytest.mark.parametrize("first", [2, 25])
async def test_one_owner_does_not_fill_the_pages_of_visitors(feeding: Feeding, first: int) -> None:
    """The pins of an owner with a hundred hot pins, between and before the pins of others."""
    others = await pins_of_many(feeding, 100)
    board = await feeding.board(await feeding.user())
    hot = {(await feeding.pin_at(board, START + 500 + 1000 * n)).id for n in range(75, 175)}
    await feeding.drain()
    page = await feeding.home(None, first=first)
    items = page.items
    while len(items) < 75:
        page = await feeding.home(None, first=first, after=items[-1].cursor)
        items += page.items
    assert sum(item.pin.id in hot for item in items[:25]) == MOST
    assert is_diverse([(item.pin.owner_id, item.pin.board_id) for item in items])
    came = [item.pin.id for item in items] + await feeding.rest_of(None, page, first=first)
    assert len(set(came)) == len(came)
    assert {pin.id for pin in others} <= {*came}


async def test_visitors_see_a_picture_once_on_a_page(feeding: Feeding) -> None:
    pins = await pins_of_many(feeding, 40)
    for _ in range(3):
        board = await feeding.board(await feeding.user())
        await writes.repin(feeding.stores, board.owner_id, pins[-1].id, board.id)
    await feeding.drain()
    page = await feeding.home(None, first=25)
    assert len({item.pin.root for item in page.items}) == 25


async def test_limits_give_way_when_there_is_nobody_else(feeding: Feeding) -> None:
    board = await feeding.board(await feeding.user())
    best = [pin.id for pin in reversed(await feeding.pins(board, 40))]
    await pins_of_many(feeding, 5, start=START - 10**7)
    await feeding.drain()
    page = await feeding.home(None, first=10)
    assert pins_of(page) == best[:10]
    assert (pins_of(page) + await feeding.rest_of(None, page, first=10))[:40] == best


async def pins_of_many(feeding: Feeding, count: int, *, start: int = START) -> list[Pin]:
    """Pins of ten owners in turn, a second apart, the newest last."""
    boards = [await feeding.board(await feeding.user()) for _ in range(10)]
    return [await feeding.pin_at(boards[n % 10], start + 1000 * n) for n in range(count)]


async def test_pins_of_the_row_of_earlier_versions_are_read_and_move_to_their_rows(
    feeding: Feeding,
) -> None:
    """A process of an earlier version puts all cells into one row, even while other processes
    don't."""
    before = COUNTS.popular_moved
    pins = await feeding.pins(await feeding.board(await feeding.user()), 30)
    for row in await feeding.pending():
        await feeding.stores.shards.outbox.finish(row.shard, row.id)
    for side in feeding.stores.pools:
        cells = {
            pool_column(PoolColumn(scores.hot(0, pin.created), pin.id)): why(0) for pin in pins
        }
        for column, pin in zip(cells, pins, strict=True):
            await side.put(POPULARITY, {id_row(pin.id): {inverted_version(0): column}}, 1)
        await side.put(POOLS, {FORMER_POPULAR_ROW: cells}, 1)
    best = [pin.id for pin in reversed(pins)]
    assert pins_of(await feeding.home(None, first=40)) == best
    await like(feeding, pins[0], 9)
    await feeding.drain()
    assert pins_of(await feeding.home(None, first=40)) == [pins[0].id, *best[:-1]]
    for side in feeding.stores.pools:
        popular._empty_until.clear()
        await spread(side)
        assert await read_row(side, POOLS, FORMER_POPULAR_ROW) == []
    assert COUNTS.popular_moved - before == 2 * (len(pins) - 1)  # the liked pin's cell went
    assert await pool(feeding) == hot((pins[0], 9), *((pin, 0) for pin in pins[:0:-1]))
