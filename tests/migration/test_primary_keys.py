"""Rows of a source by primary keys of all types: pages have each row once, and rows are found again
by the keys that pages tell."""

import asyncio

import pytest

from datasources.mysql.source import Source
from datasources.sql.source_tables import Wanted
from tests.migration.old_world import PASSWORD, USER, OldDatabase

ROWS = 60


@pytest.mark.parametrize(
    ("type", "value"),
    [
        ("ENUM('user', 'pin', 'it''s', '')", "1 + seq % 4"),
        ("SET('x', 'b', 'a')", "seq % 8"),
        ("DECIMAL(20)", "1000000000000000000 + seq % 20"),
        ("BIT(8)", "seq % 20"),
        ("DOUBLE", "(seq % 20) / 3"),
        ("BIGINT UNSIGNED", "18446744073709551615 - seq % 20"),
        ("INT(6) ZEROFILL", "seq % 20"),
        ("VARCHAR(20) CHARACTER SET latin1", "CHAR(129 + seq % 20)"),
        ("VARCHAR(20) CHARACTER SET utf16", "CONCAT(IF(seq % 2, 'a', 'A'), seq % 20, ' ')"),
        ("BINARY(4)", "CHAR(seq % 20)"),
        ("UUID", "CONCAT('00000000-0000-0000-0000-0000000000', 10 + seq % 20)"),
        ("DATETIME(3)", "'2020-01-01' + INTERVAL seq % 20 DAY"),
    ],
)
def test_pages_have_each_row_once(old: OldDatabase, type: str, value: str) -> None:
    old.run(
        "USE old",
        f"CREATE TABLE odd (kind {type} NOT NULL, id INT NOT NULL, PRIMARY KEY (kind, id))",
        f"INSERT INTO odd SELECT {value}, seq FROM seq_1_to_{ROWS}",
    )
    ids, keys, again = asyncio.run(read(old.port))
    assert sorted(ids) == list(range(1, ROWS + 1))
    assert sorted(again) == sorted(keys)


def test_an_old_id_has_no_zeros_of_zerofill(old: OldDatabase) -> None:
    """Columns that refer to it, and the binary log, have the number alone."""
    old.run(
        "CREATE TABLE old.odd (kind BIGINT(20) ZEROFILL, id INT, PRIMARY KEY (kind, id))",
        "INSERT INTO old.odd VALUES (42, 7), (18446744073709551615, 8)",
    )
    _, keys, again = asyncio.run(read(old.port))
    assert keys == again == [("42", "7"), ("18446744073709551615", "8")]


async def read(port: int) -> tuple[list[int], list[tuple[str, ...]], list[tuple[str, ...]]]:
    """All ids and all primary keys by pages, and the primary keys of the rows with these keys."""
    ids, keys = list[int](), list[tuple[str, ...]]()
    source = Source(f"mysql://{USER}@127.0.0.1:{port}/old", password=PASSWORD)
    try:
        table = (await source.tables())["odd"]
        wanted = [Wanted(table.columns["id"])]
        for _ in range(ROWS):
            page = await source.page(table, wanted, after=keys[-1] if keys else None, limit=7)
            if not page.keys:
                break
            ids += [int(id or b"") for (id,) in page.rows]
            keys += page.keys
        return ids, keys, (await source.rows(table, wanted, keys)).keys
    finally:
        await source.close()
