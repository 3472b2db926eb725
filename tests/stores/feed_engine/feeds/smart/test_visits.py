"""Visits of the home feed over embedded stores: what is the same between pages."""

import asyncio
from typing import Any, cast

import pytest

from datasources.errors import BadInput, StoreError
from datasources.protocols import Sides
from datasources.records import User
from feed_engine import writes
from feed_engine.feeds import visits
from feed_engine.feeds.rows import (
    Reason,
)
from feed_engine.feeds.settings import FeedSettings
from feed_engine.feeds.smart.results import HomePage
from feed_engine.outbox.change import VisitShown
from feed_engine.speculation import Side
from tests.faulty import Interrupted, Preceded, Unwell, down, with_part, without_primary
from tests.feeds import START, Feeding, pins_of, reader

pytestmark = pytest.mark.anyio


def reasons(page: HomePage) -> list[Reason]:
    return [item.reason for item in page.items]


async def test_a_visit_shows_the_best_new_pins_and_the_next_one_others(feeding: Feeding) -> None:
    viewer, pins = await reader(feeding)
    one = await feeding.home(viewer)
    await feeding.drain()
    two = await feeding.home(viewer, first=10)
    assert pins_of(one) == pins[:5]
    assert pins_of(two) == pins[5:10] + pins[:5]
    assert reasons(two) == [Reason.FOLLOWED_USER] * 5 + [Reason.SHOWN_BEFORE] * 5
    assert one.visit != two.visit
    assert (two.health.pools, two.health.materialized) == (Side.PRIMARY, Side.PRIMARY)
    assert not two.health.may_be_stale
    assert not two.has_next


async def test_the_next_visit_shows_other_pins_also_before_the_job_ran(feeding: Feeding) -> None:
    viewer, pins = await reader(feeding)
    await feeding.home(viewer)
    assert pins_of(await feeding.home(viewer, first=10)) == pins[5:10] + pins[:5]


@pytest.mark.parametrize("saved", [False, True])
async def test_the_same_visit_gets_the_same_pages(feeding: Feeding, saved: bool) -> None:
    viewer, pins = await reader(feeding, 20)
    await feeding.home(viewer)
    one = await feeding.home(viewer, visit="mine")
    rest = await feeding.rest_of(viewer, one, first=2)
    if saved:
        await feeding.drain()
    for _ in range(2):
        await feeding.home(viewer)
    again = await feeding.home(viewer, visit="mine")
    assert again == one
    assert await feeding.rest_of(viewer, again, first=2) == rest == pins[:5]


async def test_a_visit_older_than_those_the_shard_tells_is_found_by_its_name(
    feeding: Feeding,
) -> None:
    viewer, pins = await reader(feeding, 12)
    one = await feeding.home(viewer, visit="first of all", first=3)
    for _ in range(visits.RECENT + 2):
        await feeding.home(viewer)
        await feeding.drain()
    again = await feeding.home(viewer, visit="first of all", first=3)
    assert (again.items, again.has_next) == (one.items, True)
    assert await feeding.rest_of(viewer, again) == pins[3:5]


async def test_a_visit_that_was_begun_reads_no_pools(feeding: Feeding) -> None:
    viewer, _ = await reader(feeding)
    asked: list[str] = []

    async def note() -> None:
        asked.append("pools")

    def noting(sides: Sides) -> Sides:
        return Sides(*(cast(Any, Interrupted(side, "read", note)) for side in sides))

    one = await feeding.home(viewer, visit="mine")
    stores = feeding.stores._replace(pools=noting(feeding.stores.pools))
    assert await feeding.home(viewer, visit="mine", stores=stores) == one
    assert asked == []
    await feeding.home(viewer, visit="other", stores=stores)
    assert asked == ["pools"]


async def test_a_visit_asked_for_twice_at_once_is_one_visit(feeding: Feeding) -> None:
    viewer, pins = await reader(feeding)
    answers = await asyncio.gather(*(feeding.home(viewer, visit="double") for _ in range(5)))
    assert all(answer == answers[0] for answer in answers)
    assert len(await feeding.stores.shards.visits.recent(viewer.id, 10)) == 1
    assert pins_of(answers[0]) == pins[:5]


