"""Reads bookmarks as browsers export them (the Netscape bookmark file, HTML): folders and links.

This is the format of Chrome, Firefox and Safari: `<DT><H3>` opens a folder's name, `<DL>` its
contents, `<DT><A HREF ADD_DATE>` is a link, and `<DD>` describes the folder or link before it. Tags
are read one by one, not as a tree, so unclosed and misplaced tags have the same effect as in a
browser.
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from typing import NamedTuple

from gateway.importing.jsonl import LATEST_MS

MAX_TAG = 4 << 20  # characters; longer tags are broken (icons inside tags have some ten thousand)
MAX_DEPTH = 100  # folders within folders
_MAX_TEXT, _MAX_PIECES = 5000, 200
_MICROSECONDS_1601 = 11_644_473_600_000_000  # from 1601 to 1970
_BLANKS = re.compile(r"\s+")
_CHARSET = re.compile(rb"<meta[^>]+charset=[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_BOMS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


class Folder(NamedTuple):
    """A folder that was opened. `path` has the names from the outermost folder inwards. `scaffold`
    is true for a browser's own folder (its toolbar, its other bookmarks), whose name is not the
    user's."""

    line: int
    path: tuple[str, ...]
    scaffold: bool
    added: int  # epoch ms, 0 if unknown
    description: str


class Link(NamedTuple):
    """A link directly in folder `path` (empty: in no folder). `number` counts the file's links."""

    line: int
    path: tuple[str, ...]
    href: str
    title: str
    description: str
    added: int  # epoch ms, 0 if unknown
    number: int


class Title(NamedTuple):
    """The file's own title."""

    text: str


class Fault(NamedTuple):
    """A fault of a line. `kept`: the line is imported all the same, as the message says."""

    line: int
    message: str
    kept: bool = False


Event = Folder | Link | Title | Fault


def read(chunks: Iterable[bytes]) -> Iterator[Event]:
    """The folders and links of a file, in its order. A folder comes before its content."""
    parser = _Parser()
    for text in _decoded(chunks):
        parser.feed(text)
        parser.drop_endless_tag()
        yield from parser.taken()
    parser.close()
    parser.finish()
    yield from parser.taken()


def _decoded(chunks: Iterable[bytes]) -> Iterator[str]:
    """The text of a file. The encoding is given by its byte order mark, else by its META charset,
    else it is UTF-8; broken bytes become replacement characters."""
    decoder: codecs.IncrementalDecoder | None = None
    for chunk in chunks:
        if decoder is None:
            decoder = codecs.getincrementaldecoder(_encoding(chunk))("replace")
        yield decoder.decode(chunk)
    if decoder is not None:
        yield decoder.decode(b"", final=True)


def _encoding(head: bytes) -> str:
    for bom, encoding in _BOMS.items():
        if head.startswith(bom):
            return encoding
    named = _CHARSET.search(head[:4096])
    try:
        found = codecs.lookup(named[1].decode("ascii")).name if named else "utf-8"
        codecs.getincrementaldecoder(found)("replace").decode(b"a")
    except (LookupError, UnicodeError, TypeError, AttributeError):
        return "utf-8"
    # A declaration that was read as ASCII can't name a two-byte encoding.
    return "utf-8" if found.startswith("utf-16") or found.startswith("utf-32") else found


