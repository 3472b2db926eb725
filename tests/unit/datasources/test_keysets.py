"""Conditions on keys of several columns, against the order of tuples."""

import itertools
import sqlite3

from datasources.mysql.replication.keysets import between


def test_a_chunk_has_the_rows_between_two_keys() -> None:
    keys = list(itertools.product(range(3), repeat=3))
    table = sqlite3.connect(":memory:")
    table.execute("CREATE TABLE t (a, b, c)")
    table.executemany("INSERT INTO t VALUES (?, ?, ?)", keys)
    bounds = [None, *keys]
    for after, last in itertools.product(bounds, bounds):
        text, args = between(["a", "b", "c"], after, last)
        rows = table.execute(
            f"SELECT * FROM t WHERE {text.replace('%s', '?')} ORDER BY a, b, c", args
        ).fetchall()
        assert rows == [
            key for key in keys if (after is None or key > after) and (last is None or key <= last)
        ]
    table.close()
