"""Rows of the shared tables as the protocols' records, and the stored form of keys."""

import hashlib
from collections.abc import Sequence
from typing import Any

from datasources.mappings import Edge, Respacing
from datasources.protocols import (
    Answer,
    Case,
    CaseStatus,
    Decision,
    EventKind,
    Notification,
    NotificationKind,
    OutboxRow,
    PinEvent,
    Report,
    ReportReason,
    Visit,
)
from datasources.sql.engine import Row

EDGE_COLUMNS = "from_id, to_id, sequence, version, active"
OUTBOX_COLUMNS = "id, kind, payload, progress, created, attempts"
ANSWER_COLUMNS = "fingerprint, answer, outbox_id"
VISIT_COLUMNS = "user_id, generation, visit, chunk, saved, created"
EVENT_COLUMNS = "user_id, day, pin_id, kind, at"
NOTIFICATION_COLUMNS = (
    "user_id, kind, subject_id, actor_id, about_id, version, acted, active, place"
)
REPORT_COLUMNS = "subject_id, reporter_id, reason, text, at"
CASE_COLUMNS = "subject_id, status, reports, newest, decided"
DECISION_COLUMNS = "subject_id, status, operator, at"
MAX_KEY = 191  # bytes that an index of MySQL can hold in every row format


def edge(row: Row, era: int = 0) -> Edge:
    return Edge(row[0], row[1], int(row[2]), row[3], bool(row[4]), era)


def moves(moves: Sequence[tuple[int, int]]) -> bytes:
    """The moves as JSON texts, because JSON numbers don't have 38 digits."""
    return " ".join(f"{old}:{new}" for old, new in moves).encode()


def respacing(row: Row) -> Respacing:
    pairs = (pair.split(b":") for pair in row[1].split())
    return Respacing(row[0], tuple((int(old), int(new)) for old, new in pairs))


def outbox_row(shard: int, row: Sequence[Any]) -> OutboxRow:
    id, kind, payload, progress, created, attempts = row
    return OutboxRow(shard, id, kind.decode(), payload, progress, created, attempts)


def answer(row: Row) -> Answer:
    return Answer(row[0], row[1], row[2])


def visit(row: Row) -> Visit:
    return Visit(row[0], row[1], row[2].decode(), row[3], bool(row[4]), row[5])


def event(row: Row) -> PinEvent:
    return PinEvent(row[0], row[1], row[2], EventKind(row[3]), row[4])


def notification(row: Row) -> Notification:
    user_id, kind, subject_id, actor_id, about_id, version, at, active, place = row
    return Notification(
        *(user_id, NotificationKind(kind), subject_id, actor_id, about_id, version, at),
        active=bool(active),
        place=place,
    )


def report(row: Row) -> Report:
    return Report(row[0], row[1], ReportReason(row[2]), row[3].decode(), row[4])


def case(row: Row) -> Case:
    return Case(row[0], CaseStatus(row[1]), *row[2:])


def case_values(case: Case) -> Row:
    """A case in the order of CASE_COLUMNS."""
    return case.subject_id, int(case.status), case.reports, case.newest, case.decided


def decision(row: Row) -> Decision:
    return Decision(row[0], CaseStatus(row[1]), row[2].decode(), row[3])


def key(text: str) -> bytes:
    """A key of any length and script as bytes for a unique index: its UTF-8 or, if that is too
    long, its SHA-256."""
    data = text.encode()
    if len(data) <= MAX_KEY:
        return data
    return b"sha256:" + hashlib.sha256(data).hexdigest().encode()
