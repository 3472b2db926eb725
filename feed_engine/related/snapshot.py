"""The snapshot of the graph: a file that all processes of a host map into their memory.

The file has a head (magic, version, length and checksum of a JSON header), the header, and the
arrays, each at a multiple of the page size. Behind each array is room for what a process adds to
its own copy (`feed_engine.related.graph`): a hole, which takes no space on the disk. The file is
mapped copy-on-write, so the processes share all pages that none of them has changed.
"""

import os
import struct
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from datasources import files
from datasources.errors import StoreCorrupt
from feed_engine.related.arrays import Arrays

VERSION = 1
LEAST_ROOM = 1 << 18  # entries that can be added to each array, at least; also as many as it has
_MAGIC = b"PINWAYRG"
_HEAD = struct.Struct("<8sIII")  # magic, version, length and CRC-32 of the header
_LONGEST_HEADER = 1 << 16
_MOST = (1 << 31) - 1  # entries of an array: lists start at 32-bit places


class Section(msgspec.Struct, frozen=True):
    """An array in the file: its place in bytes, the length of its content and of its room in
    entries, and the CRC-32 of its content."""

    dtype: str
    offset: int
    count: int
    room: int
    crc: int


class Header(msgspec.Struct, frozen=True):
    """`built`: when the building began, in epoch ms. All changes since are in the log of changes.
    `size`: the bytes of the file, with its holes."""

    built: int
    pins: int
    roots: int
    boards: int
    edges: int
    size: int
    sections: dict[str, Section]


class Snapshot(NamedTuple):
    """A mapped snapshot. The arrays are as long as content and room."""

    header: Header
    arrays: Arrays


def write(path: Path, arrays: Arrays, *, built: int, pins: int) -> Header:
    """Replace the snapshot in one step. Concurrent writers must hold a lock. Raises OSError, and
    ValueError for a graph that is too large for 32-bit places."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    sections: dict[str, Section] = {}
    offset = _LONGEST_HEADER
    contents: dict[str, NDArray[Any]] = arrays._asdict()
    for name, content in contents.items():
        count = len(content)
        room = max(LEAST_ROOM, count)
        if count + room > _MOST:
            raise ValueError(f"{name} has {count:,} entries, too many for one snapshot")
        crc = zlib.crc32(np.ascontiguousarray(content).data)
        sections[name] = Section(content.dtype.str, offset, count, room, crc)
        offset += _pages((count + room) * content.dtype.itemsize)
    header = Header(
        built=built,
        pins=pins,
        roots=len(arrays.root_ids),
        boards=len(arrays.board_ids),
        edges=len(arrays.root_boards),
        size=offset,
        sections=sections,
    )
    raw = msgspec.json.encode(header)
    with files.replacing(path) as file:
        file.write(_HEAD.pack(_MAGIC, VERSION, len(raw), zlib.crc32(raw)) + raw)
        for section, content in zip(sections.values(), contents.values(), strict=True):
            file.seek(section.offset)
            file.write(np.ascontiguousarray(content).data)
        file.truncate(offset)
    return header


def read_header(path: Path) -> Header:
    """The header. Raises FileNotFoundError without a snapshot; StoreCorrupt for a file that is
    damaged or of another version."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(_HEAD.size)
        if len(head) < _HEAD.size:
            raise StoreCorrupt(f"{path} is no snapshot of the graph: it is too short")
        magic, version, length, crc = _HEAD.unpack(head)
        if magic != _MAGIC:
            raise StoreCorrupt(f"{path} is no snapshot of the graph")
        if version != VERSION:
            raise StoreCorrupt(f"{path} has version {version}; this program reads {VERSION}")
        raw = file.read(min(length, _LONGEST_HEADER))
    if zlib.crc32(raw) != crc:
        raise StoreCorrupt(f"{path} is damaged: the checksum of its header is wrong")
    header = msgspec.json.decode(raw, type=Header)
    if size != header.size:
        raise StoreCorrupt(f"{path} is damaged: it has {size:,} of {header.size:,} bytes")
    return header


def opened(path: Path) -> Snapshot:
    """Map the snapshot, and compare all checksums. Raises as `read_header` does."""
    header = read_header(path)
    mapped: dict[str, NDArray[Any]] = {}
    for name, section in header.sections.items():
        mapped[name] = np.memmap(
            path,
            dtype=np.dtype(section.dtype),
            mode="c",
            offset=section.offset,
            shape=(section.count + section.room,),
        ).view(np.ndarray)
        if zlib.crc32(mapped[name][: section.count].data) != section.crc:
            raise StoreCorrupt(f"{path} is damaged: the checksum of {name} is wrong")
    return Snapshot(header, Arrays(**mapped))


def _pages(size: int) -> int:
    return -(-size // 4096) * 4096
