"""SQLite's own behavior: files, other processes, threads, and how it reads its indexes."""

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from datasources.errors import StoreConflict, StoreCorrupt, StoreUnavailable
from datasources.ids import Kind, compose
from datasources.mappings import Edge, EdgeKey, ListKey, Mapping, PageRequest, Position
from datasources.protocols import (
    CaseStatus,
    Decision,
    EventKind,
    Notification,
    NotificationKind,
    PinEvent,
    Report,
    ReportReason,
    Use,
)
from datasources.sql.dialect import SQLITE
from datasources.sql.engine import Part, Place, Row
from datasources.sql.lists import edges_condition, heads_condition
from datasources.sql.mappings import page_part
from datasources.sqlite import SqliteShards, reads
from datasources.sqlite.connections import Connections
from tests.embedded_stores import sqlite_topology
from tests.loop_turns import other_task

pytestmark = pytest.mark.anyio


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def damage_shard(directory: Path, data: bytes) -> Path:
    """Overwrite shard 1's file, as a disk might."""
    path = directory / "db00001.sqlite"
    for leftover in directory.glob(f"{path.name}-*"):
        leftover.unlink()
    path.write_bytes(data)
    return path


def open_files(directory: Path) -> int:
    """How many of this process's file descriptors are of files below a directory."""
    links = [link.resolve() for link in Path("/proc/self/fd").iterdir() if link.exists()]
    return len([path for path in links if path.is_relative_to(directory)])


@contextmanager
def another_process_writing(path: Path) -> Iterator[None]:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield
    other.execute("ROLLBACK")
    other.close()


async def test_a_shard_is_a_file_that_is_made_once(tmp_path: Path) -> None:
    directory = tmp_path / "with space & ümlaut?"
    shards = SqliteShards(sqlite_topology(directory))
    seen: list[tuple[int, int]] = []
    await shards.create(lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert {"db00000.sqlite", "db00001.sqlite", "mod00000.sqlite"} <= names(directory)
    id = await shards.objects.transact(1, lambda tx: tx.insert(Kind.PIN, b"{}"))
    await shards.create()
    assert await shards.objects.get([id]) == {id: b"{}"}
    assert await shards.ping() == {"local": None}
    await shards.close()


async def test_a_file_of_another_version_is_named_and_left_alone(tmp_path: Path) -> None:
    shards = SqliteShards(sqlite_topology(tmp_path))
    await shards.create()
    path = tmp_path / "db00001.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 2")
    with pytest.raises(StoreCorrupt, match=f"{path}: another version .* 2, not 3"):
        await shards.create()
    assert connection.execute("PRAGMA user_version").fetchone() == (2,)
    connection.close()
    await shards.close()


async def test_a_missing_file_is_named_and_not_made_by_reading(tmp_path: Path) -> None:
    shards = SqliteShards(sqlite_topology(tmp_path))
    path = tmp_path / "db00001.sqlite"
    with pytest.raises(StoreUnavailable, match=f"{path}: there is no such file"):
        await shards.objects.get([compose(1, Kind.PIN, 1)])
    with pytest.raises(StoreUnavailable, match="no such file"):
        await shards.objects.transact(1, lambda tx: tx.insert(Kind.PIN, b"{}"))
    faults = await shards.ping()
    assert "no such file" in (faults["local"] or "")
    assert names(tmp_path) == set()
    await shards.close()


@pytest.mark.parametrize("damage", [b"this is no database" * 100, b""], ids=["noise", "empty"])
async def test_a_damaged_file_is_named(tmp_path: Path, damage: bytes) -> None:
    shards = SqliteShards(sqlite_topology(tmp_path))
    await shards.create()
    path = damage_shard(tmp_path, damage)
    with pytest.raises(StoreCorrupt, match=str(path)):
        await shards.objects.get([compose(1, Kind.PIN, 1)])
    with pytest.raises(StoreCorrupt, match=str(path)):
        await shards.objects.transact(1, lambda tx: tx.insert(Kind.PIN, b"{}"))
    assert str(path) in str((await shards.ping())["local"])
    await shards.objects.transact(0, lambda tx: tx.insert(Kind.PIN, b"{}"))
    await shards.close()


