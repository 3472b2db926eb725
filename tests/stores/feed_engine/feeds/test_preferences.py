"""Hidden pins, and what a viewer wants to see less or more of, in the home feed."""

from collections import Counter

import pytest

from datasources.errors import BadInput, NotFound
from datasources.mappings import ListKey, Mapping
from datasources.records import Pin, User
from feed_engine import writes
from feed_engine.feeds import preferences
from feed_engine.feeds.rows import Reason
from feed_engine.feeds.settings import FeedSettings, Preferences
from feed_engine.feeds.smart.results import HomePage
from tests.feeds import START, Feeding, feeding, pins_of, reader, valkey

__all__ = ["feeding", "valkey"]

pytestmark = pytest.mark.anyio


async def pages(feeding: Feeding, viewer: User, visit: str, first: int = 3) -> list[int]:
    page = await feeding.home(viewer, visit=visit, first=first)
    return [*pins_of(page), *await feeding.rest_of(viewer, page, first=first)]


async def three_owners(feeding: Feeding) -> tuple[User, dict[int, list[Pin]]]:
    """A viewer who follows three owners, of whom the first has the newest pins."""
    viewer, made = await feeding.user(), dict[int, list[Pin]]()
    for n in range(3):
        owner = await feeding.user()
        await feeding.follow(viewer, owner.id)
        start = START - n * 1_000_000
        made[owner.id] = await feeding.pins(await feeding.board(owner), 30, start=start)
    await feeding.drain()
    await feeding.empty_popular()
    feeding.settings = FeedSettings(chunk=25, generator_seconds=60)
    return viewer, made


def fresh(page: HomePage) -> list[Pin]:
    return [item.pin for item in page.items if item.reason is not Reason.SHOWN_BEFORE]


async def test_a_hidden_pin_leaves_every_page_of_a_visit_at_once_and_undo_brings_it_back(
    feeding: Feeding,
) -> None:
    viewer, best = await reader(feeding)
    visit = (await feeding.home(viewer)).visit
    before = await pages(feeding, viewer, visit)
    assert before == best[:5]
    for pin_id in (best[1], best[4]):
        await writes.hide_pin(feeding.stores, viewer.id, pin_id)
        assert pin_id not in await pages(feeding, viewer, visit)
    assert await pages(feeding, viewer, visit) == [best[0], best[2], best[3]]
    await feeding.drain()
    assert await pages(feeding, viewer, visit) == [best[0], best[2], best[3]]
    await writes.unhide_pin(feeding.stores, viewer.id, best[1])
    await writes.unhide_pin(feeding.stores, viewer.id, best[4])
    assert await pages(feeding, viewer, visit) == before


async def test_a_hidden_pin_that_was_not_shown_is_not_chosen(feeding: Feeding) -> None:
    viewer, best = await reader(feeding)
    await writes.hide_pin(feeding.stores, viewer.id, best[0])
    assert pins_of(await feeding.home(viewer)) == best[1:6]


async def test_a_pin_that_an_earlier_visit_showed_can_be_hidden(feeding: Feeding) -> None:
    viewer, best = await reader(feeding)
    await feeding.home(viewer)
    await feeding.drain()
    await writes.hide_pin(feeding.stores, viewer.id, best[0])
    page = await feeding.home(viewer, first=12)
    assert pins_of(page) == [*best[5:10], *best[1:5]]


async def test_hiding_a_pin_hides_the_repins_of_its_picture(feeding: Feeding) -> None:
    viewer, best = await reader(feeding)
    saver = await feeding.user()
    board = await feeding.board(saver)
    again = (await writes.repin(feeding.stores, saver.id, best[0], board.id)).pin
    await feeding.follow(viewer, saver.id)
    await feeding.drain()
    await writes.hide_pin(feeding.stores, viewer.id, again.id)
    shown = pins_of(await feeding.home(viewer))
    assert not {best[0], again.id} & set(shown)
    await writes.unhide_pin(feeding.stores, viewer.id, best[0])
    assert {best[0], again.id} & set(pins_of(await feeding.home(viewer)))


async def test_another_viewer_still_sees_a_hidden_pin(feeding: Feeding) -> None:
    viewer, best = await reader(feeding)
    await writes.hide_pin(feeding.stores, (await feeding.user()).id, best[0])
    assert best[0] in pins_of(await feeding.home(viewer))


@pytest.mark.parametrize("of", ["owner", "board"])
async def test_seeing_less_leaves_one_pin_of_25_also_of_a_visit_that_began(
    feeding: Feeding, of: str
) -> None:
    viewer, made = await three_owners(feeding)
    owner_id = next(iter(made))
    id = owner_id if of == "owner" else made[owner_id][0].board_id
    page = await feeding.home(viewer, first=25)
    assert Counter(pin.owner_id for pin in fresh(page))[owner_id] > 1
    await writes.see_less(feeding.stores, viewer.id, id)
    again = await feeding.home(viewer, first=25, visit=page.visit)
    assert Counter(item.pin.owner_id for item in again.items)[owner_id] == 1
    await feeding.drain()
    later = await feeding.home(viewer, first=25)
    assert Counter(pin.owner_id for pin in fresh(later))[owner_id] == 1
    await writes.see_as_usual(feeding.stores, viewer.id, id)
    back = await feeding.home(viewer, first=25, visit=page.visit)
    assert pins_of(back) == pins_of(page)