async def test_visits_begun_at_once_on_two_devices_share_no_pin(feeding: Feeding) -> None:
    viewer, pins = await reader(feeding, 30)
    answers = await asyncio.gather(*(feeding.home(viewer) for _ in range(4)))
    shown = [pin_id for answer in answers for pin_id in pins_of(answer)]
    assert sorted(shown) == sorted(pins[:20])
    told = await feeding.stores.shards.visits.recent(viewer.id, 10)
    assert [visit.generation for visit in told] == [4, 3, 2, 1]


async def test_pages_of_a_visit_do_not_change_while_others_go_on(feeding: Feeding) -> None:
    viewer, pins = await reader(feeding, 40)
    for _ in range(3):
        await feeding.home(viewer)
        await feeding.drain()
    page = await feeding.home(viewer, first=4)
    seen = pins_of(page)
    while page.has_next:
        await feeding.home(viewer)
        await feeding.drain()
        page = await feeding.home(viewer, first=4, after=page.items[-1].cursor)
        seen += pins_of(page)
    assert seen == pins[15:20] + pins[10:15] + pins[5:10] + pins[:5]


async def visited(feeding: Feeding, pins: int, *unsaved: int) -> tuple[User, list[list[int]]]:
    """A viewer after two visits for each generation that the shard returns, and the chunks, newest
    first. Some visits are saved only to the primary, all others to both sides."""
    feeding.settings = FeedSettings(chunk=pins)
    visits_made = 2 * visits.RECENT
    viewer, best = await reader(feeding, (visits_made + 1) * pins)
    behind = feeding.stores._replace(
        feeds=Sides(feeding.stores.feeds.primary, Unwell(feeding.stores.feeds.standby))
    )
    for generation in range(1, visits_made + 1):
        await feeding.home(viewer)
        task = (await feeding.tasks())[-1]
        assert task == VisitShown(viewer.id, generation)
        if generation in unsaved:
            with pytest.raises(StoreError, match="standby"):
                await feeding.run(task, stores=behind)
        else:
            await feeding.run(task)
    chunks = [best[at : at + pins] for at in range(0, len(best), pins)]
    return viewer, chunks[::-1]


@pytest.mark.parametrize("first", [1, pytest.param(3, marks=pytest.mark.nightly), 4, 7])
async def test_pages_neither_repeat_nor_skip_when_the_primary_dies_between_them(
    feeding: Feeding, first: int
) -> None:
    """The standby lacks two visits. The shard returns one of them only because it is not saved."""
    viewer, chunks = await visited(feeding, 2, 3, 2 * visits.RECENT)
    dead = feeding.stores._replace(feeds=without_primary(feeding.stores.feeds))
    page = await feeding.home(viewer, first=first)
    seen = pins_of(page)
    assert page.health.materialized is Side.PRIMARY
    sides = [feeding.stores, dead]
    while page.has_next:
        after = page.items[-1].cursor
        answers = [
            await feeding.home(viewer, stores=stores, first=first, after=after) for stores in sides
        ]
        assert answers[0].items == answers[1].items
        assert answers[1].health.materialized is Side.STANDBY
        page = answers[1]
        seen += pins_of(page)
    assert seen == [pin_id for chunk in chunks for pin_id in chunk]


async def test_without_both_sides_a_page_ends_where_only_they_could_tell_what_follows(
    feeding: Feeding,
) -> None:
    viewer, chunks = await visited(feeding, 2, 3)
    lame = feeding.stores._replace(feeds=down(feeding.stores.feeds))
    page = await feeding.home(viewer, first=100, stores=lame)
    told = [pin_id for chunk in chunks[: visits.RECENT + 1] for pin_id in chunk]
    assert pins_of(page) == told
    assert (page.has_next, page.health.materialized) == (False, None)
    rest = await feeding.home(viewer, first=100, after=page.items[-1].cursor)
    assert pins_of(page) + pins_of(rest) == [pin_id for chunk in chunks for pin_id in chunk]
    again = await feeding.home(viewer, first=9, stores=lame, after=rest.items[-1].cursor)
    assert (again.items, again.has_next) == ([], False)


