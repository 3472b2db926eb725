"""Reads bookmarks in HTML: files that browsers export (the Netscape bookmark file), and lists of
saved articles.

In the Netscape file, `<DT><H3>` opens a folder's name, `<DL>` its contents, `<DT><A HREF ADD_DATE>`
is a link, and `<DD>` describes the folder or link before it. In a list of articles, `<h1>` names
the `<ul>` or `<ol>` that follows, and `<li><a href time_added>` is a link. Tags are read one by
one, not as a tree, so unclosed and misplaced tags have the same effect as in a browser.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from gateway.operate.imports import addresses, text_encoding
from gateway.operate.imports.events import (
    Event,
    Fault,
    Folder,
    Link,
    Title,
    dated,
    is_hidden,
    is_private,
    linked,
)
from gateway.operate.imports.markup import Broken, EndTag, StartTag, Text, Tokenizer

MAX_DEPTH = 100  # folders within folders
_MAX_TEXT, _MAX_PIECES = 5000, 200
_BLANKS = re.compile(r"\s+")
_EMPTY_LINES = re.compile(r"\n{3,}")
_HEADINGS = frozenset({"h2", "h3", "h4"})
_LISTS = frozenset({"dl", "ul", "ol"})
_BLOCKS = frozenset({"p", "div", "li", "ul", "ol", "blockquote", "pre"})
_BREAKS = _BLOCKS | {"br"}
_DATES = ("add_date", "time_added")
_SCAFFOLDS = ("personal_toolbar_folder", "unfiled_bookmarks_folder")
_TRASH = re.compile(
    "trash|papierkorb|corbeille|papelera|lixeira|cestino|prullenbak|papperskorg|papirkurv|roskakori"
    "|kosz|koš|корзина|кошик|ごみ箱|ゴミ箱|回收站|垃圾桶|휴지통|çöp",
    re.IGNORECASE,
)
"""The names of Vivaldi's and Opera's trash. An HTML file marks it in no other way, so a user's own
folder may have such a name: its links are kept, as private links."""
Attributes = Mapping[str, str | None]


def read(chunks: Iterable[bytes]) -> Iterator[Event]:
    """The folders and links of a file, in its order. A folder comes before its content."""
    rest = iter(chunks)
    head = b""
    while len(head) < text_encoding.HEAD and (chunk := next(rest, b"")):
        head += chunk
    encoding = text_encoding.sniff(head)
    reader, tokenizer = _Reader(), Tokenizer()
    if encoding.refused is not None:
        message = f"{encoding.refused[:40]!r} is no encoding of text: the file is read as UTF-8"
        yield Fault(1, message, kept=True)
    for text in text_encoding.decoded(_chained(head, rest), encoding):
        for token in tokenizer.feed(text):
            reader.take(token)
        yield from reader.taken()
    for token in tokenizer.close():
        reader.take(token)
    reader.finish()
    yield from reader.taken()


def _chained(head: bytes, rest: Iterable[bytes]) -> Iterator[bytes]:
    yield head
    yield from rest


class _Lists:
    """The open lists, each with its folder's path and whether the folder is private. Lists of one
    folder within each other are counted, so that no file fills memory with them."""

    def __init__(self) -> None:
        self._open: list[tuple[tuple[str, ...], bool, int]] = [((), False, 1)]

    @property
    def path(self) -> tuple[str, ...]:
        return self._open[-1][0]

    @property
    def private(self) -> bool:
        return self._open[-1][1]

    def open(self, path: tuple[str, ...], private: bool) -> None:
        last, hidden, count = self._open[-1]
        if (last, hidden) == (path, private):
            self._open[-1] = path, private, count + 1
        else:
            self._open.append((path, private, 1))

    def close(self) -> None:
        path, private, count = self._open[-1]
        if count > 1:
            self._open[-1] = path, private, count - 1
        elif len(self._open) > 1:
            self._open.pop()


class _Item:
    """A link, a folder or a title whose texts are being read."""

    def __init__(self, kind: str, line: int, attributes: Attributes) -> None:
        self.kind, self.line, self.attributes = kind, line, attributes
        self.title: list[str] = []
        self.description: list[str] = []


class _Reader:
    """Keeps the open folders, and the item whose texts are being read."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._lists = _Lists()
        self._named: tuple[tuple[str, ...], bool] | None = None  # the folder of the next list
        self._heading: tuple[int, str] | None = None  # an <h1>, which names a list of articles
        self._articles = False
        self._item: _Item | None = None
        self._text: list[str] | None = None  # the place for text that is read now
        self._inner: tuple[str, int] | None = None  # the address of a link within a description
        self._links = 0

    def taken(self) -> list[Event]:
        events, self._events = self._events, []
        return events

    def take(self, token: StartTag | EndTag | Text | Broken) -> None:
        match token:
            case Text():
                self._add(token.text)
            case StartTag():
                self._start(token)
            case EndTag():
                self._end(token.name)
            case Broken():
                self.finish()
                self._events.append(Fault(token.line, token.message))

    def finish(self) -> None:
        """End the item that was being read."""
        item, self._item, self._text, self._inner = self._item, None, None, None
        if item is None:
            return
        title = _line_of(item.title)
        if item.kind in ("title", "h1"):
            if title:
                self._events.append(Title(title))
                self._heading = (item.line, title) if item.kind == "h1" else None
            return
        added = self._date(item, _DATES)
        private = self._lists.private or _private(item.attributes)
        description = _lines_of(item.description)
        if item.kind == "a":
            self._link(item, title, description, added, private)
        else:
            self._folder(item, title, description, added, private)

    @property
    def _described(self) -> bool:
        """Whether text belongs to a description now."""
        return self._item is not None and self._text is self._item.description

    def _start(self, tag: StartTag) -> None:
        name = tag.name
        if name == "a":
            attributes = tag.attributes()
            if self._described and not any(attributes.get(date) for date in _DATES):
                self._inner = attributes.get("href") or "", len(self._text or ())
                return
            self._begin(_Item("a", tag.line, attributes))
        elif name in _HEADINGS:
            self._begin(_Item("folder", tag.line, tag.attributes()))
        elif name == "dd" and self._item is not None:
            self._text = self._item.description
        elif name in ("h1", "title"):
            self._begin(_Item(name, tag.line, {}))
            if self._articles:  # the list of the heading before may be unclosed
                self._lists = _Lists()
        elif name in _BREAKS and self._described:
            self._add("\n")
        elif name in ("dt", "hr", "li"):
            self.finish()
        elif name in _LISTS:
            self.finish()
            self._open(name)

    def _end(self, name: str) -> None:
        if name in ("h1", "title"):
            if self._item is not None and self._item.kind == name:
                self.finish()
        elif name == "a" and self._inner is not None:
            self._end_inner()
        elif name == "a" or name in _HEADINGS:
            if self._item is not None and self._text is self._item.title:
                self._text = None
        elif name in _BLOCKS and self._described:
            self._add("\n")
        elif name in _LISTS:
            self.finish()
            self._named = None
            self._lists.close()

    def _open(self, name: str) -> None:
        """Open a list: of the folder that was named, or of the heading before it."""
        if self._named is None and name != "dl" and self._heading and not self._lists.path:
            line, title = self._heading
            self._named, self._articles = ((title,), False), True
            self._events.append(Folder(line, (title,), False, 0, ""))
        self._lists.open(*(self._named or (self._lists.path, self._lists.private)))
        self._named = self._heading = None

    def _begin(self, item: _Item) -> None:
        self.finish()
        self._item, self._text = item, item.title

    def _add(self, text: str) -> None:
        if self._text is not None and len(self._text) < _MAX_PIECES:
            self._text.append(text[:_MAX_TEXT])

    def _end_inner(self) -> None:
        """End a link within a description. Its address stays, as text."""
        assert self._inner is not None
        (address, start), self._inner = self._inner, None
        shown = "".join((self._text or [])[start:])
        if address and address not in shown and addresses.credentials(address) is None:
            self._add(f" ({address})")

    def _link(self, item: _Item, title: str, description: str, added: int, private: bool) -> None:
        modified = 0 if added else self._date(item, ("last_modified",))
        link = Link(
            line=item.line,
            path=self._lists.path,
            href=item.attributes.get("href") or "",
            title=title,
            description=description,
            added=added,
            number=self._links + 1,
            private=private,
            modified=modified,
        )
        for event in linked(link):
            self._links += isinstance(event, Link)
            self._events.append(event)

    def _folder(self, item: _Item, title: str, description: str, added: int, private: bool) -> None:
        if len(self._lists.path) >= MAX_DEPTH:
            message = f"folders nested deeper than {MAX_DEPTH}: {title!r} joins its parent"
            self._events.append(Fault(item.line, message, kept=True))
            self._named = self._lists.path, private
            return
        path = (*self._lists.path, title or "Untitled")
        scaffold = any((item.attributes.get(name) or "").lower() == "true" for name in _SCAFFOLDS)
        if len(path) == 1 and _TRASH.fullmatch(title) and not private:
            private = True
            message = f"{title!r} may be a browser's trash: its links are treated as private"
            self._events.append(Fault(item.line, message, kept=True))
        self._named = path, private
        self._events.append(Folder(item.line, path, scaffold, added, description, private))

    def _date(self, item: _Item, names: Iterable[str]) -> int:
        """The first date that the item has in these attributes; 0 if it has none."""
        for name in names:
            if text := item.attributes.get(name):
                found, fault = dated(item.line, name.upper(), text)
                if fault is not None:
                    self._events.append(fault)
                return found
        return 0


def _private(attributes: Attributes) -> bool:
    """Whether an item is marked as private. An attribute without a value says yes."""
    if "private" in attributes:
        return is_private(attributes["private"] or "yes")
    return any(is_hidden(attributes.get(name)) for name in ("public", "shared"))


def _line_of(pieces: list[str]) -> str:
    """Text as a browser shows it: each run of white space is one space."""
    return _BLANKS.sub(" ", "".join(pieces)).strip().replace("\0", "")[:_MAX_TEXT]


def _lines_of(pieces: list[str]) -> str:
    """A description: its lines, each as a browser shows it."""
    lines = "".join(pieces).replace("\0", "").split("\n")
    joined = "\n".join(_BLANKS.sub(" ", line).strip() for line in lines).strip()
    return _EMPTY_LINES.sub("\n\n", joined)[:_MAX_TEXT]
