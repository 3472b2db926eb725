"""Edits an object's stored JSON, and keeps the fields that this version doesn't know."""

from collections.abc import Mapping
from typing import Any

import msgspec

from datasources.errors import StoreCorrupt
from datasources.records import Record

_DECODER = msgspec.json.Decoder(dict[str, Any])


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
