"""Reports of users against pins, boards, users and comments, and the cases that operators decide.
Both are on the shard of the reported object, the subject."""

from collections.abc import Mapping, Sequence
from enum import Enum, IntEnum
from typing import NamedTuple, Protocol

from datasources.errors import StoreError
from datasources.ids import Kind

REPORTS_KEPT = 1_000
"""Reports of one subject that are kept, at most: the newest."""


class ReportReason(IntEnum):
    """The reason of a report. The numbers are stored, and never change."""

    SPAM = 1
    ADULT = 2
    HATE = 3
    HARASSMENT = 4
    VIOLENCE = 5
    MISINFORMATION = 6
    COPYRIGHT = 7
    OTHER = 8


class CaseStatus(IntEnum):
    """The state of a case. The numbers are stored, and never change."""

    OPEN = 1
    DISMISSED = 2
    REMOVED = 3


class CaseOrder(Enum):
    """The order of a list of cases. The value is the column that it descends by."""

    NEWEST = "newest"
    MOST = "reports"


class Report(NamedTuple):
    """A reporter's only report of a subject. `at` is the epoch ms of its last change."""

    subject_id: int
    reporter_id: int
    reason: ReportReason
    text: str
    at: int


class Case(NamedTuple):
    """The reports of a subject together. `newest` is the epoch ms of the newest reporter's first
    report, `decided` the epoch ms of the decision; None while the case is open."""

    subject_id: int
    status: CaseStatus
    reports: int  # that are kept
    newest: int
    decided: int | None = None


class Decision(NamedTuple):
    """The end of a case: DISMISSED or REMOVED, by an operator's name of 64 bytes at most, at an
    epoch ms."""

    subject_id: int
    status: CaseStatus
    operator: str
    at: int


class CaseFile(NamedTuple):
    """A case with its newest reports, newest first, and with its decisions, oldest first."""

    case: Case
    reports: Sequence[Report]
    decisions: Sequence[Decision]


class CaseRequest(NamedTuple):
    """A request for `limit` cases of a status, of subjects of some kinds. They descend by `order`,
    and by the subject's id. `after` is the last case of the page before: its value of the order,
    and its subject."""

    status: CaseStatus
    kinds: Sequence[Kind]
    order: CaseOrder
    limit: int
    after: tuple[int, int] | None = None


class Cases(NamedTuple):
    """Cases of all shards, and the error of each server that failed."""

    cases: Sequence[Case]
    lost: Mapping[str, StoreError]


class ReportStore(Protocol):
    """Reads reports and cases. Only operators do, so a read may take a call for each shard."""

    async def cases(self, request: CaseRequest) -> Cases:
        """Cases of all shards. A server that fails costs its own cases only."""

    async def reasons(self, subject_ids: Sequence[int]) -> Mapping[int, Mapping[ReportReason, int]]:
        """How many reports of each subject have each reason. One call for each server."""

    async def case(self, subject_id: int, limit: int) -> CaseFile | None:
        """The case of a subject, with up to `limit` reports."""
