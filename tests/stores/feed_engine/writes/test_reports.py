"""Reports: one for each reporter and object, only of what the reporter sees, and never of what is
the reporter's own."""

import pytest

from datasources.errors import BadInput, NotFound, QuotaExceeded
from datasources.ids import compose, kind_of, shard_of
from datasources.protocols import Case, CaseFile, CaseStatus, Decision, Report, ReportReason, Stores
from datasources.records import Comment, Pin, User
from feed_engine import writes
from feed_engine.outbox.expiry import CASES_DAYS, expire_batch
from feed_engine.times import DAY
from tests.embedded_stores import drain
from tests.people import People

pytestmark = pytest.mark.anyio
NOON = 20_000 * DAY


def new(id: int, text: str = "", reason: ReportReason = ReportReason.SPAM) -> writes.NewReport:
    return writes.NewReport(id=id, reason=int(reason), text=text)


async def case(stores: Stores, id: int) -> CaseFile | None:
    return await stores.shards.reports.case(id, 99)


async def comment(stores: Stores, author: User, pin: Pin) -> Comment:
    said = writes.NewComment(pin_id=pin.id, text="hm")
    return (await writes.create_comment(stores, author.id, said)).comment


async def test_all_kinds_are_reported_once_by_each_reporter(stores: Stores, people: People) -> None:
    owner, ann, bob = await people.user(), await people.user(), await people.user()
    board = await people.board(owner)
    pin = await people.pin(board)
    said = await comment(stores, owner, pin)
    for id in (owner.id, board.id, pin.id, said.id):
        await writes.report(stores, ann.id, new(id, " worse than it looks "), at=NOON)
        await writes.report(stores, bob.id, new(id), at=NOON + 1)
        hate = ReportReason.HATE
        await writes.report(stores, ann.id, new(id, "worse still", hate), at=NOON + 2)
        assert await case(stores, id) == (
            Case(id, CaseStatus.OPEN, 2, NOON + 1),
            [
                Report(id, ann.id, hate, "worse still", NOON + 2),
                Report(id, bob.id, ReportReason.SPAM, "", NOON + 1),
            ],
            [],
        )


async def test_nobody_reports_what_is_their_own(stores: Stores, people: People) -> None:
    ann, bob = await people.user(), await people.user()
    board = await people.board(ann)
    own = await comment(stores, ann, await people.pin(await people.board(bob)))
    for id, message in (
        (ann.id, "Nobody can report themselves: choose another user."),
        (board.id, "Nobody can report their own board: change or delete it."),
        ((await people.pin(board)).id, "Nobody can report their own pin: change or delete it."),
        (own.id, "Nobody can report their own comment: delete it."),
    ):
        with pytest.raises(BadInput) as refused:
            await writes.report(stores, ann.id, new(id))
        assert (refused.value.message, refused.value.field) == (message, "id")
        assert await case(stores, id) is None


async def test_what_the_viewer_cannot_see_is_not_found(stores: Stores, people: People) -> None:
    owner, ann = await people.user(), await people.user()
    secret = await people.board(owner, secret=True)
    hidden = await people.pin(secret)
    under = await comment(stores, owner, hidden)
    public = await people.board(owner)
    deleted = await people.pin(public)
    await writes.delete_pin(stores, owner.id, deleted.id)
    shown = await people.pin(public)
    said = await comment(stores, owner, shown)
    gone = await comment(stores, owner, shown)
    await writes.delete_comment(stores, owner.id, gone.id)
    blocker = await people.user()
    await writes.block_user(stores, blocker.id, ann.id)
    by_blocker = await comment(stores, blocker, shown)
    nowhere = compose(60_000, kind_of(shown.id), 1)
    absent = compose(shard_of(shown.id), kind_of(shown.id), 99_999)
    seen = [shown.id, public.id, said.id]
    unseen = [secret.id, hidden.id, under.id, deleted.id, gone.id, blocker.id, by_blocker.id]
    for id in (*unseen, nowhere, absent):
        with pytest.raises(NotFound) as refused:
            await writes.report(stores, ann.id, new(id))
        name = kind_of(id).name.lower()
        assert refused.value.message == f"There is no {name} {id}."
        assert refused.value.field == "id"
        assert await case(stores, id) is None
    for id in seen:
        await writes.report(stores, ann.id, new(id))


async def test_a_deleted_account_and_its_comments_are_not_found(
    stores: Stores, people: People
) -> None:
    owner, ann, author = await people.user(), await people.user(), await people.user()
    said = await comment(stores, author, await people.pin(await people.board(owner)))
    await drain(stores)  # the comment's job comes before the account's
    deletion = writes.Deletion(username=author.username)
    await writes.delete_account(stores, author.id, deletion)
    for id in (author.id, said.id):
        with pytest.raises(NotFound):
            await writes.report(stores, ann.id, new(id))


async def test_bad_reports_say_what_is_wrong(stores: Stores, people: People) -> None:
    ann, bob, interest = await people.user(), await people.user(), await people.interest()
    for wrong, field, message in (
        (
            new(interest.id),
            "id",
            f"{interest.id} is the id of an interest: only pins, boards, users and comments can be "
            "reported.",
        ),
        (new(0), "id", "0 is not an id"),
        (new(bob.id, "x" * 1001), "text", "text has 1001 characters: at most 1000 are kept"),
    ):
        with pytest.raises(BadInput) as refused:
            await writes.report(stores, ann.id, wrong)
        assert refused.value.field == field
        assert message in refused.value.message
    assert await case(stores, bob.id) is None


async def test_reports_of_a_day_are_bounded(stores: Stores, people: People) -> None:
    bounded = stores._replace(writes_per_day=200)
    ann = await people.user()
    others = [await people.user(away_from=ann.id) for _ in range(3)]
    for id in (others[0].id, others[0].id, others[1].id):  # a repeated report does not count
        await writes.report(bounded, ann.id, new(id))
    with pytest.raises(QuotaExceeded, match="more than 2 reports on one day"):
        await writes.report(bounded, ann.id, new(others[2].id))
    assert await case(stores, others[2].id) is None


async def test_a_decided_case_is_kept_for_a_year(stores: Stores, people: People) -> None:
    ann, bob = await people.user(), await people.user()
    for id, other in ((ann.id, bob.id), (bob.id, ann.id)):
        await writes.report(stores, other, new(id), at=NOON)
    decision = Decision(ann.id, CaseStatus.DISMISSED, "Zoë", NOON)
    assert await stores.shards.objects.transact(shard_of(ann.id), lambda tx: tx.decide(decision))
    assert CASES_DAYS == 365
    for later, kept in ((0, True), (1, False)):
        await expire_batch(stores, 7, 30, NOON + CASES_DAYS * DAY + later)
        assert (await case(stores, ann.id) is not None) == kept
        assert await case(stores, bob.id) is not None
