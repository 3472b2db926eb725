"""Reads a file of either format as one stream of import lines, with bounded memory."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import IO, NamedTuple

from datasources.mappings import SEQUENCE_STEP
from gateway.importing import bookmarks
from gateway.importing.jsonl import (
    AnyLine,
    BadLine,
    BoardLine,
    PinLine,
    UserLine,
    canonical,
    decode,
    time_of,
)

MAX_LINE = 1 << 20  # bytes
_CHUNK = 1 << 16
_MAX_NAME, _MAX_TITLE = 180, 500
_FIELD = re.compile(r" - at `\$\.(\w+)`")
_PLACES = {
    "link": "HREF",
    "title": "the link's text",
    "name": "the folder's name",
    "description": "DD",
    "created": "ADD_DATE",
    "username": "the name after --as",
}
"""The places of fields in a bookmarks file."""
_TIES = 10**9  # links that can be ordered by number within one millisecond


class Entry(NamedTuple):
    """A valid line: its number (a line may have several entries) and its JSON. `adopt`: the user is
    the existing user with this user name, whatever the user's key."""

    line: int
    parsed: AnyLine
    data: bytes
    adopt: bool = False


Entries = Iterable[Entry | bookmarks.Fault]


def looks_like_bookmarks(head: bytes) -> bool:
    """Whether a file with this start is HTML; JSON Lines begin with a brace."""
    text = head.lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n\0")
    return text.startswith(b"<")


def is_binary(head: bytes) -> bool:
    """Whether a file with this start is not text, for example a ZIP archive or a SQLite
    database."""
    return b"\0" in head


def json_lines(file: IO[bytes]) -> Iterator[Entry | bookmarks.Fault]:
    """Entries of a JSON Lines file; empty lines are skipped."""
    number = 0
    while data := file.readline(MAX_LINE + 1):
        number += 1
        if len(data) > MAX_LINE:
            while not data.endswith(b"\n") and (data := file.readline(MAX_LINE)):
                pass
            yield bookmarks.Fault(number, f"longer than {MAX_LINE} bytes")
            continue
        data = (data.removeprefix(b"\xef\xbb\xbf") if number == 1 else data).strip()
        if not data:
            continue
        try:
            yield Entry(number, decode(data), data)
        except BadLine as error:
            yield bookmarks.Fault(number, str(error))


def bookmark_lines(
    file: IO[bytes], *, owner: str, secret: bool, default_ms: int
) -> Iterator[Entry | bookmarks.Fault]:
    """Boards and pins of a bookmarks file, and their owner, user `owner`.

    A folder is a board named after it and the folders around it ("Travel / Japan"). The names of a
    browser's built-in folders are left out, and such a folder is a board only if it directly
    contains links. Links outside all folders are on a board named after the file's title. An entry
    without ADD_DATE has its folder's date, or else `default_ms`.
    """
    yield _entry(0, UserLine(key=f"user:{owner.lower()}", username=owner), adopt=True)
    boards = _Boards(owner, secret, default_ms)
    for event in bookmarks.read(iter(lambda: file.read(_CHUNK), b"")):
        if isinstance(event, bookmarks.Title):
            boards.title = event.text
            continue
        if isinstance(event, bookmarks.Fault):
            yield event
            continue
        try:
            if isinstance(event, bookmarks.Folder):
                yield from boards.folder(event)
            else:
                yield from boards.link(event)
        except BadLine as error:
            yield bookmarks.Fault(event.line, _of_bookmark(str(error)))


def _of_bookmark(message: str) -> str:
    """A message about a field of the import format, with the field's place in a bookmarks file."""
    return _FIELD.sub(lambda found: f" - in {_PLACES.get(found[1], found[1])}", message)


class _Boards:
    """The boards made of folders so far."""

    def __init__(self, owner: str, secret: bool, default_ms: int) -> None:
        self.title = "Bookmarks"
        self._owner, self._secret, self._default = owner, secret, default_ms
        self._made: set[bytes] = set()
        self._folders: dict[bytes, int] = {}  # a board's key → the line of its folder
        self._scaffolds: set[tuple[str, ...]] = set()
        self._added: dict[tuple[str, ...], int] = {}  # for the open folders

    def folder(self, folder: bookmarks.Folder) -> Iterator[Entry | bookmarks.Fault]:
        open_path = folder.path[:-1]
        self._added = {p: at for p, at in self._added.items() if p == open_path[: len(p)]}
        self._added[folder.path] = folder.added
        if folder.scaffold:
            self._scaffolds.add(folder.path)
            return
        key = bytes.fromhex(self._key("board", *folder.path))
        first = self._folders.setdefault(key, folder.line)
        if first != folder.line:
            message = (
                f"a folder {self._name(folder.path)!r} is there already, in line {first}: the "
                "links of both go to one board"
            )
            yield bookmarks.Fault(folder.line, message, kept=True)
        yield from self._board(folder.path, folder.line, folder.added, folder.description)

    def link(self, link: bookmarks.Link) -> Iterator[Entry]:
        folder_added = self._added.get(link.path, 0)
        yield from self._board(link.path, link.line, folder_added, "")
        created = link.added or folder_added or self._default
        # Two links to one address in a folder are two bookmarks if their dates differ.
        key = self._key("pin", *link.path, link.href, str(link.added))
        order = (_TIES - min(link.number, _TIES)) * (SEQUENCE_STEP // _TIES // 10)
        digest = int(key[-12:], 16)
        pin = PinLine(
            key=key,
            board=self._key("board", *link.path),
            title=(link.title or link.href)[:_MAX_TITLE],
            description=link.description,
            link=link.href,
            created=time_of(created),
            sequence=str(created * SEQUENCE_STEP + order + digest + 1),
        )
        yield _entry(link.line, pin)

    def _board(
        self, path: tuple[str, ...], line: int, added: int, description: str
    ) -> Iterator[Entry]:
        key = self._key("board", *path)
        if bytes.fromhex(key) in self._made:
            return
        self._made.add(bytes.fromhex(key))
        board = BoardLine(
            key=key,
            owner=f"user:{self._owner.lower()}",
            name=self._name(path),
            description=description,
            secret=self._secret,
            created=time_of(added or self._default),
        )
        yield _entry(line, board)

    def _name(self, path: tuple[str, ...]) -> str:
        names = [n for i, n in enumerate(path, 1) if path[:i] not in self._scaffolds]
        name = " / ".join(names) or (path[-1] if path else self.title)
        return name if len(name) <= _MAX_NAME else f"… {name[2 - _MAX_NAME :]}"

    def _key(self, *parts: str) -> str:
        """The key of a place in an owner's bookmarks. It is the same in each import."""
        digest = hashlib.blake2b(self._owner.lower().encode(), digest_size=16)
        for part in parts:
            digest.update(b"\0" + part.encode())
        return digest.hexdigest()


def _entry(line: int, parsed: AnyLine, *, adopt: bool = False) -> Entry:
    """A checked entry. Raises BadLine: a browser's text may be too long for a field."""
    data = canonical(parsed)
    return Entry(line, decode(data), data, adopt)
