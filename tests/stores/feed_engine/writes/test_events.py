"""Recorded events: what a job stores of them, and what it leaves out."""

import pytest

from datasources.errors import BadInput, NotFound, QuotaExceeded
from datasources.protocols import EventKind, Stores
from datasources.records import User
from feed_engine import writes
from feed_engine.outbox.expiry import expire_batch
from feed_engine.times import DAY
from feed_engine.writes.events import MOST, Happened
from tests.embedded_stores import drain
from tests.people import People

pytestmark = pytest.mark.anyio
NOON = 20_000 * DAY + DAY // 2
OPENED, LINK, SEEN = EventKind


async def kept(stores: Stores, viewer: User) -> set[tuple[int, EventKind]]:
    found = await stores.shards.events.of_user(viewer.id, 999)
    return {(event.pin_id, event.kind) for event in found}


async def test_a_job_stores_each_event_once_a_day(stores: Stores, people: People) -> None:
    viewer = await people.user()
    _, [one, two] = await people.board_with_pins(2)
    for at in (NOON, NOON + 1):
        events = [Happened(one, SEEN), Happened(one, SEEN), Happened(two, LINK)]
        await writes.record_events(stores, viewer.id, events, at=at)
        await drain(stores)
    assert len(await stores.shards.events.of_user(viewer.id, 99)) == 2
    assert await kept(stores, viewer) == {(one, SEEN), (two, LINK)}
    await writes.record_events(stores, viewer.id, [Happened(one, SEEN)], at=NOON + DAY)
    await drain(stores)
    assert [e.at for e in await stores.shards.events.of_user(viewer.id, 99)] == [
        *(NOON + DAY, NOON, NOON)
    ]


async def test_events_of_pins_that_the_viewer_cannot_see_are_ignored(
    stores: Stores, people: People
) -> None:
    viewer, owner, blocker = [await people.user() for _ in range(3)]
    secret = await people.pin(await people.board(owner, secret=True))
    own = await people.pin(await people.board(viewer, secret=True))
    gone = await people.pin(board := await people.board(owner))
    await writes.delete_pin(stores, owner.id, gone.id)
    blocked = await people.pin(await people.board(blocker))
    await writes.block_user(stores, blocker.id, viewer.id)
    there = await people.pin(board)
    for pin in (secret, own, gone, blocked, there):
        await writes.record_events(stores, viewer.id, [Happened(pin.id, OPENED)])
    await drain(stores)
    assert await kept(stores, viewer) == {(own.id, OPENED), (there.id, OPENED)}


async def test_a_deletion_also_reaches_events_whose_job_waits(
    stores: Stores, people: People
) -> None:
    viewer = await people.user()
    _, [one, two, three] = await people.board_with_pins(3)
    await writes.record_events(stores, viewer.id, [Happened(one, OPENED)])
    await drain(stores)
    await writes.record_events(stores, viewer.id, [Happened(two, OPENED)])
    await writes.delete_events(stores, viewer.id)
    await drain(stores)
    assert await kept(stores, viewer) == set()
    await writes.record_events(stores, viewer.id, [Happened(three, OPENED)])
    await drain(stores)
    assert await kept(stores, viewer) == {(three, OPENED)}


async def test_bad_events_are_refused(stores: Stores, people: People) -> None:
    viewer = await people.user()
    _, [pin] = await people.board_with_pins(1)
    for events in ([], [Happened(pin, SEEN)] * (MOST + 1)):
        with pytest.raises(BadInput, match=f"Send 1 to 100 events at once, not {len(events)}"):
            await writes.record_events(stores, viewer.id, events)
    with pytest.raises(NotFound):
        await writes.record_events(stores, viewer.id, [Happened(viewer.id, SEEN)])
    await drain(stores)
    assert await kept(stores, viewer) == set()


async def test_the_events_of_a_day_are_bounded_apart_from_the_writes(
    stores: Stores, people: People
) -> None:
    bounded = stores._replace(writes_per_day=4)
    viewer, interest = await people.user(), await people.interest()
    _, pins = await people.board_with_pins(5)
    await writes.record_events(bounded, viewer.id, [Happened(pin, SEEN) for pin in pins[:3]])
    with pytest.raises(QuotaExceeded, match="more than 4 events on one day"):
        await writes.record_events(bounded, viewer.id, [Happened(pin, SEEN) for pin in pins[3:]])
    await writes.record_events(bounded, viewer.id, [Happened(pins[3], SEEN)])
    for number in range(4):
        await writes.follow(bounded, viewer.id, interest.id, key=f"{number}")
    await writes.delete_events(bounded, viewer.id)


async def test_events_are_kept_for_thirty_days(stores: Stores, people: People) -> None:
    viewer = await people.user()
    _, [pin] = await people.board_with_pins(1)
    for at in (NOON, NOON + DAY):
        await writes.record_events(stores, viewer.id, [Happened(pin, SEEN)], at=at)
    await drain(stores)
    for days, left in ((30, 2), (31, 1), (32, 0)):
        await expire_batch(stores, 7, 30, NOON + days * DAY)
        assert len(await stores.shards.events.of_user(viewer.id, 99)) == left
