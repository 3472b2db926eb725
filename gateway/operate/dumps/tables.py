"""The tables of a dump and their columns, which follow the records and the mappings.

A new field of a record is a new column, and a new mapping is a new table. After such a change,
SCHEMA must grow; a test knows the columns of each schema.
"""

from types import UnionType
from typing import NamedTuple, get_args, get_origin

import msgspec

from datasources.ids import Kind
from datasources.mappings import Mapping
from datasources.parquet.columns import Column, Type
from datasources.records import RECORDS, Image, Record
from datasources.sql.schema import OBJECT_SHARD, OBJECT_TABLES, Table
from feed_engine.transactions.key_kinds import KINDS

SCHEMA = 3
LEFT_OUT = {
    Kind.USER: frozenset(
        name for kind in KINDS.values() for name in (kind.field, kind.claimed, kind.kept)
    )
    - {"username"}
    | {"data_export"}
}
"""Fields of records that are in no dump: a user's e-mail addresses, subjects and earlier names, the
versions of claims, and requests for the user's data."""
UNTIMED = {mapping for mapping in Mapping if mapping.ordered} | {Mapping.USER_HAS_AFFINITIES}
"""Mappings whose sequences are no times: places in an order made by hand, and weights."""

CHANGE = (Column("change", Type.TEXT), Column("increment", Type.ID))
"""The last columns of an increment's tables."""
UPSERT, DELETE = "upsert", "delete"

_TIMES = {"created", "deleted"}
_TYPES: dict[object, Type] = {
    int: Type.ID,
    bool: Type.FLAG,
    str: Type.TEXT,
    Image: Type.IMAGE,
    tuple[int, ...]: Type.IDS,
}


class ObjectTable(NamedTuple):
    """The objects of a kind. `fields` are the columns that are fields of the record."""

    stored: Table
    kind: Kind
    fields: tuple[Column, ...]
    columns: tuple[Column, ...]


class EdgeTable(NamedTuple):
    """The rows of a mapping."""

    stored: Table
    timed: bool
    columns: tuple[Column, ...]


DumpedTable = ObjectTable | EdgeTable


def _objects(kind: Kind, stored: Table) -> ObjectTable:
    left_out = LEFT_OUT.get(kind, frozenset())
    fields = [
        Column(field.name, Type.TIME if field.name in _TIMES else _type(field.type))
        for field in msgspec.structs.fields(RECORDS[kind])
        if field.name != "id" and field.name not in left_out
    ]
    columns = (
        Column("id", Type.ID),
        Column("updated", Type.TIME),
        *fields,
        Column("other", Type.TEXT),
        Column("fault", Type.TEXT),
    )
    return ObjectTable(stored, kind, tuple(fields), columns)


def _type(annotation: object) -> Type:
    """The column's type for a field of a record, which may be optional."""
    if get_origin(annotation) is UnionType:
        [annotation] = [part for part in get_args(annotation) if part is not type(None)]
    return _TYPES[annotation]


def _edges(mapping: Mapping, stored: Table) -> EdgeTable:
    columns = (
        Column("from_id", Type.ID),
        Column("to_id", Type.ID),
        Column("sequence", Type.NUMBER),
        Column("version", Type.ID),
        Column("active", Type.FLAG),
        Column("created", Type.TIME),
    )
    return EdgeTable(stored, mapping not in UNTIMED, columns)


def _tables() -> dict[str, DumpedTable]:
    stored = {table.name: table for table in OBJECT_SHARD}
    objects = {name: _objects(kind, stored[name]) for kind, name in OBJECT_TABLES.items()}
    edges = {mapping.value: _edges(mapping, stored[mapping.value]) for mapping in Mapping}
    return {**objects, **edges}


TABLES: dict[str, DumpedTable] = _tables()


def record_of(table: ObjectTable) -> type[Record]:
    return RECORDS[table.kind]
