"""Reports for operators: the cases as plain values, and the decisions."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from datasources import records
from datasources.errors import BadInput, StoreError
from datasources.ids import Kind, kind_of
from datasources.protocols import Case, CaseOrder, CaseRequest, CaseStatus, Decision, Report, Stores
from datasources.records import Board, Comment, Pin, Record, User
from feed_engine.times import in_utc
from feed_engine.writes import moderation
from feed_engine.writes.reports import REPORTED
from resolvers.context import object_id

SHOWN = 100
"""Reports of one case that are shown, at most."""
STATUSES = [status.name.lower() for status in CaseStatus]
KINDS = [kind.name.lower() for kind in REPORTED]
ORDERS = {"newest": CaseOrder.NEWEST, "most": CaseOrder.MOST}


async def list_cases(stores: Stores, request: Mapping[str, Any]) -> dict[str, Any]:
    """A page of cases, and where the next page begins. Raises BadInput."""
    order = ORDERS[request["order"]]
    kind = request["kind"]
    asked = CaseRequest(
        CaseStatus[request["status"].upper()],
        REPORTED if kind is None else [Kind[kind.upper()]],
        order,
        int(request["limit"]),
        _place(request["after"]),
    )
    found = await stores.shards.reports.cases(asked)
    cases = found.cases
    ids = [case.subject_id for case in cases]
    reasons = await stores.shards.reports.reasons(ids)
    subjects = await _read(stores, ids)
    holders = await _read(stores, _holder_ids(subjects.values()))
    owners = await _read(stores, {_owner_id(it) for it in subjects.values()})
    following = None
    if len(cases) == asked.limit:
        last = cases[-1]
        value = last.newest if order is CaseOrder.NEWEST else last.reports
        following = f"{value}:{last.subject_id}"
    return {
        "cases": [
            _case(case, subjects.get(case.subject_id), holders, owners)
            | {"reasons": {reason.name: n for reason, n in reasons[case.subject_id].items()}}
            for case in cases
        ],
        "next": following,
        "unreachable": {server: str(error) for server, error in found.lost.items()},
    }


async def show_case(stores: Stores, id: str) -> dict[str, Any]:
    """A case with its reports and decisions. Raises NotFound, BadInput."""
    subject_id = _subject_id(id)
    found = await stores.shards.reports.case(subject_id, SHOWN)
    if found is None:
        raise moderation.unreported(subject_id)
    subject = (await _read(stores, [subject_id])).get(subject_id)
    holders = await _read(stores, _holder_ids([] if subject is None else [subject]))
    owner = [] if subject is None else [_owner_id(subject)]
    users = await _read(stores, {*owner, *(it.reporter_id for it in found.reports)})
    return _case(found.case, subject, holders, users) | {
        "subject": _fields(subject),
        "filed": [_report(it, users) for it in found.reports],
        "decisions": [_decision(it) for it in found.decisions],
    }


async def decide(stores: Stores, ids: Sequence[str], change: str, operator: str) -> dict[str, Any]:
    """Dismiss or remove cases. Nothing is done if one of them is not there, or was removed and
    can't be dismissed. Raises NotFound, BadInput."""
    act = moderation.remove if change == "remove" else moderation.dismiss
    subject_ids = [_subject_id(id) for id in ids]
    for id in subject_ids:
        case = await moderation.case_of(stores, id)
        if change != "remove":
            moderation.check_not_removed(case)
    changed = [id for id in subject_ids if await act(stores, id, operator)]
    kept = [id for id in subject_ids if id not in changed]
    return {
        "change": change,
        "changed": [str(id) for id in changed],
        "unchanged": [str(id) for id in kept],
    }


def _place(cursor: str | None) -> tuple[int, int] | None:
    if cursor is None:
        return None
    value, _, subject_id = cursor.partition(":")
    if not all(it.isdecimal() and len(it) < 20 and int(it) < 2**63 for it in (value, subject_id)):
        raise BadInput(f"{cursor!r} is no place in the list: take the one that a list ends with")
    return int(value), int(subject_id)


def _subject_id(text: str) -> int:
    id = object_id(text)
    if kind_of(id) not in REPORTED:
        raise BadInput(f"{id} is the id of an interest: `pinway reports list` shows ids")
    return id


async def _read(stores: Stores, ids: Iterable[int]) -> dict[int, Record]:
    """The objects that can be read, deleted or not. The others cost names only."""
    try:
        stored = await stores.shards.objects.get(list(ids))
    except StoreError:
        return {}
    of_kind = defaultdict[Kind, dict[int, bytes]](dict)
    for id, data in stored.items():
        of_kind[kind_of(id)][id] = data
    return {
        id: record
        for kind, some in of_kind.items()
        for id, record in records.decode_each(kind, some).items()
        if isinstance(record, Record)
    }


def _owner_id(record: Record) -> int:
    match record:
        case Pin() | Board():
            return record.owner_id
        case Comment():
            return record.author_id
    return record.id


def _name(record: Record | None) -> str:
    match record:
        case Pin():
            return record.title or record.description or record.link or ""
        case Board():
            return record.name
        case User():
            return record.username
        case Comment():
            return record.text
    return ""


def _holder_id(record: Record | None) -> int | None:
    """The object that an object is on, and ends with."""
    match record:
        case Pin():
            return record.board_id
        case Comment():
            return record.pin_id
    return None


def _holder_ids(subjects: Iterable[Record]) -> set[int]:
    return {id for it in subjects if (id := _holder_id(it)) is not None}


def _case(
    case: Case,
    subject: Record | None,
    holders: Mapping[int, Record],
    users: Mapping[int, Record],
) -> dict[str, Any]:
    holder = holders.get(_holder_id(subject) or 0)
    return {
        "id": str(case.subject_id),
        "kind": kind_of(case.subject_id).name.lower(),
        "status": case.status.name.lower(),
        "reports": case.reports,
        "newest": in_utc(case.newest),
        "decided": None if case.decided is None else in_utc(case.decided),
        "owner": "" if subject is None else _name(users.get(_owner_id(subject))),
        "name": _name(subject),
        "deleted": any(it is not None and not it.active for it in (subject, holder)),
    }


def _fields(subject: Record | None) -> dict[str, Any]:
    """The texts and pictures of an object."""
    match subject:
        case Pin():
            return {
                "title": subject.title,
                "description": subject.description,
                "link": subject.link,
                "image": subject.image and subject.image.url,
                "board": str(subject.board_id),
            }
        case Board():
            return {"name": subject.name, "description": subject.description}
        case User():
            return {
                "username": subject.username,
                "full name": subject.full_name,
                "about": subject.about,
                "avatar": subject.avatar and subject.avatar.url,
            }
        case Comment():
            return {"text": subject.text, "pin": str(subject.pin_id)}
    return {}


def _report(report: Report, users: Mapping[int, Record]) -> dict[str, Any]:
    return {
        "reporter": _name(users.get(report.reporter_id)),
        "reporter_id": str(report.reporter_id),
        "reason": report.reason.name,
        "text": report.text,
        "at": in_utc(report.at),
    }


def _decision(decision: Decision) -> dict[str, Any]:
    return {
        "decision": decision.status.name.lower(),
        "operator": decision.operator,
        "at": in_utc(decision.at),
    }
