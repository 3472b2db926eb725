"""The differences between SQLite's and MySQL's statements for the shared stores."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from datasources.mappings import MAX_SEQUENCE


@dataclass(frozen=True)
class Dialect:
    """Pieces of SQL text, and the form of a sequence in a parameter."""

    lock: str  # ends a SELECT that locks its rows
    force: str  # follows a table's name: read the table by this index only; {index}
    touch: str  # ends the SET of an UPDATE, if the database does not set the time by itself
    upsert: str  # begins an INSERT's clause for a duplicate key; {key}
    new: str  # the inserted value, in that clause; {column}
    last_id_is_first: bool  # of an INSERT of many rows
    encode_sequence: Callable[[int], Any]

    def by(self, index: str = "PRIMARY") -> str:
        """The text after a table's name that makes the statement use one index. Without it, MySQL's
        optimizer sometimes reads, and locks, far more rows by another index; SQLite does not."""
        return self.force.format(index=index)

    def keep(self, key: Sequence[str]) -> str:
        """The clause that leaves an existing row with the same unique key unchanged."""
        return f"{self.upsert.format(key=', '.join(key))} {key[0]} = {key[0]}"

    def replace(self, key: Sequence[str], columns: Sequence[str]) -> str:
        """The clause that updates columns of an existing row with the same unique key. Only for
        tables without another unique key: MySQL would match rows by any of them."""
        news = ", ".join(f"{column} = {self.new.format(column=column)}" for column in columns)
        return f"{self.upsert.format(key=', '.join(key))} {news}"

    def add(self, key: Sequence[str], column: str) -> str:
        """The clause that adds to a column of an existing row with the same unique key."""
        new = self.new.format(column=column)
        return f"{self.upsert.format(key=', '.join(key))} {column} = {column} + {new}"

    def sequence(self, value: int) -> Any:
        """The parameter for a sequence to store. Raises ValueError if it has more than 38
        digits."""
        if not 0 <= value <= MAX_SEQUENCE:
            raise ValueError(f"sequence {value} is not a number of up to 38 digits")
        return self.encode_sequence(value)

    def bound(self, value: int) -> Any:
        """The parameter to compare sequences with, whatever its size."""
        return self.encode_sequence(min(max(value, 0), MAX_SEQUENCE))

    def first_id(self, last_id: int, count: int) -> int:
        """The first of `count` consecutive ids that one INSERT made."""
        return last_id if self.last_id_is_first else last_id - count + 1


SQLITE = Dialect(
    lock="",
    force="",
    touch=", ts = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')",
    upsert="ON CONFLICT ({key}) DO UPDATE SET",
    new="excluded.{column}",
    last_id_is_first=False,
    encode_sequence="{:038d}".format,
)
MYSQL = Dialect(
    lock=" FOR UPDATE",
    force=" FORCE INDEX ({index})",
    touch="",
    upsert="ON DUPLICATE KEY UPDATE",
    new="VALUES({column})",
    last_id_is_first=True,
    encode_sequence=int,
)


def marks(count: int) -> str:
    """`?, ?, ?`"""
    return ", ".join("?" * count)


def rows_of_marks(rows: int, columns: int) -> str:
    """`(?, ?), (?, ?)`"""
    return ", ".join([f"({marks(columns)})"] * rows)
