"""Reports and cases on the subject's shard: `datasources.protocols.ReportStore` over SQL, and the
part of a transaction that writes them."""

import asyncio
import heapq
from collections import defaultdict
from collections.abc import Callable, Sequence

from datasources.errors import StoreError
from datasources.ids import kind_of, shard_of
from datasources.protocols import (
    REPORTS_KEPT,
    Case,
    CaseFile,
    CaseOrder,
    CaseRequest,
    Cases,
    CaseStatus,
    Decision,
    Report,
    ReportReason,
)
from datasources.sql import codecs
from datasources.sql.dialect import Dialect, marks
from datasources.sql.engine import Part, Place, Row, Session
from datasources.sql.router import SHARDS_AT_A_TIME, Router

LOCK = -3
"""The code under which a transaction announces that it locks a case (`Session.will_lock`)."""
_TABLES = ("reports", "report_cases", "report_decisions")
_OF_SUBJECT = "WHERE subject_id = ?"
_OF_REPORTER = "WHERE subject_id = ? AND reporter_id = ?"


class SqlReports:
    """See ReportStore."""

    def __init__(self, router: Router) -> None:
        self._router = router

    async def cases(self, request: CaseRequest) -> Cases:
        found, lost = list[Case](), dict[str, StoreError]()
        shards = self._router.topology.open_shards
        by_value = _by_value(request.order)
        for at in range(0, len(shards), SHARDS_AT_A_TIME):
            places = [self._router.place(shard) for shard in shards[at : at + SHARDS_AT_A_TIME]]
            asked = [place for place in places if place.server not in lost]
            parts = [part for place in asked for part in _parts(place, request)]
            read, failed = await self._router.read_reachable("reports.cases", parts)
            lost |= failed
            found += [codecs.case(row) for rows in read for row in rows or ()]
            found = heapq.nlargest(request.limit, found, key=by_value)
        return Cases(found, lost)

    async def reasons(self, subject_ids: Sequence[int]) -> dict[int, dict[ReportReason, int]]:
        of_shard = defaultdict[int, list[int]](list)
        for id in subject_ids:
            of_shard[shard_of(id)].append(id)
        parts = [
            Part(
                self._router.place(shard),
                "subject_id, reason, COUNT(*)",
                f"FROM {{db}}.reports WHERE subject_id IN ({marks(len(some))}) "
                "GROUP BY subject_id, reason",
                tuple(some),
            )
            for shard, some in of_shard.items()
        ]
        found: dict[int, dict[ReportReason, int]] = {id: {} for id in subject_ids}
        for rows in await self._router.read("reports.reasons", parts):
            for subject_id, reason, count in rows:
                found[subject_id][ReportReason(reason)] = count
        return found

    async def case(self, subject_id: int, limit: int) -> CaseFile | None:
        try:
            place = self._router.place(shard_of(subject_id))
        except KeyError:
            return None

        async def read(columns: str, table: str, end: str = "", *args: int) -> list[Row]:
            rest = f"FROM {{db}}.{table} {_OF_SUBJECT} {end}"
            part = Part(place, columns, rest, (subject_id, *args))
            [rows] = await self._router.read(f"reports.{table}", [part])
            return rows

        # The columns have different types, so each table is a call of its own.
        newest = "ORDER BY at DESC, reporter_id DESC LIMIT ?"
        cases, reports, decisions = await asyncio.gather(
            read(codecs.CASE_COLUMNS, "report_cases"),
            read(codecs.REPORT_COLUMNS, "reports", newest, limit),
            read(codecs.DECISION_COLUMNS, "report_decisions", "ORDER BY number"),
        )
        if not cases:
            return None
        return CaseFile(
            codecs.case(cases[0]),
            [codecs.report(row) for row in reports],
            [codecs.decision(row) for row in decisions],
        )


def _by_value(order: CaseOrder) -> Callable[[Case], tuple[int, int]]:
    """The value by which cases descend."""
    if order is CaseOrder.NEWEST:
        return lambda case: (case.newest, case.subject_id)
    return lambda case: (case.reports, case.subject_id)


def _parts(place: Place, request: CaseRequest) -> list[Part]:
    """The reads of one shard's cases. Each is one range of an index: for a page that continues,
    the cases with the same value as the page before, and the cases with lower values."""
    column = request.order.value
    ranges: list[tuple[str, tuple[int, ...]]] = [("", ())]
    if request.after is not None:
        value, _ = request.after
        same = f"AND {column} = ? AND subject_id < ? "
        ranges = [(same, request.after), (f"AND {column} < ? ", (value,))]
    order = f"ORDER BY {column} DESC, subject_id DESC LIMIT ?"
    return [
        Part(
            place,
            codecs.CASE_COLUMNS,
            f"FROM {{db}}.report_cases WHERE status = ? AND kind = ? {condition}{order}",
            (int(request.status), int(kind), *bounds, request.limit),
        )
        for kind in request.kinds
        for condition, bounds in ranges
    ]


