"""Turns folders into boards and links into pins, whatever file of bookmarks they come from."""

import hashlib
import unicodedata
from collections.abc import Iterable, Iterator

from datasources.errors import BadInput
from datasources.mappings import SEQUENCE_STEP
from feed_engine.transactions import validation
from feed_engine.transactions.hidden_text import without_hidden
from gateway.operate.imports import addresses
from gateway.operate.imports.events import Event, Fault, Folder, Link, Title, Trashed
from gateway.operate.imports.jsonl import BadLine, BoardLine, PinLine, UserLine, time_of
from gateway.operate.imports.lines import Entry, entry

_MAX_NAME, _MAX_TITLE, _MAX_TEXT = 180, 500, 5000
_TIES = 10**9  # links that can be ordered by number within one millisecond
_PRIVATE = " (private)"
NO_LINKS = "the file has no links: export the bookmarks again"
_CREDENTIALS = (
    "an address in its texts holds a user name or a password, which everybody who sees the pin "
    "could read: the address is taken out"
)
Place = tuple[tuple[str, ...], bool]
"""A folder's path, and whether the place is for its private links."""


def lines(
    events: Iterable[Event], *, owner: str, secret: bool, default_ms: int, unit: str = "line"
) -> Iterator[Entry | Fault | Trashed]:
    """Boards and pins of a file of bookmarks, and their owner, user `owner`.

    A folder is a board named after it and the folders around it ("Travel / Japan"). The names of a
    browser's built-in folders are left out, and such a folder is a board only if it directly
    contains links. Links outside all folders are on a board named after the file's title. Private
    links are on a secret board beside their folder's. An entry without a date has its folder's
    date, or else `default_ms`. `unit` is the word for what the events' numbers count. Raises
    BadInput after the last event if no link can be imported.
    """
    user = entry(0, UserLine(key=f"user:{owner.lower()}", username=owner), adopt=True)
    boards = _Boards(owner, secret, default_ms, unit)
    told = False  # a file without folders and links makes no user
    pins = left_out = 0
    for event in events:
        left_out += is_about_a_link(event)
        if isinstance(event, Title):
            title = addresses.without_credentials(event.text)
            boards.title = _seen(title) or boards.title
            continue
        if isinstance(event, Fault | Trashed):
            yield event
            continue
        event, fault = _without_credentials(event)
        if fault is not None:
            yield fault
        if not told:
            yield user
            told = True
        try:
            if isinstance(event, Folder):
                yield from boards.folder(event)
            else:
                yield from boards.link(event)
                pins += 1
        except BadLine as error:
            yield Fault(event.line, str(error))
    if not pins:
        raise BadInput("no link in the file can be imported" if left_out else NO_LINKS)
    yield from boards.rest()


def _without_credentials(event: Folder | Link) -> tuple[Folder | Link, Fault | None]:
    """A folder or a link whose texts have no address with a user name or a password."""
    clean = addresses.without_credentials
    path, description = tuple(map(clean, event.path)), clean(event.description)
    if isinstance(event, Link):
        title = clean(event.title)
        same = (title, description) == (event.title, event.description)
        safe: Folder | Link = event._replace(path=path, title=title, description=description)
    else:
        same = (path[-1], description) == (event.path[-1], event.description)
        safe = event._replace(path=path, description=description)
    return safe, None if same else Fault(event.line, _CREDENTIALS, kept=True)


def is_about_a_link(event: Event) -> bool:
    """Whether the file has a link here, even if the link is left out."""
    return isinstance(event, Link | Trashed) or (isinstance(event, Fault) and not event.kept)


