"""The choice of a chunk's candidates: its deadline, and repins of the same picture."""

import pytest

from datasources.records import Pin
from feed_engine import writes
from feed_engine.feeds.rows import Reason
from feed_engine.feeds.settings import FeedSettings
from feed_engine.feeds.smart.candidates import Candidates
from tests.feeding import Feeding, pins_of, reader

pytestmark = pytest.mark.anyio


async def test_a_generator_over_many_dead_candidates_ends_at_its_deadline(feeding: Feeding) -> None:
    """The clock goes on by 50 ms with each look at pins, and only the oldest pins may be seen."""
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
    for pin_id in pins[:3]:
        await writes.delete_pin(feeding.stores, await _owner(feeding, pin_id), pin_id)
    feeding.settings = FeedSettings(chunk=5, generator_seconds=0)
    late = await feeding.home(viewer, first=20)
    assert pins_of(late) == pins[3:5]
    await feeding.drain()
    feeding.settings = FeedSettings(chunk=5, generator_seconds=60)
    served = await feeding.home(viewer, first=20)
    new = [item for item in served.items if item.reason is not Reason.SHOWN_BEFORE]
    assert len(new) == 5 + 3


async def test_a_picture_and_its_repins_have_one_card(feeding: Feeding) -> None:
    viewer, owner = await feeding.user(), await feeding.user()
    await feeding.follow(viewer, owner.id)
    (picture,) = await feeding.pins(await feeding.board(owner), 1)
    repinned = picture.id
    for _ in range(3):
        friend = await feeding.user()
        await feeding.follow(viewer, friend.id)
        board = await feeding.board(friend)
        made = await writes.repin(feeding.stores, friend.id, repinned, board.id)
        repinned = made.pin.id  # a repin of the repin
    await feeding.drain()
    assert len(pins_of(await feeding.home(viewer, first=20))) == 1


async def _owner(feeding: Feeding, pin_id: int) -> int:
    from feed_engine.feeds.content import load_pins

    return (await load_pins(feeding.stores, [pin_id]))[pin_id].owner_id
