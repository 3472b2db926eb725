"""The quotas of one viewer for a day: in all, of each kind, toward one user, and under one pin.

With 40 writes a day, a viewer has 10 pins, 4 boards, 4 comments, 2 writes toward one user, and one
comment under one pin.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from datasources.errors import NotFound, QuotaExceeded, StoreUnavailable
from datasources.ids import shard_of
from datasources.mappings import Mapping
from datasources.protocols import EventKind, Stores
from datasources.records import Pin, User
from feed_engine import writes
from feed_engine.times import DAY
from feed_engine.transactions import quotas
from feed_engine.transactions.key_kinds import subject_key
from feed_engine.transactions.quotas import BOARDS, COMMENTS, PINS, WRITES
from feed_engine.writes.events import Happened
from tests.people import People

pytestmark = pytest.mark.anyio
TODAY = 20_000 * DAY
SAID = Mapping.PIN_HAS_COMMENTS


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The present time, in a list with one entry."""
    now = [TODAY + 3_600_000]
    monkeypatch.setattr(quotas, "now_ms", lambda: now[0])
    return now


@pytest.fixture
def bounded(stores: Stores) -> Stores:
    """The stores, for a gateway with quotas."""
    return stores._replace(writes_per_day=40)


async def used(stores: Stores, viewer: User) -> dict[int, int]:
    """The viewer's own counts of today."""
    return await stores.shards.objects.transact(
        shard_of(viewer.id), lambda tx: tx.used(viewer.id, TODAY, [WRITES, PINS, BOARDS, COMMENTS])
    )


def comment(stores: Stores, viewer: User, pin: Pin, **options: Any) -> Awaitable[Any]:
    new = writes.NewComment(pin_id=pin.id, text="hm")
    return writes.create_comment(stores, viewer.id, new, **options)


async def pins_of_others(people: People, viewer: User, count: int) -> list[Pin]:
    """Pins of different users on other shards than the viewer's."""
    owners = [await people.user(away_from=viewer.id) for _ in range(count)]
    return [await people.pin(await people.board(owner)) for owner in owners]


async def test_boards_and_pins_of_a_day_are_bounded(
    bounded: Stores, people: People, clock: list[int]
) -> None:
    ann = await people.user()
    new = writes.NewBoard(name="b")
    boards = [(await writes.create_board(bounded, ann.id, new)).board for _ in range(4)]
    with pytest.raises(QuotaExceeded) as refused:
        await writes.create_board(bounded, ann.id, new)
    assert refused.value.message == (
        "An account may not make more than 4 new boards on one day: write again from "
        "2024-10-05 00:00 UTC on."
    )
    assert refused.value.retry_after == 23 * 3600
    assert len(await people.list(Mapping.USER_HAS_BOARDS, ann.id)) == 4
    for _ in range(10):
        await writes.create_pin(bounded, ann.id, writes.NewPin(board_id=boards[0].id))
    with pytest.raises(QuotaExceeded, match="10 new pins"):
        await writes.create_pin(bounded, ann.id, writes.NewPin(board_id=boards[1].id))
    assert await used(bounded, ann) == {WRITES: 14, PINS: 10, BOARDS: 4}
    clock[0] += DAY
    await writes.create_board(bounded, ann.id, new)


async def test_all_writes_of_a_day_are_bounded(bounded: Stores, people: People) -> None:
    ann = await people.user()
    interest = await people.interest()
    for _ in range(40):
        await writes.follow(bounded, ann.id, interest.id)
        await writes.unfollow(bounded, ann.id, interest.id)
    with pytest.raises(QuotaExceeded, match="more than 40 writes on one day"):
        await writes.follow(bounded, ann.id, interest.id)
    assert await people.list(Mapping.USER_FOLLOWS_INTERESTS, ann.id) == []


