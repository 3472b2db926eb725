"""Switches that operators set for all gateways, as JSON."""

from collections.abc import Mapping

import msgspec

from datasources.errors import StoreCorrupt

_DECODER = msgspec.json.Decoder(dict[str, str])


def parse(data: bytes, where: str) -> dict[str, str]:
    """The switches in a JSON text. Raises StoreCorrupt."""
    try:
        return _DECODER.decode(data) if data else {}
    except msgspec.MsgspecError as error:
        raise StoreCorrupt(f"switches at {where}: {error}") from error


def dump(switches: Mapping[str, str]) -> bytes:
    return msgspec.json.encode(switches, order="sorted")


def changed(switches: Mapping[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    """The switches with some set to new values, or removed with None."""
    both = {**switches, **changes}
    return {name: value for name, value in both.items() if value is not None}
