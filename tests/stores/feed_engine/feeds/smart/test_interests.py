"""Pools of interests: one row for each interest, written once and read by all its followers."""

from typing import Any

import msgspec
import pytest

from bench.call_counts import Counts
from datasources.errors import StoreUnavailable
from datasources.protocols import Sides
from datasources.records import Interest, Pin, User
from feed_engine import writes
from feed_engine.feeds.fanout import pin_published, pin_to_batch
from feed_engine.feeds.rows import (
    POOLS,
    POOLS_APPLIED,
    POPULAR_ROWS,
    PoolColumn,
    Reason,
    Source,
    id_row,
    interest_row,
    parse_pool,
    parse_why,
    pool_column,
    pool_row,
    why,
)
from feed_engine.feeds.settings import FeedSettings
from feed_engine.feeds.smart import handover, pool_rows, pools, scores
from feed_engine.feeds.smart.cuts import FILLED
from feed_engine.feeds.smart.handover import visit_shown
from feed_engine.feeds.smart.interests import fill, interest_short, tidy
from feed_engine.feeds.smart.service import home_page
from feed_engine.feeds.wide import read_row
from feed_engine.outbox.change import FanOutBatch, InterestShort, PinPublished, VisitShown
from feed_engine.outbox.completion import settle
from feed_engine.times import DAY, HOUR
from tests.faulty import Unwell, marking
from tests.feeds import START, Feeding, pins_of

pytestmark = pytest.mark.anyio


async def themed(feeding: Feeding, count: int, *, followers: int = 1) -> tuple[Any, ...]:
    """An interest, its followers, and `count` pins of it, newest first."""
    interest, owner = await feeding.interest(), await feeding.user()
    viewers = [await feeding.user() for _ in range(followers)]
    for viewer in viewers:
        await feeding.follow(viewer, interest.id)
    await feeding.drain()
    board = await feeding.board(owner)
    pins = [await feeding.pin_at(board, START + n, interest.id) for n in range(count)]
    await feeding.drain()
    return interest, viewers, pins[::-1]


def ids(pins: list[Pin]) -> list[int]:
    return [pin.id for pin in pins]


async def in_row(feeding: Feeding, interest: Interest) -> list[int]:
    """The pins of the interest's row, the same on both sides."""
    sides = []
    for side in feeding.stores.pools:
        cells = await read_row(side, POOLS, interest_row(interest.id))
        sides.append([parse_pool(cell.column).pin_id for cell in cells])
    assert sides[0] == sides[1]
    return sides[0]


async def own(feeding: Feeding, viewer: User) -> list[int]:
    cells = await read_row(
        feeding.stores.pools.primary, POOLS, pool_row(viewer.id, Source.INTEREST)
    )
    return [parse_pool(cell.column).pin_id for cell in cells]


async def test_a_pin_is_put_into_its_interests_row_once_however_many_follow_it(
    feeding: Feeding,
) -> None:
    interest, viewers, pins = await themed(feeding, 7, followers=4)
    assert await in_row(feeding, interest) == ids(pins)
    for viewer in viewers:
        assert await own(feeding, viewer) == []
        page = await feeding.home(viewer)
        assert pins_of(page) == ids(pins[:5])
        assert {item.reason for item in page.items} == {Reason.FOLLOWED_INTEREST}
        assert [cause.followed_id for cause in page.items[0].causes] == [interest.id]
    await feeding.drain()
    assert pins_of(await feeding.home(viewers[0]))[:2] == ids(pins[5:])
    assert await in_row(feeding, interest) == ids(pins)


async def test_several_interests_are_merged_best_first_as_deep_as_the_chunk_needs(
    feeding: Feeding,
) -> None:
    """One interest's newest hundred pins are newer than all pins of the other interest."""
    viewer, board = await feeding.user(), await feeding.board(await feeding.user())
    old, new = await feeding.interest(), await feeding.interest()
    for interest in (old, new):
        await feeding.follow(viewer, interest.id)
    first = [await feeding.pin_at(board, START + n, old.id) for n in range(40)]
    last = [await feeding.pin_at(board, START + 1000 + n, new.id) for n in range(70)]
    await feeding.drain()
    feeding.settings = FeedSettings(chunk=90, generator_seconds=60)
    page = await feeding.home(viewer, first=90)
    assert pins_of(page) == ids([*last[::-1], *first[::-1]])[:90]


