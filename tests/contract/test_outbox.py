"""Outbox's contract over SQLite and MySQL."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from datasources.errors import StaleTopology
from datasources.protocols import Job, OutboxRow, ShardTx, Stores
from datasources.sql import turns
from datasources.sql.engine import Part, Row
from datasources.sql.shards import SqlShards
from feed_engine.outbox.relay import relay
from tests.contract.shards import Deployment, RoundTrips

pytestmark = pytest.mark.anyio
PAYLOAD = bytes(range(256)) + "Grüße 🗼".encode()


class Clock:
    """A clock in epoch ms that the test sets."""

    def __init__(self) -> None:
        self.now = 1_700_000_000_000

    def __call__(self) -> int:
        return self.now


async def empty(shards: SqlShards) -> None:
    """Finish the rows that other tests left."""
    while rows := await shards.outbox.pending(2**62, 1000):
        await asyncio.gather(*(shards.outbox.finish(row.shard, row.id) for row in rows))


async def post(shards: SqlShards, shard: int, payload: bytes = PAYLOAD) -> int:
    return await shards.objects.transact(shard, lambda tx: tx.post("change", payload))


async def test_a_row_lives_until_its_work_is_finished(deployment: Deployment) -> None:
    clock = Clock()
    shards = deployment.open(clock=clock)
    shard = deployment.shard(0)
    id = await post(shards, shard)
    row = OutboxRow(shard, id, "change", PAYLOAD, None, clock.now)
    assert await shards.outbox.load(shard, id) == row
    for cursor in (b"", b"\x00half", b"\xff" * 5000):
        await shards.outbox.advance(shard, id, cursor)
        assert await shards.outbox.load(shard, id) == row._replace(cursor=cursor)
    for _ in range(2):
        await shards.outbox.finish(shard, id)
        assert await shards.outbox.load(shard, id) is None
    await shards.outbox.advance(shard, id, b"late")
    assert await shards.outbox.load(shard, id) is None
    assert await shards.outbox.load(7, id) is None  # a shard that is not open
    await shards.close()


async def test_numbers_of_finished_rows_are_not_used_again(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(1)
    first = await post(shards, shard)
    await shards.outbox.finish(shard, first)
    await shards.close()
    reopened = deployment.open()
    assert await post(reopened, shard) > first
    await reopened.close()


async def test_several_rows_may_follow_one_commit(
    deployment: Deployment, shards: SqlShards
) -> None:
    async def work(tx: ShardTx) -> list[int]:
        return [await tx.post(kind, kind.encode()) for kind in ("change", "other")]

    shard = deployment.shard(2)
    ids = await shards.objects.transact(shard, work)
    rows = [await shards.outbox.load(shard, id) for id in ids]
    assert [(row.kind, row.payload) for row in rows if row] == [
        ("change", b"change"),
        ("other", b"other"),
    ]


async def test_pending_rows_come_from_every_shard_oldest_first_in_turn(
    deployment: Deployment,
) -> None:
    clock, trips = Clock(), RoundTrips()
    shards = deployment.open(clock=clock, observe=trips)
    await empty(shards)
    posted: dict[int, list[int]] = {}
    for n in (0, 0, 0, 0, 1, 5, 5, 23):
        clock.now += 1000
        shard = deployment.shard(n)
        posted.setdefault(shard, []).append(await post(shards, shard))
    trips.clear()
    rows = await shards.outbox.pending(clock.now + 1, 100)
    assert set(trips.by_server().values()) == {1}
    by_shard: dict[int, list[int]] = {}
    for row in rows:
        by_shard.setdefault(row.shard, []).append(row.id)
    assert by_shard == posted
    assert {row.shard for row in rows[:4]} == set(posted)
    assert {row.shard for row in await shards.outbox.pending(clock.now + 1, 4)} == set(posted)
    assert len(await shards.outbox.pending(clock.now, 100)) == 7
    assert await shards.outbox.pending(1_700_000_000_000, 100) == []
    await empty(shards)
    assert await shards.outbox.pending(2**62, 100) == []
    await shards.close()


async def test_a_parked_row_is_not_due_until_its_delay_is_over(deployment: Deployment) -> None:
    clock, trips = Clock(), RoundTrips()
    shards = deployment.open(clock=clock, observe=trips)
    await empty(shards)
    shard, other = deployment.shard(6), deployment.shard(7)
    id, later = await post(shards, shard), await post(shards, other)
    row = await shards.outbox.load(shard, id)
    assert row is not None
    for attempts in (1, 2, 3):
        await shards.outbox.park(row, f"bad for the {attempts}. time", 5_000)
        parked = row._replace(attempts=attempts)
        assert await shards.outbox.load(shard, id) == parked
        assert [r.id for r in await shards.outbox.pending(clock.now + 5_000, 9)] == [later]
        clock.now += 5_001
        assert {r.shard: r for r in await shards.outbox.pending(clock.now, 9)}[shard] == parked
        row = parked
        trips.clear()
        assert await shards.outbox.parked() == (1, f"bad for the {attempts}. time")
        assert set(trips.by_server().values()) == {1}
    await shards.outbox.park(row._replace(attempts=32_767), "é" * 200, 0)
    assert await shards.outbox.parked() == (1, "é" * 95)
    await shards.outbox.advance(shard, id, b"half")
    parked_again = await shards.outbox.load(shard, id)
    assert parked_again == row._replace(attempts=32_767, cursor=b"half")
    await shards.outbox.finish(shard, id)
    assert await shards.outbox.parked() == (0, "")
    await shards.outbox.park(row, "gone", 0)
    await empty(shards)
    await shards.close()


async def test_one_shards_long_tail_is_given_up_to_the_limit(deployment: Deployment) -> None:
    clock, trips = Clock(), RoundTrips()
    shards = deployment.open(clock=clock, observe=trips)
    await empty(shards)

    async def work(tx: ShardTx) -> list[int]:
        return [await tx.post("change", b"%d" % n) for n in range(150)]

    tail = deployment.shard(4)
    ids = await shards.objects.transact(tail, work)
    other = await post(shards, deployment.shard(5))
    for limit in (1, 2, 16, 17, 100, 150, 151, 500):
        trips.clear()
        rows = await shards.outbox.pending(clock.now + 1, limit)
        assert len(rows) == min(limit, 151)
        assert [row.id for row in rows if row.shard == tail] == ids[: min(limit - 1, 150) or 1]
        assert all(row.id == other for row in rows if row.shard != tail)
        assert max(trips.by_server().values()) <= 3
    await empty(shards)
    await shards.close()


async def test_rows_of_a_shard_that_are_finished_at_once_go_together(
    deployment: Deployment,
) -> None:
    trips = RoundTrips()
    shards = deployment.open(observe=trips)
    shard = deployment.shard(0)
    ids = [await post(shards, shard) for _ in range(10)]
    trips.clear()
    await asyncio.gather(*(shards.outbox.finish(shard, id) for id in ids))
    assert sum(trips.by_server().values()) == 2  # the fence, and all of them with the commit
    assert [await shards.outbox.load(shard, id) for id in ids] == [None] * 10
    await shards.close()
    for id in ids[:2]:
        with pytest.raises(StaleTopology):  # each caller gets the error
            await shards.outbox.finish(7, id)


async def test_rows_that_are_finished_while_others_are_removed_go_together_after_them(
    deployment: Deployment, shards: SqlShards, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row is removed even if its caller no longer waits."""
    shard = deployment.shard(0)
    ids = [await post(shards, shard) for _ in range(5)]
    write, begun, go = shards._router.write, asyncio.Event(), asyncio.Event()
    removals = 0

    async def held(*given: Any) -> Any:
        nonlocal removals
        removals += 1
        begun.set()
        await go.wait()
        return await write(*given)

    monkeypatch.setattr(shards._router, "write", held)
    first = asyncio.ensure_future(shards.outbox.finish(shard, ids[0]))
    await begun.wait()
    later = [asyncio.ensure_future(shards.outbox.finish(shard, id)) for id in ids[1:]]
    for _ in range(5):  # turns in which transactions that passed the gate would continue
        await asyncio.sleep(0)
    later.pop(0).cancel()
    assert removals == 1
    go.set()
    await asyncio.gather(first, *later)
    assert removals == 2
    assert [await shards.outbox.load(shard, id) for id in ids] == [None] * 5