async def test_a_page_damaged_in_the_middle_of_a_file_is_found(tmp_path: Path) -> None:
    topology = sqlite_topology(tmp_path)
    shards = SqliteShards(topology)
    await shards.create()
    ids = await shards.objects.transact(
        0, lambda tx: tx.insert_many(Kind.PIN, [b"x" * 1000] * 2000)
    )
    await shards.close()
    path = tmp_path / "db00000.sqlite"
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(b"\xff" * 50_000)
    reopened = SqliteShards(topology)
    with pytest.raises(StoreCorrupt, match=str(path)):
        await reopened.objects.get(ids)
    await reopened.close()


async def test_a_writer_waits_for_another_process(tmp_path: Path) -> None:
    waited = asyncio.Event()
    begun = 0

    def observe(server: str, operation: str) -> None:
        nonlocal begun
        begun += operation == "tx.begin"
        if begun == 3:
            waited.set()

    shards = SqliteShards(sqlite_topology(tmp_path), observe=observe)
    await shards.create()
    with another_process_writing(tmp_path / "db00000.sqlite"):
        writing = asyncio.ensure_future(
            shards.objects.transact(0, lambda tx: tx.insert(Kind.PIN, b"{}"))
        )
        await waited.wait()
        assert await shards.objects.list(Kind.PIN, 0, 9) == []  # readers don't wait
    id = await writing
    assert await shards.objects.list(Kind.PIN, 0, 9) == [(id, b"{}")]
    await shards.close()


async def test_a_writer_gives_up_on_another_process_after_the_deadline(tmp_path: Path) -> None:
    shards = SqliteShards(sqlite_topology(tmp_path), deadline=0.3)
    await shards.create()
    with (
        another_process_writing(tmp_path / "db00000.sqlite"),
        pytest.raises(StoreConflict, match="another process"),
    ):
        await shards.objects.transact(0, lambda tx: tx.insert(Kind.PIN, b"{}"))
    await shards.objects.transact(0, lambda tx: tx.insert(Kind.PIN, b"{}"))
    await shards.close()


async def test_many_shards_keep_few_connections_open(tmp_path: Path) -> None:
    shards = SqliteShards(sqlite_topology(tmp_path, 300), "OFF")
    await shards.create()
    ids = [
        await shards.objects.transact(shard, lambda tx: tx.insert(Kind.PIN, b"{}"))
        for shard in range(300)
    ]
    assert [id for id, _ in await shards.objects.list(Kind.PIN, 0, 1000)] == ids
    assert len(await shards.objects.get(ids)) == 300
    assert open_files(tmp_path) < 400
    await shards.close()
    assert open_files(tmp_path) == 0


async def test_closing_ends_every_thread(tmp_path: Path) -> None:
    shards = SqliteShards(sqlite_topology(tmp_path))
    await shards.create()
    await asyncio.gather(*(shards.objects.list(Kind.PIN, 0, 9) for _ in range(20)))
    await shards.close()
    assert [t for t in threading.enumerate() if t.name.startswith("pinway-sqlite")] == []


async def test_a_commit_is_synchronous_unless_told_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for name, number in {"FULL": 2, "NORMAL": 1, "OFF": 0}.items():
        connection = Connections(name, 1).open(path, create=True)
        assert connection.execute("PRAGMA synchronous").fetchone() == (number,)
        connection.close()
    with pytest.raises(ValueError, match="'SOON' is none of"):
        SqliteShards(sqlite_topology(tmp_path), "SOON")


