"""The layout of cells in RocksDB: one key for each (row, column), in their order, and one value.

key    row with 00 escaped as 00 FF, then 00 01, then the column as it is
value  8 bytes, big endian: stamp * 2 + (1 if the cell is deleted); then the cell's bytes

One cell for each column is enough for the contract: the put with the highest stamp is visible, and
a delete hides every put up to its own stamp. So of two heads the higher wins; with equal stamps,
the delete.
"""

from collections.abc import Callable
from struct import Struct

_ZERO, _ESCAPED, _END, _PAST_END = b"\x00", b"\x00\xff", b"\x00\x01", b"\x00\x02"
HEAD = 8
MAX_STAMP = 2**63 - 1


def row_prefix(row: bytes) -> bytes:
    """The prefix of every key of the row. Raises ValueError for an empty row."""
    if not row:
        raise ValueError("a row's key must not be empty")
    return row.replace(_ZERO, _ESCAPED) + _END


def cell_key(prefix: bytes, column: bytes) -> bytes:
    """A cell's key. Raises ValueError for an empty column."""
    if not column:
        raise ValueError("a column's name must not be empty")
    return prefix + column


def row_end(prefix: bytes) -> bytes:
    """The first key after the row with this prefix."""
    return prefix[: -len(_END)] + _PAST_END


def successor(key: bytes) -> bytes:
    """The lowest key greater than `key`."""
    return key + _ZERO


def split(key: bytes) -> tuple[bytes, bytes]:
    """The row and the column of a key."""
    escaped, _, column = key.partition(_END)
    return escaped.replace(_ESCAPED, _ZERO), column


def head(stamp: int, *, deleted: bool) -> bytes:
    """A cell's first bytes. Raises ValueError unless 0 < stamp < 2**63."""
    if not 0 < stamp <= MAX_STAMP:
        raise ValueError(f"a stamp must be positive and below 2**63, not {stamp}")
    return (stamp * 2 + deleted).to_bytes(HEAD, "big")


def is_deleted(value: bytes) -> bool:
    return bool(value[HEAD - 1] & 1)


unpack_head: Callable[[bytes], tuple[int]] = Struct(">Q").unpack_from
"""A cell's head as (stamp * 2 + deleted,). It is one C call, because every read needs it for every
cell."""