async def test_the_backlog_counts_rows_failed_rows_and_the_oldest(deployment: Deployment) -> None:
    clock = Clock()
    shards = deployment.open(clock=clock)
    await empty(shards)
    assert await shards.outbox.backlog() == (0, 0, 0, None, {})
    began, first, second = clock.now, deployment.shard(0), deployment.shard(1)
    ids = [(first, await post(shards, first))]
    clock.now += 5_000
    ids += [(second, await post(shards, second)), (first, await post(shards, first))]
    row = await shards.outbox.load(*ids[1])
    assert row is not None
    await shards.outbox.park(row, "unreadable", 1_000)
    assert await shards.outbox.backlog() == (3, 1, 0, began, {})
    await shards.outbox.park(row, "unreadable", None)
    assert await shards.outbox.backlog() == (3, 1, 1, began, {})
    await shards.outbox.finish(*ids[0])
    assert await shards.outbox.backlog() == (2, 1, 1, began + 5_000, {})
    await shards.outbox.finish(*ids[1])  # set aside, so it is not pending
    await empty(shards)
    await shards.close()


async def test_rows_whose_work_began_are_listed_newest_first(deployment: Deployment) -> None:
    clock = Clock()
    shards = deployment.open(clock=clock)
    await empty(shards)
    posted: list[OutboxRow] = []
    for number in range(6):
        clock.now += 1
        shard = deployment.shard(number % 2)
        id = await post(shards, shard)
        if number != 2:
            await shards.outbox.advance(shard, id, b"some")
        posted.append(OutboxRow(shard, id, "change", PAYLOAD, b"some", clock.now))
    await shards.outbox.park(posted[4], "set aside", None)
    begun = [posted[number] for number in (5, 3, 1, 0)]
    assert await shards.outbox.begun(9) == begun
    assert await shards.outbox.begun(2) == begun[:2]
    await empty(shards)
    await shards.outbox.finish(posted[4].shard, posted[4].id)
    assert await shards.outbox.begun(9) == []
    await shards.close()