async def test_lists_heads_and_edges_are_read_by_ranges_of_their_indexes(tmp_path: Path) -> None:
    shards = SqliteShards(sqlite_topology(tmp_path))
    await shards.create()
    connection = Connections("OFF", 1).open(tmp_path / "db00000.sqlite")

    def plan(sql: str, args: object) -> str:
        explained = connection.execute(f"EXPLAIN QUERY PLAN {sql}".replace("{db}", "main"), args)
        return "; ".join(row[3].decode() for row in explained)

    for mapping in (Mapping.BOARD_HAS_PINS, Mapping.USER_HAS_PINS):
        key = ListKey(mapping, 5)
        part = page_part(SQLITE, Place("local", "main"), PageRequest(key, 25, Position(7, 9)))
        pages = plan(f"SELECT {part.columns} {part.rest}", part.args)
        assert f"USING COVERING INDEX {mapping.value}_pages" in pages or (
            f"USING INDEX {mapping.value}_pages" in pages
        )
        assert "from_id=? AND active=? AND sequence<?" in pages
        assert "TEMP B-TREE" not in pages
        where, args = edges_condition([EdgeKey(mapping, n, m) for n in (1, 2) for m in (3, 4)])
        edges = plan(f"SELECT * FROM {{db}}.{mapping.value} WHERE {where}", args)
        assert "SCAN" not in edges
        assert "from_id=? AND to_id=?" in edges
    where, args = heads_condition([ListKey(m, n) for m in Mapping for n in (1, 2)])
    heads = plan(f"SELECT * FROM {{db}}.lists WHERE {where}", args)
    assert "SCAN" not in heads
    pending = "SELECT id FROM {db}.outbox WHERE due < ? ORDER BY due, id LIMIT 5"
    assert "outbox_due (due<?)" in plan(pending, (1,))
    connection.close()
    await shards.close()


class Overtaken:
    """A connection. After its first SELECT, another function runs."""

    def __init__(self, connection: Any, action: Callable[[], object]) -> None:
        self._connection, self._actions = connection, [action]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, sql: str, args: Sequence[Any] = ()) -> Any:
        rows = self._connection.execute(sql, args).fetchall()
        if sql.startswith("SELECT") and self._actions:
            self._actions.pop()()
        return SimpleNamespace(fetchall=lambda: rows)


@pytest.mark.parametrize("quick", [True, False], ids=["on the loop", "in a thread"])
async def test_what_is_asked_of_one_file_at_once_is_as_of_one_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quick: bool
) -> None:
    store = SqliteShards(sqlite_topology(tmp_path), "OFF")
    await store.create()
    keys = [ListKey(Mapping.BOARD_HAS_PINS, compose(1, Kind.BOARD, n)) for n in (1, 2)]
    await store.mappings.apply([(key.mapping, Edge(key.from_id, 7, 5, 1)) for key in keys])

    def empty() -> None:
        other = sqlite3.connect(tmp_path / "db00001.sqlite", isolation_level=None)
        other.execute("UPDATE board_has_pins SET active = 0")
        other.close()

    requests = [PageRequest(key, 9) for key in keys]
    with monkeypatch.context() as patch:

        def overtaken(self: Connections, path: Path) -> Any:
            return Overtaken(self.open(path), empty)

        patch.setattr(Connections, "take_idle", overtaken if quick else lambda self, path: None)
        patch.setattr(Connections, "take", overtaken)
        assert [len(page) for page in await store.mappings.pages(requests)] == [1, 1]
    assert [len(page) for page in await store.mappings.pages(requests)] == [0, 0]
    await store.close()


@pytest.fixture
async def visited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[SqliteShards, list[str]]]:
    """Shards, one of which has 3,000 pins and an idle connection; and the names of the threads that
    read."""
    store = SqliteShards(sqlite_topology(tmp_path), "OFF")
    await store.create()
    await store.objects.transact(0, lambda tx: tx.insert_many(Kind.PIN, [b"{}"] * 3000))
    threads: list[str] = []
    select = reads.select

    def noting(connection: sqlite3.Connection, parts: Sequence[Part]) -> list[list[Row]]:
        threads.append(threading.current_thread().name)
        return select(connection, parts)

    monkeypatch.setattr(reads, "select", noting)
    yield store, threads
    await store.close()


