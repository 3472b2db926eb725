"""Rows of shards as the columns of a dump.

An object that was deleted keeps its ids, times and flags. Its texts, links and pictures are left
out: a dump may be kept for longer than the stores keep them.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from datasources.ids import compose
from datasources.mappings import SEQUENCE_STEP
from datasources.parquet.columns import Type
from datasources.sql.engine import Row
from gateway.operate.dumps.tables import DumpedTable, ObjectTable, record_of

LAST = 253_402_300_799_999
"""The last epoch ms of the year 9999: later times, of damaged data, are left out."""
_OF_DELETED = {Type.ID, Type.FLAG, Type.TIME, Type.IDS}
_JSON = msgspec.json.Encoder()


class Converted(NamedTuple):
    """Rows of a table: the values by column, the epoch ms of each row (None: no time), and how
    many rows have a fault."""

    columns: list[Sequence[Any]]
    times: Sequence[int | None]
    faults: int


def converted(table: DumpedTable, shard: int, rows: Sequence[Row]) -> Converted:
    """The rows of a shard, at least one, in the form of a dump."""
    names = [column.name for column in table.columns]
    if isinstance(table, ObjectTable):
        made = [_object(table, shard, row) for row in rows]
        columns: list[Sequence[Any]] = list(zip(*made, strict=True))
        faults = sum(fault is not None for fault in columns[names.index("fault")])
    else:
        made = [_edge(row, timed=table.timed) for row in rows]
        columns, faults = list(zip(*made, strict=True)), 0
    return Converted(columns, columns[names.index("created")], faults)


def removed(table: DumpedTable, shard: int, keys: Sequence[Row]) -> Converted:
    """Rows of an increment for rows that a shard no longer has: only the key is not null."""
    made = [
        (compose(shard, table.kind, *key),) if isinstance(table, ObjectTable) else key
        for key in keys
    ]
    nulls = [None] * len(keys)
    columns: list[Sequence[Any]] = list(zip(*made, strict=True))
    columns += [nulls for _ in table.columns[len(columns) :]]
    return Converted(columns, nulls, 0)


def with_change(found: Converted, change: str, number: int) -> Converted:
    """The rows with the values of `CHANGE`: the kind of the change and the increment's number."""
    count = len(found.times)
    return found._replace(columns=[*found.columns, [change] * count, [number] * count])


def _object(table: ObjectTable, shard: int, row: Row) -> tuple[Any, ...]:
    local, data, written, _ = row
    head = (compose(shard, table.kind, local), _written(written))
    try:
        raw = msgspec.json.decode(data)
        record = msgspec.convert(raw, record_of(table))
    except msgspec.MsgspecError as error:
        return (*head, *(None for _ in table.fields), None, str(error))
    kept = [
        _value(getattr(record, column.name), column.type)
        if record.active or column.type in _OF_DELETED
        else None
        for column in table.fields
    ]
    known = record.__struct_fields__
    other = {name: value for name, value in raw.items() if name not in known}
    text = _JSON.encode(other).decode() if other and record.active else None
    return (*head, *kept, text, None)


def _value(value: Any, type: Type) -> Any:
    if type is Type.TIME:
        return _time(value)
    if type is Type.IMAGE and value is not None:
        return msgspec.structs.asdict(value)
    return value


def _edge(row: Row, *, timed: bool) -> tuple[Any, ...]:
    from_id, to_id, stored, version, active = row
    sequence = int(stored)
    created = _time(sequence // SEQUENCE_STEP) if timed else None
    return from_id, to_id, sequence, version, bool(active), created


def _time(ms: int) -> int | None:
    """An epoch ms; None for 0, which means that there is no time, and for a time out of range."""
    return ms if 0 < ms <= LAST else None


def _written(stamp: bytes | datetime) -> int:
    """The epoch ms of a row's time of writing, which SQLite stores as text."""
    if isinstance(stamp, bytes):
        stamp = datetime.fromisoformat(stamp.decode())
    if stamp.tzinfo is None:
        stamp = stamp.replace(tzinfo=UTC)
    return round(stamp.timestamp() * 1000)
