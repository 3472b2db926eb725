"""Reports and their cases over SQLite and MySQL: one report for each reporter and subject, and
cases that operators find and decide."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from datasources.ids import Kind, shard_of
from datasources.protocols import (
    REPORTS_KEPT,
    Case,
    CaseOrder,
    CaseRequest,
    CaseStatus,
    Decision,
    Report,
    ReportReason,
    ShardTx,
)
from datasources.sql import reports
from datasources.sql.router import SHARDS_AT_A_TIME
from datasources.sql.shards import SqlShards
from tests.contract.shards import Deployment, RoundTrips, fresh_id

pytestmark = pytest.mark.anyio
T = TypeVar("T")
OPEN, DISMISSED, REMOVED = CaseStatus.OPEN, CaseStatus.DISMISSED, CaseStatus.REMOVED
SPAM, HATE = ReportReason.SPAM, ReportReason.HATE
FAR = 4 * 10**12
"""An epoch ms later than all others here: these cases come first in every list."""


@pytest.fixture
def pin(deployment: Deployment) -> Callable[[int], int]:
    return lambda shard: fresh_id(Kind.PIN, deployment.shard(shard))


async def run(shards: SqlShards, id: int, work: Callable[[ShardTx], Awaitable[T]]) -> T:
    return await shards.objects.transact(shard_of(id), work)


def report(subject: int, reporter: int, at: int = 5, *, reason: ReportReason = SPAM) -> Report:
    return Report(subject, reporter, reason, f"by {reporter}: näh", at)


async def put(shards: SqlShards, *them: Report) -> list[bool]:
    """Store each in a transaction of its own."""
    return [
        await run(shards, it.subject_id, lambda tx, it=it: tx.report(it))  # type: ignore[misc]
        for it in them
    ]


async def decide(shards: SqlShards, subject: int, status: CaseStatus, at: int = 9) -> bool:
    decision = Decision(subject, status, "Zoë", at)
    return await run(shards, subject, lambda tx: tx.decide(decision))


async def case(shards: SqlShards, subject: int) -> Case | None:
    found = await shards.reports.case(subject, 0)
    return found and found.case


async def reporters(shards: SqlShards, subject: int) -> list[int]:
    found = await shards.reports.case(subject, 9999)
    return [it.reporter_id for it in found.reports] if found else []


async def test_a_reporter_has_one_report_of_a_subject(
    shards: SqlShards, pin: Callable[[int], int]
) -> None:
    subject, other = pin(2), pin(2)
    first, second = report(subject, 1, 5), report(subject, 2, 6)
    assert await put(shards, first, second, report(other, 1)) == [True] * 3
    assert await put(shards, first, first._replace(at=99)) == [False] * 2
    changed = report(subject, 1, 7, reason=HATE)
    reworded = second._replace(text="")
    assert await put(shards, changed, reworded) == [True] * 2
    found = await shards.reports.case(subject, 9)
    assert found == (Case(subject, OPEN, 2, 6), [changed, reworded], [])
    newest = await shards.reports.case(subject, 1)
    assert newest is not None
    assert newest.reports == [changed]
    assert await shards.reports.case(pin(2), 9) is None
    assert await shards.reports.case(fresh_id(Kind.PIN, 60_000), 9) is None


async def test_several_reports_in_one_transaction_see_each_other(
    shards: SqlShards, pin: Callable[[int], int]
) -> None:
    subject = pin(1)

    async def many(tx: ShardTx) -> list[bool]:
        return [await tx.report(report(subject, reporter, 5)) for reporter in (1, 2, 1)]

    assert await run(shards, subject, many) == [True, True, False]
    assert await run(shards, subject, lambda tx: tx.report_case(subject)) == Case(
        subject, OPEN, 2, 5
    )


async def test_simultaneous_reports_all_count(shards: SqlShards, pin: Callable[[int], int]) -> None:
    subject = pin(3)
    await asyncio.gather(*(put(shards, report(subject, n % 20, n)) for n in range(40)))
    found = await case(shards, subject)
    assert found is not None
    assert found.reports == 20
    assert sorted(await reporters(shards, subject)) == list(range(20))


async def test_decisions_are_kept_and_a_further_reporter_opens_a_dismissed_case(
    shards: SqlShards, pin: Callable[[int], int]
) -> None:
    subject = pin(4)
    assert not await decide(shards, subject, DISMISSED)  # nobody reported it
    await put(shards, report(subject, 1))
    assert await decide(shards, subject, DISMISSED, 10)
    assert not await decide(shards, subject, DISMISSED, 11)
    assert await put(shards, report(subject, 1, 12, reason=HATE)) == [True]
    assert await case(shards, subject) == Case(subject, DISMISSED, 1, 5, 10)
    await put(shards, report(subject, 2, 13))
    assert await case(shards, subject) == Case(subject, OPEN, 2, 13)
    assert await decide(shards, subject, REMOVED, 14)
    await put(shards, report(subject, 3, 15))  # was on its way
    found = await shards.reports.case(subject, 0)
    assert found is not None
    assert found.case == Case(subject, REMOVED, 3, 15, 14)
    assert found.decisions == [
        Decision(subject, DISMISSED, "Zoë", 10),
        Decision(subject, REMOVED, "Zoë", 14),
    ]


async def test_the_newest_reports_of_a_subject_are_kept(
    shards: SqlShards, pin: Callable[[int], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert REPORTS_KEPT == 1000
    monkeypatch.setattr(reports, "REPORTS_KEPT", 3)
    subject, other = pin(5), pin(5)
    await put(shards, report(other, 1))
    await put(shards, *(report(subject, n, 10 + n) for n in range(5)))
    assert await reporters(shards, subject) == [4, 3, 2]
    assert await case(shards, subject) == Case(subject, OPEN, 3, 14)
    assert await reporters(shards, other) == [1]


async def test_the_reasons_of_many_subjects_are_counted_in_one_call_of_each_server(
    deployment: Deployment, pin: Callable[[int], int]
) -> None:
    trips = RoundTrips()
    shards = deployment.open(observe=trips)
    some = [pin(n) for n in range(4)]
    for subject in some[:3]:
        await put(shards, report(subject, 1), report(subject, 2), report(subject, 3, reason=HATE))
    trips.clear()
    counted = {SPAM: 2, HATE: 1}
    assert await shards.reports.reasons(some) == {**dict.fromkeys(some, counted), some[3]: {}}
    assert set(trips.by_server().values()) == {1}
    assert await shards.reports.reasons([]) == {}
    await shards.close()


async def listed(
    shards: SqlShards,
    *kinds: Kind,
    status: CaseStatus = OPEN,
    order: CaseOrder = CaseOrder.NEWEST,
    limit: int = 2,
    pages: int = 1,
) -> list[int]:
    """The subjects on the first pages."""
    found, after = list[int](), None
    for _ in range(pages):
        page = await shards.reports.cases(CaseRequest(status, kinds, order, limit, after))
        assert not page.lost
        found += [it.subject_id for it in page.cases]
        last = page.cases[-1]
        value = last.newest if order is CaseOrder.NEWEST else last.reports
        after = (value, last.subject_id)
    return found


async def test_cases_of_all_shards_are_listed_page_by_page(
    shards: SqlShards, deployment: Deployment, pin: Callable[[int], int]
) -> None:
    subjects = [pin(n % 8) for n in range(5)] + [fresh_id(Kind.BOARD, deployment.shard(2))]
    for n, subject in enumerate(subjects):
        await put(shards, *(report(subject, by, FAR + n // 2) for by in range(n + 1)))
    # Two cases at each time; of these, the one with the higher id is first.
    newest = sorted(subjects, key=lambda id: (subjects.index(id) // 2, id), reverse=True)
    assert await listed(shards, Kind.PIN, Kind.BOARD, limit=2, pages=3) == newest
    assert await listed(shards, Kind.PIN, Kind.BOARD, limit=3, pages=2) == newest
    assert await listed(shards, Kind.PIN, limit=1, pages=5) == [
        id for id in newest if id != subjects[5]
    ]
    assert await listed(shards, Kind.BOARD, limit=1) == [subjects[5]]


async def test_the_most_reported_cases_come_first_and_equal_ones_are_on_one_page_each(
    shards: SqlShards, pin: Callable[[int], int]
) -> None:
    counts = {pin(0): 30, pin(1): 32, pin(2): 31, pin(3): 31, pin(4): 31}
    for subject, count in counts.items():
        await put(shards, *(report(subject, by) for by in range(count)))
    expected = sorted(counts, key=lambda id: (counts[id], id), reverse=True)
    most = CaseOrder.MOST
    for limit in (1, 2, 5):
        found = await listed(shards, Kind.PIN, order=most, limit=limit, pages=-(-5 // limit))
        assert found[:5] == expected


async def test_a_decided_case_leaves_the_open_list_for_its_own(
    shards: SqlShards, pin: Callable[[int], int]
) -> None:
    subject = pin(6)
    await put(shards, report(subject, 1, 2 * FAR))
    assert await listed(shards, Kind.PIN, limit=1) == [subject]
    await decide(shards, subject, DISMISSED)
    assert subject not in await listed(shards, Kind.PIN, limit=9)
    assert await listed(shards, Kind.PIN, status=DISMISSED, limit=1) == [subject]


async def test_the_reports_of_an_erased_reporter_leave_no_trace(
    shards: SqlShards, pin: Callable[[int], int]
) -> None:
    alone, shared, decided, again = (pin(7) for _ in range(4))
    erased = 10**12 + alone
    await put(shards, report(alone, erased), report(shared, erased), report(shared, 1, 6))
    await put(shards, report(decided, erased))
    await decide(shards, decided, DISMISSED)
    await put(shards, report(again, erased - 1))
    await decide(shards, again, DISMISSED, 9)
    await put(shards, report(again, erased))

    async def erase(reporter: int) -> int:
        return await run(shards, alone, lambda tx: tx.erase_reports_by(reporter, 3))

    assert [await erase(erased) for _ in range(3)] == [3, 1, 0]
    assert await erase(erased - 1) == 1
    assert await case(shards, alone) is None
    assert await case(shards, shared) == Case(shared, OPEN, 1, 6)
    assert await reporters(shards, shared) == [1]
    assert await case(shards, decided) == Case(decided, DISMISSED, 0, 5, 9)
    # The decision holds again: nobody is left who reported the pin after it.
    assert await case(shards, again) == Case(again, DISMISSED, 0, 5, 9)


async def test_the_cases_of_erased_subjects_are_gone(
    shards: SqlShards, pin: Callable[[int], int]
) -> None:
    gone, kept = pin(3), pin(3)
    await put(shards, report(gone, 1), report(kept, 1))
    await decide(shards, gone, DISMISSED)
    await run(shards, gone, lambda tx: tx.erase_reports_of([gone]))
    assert await case(shards, gone) is None
    await put(shards, report(gone, 2, 8))
    assert await shards.reports.case(gone, 9) == (Case(gone, OPEN, 1, 8), [report(gone, 2, 8)], [])
    assert await reporters(shards, kept) == [1]


async def test_old_decided_cases_are_forgotten(
    shards: SqlShards, pin: Callable[[int], int]
) -> None:
    while (await shards.expiry.reports(2**62, 1000)).rows:
        pass
    old, older, new, still_open = pin(0), pin(0), pin(1), pin(1)
    for subject in (old, older, new, still_open):
        await put(shards, report(subject, 1), report(subject, 2))
    for subject, at in ((older, 2000), (old, 2500), (new, 4000)):
        await decide(shards, subject, DISMISSED, at)
    assert await shards.expiry.reports(3000, 1) == (1, {})
    assert await case(shards, older) is None
    assert await shards.expiry.reports(3000, 9) == (1, {})
    assert await shards.expiry.reports(3000, 9) == (0, {})
    for subject in (old, older):
        await put(shards, report(subject, 3))
        found = await shards.reports.case(subject, 9)
        assert found == (Case(subject, OPEN, 1, 5), [report(subject, 3)], [])
    for subject in (new, still_open):
        assert await reporters(shards, subject) == [2, 1]


async def test_a_report_takes_few_statements_and_a_list_few_calls(
    deployment: Deployment, pin: Callable[[int], int]
) -> None:
    trips = RoundTrips()
    shards = deployment.open(observe=trips)
    subject = pin(2)
    await put(shards, report(subject, 1))
    trips.clear()
    await put(shards, report(subject, 2))
    assert sum(trips.by_server().values()) <= 7
    trips.clear()
    await listed(shards, Kind.PIN, Kind.USER, Kind.BOARD, Kind.COMMENT, limit=50)
    groups = -(-len(deployment.topology.open_shards) // SHARDS_AT_A_TIME)
    assert max(trips.by_server().values()) <= groups  # one call of a server for each group
    await shards.close()
