"""The following feed over embedded stores: who sees what, and in which pages."""

import pytest

from datasources.errors import BadInput
from datasources.ids import Kind, compose
from datasources.protocols import Sides
from datasources.records import Pin, User
from feed_engine import writes
from feed_engine.feeds.following import following_page
from feed_engine.feeds.rows import POOLS, Source, pool_row
from feed_engine.feeds.wide import read_row
from feed_engine.speculation import Side
from tests.faulty import Unwell
from tests.feeds import START, Feeding, pins_of

pytestmark = pytest.mark.anyio


async def test_new_pins_of_a_followed_user_come_newest_first(feeding: Feeding) -> None:
    viewer, owner = await feeding.user(), await feeding.user()
    board = await feeding.board(owner)
    await feeding.follow(viewer, owner.id)
    pins = await feeding.pins(board, 3)
    await feeding.drain()
    page = await feeding.following(viewer)
    assert pins_of(page) == [pin.id for pin in reversed(pins)]
    assert {item.cause_id for item in page.items} == {owner.id}
    assert (page.has_next, page.side) == (False, Side.PRIMARY)


async def test_a_pin_of_two_causes_is_shown_once(feeding: Feeding) -> None:
    viewer, owner = await feeding.user(), await feeding.user()
    board = await feeding.board(owner)
    await feeding.follow(viewer, owner.id)
    await feeding.follow(viewer, board.id)
    pins = await feeding.pins(board, 5)
    await feeding.drain()
    assert len((await feeding.cells(viewer))[0]) == 10
    for first in (1, 2, 3, 5, 50):
        page = await feeding.following(viewer, first=first)
        assert pins_of(page) == [pin.id for pin in reversed(pins)][:first]
        assert page.has_next == (first < 5)
    await feeding.unfollow(viewer, owner.id)
    assert len(pins_of(await feeding.following(viewer))) == 5


async def test_a_page_among_hidden_pins_is_not_filled_pin_by_pin(feeding: Feeding) -> None:
    viewer, owner = await feeding.user(), await feeding.user()
    board = await feeding.board(owner)
    await feeding.follow(viewer, owner.id)
    pins = await feeding.pins(board, 121)
    await feeding.drain()
    asked: list[int] = []
    see = feeding.visible(viewer)

    async def visible(ids: list[int]) -> dict[int, Pin]:
        asked.append(len(ids))
        return {id: pin for id, pin in (await see(ids)).items() if id == pins[0].id}

    page = await following_page(feeding.feeds(), viewer.id, first=1, visible=visible)
    assert pins_of(page) == [pins[0].id]
    assert not page.has_next
    assert sum(asked) == 121
    assert len(asked) <= 5


async def test_pages_follow_each_other_without_gaps_or_repeats(feeding: Feeding) -> None:
    viewer, owner = await feeding.user(), await feeding.user()
    board = await feeding.board(owner)
    await feeding.follow(viewer, owner.id)
    await feeding.follow(viewer, board.id)
    pins = await feeding.pins(board, 7)
    await feeding.drain()
    page = await feeding.following(viewer, first=3)
    seen = pins_of(page)
    while page.has_next:
        page = await feeding.following(viewer, first=3, after=page.items[-1].cursor)
        seen += pins_of(page)
    assert seen == [pin.id for pin in reversed(pins)]


async def test_a_page_is_full_in_spite_of_what_is_left_out(feeding: Feeding) -> None:
    viewer, owner, left = [await feeding.user() for _ in range(3)]
    board, secret = await feeding.board(owner), await feeding.board(owner)
    others = await feeding.board(left)
    await feeding.follow(viewer, owner.id)
    await feeding.follow(viewer, left.id)
    shown = []
    for number in range(40):
        at = START + 10_000 * number
        shown.append(await feeding.pin_at(board, at))
        for offset in range(1, 5):
            await feeding.pin_at(secret if offset % 2 else others, at + offset)
    await feeding.drain()
    await writes.update_board(feeding.stores, owner.id, secret.id, writes.BoardChange(secret=True))
    await feeding.unfollow(viewer, left.id)
    page = await feeding.following(viewer, first=30)
    assert pins_of(page) == [pin.id for pin in reversed(shown)][:30]
    assert page.has_next
    rest = await feeding.following(viewer, first=10, after=page.items[-1].cursor)
    assert pins_of(rest) == [pin.id for pin in reversed(shown)][30:]
    assert not rest.has_next


async def test_own_pins_deleted_pins_and_secret_pins_are_not_shown(feeding: Feeding) -> None:
    viewer, owner = await feeding.user(), await feeding.user()
    own, board = await feeding.board(viewer), await feeding.board(owner)
    hidden = await feeding.board(owner, secret=True)
    await feeding.follow(viewer, owner.id)
    await feeding.follow(viewer, board.id)
    await feeding.pins(own, 2)
    await feeding.pins(hidden, 2)
    kept, gone = await feeding.pins(board, 2)
    await writes.delete_pin(feeding.stores, owner.id, gone.id)
    await feeding.drain()
    assert pins_of(await feeding.following(viewer)) == [kept.id]


async def test_an_unfollow_shows_at_once_and_is_cleaned_up_later(feeding: Feeding) -> None:
    viewer, owner = await feeding.user(), await feeding.user()
    await feeding.follow(viewer, owner.id)
    await feeding.pins(await feeding.board(owner), 3)
    await feeding.drain()
    await feeding.unfollow(viewer, owner.id)
    assert pins_of(await feeding.following(viewer)) == []
    assert len((await feeding.cells(viewer))[0]) == 3
    await feeding.drain()
    assert await feeding.cells(viewer) == [[], []]
    for side in feeding.stores.pools:
        assert await read_row(side, POOLS, pool_row(viewer.id, Source.FOLLOWED)) == []


async def test_the_standby_serves_the_feed_when_the_primary_is_down(feeding: Feeding) -> None:
    viewer, owner = await feeding.user(), await feeding.user()
    await feeding.follow(viewer, owner.id)
    pins = await feeding.pins(await feeding.board(owner), 3)
    await feeding.drain()
    dead = Sides(Unwell(feeding.stores.feeds.primary), feeding.stores.feeds.standby)
    page = await feeding.following(viewer, stores=feeding.stores._replace(feeds=dead))
    assert pins_of(page) == [pin.id for pin in reversed(pins)]
    assert page.side is Side.STANDBY


async def test_interests_do_not_reach_the_following_feed(feeding: Feeding) -> None:
    viewer, owner = await feeding.user(), await feeding.user()
    interest = await feeding.interest()
    await feeding.follow(viewer, interest.id)
    await feeding.pin_at(await feeding.board(owner), START, interest.id)
    await feeding.drain()
    assert await feeding.cells(viewer) == [[], []]


async def test_the_feed_of_somebody_unknown_is_empty(feeding: Feeding) -> None:
    nobody = User(id=compose(1, Kind.USER, 999), username="nobody")
    page = await feeding.following(nobody)
    assert (page.items, page.has_next) == ([], False)


async def test_another_feeds_cursor_is_bad_input(feeding: Feeding) -> None:
    viewer = await feeding.user()
    with pytest.raises(BadInput):
        await feeding.following(viewer, after="IQAA")
