"""Edits an object's stored JSON, and keeps the fields that this version doesn't know."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from datasources.errors import StoreCorrupt
from datasources.protocols import ShardTx
from datasources.records import Record

R = TypeVar("R", bound=Record)
_DECODER = msgspec.json.Decoder(dict[str, Any])


async def edit(tx: ShardTx, record: R, raw: bytes, changes: Mapping[str, Any]) -> R:
    """Store a locked record with some fields replaced; `raw` is its JSON. Returns the record with
    these fields. Without changes, nothing is written."""
    if changes:
        await tx.update(record.id, edited(raw, changes, type(record)))
    return msgspec.structs.replace(record, **changes)


def edited(raw: bytes, changes: Mapping[str, Any], record: type[Record]) -> bytes:
    """The JSON with some fields of `record` replaced. A field with its default value is left out;
    fields of newer versions stay. Raises StoreCorrupt if it is not a JSON object."""
    try:
        fields = _DECODER.decode(raw)
    except msgspec.MsgspecError as error:
        raise StoreCorrupt(f"a stored {record.__name__.lower()}: {error}") from error
    defaults = {field.name: field.default for field in msgspec.structs.fields(record)}
    for name, value in changes.items():
        if value == defaults[name]:
            fields.pop(name, None)
        else:
            fields[name] = msgspec.to_builtins(value)
    return msgspec.json.encode(fields)
