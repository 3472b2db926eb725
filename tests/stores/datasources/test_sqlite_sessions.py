"""Statements of a transaction on a SQLite file: on the event loop or in a thread."""

import threading
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from datasources.ids import Kind
from datasources.mappings import Edge, ListKey, Mapping
from datasources.protocols import ShardTx
from datasources.sql.engine import Result
from datasources.sqlite import SqliteShards
from datasources.sqlite.session import QUICK_STATEMENTS, SqliteSession
from tests.embedded_stores import sqlite_topology
from tests.loop_turns import other_task

pytestmark = pytest.mark.anyio
MANY = 3_000
"""Rows of one list: more than a read on the event loop may take."""


@pytest.fixture
async def shards(tmp_path: Path) -> AsyncIterator[SqliteShards]:
    """One shard, whose file has an idle connection."""
    shards = SqliteShards(sqlite_topology(tmp_path, shards=1), "OFF")
    await shards.create()
    await shards.objects.transact(0, lambda tx: tx.insert(Kind.PIN, b"{}"))
    yield shards
    await shards.close()


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The first word of each statement, and "loop" or "thread"."""
    ran: list[tuple[str, str]] = []
    execute = SqliteSession._execute

    def noting(self: SqliteSession, statements: Sequence[tuple[str, Sequence[Any]]]) -> Result:
        where = "loop" if threading.current_thread() is threading.main_thread() else "thread"
        ran.extend((sql.split()[0], where) for sql, _ in statements)
        return execute(self, statements)

    monkeypatch.setattr(SqliteSession, "_execute", noting)
    return ran


async def test_short_statements_run_on_the_loop_and_the_commit_in_a_thread(
    shards: SqliteShards, ran: list[tuple[str, str]]
) -> None:
    async def work(tx: ShardTx) -> bytes | None:
        id = await tx.insert(Kind.PIN, b"{}")
        await tx.update(id, b"[]")
        return await tx.get(id)

    assert await shards.objects.transact(0, work) == b"[]"
    loop = [("INSERT", "loop"), ("UPDATE", "loop"), ("SELECT", "loop")]
    assert ran == [*loop, ("COMMIT", "thread")]


async def test_a_statement_of_many_values_runs_in_a_thread(
    shards: SqliteShards, ran: list[tuple[str, str]]
) -> None:
    ids = await shards.objects.transact(0, lambda tx: tx.insert_many(Kind.PIN, [b"{}"] * 200))
    assert len(await shards.objects.get(ids)) == 200
    assert {where for _, where in ran} == {"thread"}


async def test_a_read_that_turns_out_long_goes_on_in_a_thread_and_the_transaction_stays_whole(
    shards: SqliteShards, ran: list[tuple[str, str]]
) -> None:
    key = ListKey(Mapping.BOARD_HAS_PINS, 1)
    edges = [Edge(key.from_id, 10 + n, n, 1) for n in range(MANY)]
    await shards.mappings.apply([(key.mapping, edge) for edge in edges])
    ran.clear()

    async def work(tx: ShardTx) -> tuple[int, int]:
        id = await tx.insert(Kind.PIN, b"{}")
        return id, len(await tx.rows_below(key, MANY, MANY))

    id, count = await shards.objects.transact(0, work)
    assert count == MANY
    assert await shards.objects.get([id]) == {id: b"{}"}
    long = [where for word, where in ran if word == "SELECT"][-2:]
    assert long == ["loop", "thread"]


async def test_a_transaction_of_many_short_statements_lets_others_have_their_turn(
    shards: SqliteShards,
) -> None:
    async with other_task() as other:

        async def work(tx: ShardTx) -> int:
            id, before = await tx.insert(Kind.PIN, b"{}"), other.turns
            for _ in range(4 * QUICK_STATEMENTS):
                await tx.get(id)
            return other.turns - before

        assert 3 <= await shards.objects.transact(0, work) <= 5
