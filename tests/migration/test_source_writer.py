"""Rows that the old database does not take are refused one by one, and end no way back."""

import asyncio

import pytest

from datasources.mysql.source import Source
from datasources.sql.source_tables import RowRefused
from tests.migration.old_world import PASSWORD, USER, OldDatabase


def test_a_key_without_a_number_left_refuses_the_row(old: OldDatabase) -> None:
    old.run(
        "CREATE TABLE old.small (id TINYINT PRIMARY KEY AUTO_INCREMENT, name TEXT)",
        "INSERT INTO old.small VALUES (127, 'the last')",
        f"GRANT INSERT ON old.* TO '{USER}'@'127.0.0.1'",
    )
    with pytest.raises(RowRefused, match="Out of range value for column 'id'"):
        asyncio.run(reserve(old.port))
    assert old.rows("SELECT name FROM old.small") == [("the last",)]


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ("(id INT PRIMARY KEY AUTO_INCREMENT, name TEXT AS ('a') VIRTUAL)", "generated column"),
        (
            "(id INT PRIMARY KEY AUTO_INCREMENT, name TEXT) AUTO_INCREMENT = 5 "
            "PARTITION BY RANGE (id) (PARTITION p VALUES LESS THAN (3))",
            "no partition for value 5",
        ),
    ],
)
def test_a_row_without_a_place_in_its_table_is_refused(
    old: OldDatabase, table: str, why: str
) -> None:
    old.run(f"CREATE TABLE old.small {table}", f"GRANT INSERT ON old.* TO '{USER}'@'127.0.0.1'")
    with pytest.raises(RowRefused, match=why):
        asyncio.run(reserve(old.port))


async def reserve(port: int) -> str:
    """A number for a new row."""
    source = Source(f"mysql://{USER}@127.0.0.1:{port}/old", password=PASSWORD)
    writer = source.writer()
    try:
        table = (await source.tables())["small"]
        return await writer.reserved(table, {"name": "one more"})
    finally:
        writer.close()
        await source.close()
