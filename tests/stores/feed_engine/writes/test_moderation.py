"""Decisions about reports: what they close and delete, and that deciding again is harmless."""

import pytest

from datasources import records
from datasources.errors import BadInput, NotFound, StoreUnavailable
from datasources.ids import kind_of
from datasources.protocols import CaseStatus, Decision, Stores
from datasources.records import User
from feed_engine import writes
from feed_engine.times import DAY
from feed_engine.writes import moderation
from tests.embedded_stores import drain
from tests.people import People

pytestmark = pytest.mark.anyio
NOON = 20_000 * DAY


async def reported(stores: Stores, people: People) -> dict[str, int]:
    """The ids of one reported object of each kind, each of an owner of its own."""
    owners = [await people.user() for _ in range(4)]
    board = await people.board(owners[0])
    pin = await people.pin(await people.board(owners[1]))
    under = await people.pin(await people.board(owners[2]))
    new = writes.NewComment(pin_id=under.id, text="hm")
    said = (await writes.create_comment(stores, owners[0].id, new)).comment
    ids = {"board": board.id, "pin": pin.id, "comment": said.id, "user": owners[3].id}
    ann = await people.user()
    for id in ids.values():
        await report(stores, ann, id)
    await drain(stores)
    return ids


async def report(stores: Stores, by: User, id: int) -> None:
    await writes.report(stores, by.id, writes.NewReport(id=id, reason=1), at=NOON)


async def decisions(stores: Stores, id: int) -> list[Decision]:
    found = await stores.shards.reports.case(id, 0)
    assert found is not None
    closed = found.decisions[-1] if found.decisions else None
    assert found.case.status is (closed.status if closed else CaseStatus.OPEN)
    assert found.case.decided == (closed and closed.at)
    return list(found.decisions)


async def is_active(stores: Stores, id: int) -> bool:
    stored = await stores.shards.objects.get([id])
    return records.decode(kind_of(id), id, stored[id]).active


async def test_a_dismissal_closes_the_case_and_leaves_the_object(
    stores: Stores, people: People
) -> None:
    for id in (await reported(stores, people)).values():
        assert await decisions(stores, id) == []
        assert await moderation.dismiss(stores, id, "Zoë", at=NOON)
        assert not await moderation.dismiss(stores, id, "Max", at=NOON + 1)
        assert await decisions(stores, id) == [Decision(id, CaseStatus.DISMISSED, "Zoë", NOON)]
        assert await is_active(stores, id)


async def test_a_removal_deletes_as_the_owner_would_and_is_done_once(
    stores: Stores, people: People
) -> None:
    ids = await reported(stores, people)
    for id in ids.values():
        await moderation.dismiss(stores, id, "Max", at=NOON)  # and then changes their mind
        assert await moderation.remove(stores, id, "Zoë", at=NOON + 1)
        assert not await moderation.remove(stores, id, "Max", at=NOON + 2)
        assert [it.status.name for it in await decisions(stores, id)] == ["DISMISSED", "REMOVED"]
        assert not await is_active(stores, id)
        with pytest.raises(BadInput, match=f"{id} was removed on 2024-10-04: a removal can't be"):
            await moderation.dismiss(stores, id, "Max")
    stored = await stores.shards.objects.get([ids["user"]])
    user = records.decode(kind_of(ids["user"]), ids["user"], stored[ids["user"]])
    assert isinstance(user, User)
    assert user.deleted  # with all that follows, like the pins of the board: `people` checks it


async def test_what_its_owner_deleted_may_be_removed_and_dismissed(
    stores: Stores, people: People
) -> None:
    owner, ann = await people.user(), await people.user()
    board = await people.board(owner)
    for act, status in (("remove", CaseStatus.REMOVED), ("dismiss", CaseStatus.DISMISSED)):
        pin = await people.pin(board)
        await report(stores, ann, pin.id)
        await writes.delete_pin(stores, owner.id, pin.id)
        assert await getattr(moderation, act)(stores, pin.id, "Zoë", at=NOON)
        assert await decisions(stores, pin.id) == [Decision(pin.id, status, "Zoë", NOON)]


async def test_a_removal_that_was_interrupted_is_done_by_the_next(
    stores: Stores, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = await reported(stores, people)

    async def away(*_: object) -> bool:
        raise StoreUnavailable("it is away")

    for id in ids.values():
        with monkeypatch.context() as patch:
            patch.setattr(moderation, "_decide", away)
            with pytest.raises(StoreUnavailable):
                await moderation.remove(stores, id, "Zoë")
        assert not await is_active(stores, id)
        assert await decisions(stores, id) == []
        assert await moderation.remove(stores, id, "Zoë", at=NOON)
        assert await decisions(stores, id) == [Decision(id, CaseStatus.REMOVED, "Zoë", NOON)]


async def test_only_what_was_reported_is_decided_by_a_named_operator(
    stores: Stores, people: People
) -> None:
    owner, ann = await people.user(), await people.user()
    pin = await people.pin(await people.board(owner))
    for act in (moderation.dismiss, moderation.remove):
        with pytest.raises(NotFound, match=f"there are no reports of pin {pin.id}"):
            await act(stores, pin.id, "Zoë")
    await report(stores, ann, pin.id)
    for act in (moderation.dismiss, moderation.remove):
        for name in ("", "   ", "ö" * 33, "Zoë\x1b[0m", "\udcff"):
            with pytest.raises(BadInput, match="is no operator's name: it needs 1 to 64 bytes"):
                await act(stores, pin.id, name)
    assert await is_active(stores, pin.id)
    assert await moderation.dismiss(stores, pin.id, "ö" * 32)
