"""The binary log is read as a whole, however much there is."""

import pymysql
import pytest

from datasources.mysql.binary_log import BinaryLog
from datasources.mysql.link import Login

pytestmark = pytest.mark.anyio
ROWS, BYTES = 400, 3_000


async def test_a_long_log_is_read_from_transaction_ids_to_its_end(port: int) -> None:
    with pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE DATABASE long_log")
        cursor.execute("CREATE TABLE long_log.texts (id INT PRIMARY KEY, text BLOB)")
        cursor.execute("SELECT @@gtid_binlog_pos")
        [(before,)] = cursor.fetchall()
        for id in range(ROWS):
            cursor.execute("INSERT INTO long_log.texts VALUES (%s, %s)", (id, "x" * BYTES))
    log = BinaryLog[int](
        Login("127.0.0.1", port, "root", ""),
        ["long_log"],
        ["texts"],
        lambda table, row: int(row[0]),
        advice="",
    )
    keys, after = list[int](), before
    while True:
        found = await log.read(after)
        keys += found.keys.get(("long_log", "texts"), [])
        after = found.next
        if found.at_end:
            break
    assert keys == list(range(ROWS))