async def test_seeing_less_hides_nothing_completely(feeding: Feeding) -> None:
    viewer, best = await reader(feeding)
    pin = (await feeding.home(viewer)).items[0].pin
    await feeding.drain()
    await writes.see_less(feeding.stores, viewer.id, pin.owner_id)
    assert [pin.id for pin in fresh(await feeding.home(viewer, first=25))] == best[5:6]


async def test_seeing_less_of_an_interest_holds_for_all_its_pins(feeding: Feeding) -> None:
    viewer, interest = await feeding.user(), await feeding.interest()
    await feeding.follow(viewer, interest.id)
    for n in range(4):
        board = await feeding.board(await feeding.user())
        await feeding.pin_at(board, START + n, interest.id)
    await feeding.drain()
    await writes.see_less(feeding.stores, viewer.id, interest.id)
    assert len(pins_of(await feeding.home(viewer))) == 1


async def test_seeing_more_puts_pins_first(feeding: Feeding) -> None:
    viewer, made = await three_owners(feeding)
    last = list(made)[-1]
    await writes.see_more(feeding.stores, viewer.id, last)
    assert fresh(await feeding.home(viewer, first=25))[0].owner_id == last


async def test_less_and_more_end_each_other(feeding: Feeding) -> None:
    viewer, owner = await feeding.user(), await feeding.user()
    await writes.see_less(feeding.stores, viewer.id, owner.id)
    await writes.see_more(feeding.stores, viewer.id, owner.id)
    assert await read(feeding, viewer) == Preferences(more=frozenset({owner.id}))
    await writes.see_less(feeding.stores, viewer.id, owner.id)
    assert await read(feeding, viewer) == Preferences(less=frozenset({owner.id}))
    await writes.see_as_usual(feeding.stores, viewer.id, owner.id)
    assert await read(feeding, viewer) == Preferences()


async def read(feeding: Feeding, viewer: User) -> Preferences:
    return await preferences.read(feeding.stores, viewer.id)


async def test_a_write_with_the_same_key_is_done_once(feeding: Feeding) -> None:
    viewer, owner = await feeding.user(), await feeding.user()
    stores = feeding.stores
    await writes.see_less(stores, viewer.id, owner.id, key="k")
    await writes.see_as_usual(stores, viewer.id, owner.id)
    assert await writes.see_less(stores, viewer.id, owner.id, key="k") == owner.id
    assert await read(feeding, viewer) == Preferences()
    with pytest.raises(BadInput):
        await writes.see_more(stores, viewer.id, owner.id, key="k")


async def test_the_oldest_hidden_picture_makes_room(
    feeding: Feeding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writes.hide_pin.__module__ + ".HIDDEN", 2)
    viewer, best = await reader(feeding, 4)
    for at, pin_id in enumerate(best, START):
        await writes.hide_pin(feeding.stores, viewer.id, pin_id, at=at)
    assert (await read(feeding, viewer)).hidden == set(best[2:])
    key = ListKey(Mapping.USER_HIDES_PINS, viewer.id)
    assert (await feeding.stores.shards.mappings.heads([key]))[key].size == 2


async def test_too_many_tunings_are_refused(
    feeding: Feeding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writes.hide_pin.__module__ + ".TUNED", 1)
    viewer, first, second = [await feeding.user() for _ in range(3)]
    await writes.see_less(feeding.stores, viewer.id, first.id)
    with pytest.raises(BadInput, match="seeAsUsual"):
        await writes.see_less(feeding.stores, viewer.id, second.id)
    await writes.see_less(feeding.stores, viewer.id, first.id)


async def test_a_pin_that_became_secret_can_be_unhidden_once(feeding: Feeding) -> None:
    viewer, owner = await feeding.user(), await feeding.user()
    board = await feeding.board(owner)
    pin = await feeding.pin_at(board, START)
    await writes.hide_pin(feeding.stores, viewer.id, pin.id)
    await writes.update_board(feeding.stores, owner.id, board.id, writes.BoardChange(secret=True))
    await writes.unhide_pin(feeding.stores, viewer.id, pin.id)
    assert await read(feeding, viewer) == Preferences()
    with pytest.raises(NotFound):
        await writes.unhide_pin(feeding.stores, viewer.id, pin.id)


async def test_what_the_viewer_cannot_see_is_not_found(feeding: Feeding) -> None:
    viewer, owner = await feeding.user(), await feeding.user()
    secret = await feeding.board(owner, secret=True)
    pin = await feeding.pin_at(secret, START)
    for write in (
        writes.hide_pin(feeding.stores, viewer.id, pin.id),
        writes.unhide_pin(feeding.stores, viewer.id, pin.id),
        writes.unhide_pin(feeding.stores, viewer.id, pin.id + 1),
        writes.see_less(feeding.stores, viewer.id, secret.id),
        writes.see_more(feeding.stores, viewer.id, secret.id),
    ):
        with pytest.raises(NotFound):
            await write
    with pytest.raises(BadInput, match="only users, boards and interests"):
        await writes.see_less(feeding.stores, viewer.id, pin.id)
