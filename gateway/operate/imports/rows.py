"""Reads lists of links that services export: as CSV, or as one JSON array of objects.

The fields are recognized by their names, so that the files of many services are read: Raindrop,
Pinboard, Pocket, Instapaper, wallabag, Shaarli, linkding, and the stars of GitHub.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gateway.operate.imports import text_encoding
from gateway.operate.imports.events import (
    Event,
    Fault,
    Link,
    dated,
    is_hidden,
    is_private,
    linked,
    no_text,
    whole,
)

MAX_ROW = 1 << 20  # characters
ADDRESSES = ("html_url", "url", "href", "link", "uri", "address", "resolved_url", "given_url")
_TITLES = ("title", "full_name", "name", "resolved_title", "given_title", "repository")
_NOTES = ("note", "notes", "extended", "selection", "description", "excerpt")
_FOLDERS = ("folder", "collection")
_DATES = (
    *("created", "created_at", "createdat", "time_added", "date_added", "dateadded"),
    *("time", "timestamp", "added", "date", "starred_at"),
)
_HIDDEN = ("public", "is_public", "shared")
_STATUSES = {"unread": "Unread", "archive": "Read Archive"}
"""The names of a reading list's states, as in the same list's export in HTML."""


class Columns(NamedTuple):
    """The fields of a row, by their names in lower case; None for what the rows do not have."""

    address: str | None
    title: str | None
    notes: tuple[str, ...]
    folder: str | None
    date: str | None

    @classmethod
    def named(cls, names: Iterable[str]) -> "Columns":
        known = {name.strip().lower() for name in names}
        title = _first(_TITLES, known)
        if title is None and "description" in known:
            title = "description"  # Pinboard's word
        return cls(
            address=_first(ADDRESSES, known),
            title=title,
            notes=tuple(name for name in _NOTES if name in known and name != title),
            folder=_first(_FOLDERS, known),
            date=_first(_DATES, known),
        )


def delimiter_of(first: str) -> str | None:
    """The character between the columns of a table with this first line; None if it has only one
    column."""
    return max((d for d in ",;\t" if d in first), key=first.count, default=None)


def read_csv(chunks: Iterable[bytes]) -> Iterator[Event]:
    """The links of a table whose first line names its columns."""
    lines = _Lines(chunks)
    first = next(lines, "")
    delimiter = delimiter_of(first) or ","
    names = [name.strip().lower() for name in next(csv.reader([first], delimiter=delimiter), [])]
    columns = Columns.named(names)
    table = csv.reader(lines, delimiter=delimiter)
    number = 0
    while True:
        start = lines.number + 1
        try:
            row = next(table)
        except StopIteration:
            return
        except csv.Error as error:
            yield Fault(start, f"{error}: left out")
            continue
        if not any(cell.strip() for cell in row):
            continue
        fields = dict(zip(names, row, strict=False))
        for event in _events(start, fields, columns, number + 1):
            number += isinstance(event, Link)
            yield event


def read_objects(found: Sequence[Any]) -> Iterator[Event]:
    """The links of a JSON array. Their numbers count the objects."""
    number = 0
    for count, given in enumerate(found, 1):
        if not isinstance(given, dict):
            yield Fault(count, "it is no JSON object: left out")
            continue
        fields = {
            name.lower(): value
            for name, value in given.items()
            if value is not None and value != ""
        }
        for event in _events(count, fields, Columns.named(fields), number + 1):
            number += isinstance(event, Link)
            yield event


def _events(
    line: int, fields: Mapping[str, Any], columns: Columns, number: int
) -> Iterator[Link | Fault]:
    def text(name: str | None) -> str:
        value = fields.get(name) if name is not None else None
        known = isinstance(value, str | int | float) and not isinstance(value, bool)
        return str(value).strip() if known else ""

    address = fields.get(columns.address or "", "")
    if not isinstance(address, str):
        yield no_text(line, f"its {columns.address}", address)
        return
    folder = text(columns.folder) or _STATUSES.get(text("status"), "")
    added, fault = dated(line, columns.date or "", text(columns.date))
    if fault is not None:
        yield fault
    notes = dict.fromkeys(note for name in columns.notes if (note := text(name)))
    (title, href, description, folder), fault = whole(
        line, text(columns.title), address, "\n\n".join(notes), folder
    )
    if fault is not None:
        yield fault
    link = Link(
        line=line,
        path=(folder,) if folder else (),
        href=href,
        title=" ".join(title.split()),
        description=description,
        added=added,
        number=number,
        private=_is_private(fields),
    )
    yield from linked(link)


def _is_private(fields: Mapping[str, Any]) -> bool:
    """Whether a row is marked as private, by any of its fields."""
    private = fields.get("private")
    if private not in (None, "") and is_private(private):
        return True
    if str(fields.get("visibility") or "public").strip().lower() not in ("", "public"):
        return True
    return any(
        is_hidden(value) for name in _HIDDEN if (value := fields.get(name)) not in (None, "")
    )


def _first(names: Iterable[str], known: set[str]) -> str | None:
    return next((name for name in names if name in known), None)


class _Lines:
    """The lines of a text, with their newlines. A line of over MAX_ROW characters is cut, so that
    it does not fill memory."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self.number = 0
        self._text = _text(chunks)
        self._rest = ""

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        pieces, size = [self._rest], len(self._rest)
        while "\n" not in pieces[-1] and (piece := next(self._text, None)) is not None:
            if size > MAX_ROW:
                pieces.pop()
            pieces.append(piece)
            size += len(piece)
        line, newline, self._rest = "".join(pieces).partition("\n")
        if not line and not newline:
            raise StopIteration
        self.number += 1
        return line[:MAX_ROW] + newline


def _text(chunks: Iterable[bytes]) -> Iterator[str]:
    rest = iter(chunks)
    head = next(rest, b"")

    def all_of_it() -> Iterator[bytes]:
        yield head
        yield from rest

    for text in text_encoding.decoded(all_of_it(), text_encoding.sniff(head, markup=False)):
        yield text.removeprefix("\ufeff")