@pytest.mark.parametrize(
    "place",
    [None, 0, *(pytest.param(place, marks=pytest.mark.nightly) for place in (2, 5)), 4, 9],
)
async def test_visits_saved_between_the_two_reads_of_a_page_are_not_missing(
    feeding: Feeding, place: int | None
) -> None:
    """The materialized feed is read before the visits are saved, and the shard afterwards: it
    returns only the newest visits. The page is the first of a new visit, or one after a place in
    the oldest two visits."""
    viewer, best = await reader(feeding, 5 * (visits.RECENT + 4))
    for _ in range(visits.RECENT + 3):
        await feeding.home(viewer)
    whole = await feeding.home(viewer, visit="mine", first=len(best))
    chunks = [best[at : at + 5] for at in range(0, len(best), 5)]
    assert pins_of(whole) == [pin_id for chunk in chunks[::-1] for pin_id in chunk]
    tasks = await feeding.tasks()
    read = asyncio.Event()

    async def tell() -> None:
        read.set()

    async def save() -> None:
        await read.wait()
        for task in tasks:
            await feeding.run(task)

    feeds = feeding.stores.feeds
    stores = with_part(
        feeding.stores, "visits", Preceded(feeding.stores.shards.visits, "recent", save)
    )
    stores = stores._replace(
        feeds=Sides(cast(Any, Interrupted(feeds.primary, "read", tell)), feeds.standby)
    )
    if place is None:
        expected = pins_of(whole)
        page = await feeding.home(viewer, stores=stores, first=len(best))
    else:
        at = len(best) - 10 + place
        expected = pins_of(whole)[at + 1 :]
        after = whole.items[at].cursor
        page = await feeding.home(viewer, stores=stores, first=len(best), after=after)
    assert pins_of(page) == expected


async def test_a_pin_that_becomes_secret_leaves_pages_already_remembered(
    feeding: Feeding,
) -> None:
    viewer, owner = await feeding.user(), await feeding.user()
    board, other = await feeding.board(owner), await feeding.board(owner)
    await feeding.follow(viewer, owner.id)
    kept = await feeding.pins(board, 3)
    await feeding.pins(other, 2, start=START + 10**6)
    await feeding.drain()
    one = await feeding.home(viewer, visit="mine")
    assert len(one.items) == 5
    await writes.update_board(feeding.stores, owner.id, other.id, writes.BoardChange(secret=True))
    again = await feeding.home(viewer, visit="mine")
    assert pins_of(again) == [pin.id for pin in reversed(kept)]
    page = await feeding.home(viewer, visit="mine", first=2)
    assert (pins_of(page), page.has_next) == ([kept[2].id, kept[1].id], True)


async def test_a_cursor_of_another_visit_is_bad_input(feeding: Feeding) -> None:
    viewer, _ = await reader(feeding)
    page = await feeding.home(viewer, visit="mine", first=2)
    after = page.items[-1].cursor
    assert (await feeding.home(viewer, visit="mine", after=after)).visit == "mine"
    with pytest.raises(BadInput, match="of visit 'mine'"):
        await feeding.home(viewer, visit="other", after=after)
    with pytest.raises(BadInput):
        await feeding.home(viewer, after=after[:-1] + "!")
    with pytest.raises(BadInput):
        await feeding.home(None, after=after)


@pytest.mark.parametrize("name", ["", "x" * 65, "näme", "a\nb"])
async def test_a_visit_has_a_plain_short_name(feeding: Feeding, name: str) -> None:
    with pytest.raises(BadInput):
        await feeding.home(await feeding.user(), visit=name)


async def test_a_page_of_no_pins_says_whether_there_are_any(feeding: Feeding) -> None:
    viewer, _ = await reader(feeding, 1)
    page = await feeding.home(viewer, first=0)
    assert (page.items, page.has_next) == ([], True)
