"""The home feed over embedded stores: what is chosen, and what is answered when stores fail."""

import pytest

from datasources.records import User
from feed_engine import writes
from feed_engine.feeds import visits
from feed_engine.feeds.rows import POOLS, Reason, Source, pool_column, pool_row, why
from feed_engine.feeds.rows import PoolColumn as Column
from feed_engine.feeds.settings import FeedSettings
from feed_engine.feeds.smart.results import HomePage
from feed_engine.speculation import Side
from tests.faulty import Unwell, down, lacking, without_primary
from tests.feeds import START, Feeding, pins_of, reader

pytestmark = pytest.mark.anyio


def reasons(page: HomePage) -> list[Reason]:
    return [item.reason for item in page.items]


async def move_on(feeding: Feeding, viewer: User) -> list[int]:
    """Make enough visits that the shard no longer has the earlier ones. Returns their new pins."""
    new: list[int] = []
    for _ in range(visits.RECENT + 1):
        page = await feeding.home(viewer)
        new += [item.pin.id for item in page.items if item.reason is not Reason.SHOWN_BEFORE]
        await feeding.drain()
    return new


async def test_a_page_served_by_the_standby_says_so(feeding: Feeding) -> None:
    viewer, pins = await reader(feeding)
    await feeding.home(viewer)
    await feeding.drain()
    dead = feeding.stores._replace(
        feeds=without_primary(feeding.stores.feeds), pools=without_primary(feeding.stores.pools)
    )
    page = await feeding.home(viewer, first=10, stores=dead)
    assert pins_of(page) == pins[5:10] + pins[:5]
    assert (page.health.pools, page.health.materialized) == (Side.STANDBY, Side.STANDBY)
    assert page.health.may_be_stale


async def test_without_pools_the_feed_is_what_was_shown_and_the_next_chunk_is_larger(
    feeding: Feeding,
) -> None:
    viewer, pins = await reader(feeding, 30)
    await feeding.home(viewer)
    await feeding.drain()
    lame = feeding.stores._replace(pools=down(feeding.stores.pools))
    missed = await feeding.home(viewer, first=20, stores=lame)
    assert pins_of(missed) == pins[:5]
    assert (missed.health.pools, missed.health.may_be_stale) == (None, True)
    assert missed.health.stale_since is not None
    assert pins_of(await feeding.home(viewer, first=20, visit=missed.visit)) == pins[:5]
    twice = await feeding.home(viewer, first=20, stores=lame)
    assert pins_of(twice) == pins[:5]
    served = await feeding.home(viewer, first=40)
    assert pins_of(served) == pins[5:20] + pins[:5]
    assert pins_of(await feeding.home(viewer, first=5)) == pins[20:25]


async def test_without_the_materialized_feed_the_answer_is_the_chunk_and_unsaved_visits(
    feeding: Feeding,
) -> None:
    viewer, pins = await reader(feeding, 30)
    for _ in range(visits.RECENT + 1):
        await feeding.home(viewer)
        await feeding.drain()
    await feeding.pins(await feeding.board(await feeding.user()), 20)
    await feeding.drain()
    one = await feeding.home(viewer)
    lame = feeding.stores._replace(feeds=down(feeding.stores.feeds))
    page = await feeding.home(viewer, first=100, stores=lame)
    assert page.health.pools is Side.PRIMARY
    assert (page.health.materialized, page.health.may_be_stale) == (None, True)
    assert pins_of(page)[5:10] == pins_of(one)
    assert len(set(pins_of(page))) == len(page.items) >= 10
    assert not page.has_next
    whole = await feeding.home(viewer, first=100, visit=page.visit)
    assert pins_of(whole)[: len(page.items)] == pins_of(page)
    assert set(pins) <= set(pins_of(whole))


async def test_pins_chosen_again_while_nobody_could_say_what_was_shown_appear_once(
    feeding: Feeding,
) -> None:
    viewer, pins = await reader(feeding, 8)
    await feeding.home(viewer)
    await move_on(feeding, viewer)
    for side in feeding.stores.pools:  # as after a compaction, when an old job runs again
        cells = {pool_column(Column(1e6, pins[0])): why(0)}
        await side.put(POOLS, {pool_row(viewer.id, Source.RELATED): cells}, feeding.now + 9)
    lame = feeding.stores._replace(feeds=down(feeding.stores.feeds))
    page = await feeding.home(viewer, visit="again", stores=lame)
    assert pins[0] in pins_of(page)
    for _ in range(2):
        for visit in ("again", None):
            whole = await feeding.home(viewer, first=50, visit=visit)
            assert sorted(pins_of(whole)) == sorted(pins)
        await move_on(feeding, viewer)


async def test_a_chunk_that_cannot_be_remembered_is_not_shown(feeding: Feeding) -> None:
    viewer, pins = await reader(feeding, 30)
    for _ in range(3):
        await feeding.home(viewer)
        await feeding.drain()
    lame = lacking(feeding.stores, "visits")
    page = await feeding.home(viewer, first=4, stores=lame, visit="mine")
    assert (page.visit, page.health.may_be_stale) == ("mine", True)
    assert set(reasons(page)[:4]) <= {Reason.SHOWN_BEFORE, Reason.FOLLOWED_USER}
    rest = await feeding.rest_of(viewer, page, first=4, stores=lame)
    assert pins_of(page) + rest == pins[10:15] + pins[5:10] + pins[:5]
    assert pins_of(await feeding.home(viewer, visit="mine")) == pins[15:20]