async def test_writes_toward_one_user_are_bounded(bounded: Stores, people: People) -> None:
    ann = await people.user()
    [pin, other] = await pins_of_others(people, ann, 2)
    await writes.follow(bounded, ann.id, pin.owner_id)
    await writes.like_pin(bounded, ann.id, pin.id)
    await writes.unlike_pin(bounded, ann.id, pin.id)
    await writes.unfollow(bounded, ann.id, pin.owner_id)
    for write in (
        lambda: writes.like_pin(bounded, ann.id, pin.id),
        lambda: writes.follow(bounded, ann.id, pin.owner_id),
        lambda: writes.follow(bounded, ann.id, pin.board_id),
    ):
        with pytest.raises(QuotaExceeded, match="more than 2 comments, likes, repins and follows"):
            await write()
    await writes.like_pin(bounded, ann.id, other.id)
    board = await people.board(ann)
    await writes.repin(bounded, ann.id, other.id, board.id)
    with pytest.raises(QuotaExceeded):
        await writes.repin(bounded, ann.id, other.id, board.id)
    own = await people.pin(board)
    for _ in range(3):
        await writes.like_pin(bounded, ann.id, own.id)
        await writes.unlike_pin(bounded, ann.id, own.id)


async def test_comments_under_one_pin_and_of_a_day_are_bounded(
    bounded: Stores, people: People
) -> None:
    ann = await people.user()
    pins = await pins_of_others(people, ann, 5)
    await comment(bounded, ann, pins[0])
    with pytest.raises(QuotaExceeded, match="more than 1 comments under one pin"):
        await comment(bounded, ann, pins[0])
    assert await used(bounded, ann) == {WRITES: 1, COMMENTS: 1}
    for pin in pins[1:4]:
        await comment(bounded, ann, pin)
    with pytest.raises(QuotaExceeded, match="more than 4 comments on one day"):
        await comment(bounded, ann, pins[4])
    assert [len(await people.list(SAID, pin.id)) for pin in pins] == [1, 1, 1, 1, 0]
    assert await used(bounded, ann) == {WRITES: 4, COMMENTS: 4}


async def test_a_repeated_write_counts_once_and_is_answered_above_the_bound(
    bounded: Stores, people: People
) -> None:
    ann = await people.user()
    pins = await pins_of_others(people, ann, 4)
    first = await comment(bounded, ann, pins[0], key="one")
    for _ in range(3):
        assert await comment(bounded, ann, pins[0], key="one") == first
    assert await used(bounded, ann) == {WRITES: 1, COMMENTS: 1}
    for pin in pins[1:]:
        await comment(bounded, ann, pin)
    assert await comment(bounded, ann, pins[0], key="one") == first
    interest = await people.interest()
    for number in range(36):
        await writes.follow(bounded, ann.id, interest.id, key=f"key {number}")
    edge = await writes.follow(bounded, ann.id, interest.id, key="key 0")
    assert edge.active
    with pytest.raises(QuotaExceeded):
        await writes.follow(bounded, ann.id, interest.id, key="key 37")


async def test_a_viewer_above_the_bound_can_still_take_back(
    bounded: Stores, people: People
) -> None:
    """Strangers who comment without end do not make the owner of the pins unable to delete."""
    ann, interest = await people.user(), await people.interest()
    board = await people.board(ann)
    [pin] = await pins_of_others(people, ann, 1)
    own, other = await people.pin(board), await people.pin(board)
    said = (await comment(bounded, ann, pin)).comment
    spam = (await comment(bounded, await people.user(), own)).comment
    await writes.like_pin(bounded, ann.id, pin.id)
    for number in range(38):
        await writes.follow(bounded, ann.id, interest.id, key=f"key {number}")
    with pytest.raises(QuotaExceeded):
        await writes.follow(bounded, ann.id, interest.id, key="key 38")
    counts = await used(bounded, ann)
    await writes.delete_comment(bounded, ann.id, said.id)
    await writes.delete_comment(bounded, ann.id, spam.id, key="spam")
    await writes.unlike_pin(bounded, ann.id, pin.id)
    await writes.unfollow(bounded, ann.id, interest.id)
    await writes.delete_pin(bounded, ann.id, other.id)
    await writes.delete_board(bounded, ann.id, board.id)
    assert await used(bounded, ann) == counts
    with pytest.raises(QuotaExceeded):
        await writes.unfollow(bounded, ann.id, interest.id, key="it changes nothing, but is kept")


