"""The tables of an unsharded database that a migration reads, and the rows that it asks for."""

from typing import NamedTuple

from datasources.errors import StoreError

_TEXTS = frozenset(
    {"char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set", "json"}
)
_BINARY = frozenset({"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"})
INTEGERS = frozenset({"tinyint", "smallint", "mediumint", "int", "bigint"})
DATES = frozenset({"date", "datetime", "timestamp"})

Values = tuple[bytes | None, ...]
Written = str | int | bytes | None
"""A value that is written. Bytes are stored unchanged, also in a column of texts."""


class Column(NamedTuple):
    """A column. `type` is the name of its type, without length: "varchar". `members` are the values
    of an ENUM or a SET in their order, by which the column is sorted."""

    name: str
    type: str
    nullable: bool
    members: tuple[str, ...] = ()

    @property
    def is_text(self) -> bool:
        return self.type in _TEXTS

    @property
    def is_binary(self) -> bool:
        return self.type in _BINARY


class Table(NamedTuple):
    """A table: its columns by name, the columns of its primary key in order, and the columns whose
    values are unique by themselves and never NULL. `rows` is the server's estimate."""

    name: str
    columns: dict[str, Column]
    primary: tuple[str, ...]
    unique: frozenset[str]
    rows: int


class Wanted(NamedTuple):
    """A value to read. `raw`: the column's bytes, whatever character set it declares. `is_key`:
    binary values as hexadecimal digits."""

    column: Column
    raw: bool = False
    is_key: bool = False


class Page(NamedTuple):
    """Rows in the order of the primary key. `keys` has each row's primary key as text: binary
    columns in hexadecimal digits."""

    keys: list[tuple[str, ...]]
    rows: list[Values]


class LogPosition(NamedTuple):
    """A place in a server's binary log."""

    file: str
    offset: int

    def __str__(self) -> str:
        return f"{self.file}:{self.offset}"


class KeyColumn(NamedTuple):
    """A column of a primary key, as the binary log has it. `ordinal` is its number among the
    table's columns, from 1; `of` is the number of these columns. `length` (in bytes) and `charset`
    are a text's."""

    name: str
    type: str
    ordinal: int
    of: int
    unsigned: bool
    length: int
    charset: str


class WrittenColumn(NamedTuple):
    """A column that is written. `counts`: the server gives its numbers (AUTO_INCREMENT), and the
    table has transactions. `fraction`: the digits of its seconds' fraction. `length`: the bytes of
    its text or binary value, at most."""

    column: Column
    counts: bool
    fraction: int
    length: int


class RowRefused(StoreError):
    """The server refused a row's values, and wrote nothing. `duplicate`: another row has one of
    its unique values."""

    def __init__(self, message: str, *, duplicate: bool) -> None:
        super().__init__(message)
        self.duplicate = duplicate
