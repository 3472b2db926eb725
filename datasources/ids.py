"""64-bit ids that tell where an object is: shard, type and local id in one number.

The layout was published by Pinterest: two zero bits, 16 bits shard, 10 bits type, 36 bits local id.
"""

from enum import IntEnum
from typing import NamedTuple

SHARD_BITS, KIND_BITS, LOCAL_BITS = 16, 10, 36
MAX_SHARD, MAX_LOCAL = (1 << SHARD_BITS) - 1, (1 << LOCAL_BITS) - 1
_KIND_SHIFT, _SHARD_SHIFT = LOCAL_BITS, LOCAL_BITS + KIND_BITS


class Kind(IntEnum):
    """The type of an object. The number is part of its id and never changes."""

    PIN = 1
    BOARD = 2
    USER = 3
    COMMENT = 4
    INTEREST = 5
    SECTION = 6


_KINDS = {kind.value: kind for kind in Kind}  # takes a tenth of the time of Kind(number)


class IdParts(NamedTuple):
    shard: int
    kind: Kind
    local: int


class InvalidId(ValueError):
    """The text or number is not a valid id. The message says why."""


def compose(shard: int, kind: Kind, local: int) -> int:
    """The id of local object `local` of `kind` on `shard`. Raises InvalidId out of range."""
    if not 0 <= shard <= MAX_SHARD or not 1 <= local <= MAX_LOCAL:
        raise InvalidId(f"shard {shard}, local id {local}: out of range")
    return shard << _SHARD_SHIFT | kind << _KIND_SHIFT | local


def split(id: int) -> IdParts:
    """The three parts of an id. Raises InvalidId."""
    return IdParts(shard_of(id), kind_of(id), local_of(id))


def shard_of(id: int) -> int:
    return id >> _SHARD_SHIFT


def local_of(id: int) -> int:
    return id & MAX_LOCAL


def kind_of(id: int) -> Kind:
    """The type of the object. Raises InvalidId for an invalid id or an unknown type."""
    number = (id >> _KIND_SHIFT) & 0x3FF
    if not 0 <= id >> _SHARD_SHIFT <= MAX_SHARD or not id & MAX_LOCAL:
        raise InvalidId(f"{id} is not an id")
    kind = _KINDS.get(number)
    if kind is None:
        raise InvalidId(f"{id} is not an id: there is no type {number}")
    return kind


def parse(text: str, kind: Kind | None = None) -> int:
    """The id in a decimal string. `kind`: the required type, if any. Raises InvalidId."""
    if len(text) > 19 or not (text.isascii() and text.isdecimal()):
        raise InvalidId(f"{text[:40]!r} is not an id: ids are decimal numbers of up to 19 digits")
    found = split(int(text)).kind
    if kind is not None and found is not kind:
        raise InvalidId(f"{text} is the id of {_a(found)}, not of {_a(kind)}")
    return int(text)


def _a(kind: Kind) -> str:
    name = kind.name.lower()
    return f"an {name}" if kind is Kind.INTEREST else f"a {name}"


def decoy(id: int, kind: Kind) -> int:
    """The id of no object, on the shard of `id`. Reading it takes the time of reading an object
    that exists: strangers can't tell a hidden object from an absent one."""
    return compose(shard_of(id), kind, MAX_LOCAL)
