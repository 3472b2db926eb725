"""`pinway migrate cut-over`: nobody takes writes for a short time, and then Pinway has them all."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import aiomysql
import pymysql
import pytest

from datasources.errors import StoreConflict, StoreTimeout
from datasources.mysql.source import Source
from datasources.sql.source_tables import Wanted
from tests.migration.old_world import PASSWORD, ROWS, USER, OldDatabase, many
from tests.migration.old_writer import OldSite
from tests.migration.processes import SECONDS, copied, everything, pinway, start, verified

TRIES = 10
END = "XA COMMIT X'747831',X'62',7"
XA = (
    f"the prepared XA transaction 'tx1' keeps its locks: end it by {END} or "
    f"{END.replace('COMMIT', 'ROLLBACK')}, in its session or after the end of its connection"
)


def prepare(old: OldDatabase, change: str) -> None:
    """Leave a change as a prepared transaction, without a connection."""
    old.run("XA START 'tx1','b',7", change, "XA END 'tx1','b',7", "XA PREPARE 'tx1','b',7")


@pytest.fixture
def world(old: OldDatabase, tmp_path: Path) -> Iterator[Path]:
    """The mapping of a source whose user may stop the writes."""
    old.run(
        "USE old",
        *ROWS,
        *many(members=12, albums=20, bookmarks=60),
        "CREATE OR REPLACE USER site@127.0.0.1",
        "GRANT ALL ON old.* TO site@127.0.0.1",
        f"GRANT RELOAD, READ ONLY ADMIN ON *.* TO '{USER}'@'127.0.0.1'",
    )
    yield old.mapping(tmp_path)
    old.run("SET GLOBAL read_only = OFF")


def cut(file: Path, data: Path, *options: str) -> dict[str, Any]:
    words = ("migrate", "cut-over", str(file), "--json", *options)
    told: dict[str, Any] = json.loads(pinway(*words, data=data))
    return told


def test_nothing_is_missed_by_a_cut_over_under_writes(
    world: Path, old: OldDatabase, tmp_path: Path
) -> None:
    data, opened = tmp_path / "data", tmp_path / "opened"
    with OldSite(old.port, "cut-over", pause=0.02, user="site") as site:
        copied(world, data)
        told = cut(world, data, "--within", "60", "--then", f"touch {opened}")
        written = site.written
    assert written > 50
    assert site.refused  # the site's user is no administrator
    assert 0 < told["refused"] < 60
    assert opened.exists()
    assert verified(world, data)["differences"] == []
    copied(world, tmp_path / "fresh")
    assert everything(data) == everything(tmp_path / "fresh")


def test_writes_are_refused_for_less_than_a_second(world: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    copied(world, data)
    for _ in range(TRIES):  # on a busy machine, a try may take too long, and changes nothing
        process = start("migrate", "cut-over", str(world), "--json", data=data)
        out, error = process.communicate(timeout=SECONDS)
        if process.returncode == 0:
            break
        assert b"the source takes writes again" in error or b"keep its lock away" in error, error
    assert json.loads(out)["refused"] < 1


def test_the_source_never_overwrites_pinway_after_it(world: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    copied(world, data)
    cut(world, data, "--within", "60")
    for command in (("copy",), ("verify", "--repair"), ("follow",), ("cut-over",)):
        error = pinway("migrate", *command, str(world), data=data, status=1)
        assert "was cut over" in error


def test_a_command_that_fails_lets_the_source_take_writes_again(
    world: Path, old: OldDatabase, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    copied(world, data)
    words = ("migrate", "cut-over", str(world), "--within")
    error = pinway(*words, "60", "--then", "echo no >&2; exit 9", data=data, status=1)
    assert "ended with the status 9: no: the source takes writes again" in error
    error = pinway(*words, "10", "--then", "sleep 600", data=data, status=1)
    assert "did not end within 10 s: the source takes writes again" in error
    old.run("INSERT INTO old.members VALUES (8, 'late', '', NULL, NULL)", user="site")
    assert cut(world, data, "--within", "60")["refused"] < 60
    assert verified(world, data)["differences"] == []


def test_a_long_statement_keeps_the_lock_away_for_a_bounded_time(
    world: Path, old: OldDatabase, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    copied(world, data)
    with closing(pymysql.connect(host="127.0.0.1", port=old.port, user="root")) as holder:
        holder.cursor().execute("SELECT GET_LOCK('held', 0)")
        slow = "UPDATE old.members SET id = id WHERE id = 1 AND GET_LOCK('held', 600)"
        writing = threading.Thread(target=lambda: old.run(slow))
        writing.start()
        time.sleep(1)
        error = pinway("migrate", "cut-over", str(world), "--within", "0.5", data=data, status=1)
    assert (
        "keep its lock away for over 0.5 s, and nothing has changed: in use: old.members" in error
    )
    writing.join()


@pytest.mark.anyio
async def test_a_locked_table_is_named_with_the_connection(world: Path, old: OldDatabase) -> None:
    source = Source(f"mysql://{USER}@127.0.0.1:{old.port}/old", password=PASSWORD)
    grant = f"GRANT PROCESS ON *.* TO '{USER}'@'127.0.0.1'"
    site = pymysql.connect(host="127.0.0.1", port=old.port, user="site", autocommit=True)

    async def refused() -> str:
        with pytest.raises(StoreTimeout) as found:
            async with source.stopped(SECONDS):
                pass
        return str(found.value)

    with closing(site), site.cursor() as cursor:
        cursor.execute("LOCK TABLES old.log WRITE")
        error = await refused()
        assert "over 1 s, and nothing has changed: in use: old.log; " in error
        assert f"to see the connections of other users: {grant}; " in error
        with closing(pymysql.connect(host="127.0.0.1", port=old.port, user="root")) as admin:
            admin.cursor().execute(grant)
        error = await refused()
        assert "nothing has changed: in use: old.log; connections that may keep it: " in error
        assert f"connection {site.thread_id()} of site@localhost:" in error
        assert "UNLOCK TABLES there, or KILL the connection" in error
        assert grant not in error
        cursor.execute("UNLOCK TABLES")
        cursor.execute("INSERT INTO old.log VALUES ('the source takes writes')")
    async with source.stopped(SECONDS) as stop:
        assert (await stop.position()).offset
    await source.close()


@pytest.mark.anyio
async def test_a_prepared_xa_transaction_is_named_with_the_statement_that_ends_it(
    world: Path, old: OldDatabase
) -> None:
    source = Source(f"mysql://{USER}@127.0.0.1:{old.port}/old", password=PASSWORD)
    change = "UPDATE old.members SET login = 'other' WHERE id = 1"
    await asyncio.to_thread(prepare, old, change)
    with pytest.raises(StoreConflict) as refused:
        async with source.stopped(SECONDS):
            pass
    assert f"{XA}; nothing has changed" in str(refused.value)
    members = (await source.tables())["members"]
    wanted = [Wanted(members.columns["login"])]
    assert await source.waits() == ""
    reading = asyncio.create_task(source.rows(members, wanted, [("1",)]))
    while not (told := await source.waits()):
        assert not reading.done()
    assert told.startswith(XA)
    await asyncio.to_thread(old.run, END)
    assert (await reading).rows == [(b"other",)]
    async with source.stopped(SECONDS) as stop:
        assert (await stop.position()).offset
    await source.close()


def test_a_cut_over_does_not_wait_in_silence_for_a_prepared_transaction(
    world: Path, old: OldDatabase, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    copied(world, data)
    prepare(old, "UPDATE old.members SET real_name = 'Ann L' WHERE id = 1")
    error = pinway("migrate", "cut-over", str(world), "--within", "60", data=data, status=1)
    assert f"a read of the source waits for over 10 s, and nothing has changed: {XA}; " in error
    old.run(END)
    cut(world, data, "--within", "60")
    assert verified(world, data)["differences"] == []


@pytest.mark.anyio
async def test_a_server_with_the_new_name_of_the_log_s_status_is_stopped(
    world: Path, old: OldDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MySQL 8.4 has no other one; this server has the old name alone."""
    names = {
        "SHOW BINARY LOG STATUS": "SHOW MASTER STATUS",
        "SHOW MASTER STATUS": "SHOW NO SUCH STATUS",
        "SHOW GLOBAL STATUS LIKE 'binlog_snapshot%'": "SHOW GLOBAL STATUS LIKE 'no'",
    }
    execute = aiomysql.Cursor.execute

    async def renamed(cursor: Any, sql: str, args: Any = None) -> Any:
        return await execute(cursor, names.get(sql, sql), args)

    source = Source(f"mysql://{USER}@127.0.0.1:{old.port}/old", password=PASSWORD)
    expected = await source.log_end()
    monkeypatch.setattr(aiomysql.Cursor, "execute", renamed)
    assert await source.log_end() == expected
    async with source.stopped(SECONDS) as stop:
        assert await stop.position() == expected
    await source.close()


@pytest.mark.anyio
async def test_a_stopped_source_is_read_beside_a_transaction_that_can_not_commit(
    world: Path, old: OldDatabase
) -> None:
    source = Source(f"mysql://{USER}@127.0.0.1:{old.port}/old", password=PASSWORD)
    try:
        members = (await source.tables())["members"]
        wanted = [Wanted(members.columns["login"])]
        with closing(pymysql.connect(host="127.0.0.1", port=old.port, user="root")) as site:
            site.cursor().execute("UPDATE old.members SET login = 'other' WHERE id = 1")
            async with source.stopped(SECONDS), asyncio.timeout(10):
                assert (await source.rows(members, wanted, [("1",)])).rows == [(b"Ann",)]
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1):
                    await source.rows(members, wanted, [("1",)])
    finally:
        await source.close()


def test_missing_rights_are_told_before_anybody_waits(
    world: Path, old: OldDatabase, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    copied(world, data)
    old.run(f"REVOKE READ ONLY ADMIN ON *.* FROM '{USER}'@'127.0.0.1'")
    error = pinway("migrate", "cut-over", str(world), data=data, status=1)
    assert "ADMIN privilege" in error
