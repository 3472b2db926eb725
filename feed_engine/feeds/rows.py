"""The feeds' wide rows: tables, row keys, and columns whose byte order is the order of reading.

All numbers are big endian, so that bytes sort as numbers do. Numbers are inverted where the newest
or the best is read first. The following feed's columns follow the published wide schema (reverse
creation time, pin id), and the cell's cause is appended.
"""

import struct
from enum import IntEnum
from typing import NamedTuple
from zlib import crc32

import msgspec

from datasources.protocols import Table

POOLS = Table("pinway_pools")  # (user or interest, source) -> (inverted score, pin) -> why
POPULARITY = Table("pinway_popularity")  # pin -> inverted version -> its column in the popular pool
MATERIALIZED = Table("pinway_materialized")  # user -> (inverted generation, position) -> shown pin
SHOWN = Table("pinway_shown")  # user -> pin -> (generation, position)
FOLLOWING = Table("pinway_following")  # user -> (inverted creation time, pin, cause) -> nothing
POOLS_APPLIED = Table("pinway_pools_applied")  # user -> followed id -> nothing; see `applied`
FOLLOWING_APPLIED = Table("pinway_following_applied")  # keys as in POOLS_APPLIED

TABLES_POOLS = [POOLS, POPULARITY, POOLS_APPLIED]
TABLES_FEEDS = [MATERIALIZED, SHOWN, FOLLOWING, FOLLOWING_APPLIED]

_ALL_ONES = (1 << 64) - 1
_SIGN = 1 << 63
_FOLLOWING = struct.Struct(">QQQ")
_POOL = struct.Struct(">QQ")
_PLACE = struct.Struct(">QH")
_SHOWN_PIN = struct.Struct(">QB")
MAX_POSITION = 0xFFFF
_REFILL_BITS = 42  # epoch ms until the year 2109, and two million versions of an edge


class Source(IntEnum):
    """The source of a pool's pins. The number is part of the row key and never changes."""

    FOLLOWED = 1
    INTEREST = 2
    RELATED = 3
    POPULAR = 4


class Reason(IntEnum):
    """The reason why a pin is in a home feed. The number is stored and never changes."""

    FOLLOWED_USER = 1
    FOLLOWED_BOARD = 2
    FOLLOWED_INTEREST = 3
    RELATED = 4
    POPULAR = 5
    SHOWN_BEFORE = 6


class FollowingColumn(NamedTuple):
    created: int  # epoch ms of the pin
    pin_id: int
    cause_id: int  # the followed user or board


class PoolColumn(NamedTuple):
    score: float
    pin_id: int


class Place(NamedTuple):
    """A place in the materialized feed: the visit's generation, and the position in its chunk."""

    generation: int
    position: int


class Why(msgspec.Struct, frozen=True, array_like=True):
    """The value of a pool's cell. `cause`: the user, board, interest or pin that put the pin there;
    0 for none. Two hints follow: the board that the pin was on (0 if unknown), and the first pin of
    its chain of repins (0 for the pin itself, or if unknown)."""

    cause_id: int = 0
    board_id: int = 0
    root_id: int = 0


_WHY = msgspec.json.Decoder(Why)


def id_row(id: int) -> bytes:
    """The row of a user (or, in POPULARITY, of a pin)."""
    return id.to_bytes(8, "big")


def pool_row(user_id: int, source: Source) -> bytes:
    return id_row(user_id) + bytes((source,))


def interest_row(interest_id: int) -> bytes:
    """The pool of an interest, which all its followers read."""
    return pool_row(interest_id, Source.INTEREST)


POPULAR_SPREAD = 8
POPULAR_ROWS = [pool_row((n << 59) + 1, Source.POPULAR) for n in range(POPULAR_SPREAD)]
"""The rows that popular pins are spread over. They are far apart, among the users' rows, so that
HBase stores them in several regions. No object has these ids."""
FORMER_POPULAR_ROW = pool_row(0, Source.POPULAR)
"""The single row that held all popular pins in earlier versions."""


def popular_row(pin_id: int) -> bytes:
    """The row that a popular pin is in."""
    return POPULAR_ROWS[crc32(id_row(pin_id)) % POPULAR_SPREAD]


def following_column(column: FollowingColumn) -> bytes:
    return _FOLLOWING.pack(_ALL_ONES - column.created, column.pin_id, column.cause_id)


def parse_following(column: bytes) -> FollowingColumn:
    inverted, pin_id, cause_id = _FOLLOWING.unpack(column)
    return FollowingColumn(_ALL_ONES - inverted, pin_id, cause_id)


following_ids = struct.Struct(">8xQQ").unpack
"""The id of the pin and the id of its cause, from a following column."""


def behind_pin(column: bytes) -> bytes:
    """The place in a following row after all causes of the column's pin."""
    return column[:16] + b"\xff" * 8


def follow_stamp(version: int, refilled: int = 0) -> int:
    """The stamp of a following cell: the version of the edge that brought the pin and, in a refill,
    the time of the refill in epoch ms. A column that was trimmed can only return with a higher
    stamp. Most cells that are written at the same time have the same stamp."""
    return version << _REFILL_BITS | refilled


def unfollow_stamp(version: int) -> int:
    """The stamp that hides all cells of an edge's versions up to this version."""
    return (version + 1 << _REFILL_BITS) - 1


def inverted_score(score: float) -> bytes:
    """8 bytes that sort from the highest float to the lowest. NaN is not allowed."""
    bits = int.from_bytes(struct.pack(">d", score), "big")
    ascending = bits ^ _ALL_ONES if bits & _SIGN else bits | _SIGN
    return (_ALL_ONES - ascending).to_bytes(8, "big")


def pool_column(column: PoolColumn) -> bytes:
    return inverted_score(column.score) + column.pin_id.to_bytes(8, "big")


def parse_pool(column: bytes) -> PoolColumn:
    inverted, pin_id = _POOL.unpack(column)
    ascending = _ALL_ONES - inverted
    bits = ascending & ~_SIGN if ascending & _SIGN else ascending ^ _ALL_ONES
    return PoolColumn(struct.unpack(">d", bits.to_bytes(8, "big"))[0], pin_id)


def why(cause_id: int, board_id: int = 0, root_id: int = 0) -> bytes:
    """The value of a cell, without trailing zeros."""
    if root_id:
        return b"[%d,%d,%d]" % (cause_id, board_id, root_id)
    return b"[%d,%d]" % (cause_id, board_id) if board_id else b"[%d]" % cause_id


def parse_why(value: bytes) -> Why:
    return _WHY.decode(value)


def inverted_version(version: int) -> bytes:
    return (_ALL_ONES - version).to_bytes(8, "big")


def place_column(place: Place) -> bytes:
    return _PLACE.pack(_ALL_ONES - place.generation, place.position)


def parse_place(column: bytes) -> Place:
    inverted, position = _PLACE.unpack(column)
    return Place(_ALL_ONES - inverted, position)


def before_generation(generation: int) -> bytes:
    """The place before the first pin of a generation: a read from there begins with that
    generation."""
    return (_ALL_ONES - generation).to_bytes(8, "big")


def shown_pin(pin_id: int, reason: Reason) -> bytes:
    return _SHOWN_PIN.pack(pin_id, reason)


def parse_shown_pin(value: bytes) -> tuple[int, Reason]:
    pin_id, reason = _SHOWN_PIN.unpack(value)
    return pin_id, Reason(reason)


def shown_at(place: Place) -> bytes:
    return _PLACE.pack(*place)


def parse_shown_at(value: bytes) -> Place:
    return Place(*_PLACE.unpack(value))
