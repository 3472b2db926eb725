"""Following feeds that were cut, and whose newer pins disappeared: a reader's request refills
them."""

from typing import Any

import pytest

from datasources.records import Pin, User
from feed_engine import writes
from feed_engine.feeds.bulk import build_feeds
from feed_engine.feeds.following import following_page
from feed_engine.feeds.newest import newest_followed
from feed_engine.feeds.refill import refill
from feed_engine.feeds.row_cap import trim_following
from feed_engine.feeds.rows import id_row
from feed_engine.feeds.settings import FeedSettings
from feed_engine.outbox.change import FeedShort
from feed_engine.outbox.completion import settle
from tests.faulty import Preceded, lacking, marking, with_part
from tests.feeds import START, Feeding, pins_of
from tests.following.jobs import drain, finish_row

pytestmark = pytest.mark.anyio

CAP = 4
SMALL = FeedSettings(following_cap=CAP)


@pytest.fixture(params=["removing", "marking"])
def small(request: Any, feeding: Feeding) -> Feeding:
    """Feeds of 4 pins, over stores that trim as RocksDB or as HBase do."""
    feeding.settings = SMALL
    if request.param == "marking":
        feeding.stores = feeding.stores._replace(feeds=marking(feeding.stores.feeds))
    return feeding


async def follower_of_two(feeding: Feeding) -> tuple[User, list[User], list[Pin]]:
    """The feed after a reader came, and after the jobs that the reader requested."""
    viewer, *owners = [await feeding.user() for _ in range(3)]
    pins = [
        (await feeding.pins(await feeding.board(owner), 1, start=START + number))[0]
        for number, owner in enumerate(owners)
    ]
    for owner in owners:
        await feeding.follow(viewer, owner.id)
    return viewer, owners, pins


async def settled(feeding: Feeding, viewer: User) -> list[int]:
    """The feed after a reader came, and the jobs that the reader asked for are done."""
    await drain(feeding.stores, SMALL)
    await feeding.following(viewer)
    await drain(feeding.stores, SMALL)
    return pins_of(await feeding.following(viewer))


@pytest.mark.parametrize("goes_by", ["deletion", "secrecy", "pins", "moves"])
async def test_pins_that_went_make_room_for_older_ones_again(small: Feeding, goes_by: str) -> None:
    viewer, new, old = [await small.user() for _ in range(3)]
    early = await small.pins(await small.board(old), CAP)
    board = await small.board(new)
    hidden = (
        await writes.create_board(small.stores, new.id, writes.NewBoard(name="h", secret=True))
    ).board
    for target in (new.id, old.id):
        await small.follow(viewer, target)
    await drain(small.stores, SMALL)
    late = await small.pins(board, 3 * CAP, start=START + 1_000_000)
    await drain(small.stores, SMALL)
    for store in small.stores.feeds:
        await trim_following(store, id_row(viewer.id), CAP)
    assert pins_of(await small.following(viewer)) == [pin.id for pin in late[: -CAP - 1 : -1]]
    match goes_by:
        case "deletion":
            await writes.delete_board(small.stores, new.id, board.id)
        case "secrecy":
            change = writes.BoardChange(secret=True)
            await writes.update_board(small.stores, new.id, board.id, change)
        case "pins":
            for pin in late:
                await writes.delete_pin(small.stores, new.id, pin.id)
        case _:
            for pin in late:
                await writes.move_pin(small.stores, new.id, pin.id, hidden.id)
    assert await settled(small, viewer) == [pin.id for pin in reversed(early)]


@pytest.mark.parametrize("given_by", ["follow", "refill", "bulk"])
async def test_a_row_that_was_given_the_newest_of_more_pins_is_filled_when_they_go(
    small: Feeding, given_by: str
) -> None:
    """No pin was ever trimmed from the row: the follow came after the pins."""
    viewer, owner = await small.user(), await small.user()
    pins = await small.pins(await small.board(owner), CAP + 3)
    await drain(small.stores, SMALL)
    await small.follow(viewer, owner.id)
    if given_by != "follow":
        for row in await small.pending():
            await small.stores.shards.outbox.finish(row.shard, row.id)
        if given_by == "refill":
            await refill(small.stores, viewer.id, SMALL)
        else:
            await build_feeds(small.stores, [viewer.id], settings=SMALL)
    await drain(small.stores, SMALL)
    for pin in pins[-2:]:
        await writes.delete_pin(small.stores, owner.id, pin.id)
    assert await settled(small, viewer) == [pin.id for pin in pins[-3 : -CAP - 3 : -1]]


async def test_a_short_feed_is_asked_for_once_and_one_that_was_never_cut_not_at_all(
    feeding: Feeding,
) -> None:
    feeding.settings = SMALL
    viewer, owner = await feeding.user(), await feeding.user()
    pins = await feeding.pins(await feeding.board(owner), 2)
    await feeding.follow(viewer, owner.id)
    await drain(feeding.stores, SMALL)
    assert await _asked(feeding, viewer) == 0
    await feeding.pins(await feeding.board(owner), CAP, start=START + 10_000)
    await drain(feeding.stores, SMALL)
    for store in feeding.stores.feeds:
        await trim_following(store, id_row(viewer.id), CAP)
    for pin_id in pins_of(await feeding.following(viewer)):
        await writes.delete_pin(feeding.stores, owner.id, pin_id)
    assert [await _asked(feeding, viewer) for _ in range(3)] == [1, 1, 1]
    assert await settled(feeding, viewer) == [pin.id for pin in reversed(pins)]
    assert await _asked(feeding, viewer) == 0  # all are there: the mark is gone


async def _asked(feeding: Feeding, viewer: User) -> int:
    await feeding.following(viewer)
    await settle()
    return sum(isinstance(task, FeedShort) for task in await feeding.tasks())