class Jobs:
    """A queue that remembers the rows of its jobs."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, int]] = []

    async def enqueue(self, jobs: Sequence[Job], *, priority: str) -> None:
        self.rows += [(job.shard, job.outbox_id) for job in jobs]


def reads_of(store: SqlShards, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Counter[str]]]:
    """Each later read: its operation, and how many shards of each server it asks."""
    engine, reads = store._router.engine, list[tuple[str, Counter[str]]]()
    read = engine.read

    async def counted(operation: str, parts: Sequence[Part]) -> list[list[Row]]:
        reads.append((operation, Counter(part.place.server for part in parts)))
        return await read(operation, parts)

    monkeypatch.setattr(engine, "read", counted)
    return reads


class Ended(Exception):
    """The test has seen enough rounds."""


async def test_a_round_of_the_relay_reads_few_shards_and_a_few_rounds_relay_each_row(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "SHARDS", 5)  # of 12 shards on each of two servers: three rounds
    trips, jobs, late, rounds = RoundTrips(), Jobs(), set[tuple[int, int]](), 0
    store = deployment.open(observe=trips)
    await empty(store)
    posted = {(deployment.shard(n), await post(store, deployment.shard(n))) for n in range(24)}
    reads = reads_of(store, monkeypatch)
    trips.clear()

    async def sleep(seconds: float) -> None:
        nonlocal rounds
        rounds += 1
        asked = [servers for operation, servers in reads if operation == "outbox.due"]
        reads.clear()
        assert len(asked) == 2  # one for each server
        assert all(sum(servers.values()) <= 5 for servers in asked)
        if deployment.backend == "mysql":
            of_due = [count for (_, operation), count in trips.items() if operation == "outbox.due"]
            assert of_due == [rounds, rounds]
        if rounds == 1:  # on the shards whose turn has just passed
            for shard, _ in list(jobs.rows):
                late.add((shard, await post(store, shard)))
        if rounds == 4:
            raise Ended

    stores = cast(Stores, SimpleNamespace(shards=store, queue=jobs))
    with pytest.raises(Ended):
        await relay(stores, older_than=-1, sleep=sleep)
    assert len(late) == 10
    assert set(jobs.rows) == posted | late
    await empty(store)
    await store.close()


async def test_counts_of_the_outbox_are_current_after_a_few_calls(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "SHARDS", 5)
    store = deployment.open()
    await empty(store)
    ids = {n: await post(store, deployment.shard(n)) for n in range(24)}
    assert (await store.outbox.backlog()).rows == 24
    reads = reads_of(store, monkeypatch)
    for n, id in ids.items():
        await store.outbox.finish(deployment.shard(n), id)
    left = [(await store.outbox.backlog()).rows for _ in range(3)]
    assert left[-1] == 0
    assert 24 > left[0] >= left[1] > 0
    assert all(sum(servers.values()) <= 5 for _, servers in reads)
    await store.close()
