"""Decides cases of reports, as an operator: dismisses the reports, or removes what is reported.

A removal is the deletion by the owner, on the same path. It comes before the decision, so that a
removal that was interrupted is done again.
"""

from datasources import records
from datasources.clocks import now_ms
from datasources.errors import BadInput, NotFound
from datasources.ids import kind_of
from datasources.protocols import Case, CaseStatus, Decision, ShardTx, Stores
from datasources.records import Board, Comment, Pin, User
from feed_engine.times import moment
from feed_engine.transactions import access
from feed_engine.transactions.inputs import Deletion
from feed_engine.writes.accounts import delete_account
from feed_engine.writes.boards import delete_board
from feed_engine.writes.comments import delete_comment
from feed_engine.writes.pins import delete_pin

OPERATOR = 64
"""Bytes of an operator's name, at most."""


async def dismiss(stores: Stores, subject_id: int, operator: str, *, at: int | None = None) -> bool:
    """Close the case of a subject, and leave the subject as it is. Returns whether that is new.
    Raises NotFound if nobody reported it, BadInput if it was removed."""
    return await _decide(stores, subject_id, CaseStatus.DISMISSED, operator, at)


async def remove(stores: Stores, subject_id: int, operator: str, *, at: int | None = None) -> bool:
    """Delete a reported pin, board or comment as its owner would, or a reported user's account, and
    close the case. Returns whether the decision is new. Raises NotFound if nobody reported it."""
    await case_of(stores, subject_id)
    _check_operator(operator)
    await _delete(stores, subject_id)
    return await _decide(stores, subject_id, CaseStatus.REMOVED, operator, at)


async def case_of(stores: Stores, subject_id: int) -> Case:
    """The case of a subject. Raises NotFound if nobody reported it."""
    found = await stores.shards.reports.case(subject_id, 0)
    if found is None:
        raise unreported(subject_id)
    return found.case


def check_not_removed(case: Case) -> None:
    """Raises BadInput for a case that ended with a removal: nobody can dismiss it."""
    if case.status is CaseStatus.REMOVED:
        when = moment(case.decided or 0)
        raise BadInput(
            f"{case.subject_id} was removed on {when:%Y-%m-%d}: a removal can't be taken back"
        )


async def _decide(
    stores: Stores, subject_id: int, status: CaseStatus, operator: str, at: int | None
) -> bool:
    _check_operator(operator)
    decision = Decision(subject_id, status, operator, at if at is not None else now_ms())

    async def work(tx: ShardTx) -> bool:
        case = await tx.report_case(subject_id)
        if case is None:
            raise unreported(subject_id)
        if status is CaseStatus.DISMISSED:
            check_not_removed(case)
        return await tx.decide(decision)

    shard = access.home(stores, kind_of(subject_id), subject_id)
    return await stores.shards.objects.transact(shard, work)


async def _delete(stores: Stores, id: int) -> None:
    """Delete an object in the name of its owner, or a pin in the name of its board's owner, unless
    it is deleted already."""
    found = await stores.shards.objects.get([id])
    record = records.decode(kind_of(id), id, found[id]) if id in found else None
    if record is None or not record.active:
        return
    try:
        match record:
            case Pin():
                boards = await access.read(stores, Board, [record.board_id])
                if record.board_id in boards:  # otherwise a job deletes the pin
                    await delete_pin(stores, boards[record.board_id].owner_id, id)
            case Board():
                await delete_board(stores, record.owner_id, id)
            case Comment():
                await delete_comment(stores, record.author_id, id)
            case User():
                await delete_account(stores, id, Deletion(username=record.username))
    except NotFound:
        # Its owner deleted it at the same time, or its board is deleted, and a job deletes the pin.
        if isinstance(record, Pin) and not await access.read(stores, Board, [record.board_id]):
            return
        if await access.read(stores, type(record), [id]):
            raise


def _check_operator(name: str) -> None:
    if not name.strip() or not name.isprintable() or len(name.encode()) > OPERATOR:
        raise BadInput(
            f"{name!r} is no operator's name: it needs 1 to {OPERATOR} bytes, which can be printed"
        )


def unreported(id: int) -> NotFound:
    """The error for an object without reports."""
    return NotFound(f"there are no reports of {kind_of(id).name.lower()} {id}")
