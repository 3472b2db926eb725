"""Opens a file to import, and reads it as import lines, whatever its format."""

import io
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from datasources.errors import BadInput
from feed_engine.transactions import validation
from gateway.operate.imports import backups, boards, bookmarks, formats, rows
from gateway.operate.imports.entries import json_lines
from gateway.operate.imports.events import Event
from gateway.operate.imports.formats import Format
from gateway.operate.imports.lines import Entries
from gateway.operate.imports.report import ImportOptions

_CHUNK = 1 << 16
_DOCUMENTS = frozenset({Format.FIREFOX, Format.CHROME, Format.JSON_ARRAY})


class Source:
    """An open file. `size` is None for a pipe, and `modified` (epoch ms) 0 for standard input;
    `unit` is the word for what the lines' numbers count."""

    def __init__(self, file: IO[bytes], size: int | None, modified: int) -> None:
        self._file, self.size, self._modified = file, size, modified
        self.unit = "line"

    def position(self) -> int:
        """The bytes that were read so far."""
        return self._file.tell() if self.size is not None else 0

    def entries(self, options: ImportOptions) -> Entries:
        """The lines. Raises BadInput if the file is not read, or if the options do not fit it."""
        found, owner = self.check(options)
        if owner is None:
            return json_lines(self._file)
        if found in _DOCUMENTS:
            self.unit = "bookmark"
        return boards.lines(
            self.events(found),
            owner=owner,
            secret=options.secret,
            default_ms=self._modified,
            unit=self.unit,
        )

    def check(self, options: ImportOptions) -> tuple[Format, str | None]:
        """The file's format, and the name of the user who owns its bookmarks (None for JSON Lines).
        Reads nothing. Raises BadInput."""
        head = self._head()
        if options.format == "jsonl":
            formats.refuse_binary(head)
            return Format.JSON_LINES, None
        found = formats.recognize(head) if head else Format.JSON_LINES
        if options.format == "bookmarks" and found is Format.JSON_LINES:
            found = Format.HTML
        if found is Format.JSON_LINES:
            if formats.is_plain(head):
                raise BadInput(f"the file is plain text: {formats.READ}")
            return found, None
        if options.owner is None:
            raise BadInput("bookmarks need an owner: name the user with --as USERNAME")
        return found, validation.username(options.owner)

    def check_start(self, options: ImportOptions) -> Format:
        """The file's format. Raises the errors that an import would raise for the options and the
        start of the file, before any store is opened. Bookmarks are read up to the first link, and
        a JSON document as a whole, unless they come from a pipe."""
        head = self._head()
        whole = not head if self.size is None else self.size <= len(head)
        if whole and not head.removeprefix(b"\xef\xbb\xbf").strip():
            raise BadInput("the file is empty: export it again")
        found, owner = self.check(options)
        if owner is not None and self.size is not None:
            if not any(map(boards.is_about_a_link, self.events(found))):
                raise BadInput(boards.NO_LINKS)
            self._file.seek(0)
        return found

    def _head(self) -> bytes:
        """The beginning of the file, which stays unread."""
        return self._file.peek(formats.HEAD) if hasattr(self._file, "peek") else b""

    def events(self, found: Format) -> Iterator[Event]:
        """The content of a file of bookmarks. Raises BadInput for a broken JSON document."""
        match found:
            case Format.FIREFOX:
                return backups.read_firefox(self._file)
            case Format.CHROME:
                return backups.read_chrome(self._file)
            case Format.JSON_ARRAY:
                return rows.read_objects(backups.document(self._file, list))
            case Format.CSV:
                return rows.read_csv(self._chunks())
        return bookmarks.read(self._chunks())

    def _chunks(self) -> Iterator[bytes]:
        return iter(lambda: self._file.read(_CHUNK), b"")


class _Pipe(io.RawIOBase):
    """A pipe whose first read takes the beginning by which the file is recognized, however small
    the pieces are in which it arrives."""

    def __init__(self, pipe: io.BufferedIOBase) -> None:
        self._pipe, self._begun = pipe, False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = len(buffer)
        data = self._pipe.read1(size)
        if not self._begun:
            while len(data) < size and not formats.is_certain(data):
                more = self._pipe.read1(size - len(data))
                if not more:
                    break
                data += more
            self._begun = True
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def opened(path: Path) -> Iterator[Source]:
    """Open a file ("-": standard input). Raises OSError."""
    if str(path) == "-":
        yield Source(_recognizable(sys.stdin.buffer), None, 0)
        return
    with path.open("rb") as file:
        status = path.stat()
        modified = status.st_mtime_ns // 1_000_000
        if stat.S_ISREG(status.st_mode):
            yield Source(file, status.st_size, modified)
        else:
            yield Source(_recognizable(file), None, modified)


def _recognizable(pipe: Any) -> io.BufferedReader:
    return io.BufferedReader(_Pipe(pipe), formats.HEAD)