async def test_stale_cells_of_moved_pins_take_no_places(small: Feeding) -> None:
    viewer, owner = await small.user(), await small.user()
    boards = [await small.board(owner) for _ in range(3)]
    for board in boards:
        await small.follow(viewer, board.id)
    pins = await small.pins(boards[0], 2 * CAP)
    await drain(small.stores, SMALL)
    for target in boards[1:]:
        for pin in pins[CAP:]:
            await writes.move_pin(small.stores, owner.id, pin.id, target.id)
        await drain(small.stores, SMALL)
        for store in small.stores.feeds:
            await trim_following(store, id_row(viewer.id), CAP)
    assert await settled(small, viewer) == [pin.id for pin in reversed(pins[CAP:])]


@pytest.mark.parametrize("clock", [(5, 5), (5, 1)], ids=["same", "back"])
async def test_a_later_refill_shows_whatever_the_clock_says(
    feeding: Feeding, clock: tuple[int, int]
) -> None:
    """In a feed of one pin, the newest pin disappears first, then the middle one; each refill
    trims the pin that the next refill needs."""
    one = FeedSettings(following_cap=1)
    feeding.settings = one
    feeding.stores = feeding.stores._replace(feeds=marking(feeding.stores.feeds))
    viewer, owners, pins = await follower_of_two(feeding)
    await drain(feeding.stores, one)
    await refill(feeding.stores, viewer.id, one, clock=lambda: clock[0])
    assert pins_of(await feeding.following(viewer)) == [pins[1].id]
    await writes.delete_pin(feeding.stores, owners[1].id, pins[1].id)
    await refill(feeding.stores, viewer.id, one, clock=lambda: clock[1])
    assert pins_of(await feeding.following(viewer)) == [pins[0].id]
    newer = (await feeding.pins(await feeding.board(owners[1]), 1, start=START + 5))[0]
    await drain(feeding.stores, one)
    await refill(feeding.stores, viewer.id, one, clock=lambda: clock[1])
    await writes.delete_pin(feeding.stores, owners[1].id, newer.id)
    await refill(feeding.stores, viewer.id, one, clock=lambda: clock[1])
    assert pins_of(await feeding.following(viewer)) == [pins[0].id]


async def test_an_unfollow_in_the_midst_of_a_refill_leaves_no_feed_short(feeding: Feeding) -> None:
    one = FeedSettings(following_cap=1)
    feeding.settings = one
    viewer, owners, pins = await follower_of_two(feeding)
    await drain(feeding.stores, one)
    for side in feeding.stores.feeds:  # a fan-out trims a row at some of the pins' ids only
        await trim_following(side, id_row(viewer.id), one.following_cap)

    async def unfollow() -> None:
        await feeding.unfollow(viewer, owners[1].id)
        for row in await feeding.pending():
            await finish_row(feeding.stores, row, one)

    primary: Any = Preceded(feeding.stores.feeds.primary, "put", unfollow)
    stores = feeding.stores._replace(feeds=feeding.stores.feeds._replace(primary=primary))
    await refill(stores, viewer.id, one)
    assert pins_of(await feeding.following(viewer)) == [pins[0].id]


async def test_a_followed_board_brings_its_newest_pins_not_its_top(feeding: Feeding) -> None:
    feeding.settings = SMALL
    viewer, owner = await feeding.user(), await feeding.user()
    board = await feeding.board(owner)
    pins = await feeding.pins(board, 6)
    await writes.reorder_pin(
        feeding.stores, owner.id, board.id, pins[-1].id, before_pin_id=pins[0].id
    )
    await drain(feeding.stores, SMALL)
    await feeding.follow(viewer, board.id)
    await drain(feeding.stores, SMALL)
    assert pins_of(await feeding.following(viewer)) == [pin.id for pin in pins[:1:-1]]


async def test_a_merge_reads_few_rows_of_each_of_many_lists(feeding: Feeding) -> None:
    viewer = await feeding.user()
    owners = [await feeding.user() for _ in range(12)]
    made = []
    for number, owner in enumerate(owners):
        made += await feeding.pins(await feeding.board(owner), 10, start=START + 7 * number)
    asked: list[int] = []
    mappings = feeding.stores.shards.mappings

    class Counted:
        def __getattr__(self, name: str) -> Any:
            return getattr(mappings, name)

        async def pages(self, requests: Any) -> Any:
            asked.extend(request.limit for request in requests)
            return await mappings.pages(requests)

    stores = with_part(feeding.stores, "mappings", Counted())
    found = await newest_followed(stores, viewer.id, [o.id for o in owners], 12)
    expected = sorted(made, key=lambda pin: (pin.created, pin.id), reverse=True)[:12]
    assert [newest.pin.id for newest in found] == [pin.id for pin in expected]
    assert sum(asked) == 12 * 8


async def test_without_the_viewers_shard_the_feed_goes_by_the_copy_of_the_edges(
    feeding: Feeding,
) -> None:
    viewer, kept, ended = [await feeding.user() for _ in range(3)]
    (pin,) = await feeding.pins(await feeding.board(kept), 1)
    await feeding.pins(await feeding.board(ended), 1)
    for owner in (kept, ended):
        await feeding.follow(viewer, owner.id)
    await feeding.drain()
    await feeding.unfollow(viewer, ended.id)
    await feeding.drain()
    visible = feeding.visible(viewer)
    stores = lacking(feeding.stores, "mappings")
    page = await following_page(feeding.feeds(stores), viewer.id, first=5, visible=visible)
    assert pins_of(page) == [pin.id]
    assert page.may_be_stale
    assert not (await feeding.following(viewer)).may_be_stale