class _Parser(HTMLParser):
    """Keeps the open folders, and the item whose texts are being read."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._events: list[Event] = []
        self._open: list[tuple[str, ...]] = [()]  # the path of each open <DL>
        self._named: tuple[str, ...] | None = None  # the folder that the next <DL> opens
        self._item: _Item | None = None
        self._text: list[str] | None = None  # the place for text that is read now
        self._links = 0

    def taken(self) -> list[Event]:
        events, self._events = self._events, []
        return events

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        line = self.getpos()[0]
        if tag == "a":
            self._begin(_Item("a", line, dict(reversed(attrs)), self._open[-1]))
        elif tag in ("h3", "h2", "h4"):
            self._begin(_Item("h3", line, dict(reversed(attrs)), self._open[-1]))
        elif tag == "dd" and self._item is not None:
            self._text = self._item.description
        elif tag in ("h1", "title"):
            self._begin(_Item("h1", line, {}, ()))
        elif tag in ("dt", "hr"):
            self.finish()
        elif tag == "dl":
            self.finish()
            self._open.append(self._named if self._named is not None else self._open[-1])
            self._named = None

    def handle_endtag(self, tag: str) -> None:
        if tag in ("h1", "title"):
            self.finish()
        elif tag in ("a", "h3", "h2", "h4"):
            if self._item is not None and self._text is self._item.title:
                self._text = None
        elif tag == "dl":
            self.finish()
            self._named = None
            if len(self._open) > 1:
                self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._text is not None and len(self._text) < _MAX_PIECES:
            self._text.append(data[:_MAX_TEXT])

    def finish(self) -> None:
        """End the item that was being read."""
        item, self._item, self._text = self._item, None, None
        if item is None:
            return
        title, description = _line_of(item.title), _line_of(item.description)
        date = (item.attrs.get("add_date") or "").strip()
        added = _milliseconds(date) if date else 0
        if added is None:
            message = (
                f"ADD_DATE is {date[:40]!r}, which is no number of seconds from 1970 to 2286: "
                "the item is imported without its date"
            )
            self._events.append(Fault(item.line, message, kept=True))
            added = 0
        if item.tag == "h1":
            if title:
                self._events.append(Title(title))
            return
        if item.tag == "h3":
            if len(item.path) >= MAX_DEPTH:
                message = f"folders nested deeper than {MAX_DEPTH}: {title!r} joins its parent"
                self._events.append(Fault(item.line, message, kept=True))
                self._named = item.path
                return
            self._named = (*item.path, title or "Untitled")
            scaffold = any(
                (item.attrs.get(name) or "").lower() == "true"
                for name in ("personal_toolbar_folder", "unfiled_bookmarks_folder")
            )
            self._events.append(Folder(item.line, self._named, scaffold, added, description))
            return
        href = _href(item.attrs.get("href") or "")
        if href is None:
            shown = (item.attrs.get("href") or "").strip()[:60]
            self._events.append(Fault(item.line, f"{shown!r} is no web address: link left out"))
            return
        self._links += 1
        self._events.append(
            Link(item.line, item.path, href, title, description, added, self._links)
        )

    def drop_endless_tag(self) -> None:
        """Drop text that can't be the start of a tag any more, so that memory stays bounded."""
        if len(self.rawdata) > MAX_TAG:
            message = f"a tag of over {MAX_TAG >> 20} MiB: left out"
            self._events.append(Fault(self.getpos()[0], message))
            self.clear_cdata_mode()
            self.updatepos(0, len(self.rawdata))
            self.rawdata = ""

    def _begin(self, item: "_Item") -> None:
        self.finish()
        self._item, self._text = item, item.title


class _Item:
    def __init__(
        self, tag: str, line: int, attrs: dict[str, str | None], path: tuple[str, ...]
    ) -> None:
        self.tag, self.line, self.attrs, self.path = tag, line, attrs, path
        self.title: list[str] = []
        self.description: list[str] = []


def _line_of(pieces: list[str]) -> str:
    """Text as a browser shows it: each run of white space is one space."""
    return _BLANKS.sub(" ", "".join(pieces)).strip().replace("\0", "")[:_MAX_TEXT]


def _href(text: str) -> str | None:
    """A web address as a browser reads it (without surrounding white space and line breaks). None
    for all other kinds: javascript:, place:, chrome:, file: etc."""
    address = re.sub(r"[\t\r\n]", "", text.strip())
    scheme, colon, rest = address.partition("://")
    if not colon or scheme.lower() not in ("http", "https") or not rest.strip("/"):
        return None
    return f"{scheme.lower()}://{rest}".replace(" ", "%20")


def _milliseconds(digits: str) -> int | None:
    """Epoch milliseconds of an ADD_DATE, which should be in seconds. Some programs write
    milliseconds, microseconds or (Chromium) the microseconds since 1601. None for any other text,
    and for a date after 2286."""
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 20):
        return None
    value = int(digits)
    if value < 10**11:
        found = value * 1000
    elif value < 10**14:
        found = value
    else:
        found = (value - _MICROSECONDS_1601 if value > _MICROSECONDS_1601 else value) // 1000
    return found if found <= LATEST_MS else None
