"""The choice of a chunk's candidates: its deadline, and repins of the same picture."""

import pytest

from datasources.records import Pin, User
from feed_engine import writes
from feed_engine.feeds import visits
from feed_engine.feeds.rows import (
    POOLS,
    POPULAR_ROWS,
    Reason,
    Source,
    parse_why,
    pool_row,
    why,
)
from feed_engine.feeds.settings import FeedSettings
from feed_engine.feeds.smart.candidates import Candidates
from feed_engine.feeds.smart.diversity import MOST
from feed_engine.feeds.smart.results import HomeItem
from tests.feeds import START, Feeding, pins_of, reader

pytestmark = pytest.mark.anyio


async def test_a_generator_over_many_dead_candidates_ends_at_its_deadline(feeding: Feeding) -> None:
    """The clock moves by 50 ms with each check of pins, and only the oldest pins may be seen."""
    viewer, pins = await reader(feeding, 120)
    alive, looks = set(pins[-30:]), [0]
    feeding.settings = FeedSettings(chunk=5, generator_seconds=0.15)
    visible = feeding.visible(viewer)

    async def seldom(ids: list[int]) -> dict[int, Pin]:
        looks[0] += 1
        return {id: pin for id, pin in (await visible(ids)).items() if id in alive}

    candidates = Candidates(feeding.feeds(), viewer.id, seldom, clock=lambda: looks[0] * 0.05)
    await candidates.read()
    assert await candidates.choose(5, ()) == []
    assert candidates.late
    assert looks[0] == 3


async def test_what_a_late_generator_missed_makes_the_next_chunk_larger(feeding: Feeding) -> None:
    viewer, pins = await reader(feeding, 30)
    for pin_id in pins[:9]:  # of the eleven that are checked at first
        await writes.delete_pin(feeding.stores, await _owner(feeding, pin_id), pin_id)
    feeding.settings = FeedSettings(chunk=5, generator_seconds=0)
    late = await feeding.home(viewer, first=20)
    assert pins_of(late) == pins[9:11]
    assert late.health.may_be_stale
    await feeding.drain()
    feeding.settings = FeedSettings(chunk=5, generator_seconds=60)
    served = await feeding.home(viewer, first=20)
    new = [item for item in served.items if item.reason is not Reason.SHOWN_BEFORE]
    assert len(new) == 5 + 3


