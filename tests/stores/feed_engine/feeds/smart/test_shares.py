"""The home feed's shares of the sources, learned from what a viewer likes of its visits."""

from collections import Counter

import pytest

from datasources.records import User
from feed_engine import writes
from feed_engine.feeds.rows import Reason, Source
from feed_engine.feeds.settings import FeedSettings
from feed_engine.feeds.smart.explain import explain
from feed_engine.feeds.smart.results import HomePage
from feed_engine.feeds.smart.shares import Shares, Tally
from tests.feeds import START, Feeding, feeding, pins_of, valkey

__all__ = ["feeding", "valkey"]

pytestmark = pytest.mark.anyio
CHUNK = 10
RATES = {Source.FOLLOWED: 1, Source.INTEREST: 1, Source.RELATED: 0, Source.POPULAR: 0}
HALVES = Counter({Reason.FOLLOWED_USER: CHUNK // 2, Reason.FOLLOWED_INTEREST: CHUNK // 2})


async def world(feeding: Feeding, **settings: float) -> User:
    """A viewer who follows five users and an interest of five other users' pins."""
    feeding.settings = FeedSettings(chunk=CHUNK, generator_seconds=60, rates=RATES, **settings)  # type: ignore[arg-type]
    viewer, interest = await feeding.user(), await feeding.interest()
    await writes.follow(feeding.stores, viewer.id, interest.id)
    for number in range(10):
        owner = await feeding.user()
        if number % 2:
            await feeding.follow(viewer, owner.id)
        board = await feeding.board(owner)
        for turn in range(4):
            topics = () if number % 2 else (interest.id,)
            await feeding.pin_at(board, START + 1000 * (10 * turn + number), *topics)
    await feeding.drain()
    await feeding.empty_popular()
    return viewer


async def visit(feeding: Feeding, viewer: User, **rest: str) -> HomePage:
    feeding.now += 60_000
    page = await feeding.home(viewer, first=CHUNK, **rest)
    await feeding.drain()
    return page


async def like(feeding: Feeding, viewer: User, page: HomePage, reason: Reason) -> None:
    """Like all pins of the page that have a reason."""
    for item in page.items:
        if item.reason is reason:
            await writes.like_pin(feeding.stores, viewer.id, item.pin.id, at=feeding.now + 1)
    await feeding.drain()
    await feeding.empty_popular()


def reasons(page: HomePage) -> Counter[Reason]:
    return Counter(item.reason for item in page.items)


async def shares(feeding: Feeding, viewer: User) -> Shares:
    """The shares of the viewer's next visit."""
    visible = feeding.visible(viewer)
    return (await explain(feeding.feeds(), viewer.id, None, visible=visible)).shares


async def test_the_source_whose_pins_a_viewer_likes_gets_a_larger_share(feeding: Feeding) -> None:
    viewer = await world(feeding)
    first = await visit(feeding, viewer)
    assert reasons(first) == HALVES
    await like(feeding, viewer, first, Reason.FOLLOWED_INTEREST)
    told = await shares(feeding, viewer)
    assert told.tallies.keys() == {Source.FOLLOWED, Source.INTEREST}
    for source, liked in ((Source.FOLLOWED, 0), (Source.INTEREST, CHUNK // 2)):
        assert told.tallies[source] == pytest.approx(Tally(CHUNK // 2, liked), rel=0.01)
    expected = told.rates[Source.INTEREST] / sum(told.rates.values())
    assert expected > 0.6
    second = await visit(feeding, viewer)
    assert abs(reasons(second)[Reason.FOLLOWED_INTEREST] - CHUNK * expected) < 1
    assert reasons(second).total() == CHUNK
    await like(feeding, viewer, second, Reason.FOLLOWED_INTEREST)
    further = await shares(feeding, viewer)
    assert further.rates[Source.INTEREST] > told.rates[Source.INTEREST]
    assert further.rates[Source.FOLLOWED] >= 100


async def test_the_pages_of_a_visit_stay_as_they_were_when_its_viewer_likes(
    feeding: Feeding,
) -> None:
    viewer = await world(feeding)
    first = await visit(feeding, viewer)
    rest = await feeding.rest_of(viewer, first, first=CHUNK)
    await like(feeding, viewer, first, Reason.FOLLOWED_INTEREST)
    again = await visit(feeding, viewer, visit=first.visit)
    assert pins_of(again) == pins_of(first)
    assert await feeding.rest_of(viewer, again, first=CHUNK) == rest


async def test_a_viewer_whose_likes_are_unknown_has_the_rates_of_the_settings(
    feeding: Feeding,
) -> None:
    viewer, other = await world(feeding), await feeding.user()
    first = await visit(feeding, viewer)
    await like(feeding, other, first, Reason.FOLLOWED_INTEREST)
    assert (await shares(feeding, viewer)).rates == RATES
    assert reasons(await visit(feeding, viewer)) == HALVES


async def test_a_withdrawn_like_counts_no_longer(feeding: Feeding) -> None:
    viewer = await world(feeding)
    first = await visit(feeding, viewer)
    await like(feeding, viewer, first, Reason.FOLLOWED_INTEREST)
    assert (await shares(feeding, viewer)).rates != RATES
    for item in first.items:
        await writes.unlike_pin(feeding.stores, viewer.id, item.pin.id)
    assert (await shares(feeding, viewer)).rates == RATES


async def test_with_the_power_0_the_rates_hold_for_all(feeding: Feeding) -> None:
    viewer = await world(feeding, rates_power=0.0)
    await like(feeding, viewer, await visit(feeding, viewer), Reason.FOLLOWED_INTEREST)
    assert (await shares(feeding, viewer)).rates == RATES
    assert reasons(await visit(feeding, viewer)) == HALVES
