"""The primary keys of rows in a binary log: the types that can be followed, and a key's values as
texts."""

import codecs
from collections.abc import Sequence
from typing import Any, NamedTuple

from pymysql.charset import charset_by_name

from datasources.sql.source_tables import KeyColumn

_FOLLOWED = "integers, BINARY, VARBINARY, CHAR and VARCHAR can be followed"
_SIZES = {"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}  # bits
_LATIN1 = "pinway.mysql-latin1"


class KeyFault(NamedTuple):
    """A column of a primary key because of which changes of its table can't be followed."""

    column: str
    message: str


def key_faults(columns: Sequence[KeyColumn]) -> list[KeyFault]:
    """Why changes of a table with this primary key can't be followed; none if they can."""
    return [
        KeyFault(column.name, f"the column {column.name} of its primary key is {told}: {_FOLLOWED}")
        for column in columns
        if (told := _not_followed(column))
    ]


def key_of(columns: Sequence[KeyColumn], values: Sequence[Any]) -> tuple[str, ...] | None:
    """The primary key of a row with these values; None if the table had other columns then."""
    if len(values) != columns[0].of:
        return None
    found = [values[it.ordinal - 1] for it in columns]
    texts = [it for it, value in zip(columns, found, strict=True) if isinstance(value, bytes)]
    if any((it in texts) is (it.type in _SIZES) for it in columns):
        return None
    return tuple(map(_text, columns, found))


def _not_followed(column: KeyColumn) -> str:
    """A type that can't be followed, for people; empty if it can."""
    if column.type in ("char", "varchar"):
        known = charset_by_name(column.charset) is not None
        return "" if known else f"{column.type.upper()} CHARACTER SET {column.charset}"
    known = column.type in _SIZES or column.type in ("binary", "varbinary")
    return "" if known else column.type.upper()


def _text(column: KeyColumn, value: Any) -> str:
    """A value of a primary key as `Source.page` gives it."""
    if column.type in _SIZES:
        negative = column.unsigned and value < 0
        return str(int(value) + (1 << _SIZES[column.type]) if negative else int(value))
    assert isinstance(value, bytes)
    if column.type == "binary":
        return value.ljust(column.length, b"\0").hex()  # the log leaves out zeros at the end
    if column.type == "varbinary":
        return value.hex()
    encoding = charset_by_name(column.charset).encoding
    return value.decode(encoding, _LATIN1 if encoding == "cp1252" else "strict")


def _as_control(error: UnicodeError) -> tuple[str, int]:
    """MySQL's latin1 has control characters at the five bytes that cp1252 leaves out."""
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("latin1"), error.end


codecs.register_error(_LATIN1, _as_control)