@pytest.mark.parametrize("process", ["the same", "another"])
async def test_all_pins_of_a_followed_interest_come_and_each_once(
    feeding: Feeding, process: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pool has many more pins than a visit reads. On the way, pins arrive at its top, and
    within the part that was passed."""
    monkeypatch.setattr(pool_rows, "SHARED_PAGE", 4)
    monkeypatch.setattr(pool_rows, "TOP", 2)
    monkeypatch.setattr(handover, "SWEEP_EVERY", 4)
    feeding.settings = FeedSettings(chunk=5, generator_seconds=60)
    interest, [viewer], pins = await themed(feeding, 80)
    board = await feeding.board(await feeding.user())
    late = await feeding.pin_at(board, START + 70)
    await feeding.drain()
    await feeding.empty_popular()
    feeds = feeding.feeds()
    seen: list[int] = []
    for number in range(40):
        if number == 10:
            pins += [await feeding.pin_at(board, START + 1000 + n, interest.id) for n in range(9)]
            change = writes.PinChange(interest_ids=(interest.id,))
            await writes.update_pin(feeding.stores, late.owner_id, late.id, change)
            await feeding.drain()
            await feeding.empty_popular()
        visible = feeding.visible(viewer)
        feeds = feeds if process == "the same" else feeding.feeds()
        page = await home_page(feeds, viewer.id, first=5, visible=visible)
        new = [item for item in page.items if item.reason is not Reason.SHOWN_BEFORE]
        assert len(new) == 5 or len(seen) > 80
        assert {item.reason for item in new} <= {Reason.FOLLOWED_INTEREST}
        seen += [item.pin.id for item in new]
        await feeding.drain()
    assert sorted(seen) == sorted([*ids(pins), late.id])


async def test_what_is_no_longer_followed_is_not_read(feeding: Feeding) -> None:
    interest, [viewer], pins = await themed(feeding, 3)
    feeds = feeding.feeds()
    feeds.remember_interests(viewer.id, [interest.id])
    await feeding.unfollow(viewer, interest.id)
    page = await feeding.home(viewer)
    assert not {Reason.FOLLOWED_INTEREST} & {item.reason for item in page.items}
    assert pins_of(page) == ids(pins)  # as popular pins


async def test_of_very_many_interests_others_are_read_each_hour(feeding: Feeding) -> None:
    viewer, board = await feeding.user(), await feeding.board(await feeding.user())
    interests = [await feeding.interest() for _ in range(6)]
    for number, interest in enumerate(interests):
        await feeding.follow(viewer, interest.id)
        await feeding.pin_at(board, START + number, interest.id)
    await feeding.drain()
    await feeding.empty_popular()
    feeding.settings = FeedSettings(chunk=2, interests=2, generator_seconds=60)
    read = set[int]()
    for hour in range(12):
        feeding.now += 3_600_000
        page = await feeding.home(viewer, visit=f"hour {hour}", first=2)
        read |= {
            i.causes[0].followed_id for i in page.items if i.reason is Reason.FOLLOWED_INTEREST
        }
        for row in await feeding.pending():
            await feeding.stores.shards.outbox.finish(row.shard, row.id)
    assert len(read) > 2


async def test_the_rows_that_a_visit_reads_are_bounded(feeding: Feeding) -> None:
    """No candidate may be shown, in any row: `reads` in `schema/query.py` states the most calls."""
    viewer, board = await feeding.user(), await feeding.board(await feeding.user())
    interests = [await feeding.interest() for _ in range(12)]
    for interest in interests:
        await feeding.follow(viewer, interest.id)
    (pin,) = await feeding.pins(board, 1)
    await feeding.drain()
    rows = [interest_row(interest.id) for interest in interests]
    rows += [*POPULAR_ROWS, *(pool_row(viewer.id, source) for source in pools.OWN_SOURCES)]
    for row in rows:
        ids = range(pin.id + 1, pin.id + 1500)
        columns = [pool_column(PoolColumn(scores.hot(0, START - id % 1500), id)) for id in ids]
        for side in feeding.stores.pools:
            await side.put(POOLS, {row: dict.fromkeys(columns, why(pin.owner_id))}, 1)
    feeding.settings = FeedSettings(floor=-1e9, generator_seconds=60)
    counts = Counts()
    page = await feeding.home(viewer, stores=counts.of(feeding.stores))
    assert set(pins_of(page)) <= {pin.id}
    assert counts.calls["pools.read"] == 3 + 9 + 10 + 9 + 9 + 3
    assert counts.calls.total() <= 60


async def test_a_row_that_nothing_filled_is_filled_for_the_reader_who_comes_to_its_end(
    feeding: Feeding,
) -> None:
    """After an upgrade, an interest has pins, but its row only has the latest pin."""
    interest, [viewer], pins = await themed(feeding, 4)
    row = interest_row(interest.id)
    for side in feeding.stores.pools:
        cells = await read_row(side, POOLS, row)
        await side.delete(POOLS, {row: [cell.column for cell in cells[1:]]}, 1)
        await side.trim(POOLS, row, 1)
        await side.trim(POOLS_APPLIED, id_row(interest.id), 0)
    feeding.stores = feeding.stores._replace()
    page = await feeding.home(viewer, first=1)
    await settle()
    assert pins_of(page) == ids(pins[:1])
    asked = [task for task in await feeding.tasks() if isinstance(task, InterestShort)]
    assert asked == [InterestShort(interest.id, feeding.now)]
    await feeding.home(viewer)
    await settle()
    assert len([t for t in await feeding.tasks() if isinstance(t, InterestShort)]) == 1
    await feeding.drain()
    feeding.now += 3_600_000
    assert await in_row(feeding, interest) == ids(pins)
    await feeding.home(viewer, visit="another")
    await settle()
    assert not [t for t in await feeding.tasks() if isinstance(t, InterestShort)]


@pytest.mark.parametrize("trims_by", ["removing", "marking"])
async def test_a_row_that_was_cut_gets_back_what_it_lacks(feeding: Feeding, trims_by: str) -> None:
    """The row kept ten of 60 pins, and these were deleted."""
    if trims_by == "marking":
        feeding.stores = feeding.stores._replace(pools=marking(feeding.stores.pools))
    interest, _, pins = await themed(feeding, 60)
    for side in feeding.stores.pools:
        await tidy(side, feeding.stores, interest.id, 10)
    for pin in pins[:10]:
        await writes.delete_pin(feeding.stores, pin.owner_id, pin.id)
    viewer = await feeding.user()
    await feeding.follow(viewer, interest.id)
    await feeding.drain()
    feeding.settings = FeedSettings(chunk=60, generator_seconds=60)
    page = await feeding.home(viewer, first=60)
    assert pins_of(page) == ids(pins[10:])
    assert {item.reason for item in page.items} == {Reason.FOLLOWED_INTEREST}


async def test_a_reader_of_a_row_that_was_cut_gets_what_it_lacks(feeding: Feeding) -> None:
    """The row kept three of eight pins, and these were deleted."""
    feeding.stores = feeding.stores._replace(pools=marking(feeding.stores.pools))
    interest, [viewer], pins = await themed(feeding, 8)
    for side in feeding.stores.pools:
        await tidy(side, feeding.stores, interest.id, 3)
    for pin in pins[:3]:
        await writes.delete_pin(feeding.stores, pin.owner_id, pin.id)
    assert {item.reason for item in (await feeding.home(viewer)).items} == {Reason.POPULAR}
    assert await in_row(feeding, interest) == ids(pins[:3])
    await settle()
    await feeding.drain()
    assert await in_row(feeding, interest) == ids(pins[3:])
    feeding.now += 3_600_000
    await feeding.home(await feeding.user())
    await settle()
    assert not [t for t in await feeding.tasks() if isinstance(t, InterestShort)]


async def test_a_follow_fills_a_row_that_nothing_filled(feeding: Feeding) -> None:
    interest, board = await feeding.interest(), await feeding.board(await feeding.user())
    pins = [await feeding.pin_at(board, START + n, interest.id) for n in range(3)]
    for row in await feeding.pending():
        await feeding.stores.shards.outbox.finish(row.shard, row.id)
    viewer = await feeding.user()
    await feeding.follow(viewer, interest.id)
    await feeding.drain()
    assert await in_row(feeding, interest) == ids(pins[::-1])
    for side in feeding.stores.pools:
        assert await side.get(POOLS_APPLIED, id_row(interest.id), [FILLED])


async def test_pins_that_an_earlier_version_pushed_are_shown_once_and_leave(
    feeding: Feeding,
) -> None:
    """While processes of both versions run, a pin is in the viewer's own row, or in both."""
    interest, [viewer], pins = await themed(feeding, 3)
    pushed = [
        await feeding.pin_at(await feeding.board(await feeding.user()), START + 9, interest.id)
    ]
    for row in await feeding.pending():
        await feeding.stores.shards.outbox.finish(row.shard, row.id)
    for pin in [*pins, *pushed]:
        column, _ = pools.followed_cell(pin, interest.id)
        cells = {pool_row(viewer.id, Source.INTEREST): {column: why(interest.id)}}
        for side in feeding.stores.pools:
            await side.put(POOLS, cells, pin.created)
    assert pins_of(await feeding.home(viewer)) == ids([*pushed, *pins])
    await feeding.drain()
    assert await own(feeding, viewer) == []
    assert await in_row(feeding, interest) == ids(pins)


async def test_a_fan_out_that_an_earlier_version_began_reaches_the_interests_row(
    feeding: Feeding,
) -> None:
    interest, _, _ = await themed(feeding, 0, followers=2)
    board = await feeding.board(await feeding.user())
    begun, planned = [await feeding.pin_at(board, START + n, interest.id) for n in range(2)]
    [task, _] = await feeding.tasks()
    assert isinstance(task, PinPublished)
    done = dict.fromkeys(("popular primary", "popular standby"), "done")
    cursor = msgspec.json.encode({**done, "pools primary": '[2,"17",5]', "planned": "[]"})
    await pin_published(feeding.stores, task, cursor, _nowhere)
    batch = FanOutBatch(planned.id, interest.id, 0, "", "")
    await pin_to_batch(feeding.stores, batch, None, _nowhere)
    assert await in_row(feeding, interest) == [planned.id, begun.id]


async def test_a_filling_that_runs_again_gives_both_sides_the_same_cells(feeding: Feeding) -> None:
    """The standby does not answer the first time."""
    interest, _, _ = await themed(feeding, 6)
    await feeding.drain()
    primary, standby = feeding.stores.pools
    for side in feeding.stores.pools:
        await side.trim(POOLS, interest_row(interest.id), 2)
    task = InterestShort(interest_id=interest.id, at=START + DAY)
    sides: Any = Sides(primary, Unwell(standby))
    with pytest.raises(StoreUnavailable):
        await interest_short(feeding.stores._replace(pools=sides), task, None, _nowhere)
    await interest_short(feeding.stores, task, None, _nowhere)
    cells = await read_row(primary, POOLS, interest_row(interest.id))
    assert sum(cell.stamp == task.at for cell in cells) == 4
    assert cells == await read_row(standby, POOLS, interest_row(interest.id))


async def test_dead_pins_keep_no_place_from_living_ones(feeding: Feeding) -> None:
    interest, _, pins = await themed(feeding, 6)
    owner, board = pins[0].owner_id, await feeding.board(await feeding.user())
    await writes.delete_pin(feeding.stores, owner, pins[0].id)
    change = writes.PinChange(interest_ids=())
    await writes.update_pin(feeding.stores, owner, pins[1].id, change)
    hidden = await feeding.pin_at(board, START + 100, interest.id)
    await feeding.drain()
    flip = writes.BoardChange(secret=True)
    await writes.update_board(feeding.stores, board.owner_id, board.id, flip)
    await feeding.drain()
    assert len(await in_row(feeding, interest)) == 7
    for side in feeding.stores.pools:
        await tidy(side, feeding.stores, interest.id, 3)
    assert await in_row(feeding, interest) == ids(pins[2:5])
    flip = writes.BoardChange(secret=False)
    await writes.update_board(feeding.stores, board.owner_id, board.id, flip)
    await feeding.drain()
    assert (await in_row(feeding, interest))[0] == hidden.id
    await fill(feeding.stores, interest.id, 3, START + HOUR)
    assert (await in_row(feeding, interest))[:4] == ids([hidden, *pins[2:5]])


async def test_a_side_that_is_away_keeps_an_interests_pins_from_its_own_row_alone(
    feeding: Feeding,
) -> None:
    interest, _, _ = await themed(feeding, 0)
    pin = await feeding.pin_at(await feeding.board(await feeding.user()), START, interest.id)
    [task] = await feeding.tasks()
    assert isinstance(task, PinPublished)
    away = Sides(Unwell(feeding.stores.pools.primary), feeding.stores.pools.standby)  # type: ignore[arg-type]
    with pytest.raises(Exception, match="no answer"):
        await pin_published(feeding.stores._replace(pools=away), task, None, _nowhere)
    cells = await read_row(feeding.stores.pools.standby, POOLS, interest_row(interest.id))
    assert [parse_pool(cell.column).pin_id for cell in cells] == [pin.id]
    await feeding.drain()
    assert await in_row(feeding, interest) == [pin.id]


def test_an_earlier_version_reads_the_value_of_a_cell() -> None:
    class Earlier(msgspec.Struct, frozen=True, array_like=True):
        cause_id: int = 0

    for value in (why(7), why(7, 8), why(7, 8, 9)):
        assert msgspec.json.decode(value, type=Earlier).cause_id == 7
    assert msgspec.structs.astuple(parse_why(b"[7]")) == (7, 0, 0)
    assert msgspec.structs.astuple(parse_why(why(7, 8, 9))) == (7, 8, 9)


async def test_the_hand_over_of_a_chunk_leaves_the_shared_row_alone(feeding: Feeding) -> None:
    interest, [viewer], pins = await themed(feeding, 5)
    await feeding.home(viewer)
    [task] = await feeding.tasks()
    assert isinstance(task, VisitShown)
    await visit_shown(feeding.stores, task, None, _nowhere)
    assert await in_row(feeding, interest) == ids(pins)


async def _nowhere(cursor: bytes) -> None: ...
