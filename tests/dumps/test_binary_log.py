"""The binary log is read as a whole, however much there is."""

from collections.abc import AsyncIterator

import pymysql
import pytest
from pymysql.cursors import Cursor

from datasources.errors import StoreUnavailable
from datasources.mysql.binary_log import BinaryLog, Logged
from datasources.mysql.link import Login
from datasources.sql.source_tables import LogPosition

pytestmark = pytest.mark.anyio
ROWS, BYTES = 400, 3_000
PARTS = 4
"""Reads of a log with 6,000 rows for each."""


@pytest.fixture
def cursor(port: int) -> Cursor:
    connection = pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True)
    return connection.cursor()


@pytest.fixture
async def log(port: int) -> AsyncIterator[BinaryLog[int]]:
    log = BinaryLog[int](
        Login("127.0.0.1", port, "root", ""),
        ["long_log"],
        ["texts"],
        lambda table, row: int(row[0]),
        advice="",
    )
    yield log
    await log.close()


def asked(cursor: Cursor, query: str) -> tuple[object, ...]:
    """The first row of an answer."""
    cursor.execute(query)
    return tuple(cursor.fetchall()[0])


def place(cursor: Cursor) -> LogPosition:
    """The end of the log."""
    file, offset = asked(cursor, "SHOW MASTER STATUS")[:2]
    return LogPosition(str(file), int(str(offset)))


def make(cursor: Cursor) -> None:
    cursor.execute("CREATE OR REPLACE DATABASE long_log")
    cursor.execute("USE long_log")
    cursor.execute("CREATE TABLE long_log.texts (id INT PRIMARY KEY, text BLOB)")


def many(cursor: Cursor) -> None:
    """Insert rows for some reads, 1,000 in a transaction."""
    for n in range(PARTS * 6):
        rows = f"SELECT seq, NULL FROM seq_{n * 1000}_to_{n * 1000 + 999}"
        cursor.execute(f"INSERT INTO long_log.texts {rows}")


async def parts(
    log: BinaryLog[int], after: LogPosition | str, until: LogPosition | None = None
) -> list[Logged[int]]:
    """All parts of the log from a position on."""
    found = list[Logged[int]]()
    while not found or not found[-1].at_end:
        found.append(await log.read(after, until))
        after = found[-1].next
    return found


def keys(found: list[Logged[int]]) -> list[int]:
    return [key for part in found for key in part.keys.get(("long_log", "texts"), [])]


async def test_a_long_log_is_read_from_transaction_ids_to_its_end(
    cursor: Cursor, log: BinaryLog[int]
) -> None:
    make(cursor)
    [before] = asked(cursor, "SELECT @@gtid_binlog_pos")
    for id in range(ROWS):
        cursor.execute("INSERT INTO long_log.texts VALUES (%s, %s)", (id, "x" * BYTES))
    assert keys(await parts(log, str(before))) == list(range(ROWS))


async def test_the_parts_of_a_log_do_not_need_a_connection_each(
    cursor: Cursor, log: BinaryLog[int]
) -> None:
    make(cursor)
    before = place(cursor)
    many(cursor)
    status = "SHOW GLOBAL STATUS LIKE 'Connections'"
    [_, first] = asked(cursor, status)
    found = await parts(log, before)
    [_, last] = asked(cursor, status)
    assert keys(found) == list(range(PARTS * 6000))
    assert len(found) > PARTS
    # For the log, and for what was added meanwhile; each with one for the catalogue.
    assert int(str(last)) - int(str(first)) <= 4


@pytest.fixture
async def kept(port: int) -> AsyncIterator[BinaryLog[int]]:
    login = Login("127.0.0.1", port, "root", "")
    log = BinaryLog[int](
        login, ["long_log"], ["texts"], lambda table, row: int(row[0]), advice="", keeps=True
    )
    yield log
    await log.close()


async def test_a_log_that_grows_is_read_over_one_connection(
    cursor: Cursor, kept: BinaryLog[int]
) -> None:
    make(cursor)
    after, status = place(cursor), "SHOW GLOBAL STATUS LIKE 'Connections'"
    [_, first] = asked(cursor, status)
    found = list[Logged[int]]()
    for id in range(20):
        cursor.execute("INSERT INTO long_log.texts VALUES (%s, NULL)", (id,))
        if id % 5 == 1:  # the log ends with events of which the reader gets none, or no row
            cursor.execute("FLUSH BINARY LOGS")
        if id % 5 == 3:
            cursor.execute("CREATE OR REPLACE TABLE long_log.others (id INT)")
        until = place(cursor)
        some = await parts(kept, after, until)
        assert some[-1].read >= until
        after = some[-1].next
        assert isinstance(after, LogPosition)
        found += some
    [_, last] = asked(cursor, status)
    assert keys(found) == list(range(20))
    assert len([it for part in found for it in part.statements if b"others" in it.text]) == 4
    assert int(str(last)) - int(str(first)) <= 2  # for the log, and for the catalogue


async def test_a_kept_connection_that_is_lost_is_told_and_made_again(
    cursor: Cursor, kept: BinaryLog[int]
) -> None:
    make(cursor)
    after = place(cursor)
    cursor.execute("INSERT INTO long_log.texts VALUES (1, NULL)")
    [first] = await parts(kept, after, place(cursor))
    assert kept.goes_on(first.next)
    cursor.execute("SELECT id FROM information_schema.processlist WHERE command = 'Binlog Dump'")
    for [id] in cursor.fetchall():
        cursor.execute(f"KILL {id}")
    cursor.execute("INSERT INTO long_log.texts VALUES (2, NULL)")
    with pytest.raises(StoreUnavailable):
        await parts(kept, first.next, place(cursor))
    assert not kept.goes_on(first.next)
    assert keys(await parts(kept, first.next, place(cursor))) == [2]


async def test_the_end_is_the_end_of_the_last_read_and_not_an_earlier_one(
    cursor: Cursor, log: BinaryLog[int]
) -> None:
    make(cursor)
    before = place(cursor)
    many(cursor)
    found = await log.read(before)  # the server may have sent the rest already, and the end
    cursor.execute("INSERT INTO long_log.texts VALUES (-1, NULL)")
    assert keys(await parts(log, found.next))[-1] == -1


async def test_a_part_may_be_read_again_and_the_rest_left_out(
    cursor: Cursor, log: BinaryLog[int]
) -> None:
    make(cursor)
    before = place(cursor)
    many(cursor)
    whole = await parts(log, before)
    first = await log.read(before)
    again = await log.read(before)
    assert keys([first]) == keys([again]) == keys(whole[:1])
    assert keys(await parts(log, first.next)) == keys(whole[1:])


async def test_a_log_is_read_up_to_a_given_end(cursor: Cursor, log: BinaryLog[int]) -> None:
    make(cursor)
    before = place(cursor)
    cursor.execute("INSERT INTO long_log.texts VALUES (1, NULL)")
    cursor.execute("FLUSH BINARY LOGS")
    cursor.execute("INSERT INTO long_log.texts VALUES (2, NULL)")
    until = place(cursor)
    for id in range(3, 100):
        cursor.execute("INSERT INTO long_log.texts VALUES (%s, NULL)", (id,))
    found = await parts(log, before, until)
    # The server may have written an event of its own at the end, after the transaction.
    assert keys(found) in ([1, 2], [1, 2, 3])
    assert keys(await parts(log, found[-1].next))[-1] == 99
