"""The columns of a table that is written as Parquet, without pyarrow."""

from enum import Enum

import msgspec


class Type(Enum):
    """The type of a column's values. All columns may have nulls."""

    ID = "int64"
    NUMBER = "decimal(38, 0)"
    FLAG = "boolean"
    TEXT = "string"
    TIME = "timestamp(ms, UTC)"  # values: epoch ms
    IDS = "list<int64>"
    IMAGE = "struct<url: string, width: int64, height: int64, color: string>"


class Column(msgspec.Struct, frozen=True):
    name: str
    type: Type