async def test_a_chunk_that_was_not_committed_is_not_shown(feeding: Feeding) -> None:
    viewer, pins = await reader(feeding, 30)
    await feeding.home(viewer)
    page = await feeding.home(viewer, first=9, stores=lacking(feeding.stores, "objects"))
    assert (pins_of(page), page.has_next) == (pins[:5], False)
    assert (page.health.may_be_stale, page.health.pools) == (True, None)
    assert pins_of(await feeding.home(viewer, visit=page.visit)) == pins[5:10]


async def test_a_lost_queue_costs_nothing_but_time(feeding: Feeding) -> None:
    viewer, pins = await reader(feeding)
    lame = feeding.stores._replace(queue=Unwell(feeding.stores.queue))
    page = await feeding.home(viewer, stores=lame)
    assert pins_of(page) == pins[:5]
    assert len(await feeding.tasks()) == 1


async def test_what_was_unfollowed_or_hidden_since_is_not_chosen(feeding: Feeding) -> None:
    viewer, left, owner = [await feeding.user() for _ in range(3)]
    secret, board = await feeding.board(owner), await feeding.board(owner)
    await feeding.follow(viewer, left.id)
    await feeding.follow(viewer, owner.id)
    shown = await feeding.pins(board, 3)
    await feeding.pins(await feeding.board(left), 40, start=START + 10**6)
    hidden = await feeding.pins(secret, 40, start=START + 2 * 10**6)
    await feeding.drain()
    await feeding.unfollow(viewer, left.id)
    await writes.update_board(feeding.stores, owner.id, secret.id, writes.BoardChange(secret=True))
    page = await feeding.home(viewer, first=50)
    ours = [item.pin.id for item in page.items if item.reason is Reason.FOLLOWED_USER]
    assert ours == [pin.id for pin in reversed(shown)]
    assert not {pin.id for pin in hidden} & set(pins_of(page))


async def test_sources_and_their_reasons_are_mixed(feeding: Feeding) -> None:
    viewer, a, b, c, d = [await feeding.user() for _ in range(5)]
    interest, board = await feeding.interest(), await feeding.board(b)
    await feeding.follow(viewer, a.id)
    await feeding.follow(viewer, board.id)
    await feeding.follow(viewer, interest.id)
    await feeding.pins(await feeding.board(a), 4)
    await feeding.pins(board, 4)
    themed = await feeding.board(c)
    for number in range(4):
        await feeding.pin_at(themed, START + number, interest.id)
    liked, *beside = await feeding.pins(await feeding.board(d), 4)
    await writes.like_pin(feeding.stores, viewer.id, liked.id)
    await feeding.drain()
    feeding.settings = FeedSettings(chunk=15)
    page = await feeding.home(viewer, first=15)
    by_reason: dict[Reason, set[int]] = {}
    for item in page.items:
        by_reason.setdefault(item.reason, set()).add(item.pin.id)
    assert by_reason[Reason.RELATED] == {pin.id for pin in beside}
    assert len(by_reason[Reason.FOLLOWED_INTEREST]) == 4
    assert len(by_reason[Reason.FOLLOWED_USER]) + len(by_reason[Reason.FOLLOWED_BOARD]) == 8
    assert {Reason.FOLLOWED_USER, Reason.FOLLOWED_BOARD} <= by_reason.keys()


async def test_a_newcomer_gets_popular_pins_and_never_the_same_twice(feeding: Feeding) -> None:
    owner, newcomer = await feeding.user(), await feeding.user()
    made = await feeding.pins(await feeding.board(owner), 12)
    await feeding.drain()
    one = await feeding.home(newcomer)
    await feeding.drain()
    two = await feeding.home(newcomer)
    assert reasons(one) == [Reason.POPULAR] * 5
    assert pins_of(one) + pins_of(two) == [pin.id for pin in reversed(made)][:10]
    own = await feeding.home(owner)
    assert pins_of(own) == []


async def test_pins_under_the_floor_stay_in_their_pool(feeding: Feeding) -> None:
    viewer, pins = await reader(feeding, 6)
    settings = feeding.settings
    feeding.settings = FeedSettings(chunk=5, floor=-1.0)
    page = await feeding.home(viewer)
    assert reasons(page) == [Reason.POPULAR] * 5
    feeding.settings = settings
    assert [*pins_of(page), *pins_of(await feeding.home(viewer))][:6] == pins


async def test_shown_pins_that_came_back_to_the_pools_do_not_hide_new_ones(
    feeding: Feeding,
) -> None:
    viewer, pins = await reader(feeding, 8)
    await feeding.home(viewer)
    assert await move_on(feeding, viewer) == pins[5:]
    other = await feeding.user()
    await feeding.follow(viewer, other.id)
    new = await feeding.pins(await feeding.board(other), 3)
    await feeding.drain()
    shown = {pool_column(Column(1e6 + n, pins[n % 5])): why(0) for n in range(350)}
    for side in feeding.stores.pools:
        await side.put(POOLS, {pool_row(viewer.id, Source.RELATED): shown}, feeding.now + 9)
    related = await feeding.pin_at(await feeding.board(await feeding.user()), START)
    cell = {pool_column(Column(-1e9, related.id)): why(0)}
    for side in feeding.stores.pools:
        await side.put(POOLS, {pool_row(viewer.id, Source.RELATED): cell}, 1)
    feeding.settings = FeedSettings(chunk=5, floor=-2e9, generator_seconds=60)
    page = await feeding.home(viewer)
    assert set(pins_of(page)[:4]) == {related.id, *(pin.id for pin in new)}
    await feeding.drain()
    for side in feeding.stores.pools:
        assert await side.read(POOLS, pool_row(viewer.id, Source.RELATED), limit=5) == []