class _Boards:
    """The boards made of folders so far.

    A folder's board is made at its first public link, or at the folder's end. A folder that has
    private links and no public links, at any depth, becomes no public board: its name would tell
    what is private.
    """

    def __init__(self, owner: str, secret: bool, default_ms: int, unit: str) -> None:
        self.title = "Bookmarks"
        self._owner, self._secret, self._default, self._unit = owner, secret, default_ms, unit
        self._made: set[bytes] = set()
        self._names: dict[bytes, bytes] = {}  # digests of names → their boards' keys
        self._folders: dict[bytes, int] = {}  # a board's key → the line of its folder
        self._scaffolds: set[tuple[str, ...]] = set()
        self._last: tuple[Place, str] | None = None  # a board's key, kept for the next link
        self._open: dict[tuple[str, ...], Folder] = {}
        self._waiting: dict[tuple[str, ...], bool] = {}
        """The open folders without a board yet → whether they hold private links."""

    def folder(self, folder: Folder) -> Iterator[Entry | Fault]:
        yield from self._leave(folder.path[:-1])
        self._open[folder.path] = folder
        if folder.scaffold:
            self._scaffolds.add(folder.path)
            return
        key = bytes.fromhex(self._key("board", *folder.path))
        first = self._folders.setdefault(key, folder.line)
        if first != folder.line:
            message = (
                f"a folder {self._full_name(folder.path)!r} is there already, in {self._unit} "
                f"{first}: the links of both go to one board"
            )
            yield Fault(folder.line, message, kept=True)
        self._waiting.setdefault(folder.path, folder.private and not self._secret)

    def link(self, link: Link) -> Iterator[Entry]:
        yield from self._leave(link.path)
        private = link.private and not self._secret
        if private:
            for path in self._waiting:
                self._waiting[path] = True
        else:
            yield from self._make_waiting()
        yield from self._board((link.path, private), link.line)
        folder = self._open.get(link.path)
        folder_added = folder.added if folder else 0
        created = link.added or link.modified or folder_added or self._default
        # Two links to one address in a folder are two bookmarks if their dates differ.
        kind = "private pin" if private else "pin"
        key = self._key(kind, *link.path, link.href, str(link.added))
        order = (_TIES - min(link.number, _TIES)) * (SEQUENCE_STEP // _TIES // 10)
        digest = int(key[-12:], 16)
        description = _seen(link.description)
        if not link.usable:
            description = f"{description}\n{_seen(link.href)}".strip()
        pin = PinLine(
            key=key,
            board=self._key_of((link.path, private)),
            title=(_seen(link.title) or _seen(link.href))[:_MAX_TITLE],
            description=description[:_MAX_TEXT],
            link=link.href if link.usable else None,
            created=time_of(created),
            sequence=str(created * SEQUENCE_STEP + order + digest + 1),
        )
        yield entry(link.line, pin, private=private)

    def rest(self) -> Iterator[Entry]:
        """The boards of the folders that are open at the end of the file."""
        return self._leave(())

    def _leave(self, path: tuple[str, ...]) -> Iterator[Entry]:
        """End the folders that are not around `path`."""
        if path and next(reversed(self._open), None) == path:
            return
        left = [folder for folder in self._open if folder != path[: len(folder)]]
        for ended in left:
            if self._waiting.pop(ended, True) is False:
                yield from self._board((ended, False), self._open[ended].line)
        for ended in left:
            del self._open[ended]

    def _make_waiting(self) -> Iterator[Entry]:
        """Make the boards of all open folders: a public link is in them."""
        waiting, self._waiting = self._waiting, {}
        for path in waiting:
            yield from self._board((path, False), self._open[path].line)

    def _board(self, place: Place, line: int) -> Iterator[Entry]:
        path, private = place
        key = self._key_of(place)
        if bytes.fromhex(key) in self._made:
            return
        self._made.add(bytes.fromhex(key))
        folder = self._open.get(path)
        board = BoardLine(
            key=key,
            owner=f"user:{self._owner.lower()}",
            name=self._free_name(place, bytes.fromhex(key)),
            description=_seen(folder.description) if folder else "",
            secret=self._secret or private,
            created=time_of((folder.added if folder else 0) or self._default),
        )
        yield entry(line, board)

    def _free_name(self, place: Place, key: bytes) -> str:
        """The board's name. A name that another folder's board has gets a number."""
        path, private = place
        name, number = self._full_name(path), 1
        while True:
            suffix = (_PRIVATE if private else "") + (f" ({number})" if number > 1 else "")
            most = _MAX_NAME - len(suffix)
            short = name if len(name) <= most else f"… {name[2 - most :]}"
            free = f"{short}{suffix}"
            digest = hashlib.blake2b(free.encode(), digest_size=16).digest()
            if self._names.setdefault(digest, key) == key:
                return free
            number += 1

    def _full_name(self, path: tuple[str, ...]) -> str:
        names = [n for i, n in enumerate(path, 1) if path[:i] not in self._scaffolds]
        name = " / ".join(_name(n) for n in names or path[-1:] or (self.title,))
        return unicodedata.normalize("NFC", name)

    def _key_of(self, place: Place) -> str:
        path, private = place
        if self._last is None or self._last[0] != place:
            self._last = place, self._key("private board" if private else "board", *path)
        return self._last[1]

    def _key(self, *parts: str) -> str:
        """The key of a place in an owner's bookmarks. It is the same in each import."""
        digest = hashlib.blake2b(self._owner.lower().encode(), digest_size=16)
        for part in parts:
            digest.update(b"\0" + part.encode())
        return digest.hexdigest()


def _name(text: str) -> str:
    return _seen(text).strip() or "Untitled"


def _seen(text: str) -> str:
    """The text without its characters that nobody sees, some of which turn the text around. Empty
    if nobody sees any of the rest."""
    if text.isascii() and text.isprintable():
        return text
    text = without_hidden(validation.UNSEEN.sub("", text))
    return text if validation.is_visible(text) else ""