async def test_a_write_that_changes_nothing_counts_only_with_a_key(
    bounded: Stores, people: People
) -> None:
    ann, interest = await people.user(), await people.interest()
    for _ in range(3):
        await writes.follow(bounded, ann.id, interest.id)
    assert await used(bounded, ann) == {WRITES: 1}
    await writes.follow(bounded, ann.id, interest.id, key="stored")
    assert await used(bounded, ann) == {WRITES: 2}


async def test_a_refused_write_gives_its_part_back(bounded: Stores, people: People) -> None:
    ann = await people.user()
    [pin] = await pins_of_others(people, ann, 1)
    await writes.delete_pin(bounded, pin.owner_id, pin.id)
    with pytest.raises(NotFound):
        await comment(bounded, ann, pin)
    assert await used(bounded, ann) == {WRITES: 0, COMMENTS: 0}


async def test_of_concurrent_comments_at_the_bound_one_passes(
    bounded: Stores, people: People
) -> None:
    ann = await people.user()
    pins = await pins_of_others(people, ann, 7)
    for pin in pins[:3]:
        await comment(bounded, ann, pin)
    done = await asyncio.gather(
        *(comment(bounded, ann, pin) for pin in pins[3:]), return_exceptions=True
    )
    assert sum(isinstance(it, QuotaExceeded) for it in done) == 3
    assert sum([len(await people.list(SAID, pin.id)) for pin in pins]) == 4
    assert await used(bounded, ann) == {WRITES: 4, COMMENTS: 4}


