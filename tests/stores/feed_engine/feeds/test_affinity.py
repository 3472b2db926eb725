"""Affinities, which likes and saves add to, and the order of the home feed that follows."""

from collections import Counter
from math import isclose

import pytest
from hypothesis import strategies as st

from datasources.errors import NotFound
from datasources.mappings import EdgeKey, Mapping
from datasources.records import Pin, User
from feed_engine import writes
from feed_engine.feeds import affinity
from feed_engine.feeds.affinity import HALF_LIFE, LIKE, changed, level_of, strength
from feed_engine.feeds.settings import FeedSettings
from tests.feeds import START, Feeding, feeding, pins_of, valkey
from tests.generated import given

__all__ = ["feeding", "valkey"]

pytestmark = pytest.mark.anyio


async def strengths(feeding: Feeding, viewer: User, at: int) -> dict[int, float]:
    """The viewer's affinities at an epoch ms."""
    [page] = await feeding.stores.shards.mappings.pages([affinity.request(viewer.id)])
    return {id: round(strength(level, at), 3) for id, level in affinity.of_page(page).items()}


async def owners(feeding: Feeding, viewer: User, count: int, pins: int) -> dict[int, list[Pin]]:
    """Followed users, of whom the first has the newest pins: owner → pins, the oldest first."""
    made = dict[int, list[Pin]]()
    for n in range(count):
        owner = await feeding.user()
        await feeding.follow(viewer, owner.id)
        start = START - n * 1_000_000
        made[owner.id] = await feeding.pins(await feeding.board(owner), pins, start=start)
    await feeding.drain()
    await feeding.empty_popular()
    feeding.settings = FeedSettings(chunk=12, generator_seconds=60)
    return made


@given(st.lists(st.tuples(st.floats(0.5, 3), st.integers(0, 10 * HALF_LIFE)), max_size=20))
def test_a_level_tells_the_decayed_sum_of_what_was_added(added: list[tuple[float, int]]) -> None:
    level: int | None = None
    for weight, at in added:
        level = changed(level, weight, START + at)
    now = START + 10 * HALF_LIFE
    sum_ = sum(weight * 2.0 ** ((START + at - now) / HALF_LIFE) for weight, at in added)
    assert isclose(strength(level, now) if level is not None else 0.0, sum_, rel_tol=1e-6)


@given(st.integers(0, HALF_LIFE), st.integers(0, HALF_LIFE))
def test_a_withdrawn_like_leaves_what_was_there(first: int, second: int) -> None:
    level = changed(None, LIKE, START + first)
    after = changed(changed(level, LIKE, START + second), -LIKE, START + second)
    assert level is not None
    assert after is not None
    assert abs(after - level) <= 10  # ms
    assert changed(level, -LIKE, START + first) is None


async def test_a_like_counts_for_the_owner_the_board_and_the_interests(feeding: Feeding) -> None:
    viewer, owner, interest = await feeding.user(), await feeding.user(), await feeding.interest()
    board = await feeding.board(owner)
    pins = [await feeding.pin_at(board, START, interest.id), await feeding.pin_at(board, START)]
    for pin in pins:
        await writes.like_pin(feeding.stores, viewer.id, pin.id, at=START)
    assert await strengths(feeding, viewer, START) == {owner.id: 2, board.id: 2, interest.id: 1}
    halved = {owner.id: 1, board.id: 1, interest.id: 0.5}
    assert await strengths(feeding, viewer, START + HALF_LIFE) == halved


async def test_likes_that_change_nothing_and_repeated_requests_count_once(
    feeding: Feeding,
) -> None:
    viewer, owner = await feeding.user(), await feeding.user()
    board = await feeding.board(owner)
    pin = await feeding.pin_at(board, START)
    for key in ("one", "one", "two", None):
        await writes.like_pin(feeding.stores, viewer.id, pin.id, key=key, at=START)
    assert await strengths(feeding, viewer, START) == {owner.id: 1, board.id: 1}
    for _ in range(2):
        await writes.unlike_pin(feeding.stores, viewer.id, pin.id)
    assert await strengths(feeding, viewer, START) == {}
    await writes.like_pin(feeding.stores, viewer.id, pin.id, at=START)
    assert await strengths(feeding, viewer, START) == {owner.id: 1, board.id: 1}


async def test_a_save_counts_twice_and_own_pins_teach_nothing(feeding: Feeding) -> None:
    viewer, owner = await feeding.user(), await feeding.user()
    board, own = await feeding.board(owner), await feeding.board(viewer)
    pin = await feeding.pin_at(board, START)
    saved = (await writes.repin(feeding.stores, viewer.id, pin.id, own.id, at=START)).pin
    await writes.like_pin(feeding.stores, viewer.id, saved.id, at=START)
    assert await strengths(feeding, viewer, START) == {owner.id: 2, board.id: 2}


async def test_a_pin_that_the_viewer_can_no_longer_see_keeps_what_it_taught(
    feeding: Feeding,
) -> None:
    viewer, owner = await feeding.user(), await feeding.user()
    board = await feeding.board(owner)
    pin = await feeding.pin_at(board, START)
    await writes.like_pin(feeding.stores, viewer.id, pin.id, at=START)
    await writes.update_board(feeding.stores, owner.id, board.id, writes.BoardChange(secret=True))
    await writes.unlike_pin(feeding.stores, viewer.id, pin.id)
    assert await strengths(feeding, viewer, START) == {owner.id: 1, board.id: 1}
    with pytest.raises(NotFound):
        await writes.like_pin(feeding.stores, viewer.id, pin.id, at=START)
    assert await strengths(feeding, viewer, START) == {owner.id: 1, board.id: 1}


async def test_the_strongest_affinities_are_read(
    feeding: Feeding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(affinity, "READ", 2)
    viewer, boards = await feeding.user(), []
    for n in range(3):
        boards.append(await feeding.board(await feeding.user()))
        for _ in range(3 - n):
            pin = await feeding.pin_at(boards[n], START)
            await writes.like_pin(feeding.stores, viewer.id, pin.id, at=START)
    assert await strengths(feeding, viewer, START) == {boards[0].owner_id: 3, boards[0].id: 3}
    key = EdgeKey(Mapping.USER_HAS_AFFINITIES, viewer.id, boards[2].id)
    edges = await feeding.stores.shards.mappings.edges([key])
    assert level_of(edges[key]) == START


async def test_the_user_whose_pins_the_viewer_likes_comes_first(feeding: Feeding) -> None:
    """The pins of the liked user are the oldest."""
    viewer = await feeding.user()
    made = await owners(feeding, viewer, 4, 8)
    *others, liked = made
    before = [item.pin.owner_id for item in (await feeding.home(viewer, first=12)).items]
    assert Counter(before[:4])[liked] == 0
    for pin in made[liked][:3]:
        await writes.like_pin(feeding.stores, viewer.id, pin.id)
    after = [item.pin.owner_id for item in (await feeding.home(viewer, first=12)).items]
    assert after[:2] == [liked, liked]
    assert set(after) == {liked, *others}


async def test_pins_that_many_like_come_before_newer_ones_that_nobody_likes(
    feeding: Feeding,
) -> None:
    viewer = await feeding.user()
    made = await owners(feeding, viewer, 6, 5)
    good = {pins[0].id for pins in made.values()}  # the oldest pin of each
    for _ in range(7):
        person = await feeding.user()
        for id in good:
            await writes.like_pin(feeding.stores, person.id, id)
    await feeding.drain()
    await feeding.empty_popular()
    page = await feeding.home(viewer, first=12)
    assert set(pins_of(page)[:6]) == good