class TxReports:
    """The reports and cases that one transaction reads and writes."""

    def __init__(self, session: Session, dialect: Dialect) -> None:
        self._session, self._dialect = session, dialect

    async def put(self, new: Report) -> bool:
        """See ShardTx.report."""
        case = await self._opened(new)
        key = (new.subject_id, new.reporter_id)
        found = await self._session.run(
            "tx.reported",
            f"SELECT {codecs.REPORT_COLUMNS} FROM {{db}}.reports{self._dialect.by()} "
            f"{_OF_REPORTER}{self._dialect.lock}",
            key,
        )
        if found.rows:
            if codecs.report(found.rows[0]) == new._replace(at=found.rows[0][-1]):
                return False
            await self._session.defer(
                "tx.report",
                f"UPDATE {{db}}.reports SET reason = ?, text = ?, at = ? {_OF_REPORTER}",
                (int(new.reason), new.text.encode(), new.at, *key),
            )
            return True
        if case.reports >= REPORTS_KEPT:
            await self._forget_oldest(new.subject_id)
        await self._session.run(
            "tx.report",
            f"INSERT INTO {{db}}.reports ({codecs.REPORT_COLUMNS}) VALUES ({marks(5)})",
            (*key, int(new.reason), new.text.encode(), new.at),
        )
        case = case._replace(
            reports=min(case.reports + 1, REPORTS_KEPT), newest=max(case.newest, new.at)
        )
        if case.status is CaseStatus.DISMISSED:
            case = case._replace(status=CaseStatus.OPEN, decided=None)
        await self._update(case)
        return True

    async def case(self, subject_id: int) -> Case | None:
        """See ShardTx.report_case."""
        self._session.will_lock([(LOCK, subject_id)])
        found = await self._session.run(
            "tx.case",
            f"SELECT {codecs.CASE_COLUMNS} FROM {{db}}.report_cases{self._dialect.by()} "
            f"{_OF_SUBJECT}{self._dialect.lock}",
            (subject_id,),
        )
        return codecs.case(found.rows[0]) if found.rows else None

    async def decide(self, decision: Decision) -> bool:
        """See ShardTx.decide."""
        case = await self.case(decision.subject_id)
        if case is None or case.status is decision.status:
            return False
        last = await self._last_decision(decision.subject_id)
        await self._session.run(
            "tx.decide",
            "INSERT INTO {db}.report_decisions (subject_id, number, status, operator, at) "
            f"VALUES ({marks(5)})",
            (
                decision.subject_id,
                1 if last is None else last[0] + 1,
                int(decision.status),
                decision.operator.encode(),
                decision.at,
            ),
        )
        await self._update(case._replace(status=decision.status, decided=decision.at))
        return True

    async def erase_by(self, reporter_id: int, limit: int) -> int:
        """See ShardTx.erase_reports_by."""
        found = await self._session.run(
            "tx.reports_by",
            f"SELECT subject_id FROM {{db}}.reports{self._dialect.by('reporters')} "
            "WHERE reporter_id = ? ORDER BY subject_id LIMIT ?",
            (reporter_id, limit),
        )
        for (subject_id,) in found.rows:
            case = await self.case(subject_id)
            gone = await self._session.run(
                "tx.erase_report",
                f"DELETE FROM {{db}}.reports {_OF_REPORTER}",
                (subject_id, reporter_id),
            )
            if case is not None and gone.matched:
                await self._without_one(case)
        return len(found.rows)

    def erase(self, subject_ids: Sequence[int]) -> None:
        """See ShardTx.erase_reports_of."""
        for table in _TABLES:
            for id in subject_ids:
                self._session.at_commit(f"DELETE FROM {{db}}.{table} {_OF_SUBJECT}", (id,))

    async def _opened(self, first: Report) -> Case:
        """The case of a report's subject, which begins with this report if there is none."""
        self._session.will_lock([(LOCK, first.subject_id)])
        await self._session.run(
            "tx.open_case",
            f"INSERT INTO {{db}}.report_cases ({codecs.CASE_COLUMNS}, kind) VALUES ({marks(6)}) "
            + self._dialect.keep(("subject_id",)),
            (
                *codecs.case_values(Case(first.subject_id, CaseStatus.OPEN, 0, first.at)),
                int(kind_of(first.subject_id)),
            ),
        )
        case = await self.case(first.subject_id)
        assert case is not None
        return case

    async def _without_one(self, case: Case) -> None:
        """Store a case that has one report less. Without a report, an open case ends: its earlier
        decision holds again, or nothing is left of it."""
        case = case._replace(reports=case.reports - 1)
        if case.status is not CaseStatus.OPEN or case.reports:
            await self._update(case)
        elif (last := await self._last_decision(case.subject_id)) is None:
            self.erase([case.subject_id])
        else:
            await self._update(case._replace(status=CaseStatus(last[1]), decided=last[2]))

    async def _last_decision(self, subject_id: int) -> tuple[int, int, int] | None:
        """The number, the status and the time of the case's last decision."""
        found = await self._session.run(
            "tx.last_decision",
            "SELECT number, status, at FROM {db}.report_decisions"
            f"{self._dialect.by()} {_OF_SUBJECT} ORDER BY number DESC LIMIT 1{self._dialect.lock}",
            (subject_id,),
        )
        if not found.rows:
            return None
        number, status, at = found.rows[0]
        return number, status, at

    async def _forget_oldest(self, subject_id: int) -> None:
        found = await self._session.run(
            "tx.oldest_report",
            f"SELECT reporter_id FROM {{db}}.reports{self._dialect.by('times')} "
            f"{_OF_SUBJECT} ORDER BY at, reporter_id LIMIT 1",
            (subject_id,),
        )
        for (reporter_id,) in found.rows:
            await self._session.defer(
                "tx.forget_report",
                f"DELETE FROM {{db}}.reports {_OF_REPORTER}",
                (subject_id, reporter_id),
            )

    async def _update(self, case: Case) -> None:
        subject_id, *values = codecs.case_values(case)
        await self._session.defer(
            "tx.case",
            "UPDATE {db}.report_cases SET status = ?, reports = ?, newest = ?, decided = ? "
            + _OF_SUBJECT,
            (*values, subject_id),
        )