async def test_without_the_viewers_shard_the_pins_shard_bounds_comments(
    bounded: Stores, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = await people.user()
    [pin] = await pins_of_others(people, ann, 1)
    transact = bounded.shards.objects.transact

    async def lost(shard: int, work: Any) -> Any:
        if shard == shard_of(ann.id):
            raise StoreUnavailable("lost")
        return await transact(shard, work)

    monkeypatch.setattr(bounded.shards.objects, "transact", lost)
    await comment(bounded, ann, pin)
    with pytest.raises(QuotaExceeded):
        await comment(bounded, ann, pin)


async def test_every_write_of_a_viewer_is_counted(bounded: Stores, people: People) -> None:
    stores = bounded._replace(writes_per_day=4_000)
    ann, bob = await people.user(), await people.user()
    [pin] = await pins_of_others(people, ann, 1)
    mine, two = await people.board(ann), await people.board(ann)
    pins = [await people.pin(mine) for _ in range(200)]
    said = (await comment(bounded._replace(writes_per_day=0), ann, pin)).comment
    theirs = [await people.board(bob) for _ in range(2)]
    for shared in theirs:
        await writes.invite_collaborator(stores, bob.id, shared.id, ann.id)
    ids = [own.id for own in pins]
    board, own, key = mine.id, ids[0], subject_key("https://id.example/", "ann")
    new_section = writes.NewSection(board_id=board, name="s")
    parts = [
        (await writes.create_section(people.stores, ann.id, new_section)).section.id
        for _ in range(2)
    ]
    every: dict[Callable[[], Awaitable[Any]], int] = {
        lambda: writes.create_board(stores, ann.id, writes.NewBoard(name="x")): 1,
        lambda: writes.update_board(stores, ann.id, board, writes.BoardChange(name="y")): 1,
        lambda: writes.create_pin(stores, ann.id, writes.NewPin(board_id=board)): 1,
        lambda: writes.update_pin(stores, ann.id, own, writes.PinChange(title="z")): 1,
        lambda: writes.repin(stores, ann.id, pin.id, board): 1,
        lambda: writes.reorder_pin(stores, ann.id, board, own, ids[5], None): 1,
        lambda: writes.reorder_pins(stores, ann.id, board, ids[:50]): 1,
        lambda: writes.reorder_pins(stores, ann.id, board, ids): 3,
        lambda: writes.create_section(stores, ann.id, new_section): 1,
        lambda: writes.rename_section(stores, ann.id, parts[0], "t"): 1,
        lambda: writes.reorder_section(stores, ann.id, parts[1], parts[0]): 1,
        lambda: writes.move_pin_to_section(stores, ann.id, own, parts[0]): 1,
        lambda: writes.delete_section(stores, ann.id, parts[0]): 0,
        lambda: writes.move_pin(stores, ann.id, own, two.id): 1,
        lambda: writes.delete_pin(stores, ann.id, own): 0,
        lambda: writes.invite_collaborator(stores, ann.id, board, bob.id): 1,
        lambda: writes.remove_collaborator(stores, ann.id, board, bob.id): 0,
        lambda: writes.accept_invitation(stores, ann.id, theirs[0].id): 1,
        lambda: writes.decline_invitation(stores, ann.id, theirs[1].id): 0,
        lambda: writes.leave_board(stores, ann.id, theirs[0].id): 0,
        lambda: writes.delete_board(stores, ann.id, two.id): 0,
        lambda: writes.like_pin(stores, ann.id, pin.id): 1,
        lambda: writes.unlike_pin(stores, ann.id, pin.id): 0,
        lambda: writes.follow(stores, ann.id, bob.id): 1,
        lambda: writes.unfollow(stores, ann.id, bob.id): 0,
        lambda: comment(stores, ann, pin): 1,
        lambda: writes.delete_comment(stores, ann.id, said.id): 0,
        lambda: writes.mute_user(stores, ann.id, bob.id): 1,
        lambda: writes.unmute_user(stores, ann.id, bob.id): 0,
        lambda: writes.block_user(stores, ann.id, bob.id): 1,
        lambda: writes.unblock_user(stores, ann.id, bob.id): 0,
        lambda: writes.hide_pin(stores, ann.id, pin.id): 1,
        lambda: writes.unhide_pin(stores, ann.id, pin.id): 0,
        lambda: writes.see_less(stores, ann.id, bob.id): 1,
        lambda: writes.see_more(stores, ann.id, bob.id): 1,
        lambda: writes.see_as_usual(stores, ann.id, bob.id): 0,
        lambda: writes.record_events(stores, ann.id, [Happened(pin.id, EventKind.SEEN)]): 0,
        lambda: writes.delete_events(stores, ann.id): 0,
        lambda: writes.create_upload(stores, ann.id): 1,
        lambda: writes.request_my_data(stores, ann.id): 1,
        lambda: writes.report(stores, ann.id, writes.NewReport(id=pin.id, reason=1)): 1,
        lambda: writes.mark_notifications_read(stores, ann.id, None): 0,
        lambda: writes.update_profile(stores, ann.id, writes.ProfileChange(about="me")): 1,
        lambda: writes.sign_out_everywhere(stores, ann.id): 0,
        lambda: writes.change_user_name(stores, ann.id, writes.NameChange(username="quoted")): 1,
        lambda: writes.change_email(stores, ann.id, writes.EmailChange(email="a@x.org")): 1,
        lambda: writes.change_subject(stores, ann.id, writes.SubjectChange(subject=key)): 1,
        lambda: writes.change_subject(stores, ann.id, writes.SubjectChange(subject=None)): 0,
        lambda: writes.delete_account(stores, ann.id, writes.Deletion(username="quoted")): 0,
    }
    total = 0
    for number, (write, amount) in enumerate(every.items()):
        await write()
        total += amount
        assert (await used(stores, ann))[WRITES] == total, f"write {number}"
    of_viewers = set(writes.__all__) - {"sign_up"}
    # Reordering pins and changing a subject are there twice.
    assert len(every) - 2 == sum(name[0].islower() for name in of_viewers)