async def test_a_viewer_who_has_seen_everything_loads_few_of_the_pins_that_were_shown(
    feeding: Feeding, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All 120 pins stay in the popular pool. The shard returns the last eight visits; the 40 pins
    that were shown before are only in the materialized feed."""
    viewer, pins = await reader(feeding, 120)
    feeding.settings = FeedSettings(chunk=10, generator_seconds=60)
    seen: list[int] = []
    while len(seen) < len(pins):
        seen += pins_of(await feeding.home(viewer, first=10))
        await feeding.drain()
    assert sorted(seen) == sorted(pins)
    loaded: set[int] = set()
    visible = feeding.visible(viewer)

    async def counted(ids: list[int]) -> dict[int, Pin]:
        loaded.update(ids)
        return await visible(ids)

    monkeypatch.setattr(feeding, "visible", lambda viewer: counted)
    for _ in range(3):
        loaded.clear()
        page = await feeding.home(viewer, first=10)
        assert {item.reason for item in page.items} == {Reason.SHOWN_BEFORE}
        assert len(loaded) <= 17 + 11  # the candidates of the first look, and the page
        await feeding.drain()


async def repinned(
    feeding: Feeding, times: int, *, chain: bool = False
) -> tuple[User, Pin, list[Pin]]:
    """A user who follows the owner of a picture, and `times` other users who repin it, or (`chain`)
    each repin the repin before. Returns the user, the picture, and the repins."""
    viewer, owner = await feeding.user(), await feeding.user()
    await feeding.follow(viewer, owner.id)
    (picture,) = await feeding.pins(await feeding.board(owner), 1)
    last, repins = picture, list[Pin]()
    for number in range(times):
        friend = await feeding.user()
        await feeding.follow(viewer, friend.id)
        board = await feeding.board(friend)
        source = last if chain else picture
        made = await writes.repin(
            feeding.stores, friend.id, source.id, board.id, at=START + 10_000 + number
        )
        repins.append(last := made.pin)
    await feeding.drain()
    return viewer, picture, repins


def followed(card: HomeItem) -> set[int]:
    """The ids of the causes of a card."""
    return {cause.followed_id for cause in card.causes}


@pytest.mark.parametrize("chain", [False, True])
async def test_a_picture_and_its_repins_have_one_card_with_all_that_brought_it(
    feeding: Feeding, chain: bool
) -> None:
    viewer, picture, repins = await repinned(feeding, 10, chain=chain)
    page = await feeding.home(viewer, first=20)
    [card] = page.items
    assert card.pin.id == repins[-1].id
    assert followed(card) == {picture.owner_id, *(pin.owner_id for pin in repins)}
    assert card.causes[0] == (card.pin.owner_id, card.pin)
    again = await feeding.home(viewer, first=20, visit=page.visit)
    assert again.items == page.items


async def test_a_picture_that_was_shown_is_not_new_when_it_is_repinned(feeding: Feeding) -> None:
    """The shard no longer has the visit, which showed another repin of the picture."""
    viewer, picture, repins = await repinned(feeding, 1)
    feeding.settings = FeedSettings(chunk=1, generator_seconds=60)
    assert pins_of(await feeding.home(viewer, first=20)) == [repins[0].id]
    for _ in range(visits.RECENT + 2):
        await feeding.drain()
        assert pins_of(await feeding.home(viewer, first=20)) == [repins[0].id]
    await writes.repin(
        feeding.stores, repins[0].owner_id, picture.id, repins[0].board_id, at=START + 90_000
    )
    await feeding.drain()
    assert pins_of(await feeding.home(viewer, first=20)) == [repins[0].id]


async def test_a_late_choice_has_one_card_for_a_picture_as_well(feeding: Feeding) -> None:
    viewer, _, _ = await repinned(feeding, 4)
    feeding.settings = FeedSettings(chunk=5, generator_seconds=0)
    assert len(pins_of(await feeding.home(viewer, first=20))) == 1


async def test_cells_that_do_not_tell_the_root_give_one_card_as_well(feeding: Feeding) -> None:
    viewer, picture, repins = await repinned(feeding, 3)
    row = pool_row(viewer.id, Source.FOLLOWED)
    for side in feeding.stores.pools:
        for cell in await side.read(POOLS, row, limit=9):
            cause_id = parse_why(cell.value).cause_id
            await side.put(POOLS, {row: {cell.column: why(cause_id)}}, cell.stamp)
        for popular in POPULAR_ROWS:
            await side.trim(POOLS, popular, 0)
    [card] = (await feeding.home(viewer, first=20)).items
    assert followed(card) == {picture.owner_id, *(pin.owner_id for pin in repins)}


async def test_a_repin_that_the_viewer_may_not_see_is_no_cause(feeding: Feeding) -> None:
    viewer, picture, repins = await repinned(feeding, 3)
    secret = writes.BoardChange(secret=True)
    first, second, _ = repins
    await writes.update_board(feeding.stores, first.owner_id, first.board_id, secret)
    page = await feeding.home(viewer, first=20)
    assert first.owner_id not in followed(page.items[0])
    assert len(page.items[0].causes) == 3
    await writes.update_board(feeding.stores, second.owner_id, second.board_id, secret)
    again = await feeding.home(viewer, first=20, visit=page.visit)
    assert followed(again.items[0]) == {picture.owner_id, repins[2].owner_id}


async def test_a_picture_that_is_gone_does_not_hide_its_repins(feeding: Feeding) -> None:
    viewer, picture, repins = await repinned(feeding, 2)
    await writes.delete_pin(feeding.stores, picture.owner_id, picture.id)
    await writes.delete_pin(feeding.stores, repins[1].owner_id, repins[1].id)
    assert pins_of(await feeding.home(viewer, first=20)) == [repins[0].id]


async def _owner(feeding: Feeding, pin_id: int) -> int:
    from feed_engine.feeds.content import load_pins

    return (await load_pins(feeding.stores, [pin_id]))[pin_id].owner_id


async def test_a_first_visit_loads_few_popular_pins_although_few_owners_have_them(
    feeding: Feeding,
) -> None:
    """Each pin is on a board of its own, so only loaded pins tell that the owners are few."""
    viewer = await feeding.user()
    for _ in range(3):
        owner = await feeding.user()
        for _ in range(50):
            await feeding.pins(await feeding.board(owner), 1)
    await feeding.drain()
    feeding.settings = FeedSettings(chunk=15, generator_seconds=60)
    loaded, visible = set[int](), feeding.visible(viewer)

    async def counted(ids: list[int]) -> dict[int, Pin]:
        loaded.update(ids)
        return await visible(ids)

    candidates = Candidates(feeding.feeds(), viewer.id, counted)
    await candidates.read()
    assert len(await candidates.choose(15, ())) == 15
    assert len(loaded) < 75  # of 150


@pytest.mark.parametrize("follows", [False, True])
async def test_a_user_who_saves_very_much_has_four_places_among_popular_pins(
    feeding: Feeding, follows: bool
) -> None:
    """The first read of popular pins finds pins of one board alone; older pins are behind them."""
    viewer, crowd = await feeding.user(), await feeding.user()
    for _ in range(6):
        await feeding.pins(await feeding.board(await feeding.user()), 3)
    many = await feeding.pins(await feeding.board(crowd), 400, start=START + 10_000_000)
    if follows:
        followed = await feeding.user()
        await feeding.follow(viewer, followed.id)
        await feeding.pins(await feeding.board(followed), 1)
    await feeding.drain()
    feeding.settings = FeedSettings(chunk=15, generator_seconds=60)
    candidates = Candidates(feeding.feeds(), viewer.id, feeding.visible(viewer))
    await candidates.read()
    chosen = {c.pin_id for c in await candidates.choose(15, ())}
    assert len(chosen) == 15
    assert len(chosen & {pin.id for pin in many}) == MOST
