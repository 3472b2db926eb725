"""Recognizes a file by its beginning, and says of a file that can't be imported what it is."""

import csv
import json
import re
from enum import Enum
from typing import NamedTuple

from datasources.errors import BadInput
from gateway.operate.imports import rows, text_encoding

HEAD = 1 << 13
"""Bytes of a file's beginning, by which it is recognized."""


class Format(Enum):
    """The formats that are read. All but JSON Lines are bookmarks, and need an owner."""

    JSON_LINES = "JSON Lines"
    HTML = "bookmarks in HTML"
    CHROME = "a backup of Chrome"
    FIREFOX = "a backup of Firefox"
    JSON_ARRAY = "bookmarks as one JSON array"
    CSV = "bookmarks as CSV"


class _Known(NamedTuple):
    """A file that is known and not read: its first bytes, what it is, and what to do."""

    begin: bytes
    what: str
    instead: str


_UNPACK = "unpack it, and import the file in it"
_AS_HTML = "export the bookmarks as HTML and import that file"
_KNOWN = (
    _Known(b"PK\x03\x04", "a ZIP archive", _UNPACK),
    _Known(b"PK\x05\x06", "an empty ZIP archive", _AS_HTML),
    _Known(b"\x1f\x8b", "a gzip file", "unpack it: zcat FILE | pinway import -"),
    _Known(b"BZh", "a bzip2 file", _UNPACK),
    _Known(b"\xfd7zXZ\0", "an xz file", _UNPACK),
    _Known(b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    _Known(b"Rar!", "a RAR archive", _UNPACK),
    _Known(b"\x28\xb5\x2f\xfd", "a Zstandard file", _UNPACK),
    _Known(
        b"SQLite format 3\0",
        "a SQLite database, as a browser keeps it",
        "in the browser, " + _AS_HTML,
    ),
    _Known(
        b"mozLz40\0",
        "a compressed backup of Firefox",
        "in Firefox's library choose Import and Backup, then Backup, and import that JSON file",
    ),
    _Known(b"bplist00", "a property list, as Safari keeps it", "in Safari, " + _AS_HTML),
    _Known(b"%PDF", "a PDF", _AS_HTML),
)
_XML = re.compile(r"(?:<\?.*?\?>|<!--.*?-->|<!doctype[^>\[]*(?:\[.*?\])?[^>]*>|\s)*", re.I | re.S)
_XML_KINDS = {
    "xbel": "bookmarks in XBEL",
    "opml": "an OPML file",
    "rss": "an RSS feed",
    "feed": "an Atom feed",
    "plist": "a property list, as Safari keeps it",
    "svg": "a picture",
}
_ROOT = re.compile(r"<([A-Za-z]+)")
_CHROME = re.compile(r'"roots"\s*:\s*\{')
_FIREFOX = re.compile(r'"typeCode"\s*:|"text/x-moz-place')
_TYPED = re.compile(r'\{[^\n]*"type"\s*:\s*"(user|board|pin|interest|follow|like|comment)"')
_ADDRESSED = re.compile(rf'(?i)"(?:{"|".join(rows.ADDRESSES)})"\s*:')
_EMPTY_ARRAY = re.compile(r"\[\s*\]\s*")
_HTML_INSIDE = re.compile(r"(?i)<(!doctype|html|dl|dt|h3|a\s)")
_LINES = "import JSON Lines (one object in each line), or bookmarks in HTML"
READ = (
    "bookmarks in HTML, JSON backups of Firefox and Chrome, lists of links as JSON array or CSV, "
    "and JSON Lines are read"
)


def recognize(head: bytes) -> Format:
    """The format of a file with this beginning. Raises BadInput for a file that is not read."""
    refuse_binary(head)
    text = head.decode(text_encoding.sniff(head).codec, "ignore").lstrip("\ufeff").lstrip()
    if text.startswith("<"):
        return _of_markup(text)
    if text.startswith("["):
        return _of_array(text)
    if text.startswith("{"):
        return _of_object(text)
    if _HTML_INSIDE.search(text):
        return Format.HTML
    return _of_table(text)


def is_certain(head: bytes) -> bool:
    """Whether no further byte can change the format: the first line is one of JSON Lines. All
    other formats are files that end by themselves."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return text.startswith(b"{") and b"\n" in text and recognize(text) is Format.JSON_LINES


def is_plain(head: bytes) -> bool:
    """Whether the file has text, and no line in its beginning may be one of JSON Lines."""
    text = head.decode(text_encoding.sniff(head).codec, "ignore").lstrip("\ufeff").strip()
    return bool(text) and not any(line.lstrip().startswith("{") for line in text.splitlines())


def refuse_binary(head: bytes) -> None:
    """Raises BadInput for a file that is no text."""
    for known in _KNOWN:
        if head.startswith(known.begin):
            raise BadInput(f"the file is {known.what}: {known.instead}")
    if b"\0" in head and not text_encoding.sniff(head).codec.startswith("utf-16"):
        if _HTML_INSIDE.search(head.decode("latin-1")):
            return  # NULs in a file of tags are a fault that browsers ignore
        raise BadInput(f"the file holds binary data: {READ}")


def _of_markup(text: str) -> Format:
    start = _XML.match(text)
    root = _ROOT.match(text, start.end() if start else 0)
    kind = _XML_KINDS.get(root[1].lower()) if root else None
    if kind is not None:
        raise BadInput(f"the file is {kind}: {_AS_HTML}")
    return Format.HTML


def _of_array(text: str) -> Format:
    if _EMPTY_ARRAY.fullmatch(text):
        return Format.JSON_ARRAY
    if _TYPED.search(text) or not _ADDRESSED.search(text):
        raise BadInput(
            "the file is one JSON array, and its objects are no links with a url: write each "
            "object in a line of its own (jq -c '.[]' FILE), as docs/import.md describes them, or "
            f"{_AS_HTML}"
        )
    return Format.JSON_ARRAY


def _of_object(text: str) -> Format:
    if _TYPED.match(text):
        return Format.JSON_LINES
    if _CHROME.search(text):
        return Format.CHROME
    if _FIREFOX.search(text):
        return Format.FIREFOX
    first = text.partition("\n")[0].strip()
    if first == "{" and len(text) > len(first):
        raise BadInput(f"the file is one JSON object over many lines: {_LINES}")
    try:
        found = json.loads(first)
    except (ValueError, RecursionError):
        return Format.JSON_LINES  # its reader reports the line
    if any(isinstance(value, list | dict) for value in found.values()) and "type" not in found:
        raise BadInput(f"the file is a JSON document of another program: {_LINES}")
    return Format.JSON_LINES


def _of_table(text: str) -> Format:
    """CSV, if the first line has names of columns."""
    first = text.partition("\n")[0].rstrip("\r")
    delimiter = rows.delimiter_of(first)
    if delimiter is None:
        return Format.JSON_LINES
    try:
        names = next(csv.reader([first], delimiter=delimiter), [])
    except csv.Error:
        return Format.JSON_LINES
    if rows.Columns.named(names).address is None:
        raise BadInput(
            "the file is a table (CSV) without a column of addresses: name the columns in the "
            f"first line (url, title, note, folder, created), or {_AS_HTML}"
        )
    return Format.CSV