async def test_a_short_read_needs_no_thread(visited: tuple[SqliteShards, list[str]]) -> None:
    store, threads = visited
    id = compose(0, Kind.PIN, 7)
    for _ in range(2000):  # more steps than one read may take, all together
        assert await store.objects.get([id]) == {id: b"{}"}
    assert set(threads) == {"MainThread"}


async def test_a_read_that_turns_out_long_goes_to_a_thread(
    visited: tuple[SqliteShards, list[str]], tmp_path: Path
) -> None:
    store, threads = visited
    files = open_files(tmp_path)
    for _ in range(20):
        assert len(await store.objects.list(Kind.PIN, 0, 3000)) == 3000
    assert len(threads) == 40
    assert threads[0] == "MainThread"
    assert threads[1].startswith("pinway-sqlite-read")
    assert open_files(tmp_path) == files
    assert len(await store.objects.list(Kind.PIN, 0, 5)) == 5
    assert threads[40:] == ["MainThread"]


async def test_a_read_that_meets_a_lock_goes_to_a_thread(
    visited: tuple[SqliteShards, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, threads = visited

    class Locked(Overtaken):
        def execute(self, sql: str, args: Sequence[Any] = ()) -> Any:
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY_RECOVERY
            raise error

    take_idle = Connections.take_idle
    calls = iter([True])

    def locked(self: Connections, path: Path) -> Any:
        connection = take_idle(self, path)
        return Locked(connection, list) if next(calls, False) else connection

    monkeypatch.setattr(Connections, "take_idle", locked)
    assert len(await store.objects.list(Kind.PIN, 0, 5)) == 5
    assert [name == "MainThread" for name in threads] == [True, False]


async def test_one_who_reads_on_and_on_lets_others_have_their_turn(
    visited: tuple[SqliteShards, list[str]],
) -> None:
    store, _ = visited
    async with other_task() as other:
        for _ in range(10):
            await store.objects.get([compose(0, Kind.PIN, 1)])
    assert other.turns >= 10


async def test_a_file_of_an_earlier_version_gets_the_tables_that_it_lacks(tmp_path: Path) -> None:
    topology = sqlite_topology(tmp_path)
    shards = SqliteShards(topology)
    await shards.create()
    await shards.close()
    with contextlib.closing(sqlite3.connect(tmp_path / "db00000.sqlite")) as file:
        later = (
            *("user_hides_pins", "user_sees_less", "user_sees_more", "user_has_affinities"),
            *("user_blocks_users", "user_blocked_by_users", "user_mutes_users"),
            "user_signed_out",
        )
        reports = ("reports", "report_cases", "report_decisions")
        for table in ("quotas", "events", "notifications", *reports, *later):
            file.execute(f"DROP TABLE {table}")
        file.execute("INSERT INTO pins (data) VALUES ('{}')")
        file.commit()
    shards = SqliteShards(topology)
    await shards.create()
    user = compose(0, Kind.USER, 1)
    await shards.objects.transact(0, lambda tx: tx.use(user, 0, [Use(1, 1, 1)]))
    event = PinEvent(user, 0, 1, EventKind.OPENED, 1)
    await shards.objects.transact(0, lambda tx: tx.add_events(user, 0, [event]))
    act = Notification(user, NotificationKind.LIKED, 1, 2, 0, 1, 1)
    assert await shards.objects.transact(0, lambda tx: tx.notify(act))
    report = Report(user, 1, ReportReason.SPAM, "", 1)
    assert await shards.objects.transact(0, lambda tx: tx.report(report))
    decision = Decision(user, CaseStatus.DISMISSED, "Ann", 2)
    assert await shards.objects.transact(0, lambda tx: tx.decide(decision))
    lists = [Mapping(table) for table in later]
    await shards.mappings.apply([(mapping, Edge(user, 1, 1, 1)) for mapping in lists])
    assert len(await shards.objects.list(Kind.PIN, 0, 9)) == 1
    await shards.close()
