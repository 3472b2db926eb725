"""The folder of the index: one subfolder for each index that was built, and the file `current`,
which names the index in use.

A new index is built in a subfolder of its own, and comes into use when `current` is replaced. So a
reader never sees half an index, and a build that was killed leaves only a subfolder that no file
names.
"""

import fcntl
import json
import os
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from datasources import files
from datasources.errors import StoreConflict, StoreCorrupt
from datasources.tantivy.fields import VERSION

CURRENT, READ_TO, META = "current", "read_to", "meta.json"
_DAMAGED = "damaged"
_SUBFOLDER = "index-"
_PLAIN = (META, ".managed.json", READ_TO)
"""The files of an index without a checksum."""
_MAGIC = 1337  # the last four bytes of the engine's files with a footer


class Current(msgspec.Struct, frozen=True):
    """The index in use. `built`: when its building began, in epoch ms."""

    name: str
    built: int
    version: int


class Stamp(NamedTuple):
    """The identity of a file, which differs from its successor's."""

    inode: int
    modified: int
    size: int


class Folder:
    """The files of one index and of its successors. `path` is created when it is written."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def current(self) -> Current | None:
        """The index in use; None if none was built. Raises OSError and StoreCorrupt."""
        try:
            raw = (self.path / CURRENT).read_bytes()
        except FileNotFoundError:
            return None
        try:
            return msgspec.json.decode(raw, type=Current)
        except msgspec.MsgspecError as error:
            raise StoreCorrupt(f"{self.path / CURRENT}: {error}") from error

    def of(self, current: Current) -> Path:
        """The subfolder of an index."""
        return self.path / current.name

    def use(self, name: str, built: int) -> None:
        """Bring the index in a subfolder into use, durably, and remove all other indexes."""
        raw = msgspec.json.encode(Current(name, built, VERSION))
        files.write(self.path / CURRENT, raw)
        (self.path / _DAMAGED).unlink(missing_ok=True)
        self.remove_others(name)

    def new(self) -> Path:
        """An empty subfolder. Call it only while this process alone builds."""
        numbers = [int(found.name[len(_SUBFOLDER) :]) for found in self._subfolders()]
        made = self.path / f"{_SUBFOLDER}{max(numbers, default=0) + 1}"
        made.mkdir(mode=0o700)
        return made

    def remove_others(self, but: str) -> None:
        """Remove all indexes but one: what builds that were killed left, and what was replaced. A
        process that still reads a removed file keeps its content."""
        for found in self._subfolders():
            if found.name != but:
                shutil.rmtree(found, ignore_errors=True)

    def mark_damaged(self, current: Current) -> None:
        """Tell the process that builds indexes that this index can't be read."""
        (self.path / _DAMAGED).write_text(current.name)

    def is_marked(self, current: Current) -> bool:
        """Whether a process could not read this index."""
        try:
            return (self.path / _DAMAGED).read_text() == current.name
        except FileNotFoundError:
            return False

    @contextmanager
    def locked(self, name: str, told: str) -> Iterator[None]:
        """Hold a lock that ends with the process. Raises StoreConflict if it is held."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self.path / f"{name}.lock").open("ab") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise StoreConflict(told) from None
            yield

    def _subfolders(self) -> list[Path]:
        return [
            found
            for found in self.path.glob(f"{_SUBFOLDER}*")
            if found.name[len(_SUBFOLDER) :].isdecimal()
        ]


def read_to(index: Path) -> int:
    """The epoch ms up to which an index has every change. Raises OSError and StoreCorrupt."""
    raw = (index / READ_TO).read_bytes()
    if not raw.isdigit():
        raise StoreCorrupt(f"{index / READ_TO} has no time")
    return int(raw)


def set_read_to(index: Path, at: int) -> None:
    files.write(index / READ_TO, str(at).encode())


def stamp(path: Path) -> Stamp | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return Stamp(found.st_ino, found.st_mtime_ns, found.st_size)


def size(index: Path) -> int:
    """The bytes of an index."""
    return sum(found.stat().st_size for found in index.iterdir() if found.is_file())


def check_files(index: Path) -> None:
    """Compare the checksum of each file that the index names. Raises OSError and StoreCorrupt.

    The engine itself checks none when it opens an index. Its files end with a footer: JSON with the
    checksum of all before it, the JSON's length, and a magic number.
    """
    try:
        segments = [
            entry["segment_id"].replace("-", "")
            for entry in json.loads((index / META).read_bytes())["segments"]
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreCorrupt(f"{index / META} can't be read: {error}") from error
    for found in sorted(os.listdir(index)):
        if found in _PLAIN or found.partition(".")[0] not in segments:
            continue
        try:
            raw = (index / found).read_bytes()
        except FileNotFoundError:  # merged in the meantime
            continue
        _check(index / found, raw)


def _check(path: Path, raw: bytes) -> None:
    length, magic = int.from_bytes(raw[-8:-4], "little"), int.from_bytes(raw[-4:], "little")
    if len(raw) < 8 + length or magic != _MAGIC:
        raise StoreCorrupt(f"{path} is damaged: it has no footer")
    body = len(raw) - 8 - length
    try:
        crc = json.loads(raw[body:-8])["crc"]
    except (ValueError, KeyError, TypeError) as error:
        raise StoreCorrupt(f"{path} is damaged: its footer can't be read") from error
    if zlib.crc32(raw[:body]) != crc:
        raise StoreCorrupt(f"{path} is damaged: its checksum is wrong")
