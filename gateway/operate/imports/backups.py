"""Reads the JSON documents in which browsers keep bookmarks: backups of Firefox, and the file
`Bookmarks` of Chrome and its relatives. They give the same events as bookmarks in HTML."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, NamedTuple, TypeVar

from datasources.errors import BadInput
from gateway.operate.imports import text_encoding
from gateway.operate.imports.bookmarks import MAX_DEPTH
from gateway.operate.imports.events import (
    Event,
    Fault,
    Folder,
    Link,
    Trashed,
    dated,
    linked,
    no_text,
    whole,
)

MOST = 128 << 20
"""Bytes of a document, at most. It is read as a whole, unlike a file in HTML."""
_LINK, _SEPARATOR = 1, 3  # Firefox's type codes
_SEPARATOR_TYPE = "text/x-moz-place-separator"  # older backups have no codes
_FIREFOX_ROOTS = {
    "bookmarksMenuFolder": "Bookmarks Menu",
    "toolbarFolder": "Bookmarks Toolbar",
    "unfiledBookmarksFolder": "Other Bookmarks",
    "mobileFolder": "Mobile Bookmarks",
}
"""The folders that Firefox makes, with their names in Firefox."""
_FIREFOX_TAGS = "tagsFolder"  # older backups: every tagged bookmark again, by its tags
_CHROME_TRASH = "trash"  # the key of Vivaldi's and Opera's trash, whatever its name on the screen
_OPERA_ROOTS = "custom_root"  # the key of Opera's own folders
_DESCRIPTION = "bookmarkProperties/description"
JsonObject = Mapping[str, Any]
T = TypeVar("T", dict[str, Any], list[Any])
_END = object()


class _Node(NamedTuple):
    """A bookmark (with an address) or a folder of either browser. Its fields may hold any JSON."""

    title: Any
    href: Any  # None in a folder
    added: Any
    modified: Any
    description: Any
    scaffold: bool
    children: Any


def read_firefox(file: IO[bytes]) -> Iterator[Event]:
    """The folders and bookmarks of a backup of Firefox. Raises BadInput."""
    found = document(file, dict)
    roots = _listed(found.get("children")) if found.get("root") == "placesRoot" else [found]
    yield from _walk(roots, _of_firefox)


def read_chrome(file: IO[bytes]) -> Iterator[Event]:
    """The folders and bookmarks of Chrome's own file. Raises BadInput."""
    found = document(file, dict).get("roots")
    roots = dict(found) if isinstance(found, dict) else {}
    if isinstance(own := roots.pop(_OPERA_ROOTS, None), dict):
        roots |= own
    trash = roots.pop(_CHROME_TRASH, None)
    tops = [root for root in roots.values() if isinstance(root, dict)]  # or a version
    ids = {id(root) for root in tops}
    yield from _walk(tops, lambda node: _of_chrome(node, scaffold=id(node) in ids))
    yield from _trashed(trash)


def document(file: IO[bytes], kind: type[T]) -> T:
    """A JSON document. Raises BadInput if it is broken, too large, or of another kind. Half of a
    surrogate pair stays in a text, and so does a byte that is wrong in UTF-8: as a lone surrogate.
    """
    data = file.read(MOST + 1)
    if len(data) > MOST:
        raise BadInput(
            f"a JSON document of over {MOST >> 20} MiB is not read: export the bookmarks as HTML"
        )
    try:
        found = json.loads(text_encoding.json_text(data))
    except RecursionError:
        raise _broken("it is nested too deeply") from None
    except ValueError as error:
        raise _broken(str(error)) from None
    if not isinstance(found, kind):
        raise _broken(f"it is no JSON {'array' if kind is list else 'object'}")
    return found


def _broken(why: str) -> BadInput:
    return BadInput(f"the JSON document can't be read ({why}): export the bookmarks again, as HTML")


def _of_firefox(node: JsonObject) -> _Node | None:
    root, uri = node.get("root"), node.get("uri")
    if root == _FIREFOX_TAGS:
        return None
    if node.get("typeCode") == _SEPARATOR or node.get("type") == _SEPARATOR_TYPE:
        return None
    notes = [
        note.get("value")
        for note in _listed(node.get("annos"))
        if isinstance(note, dict) and note.get("name") == _DESCRIPTION
    ]
    known = _FIREFOX_ROOTS.get(root) if isinstance(root, str) else None
    return _Node(
        title=known or node.get("title"),
        href="" if uri is None and node.get("typeCode") == _LINK else uri,
        added=node.get("dateAdded"),
        modified=node.get("lastModified"),
        description=notes[0] if notes else "",
        scaffold=known is not None,
        children=node.get("children"),
    )


def _of_chrome(node: JsonObject, *, scaffold: bool) -> _Node:
    return _Node(
        title=node.get("name"),
        href=node.get("url"),
        added=node.get("date_added"),
        modified=node.get("date_modified"),
        description="",
        scaffold=scaffold,
        children=node.get("children"),
    )


def _walk(roots: Iterable[Any], read: Callable[[JsonObject], _Node | None]) -> Iterator[Event]:
    """The events of trees, without recursion. Their numbers count the bookmarks and folders."""
    count = links = 0
    open_lists: list[tuple[tuple[str, ...], Iterator[Any]]] = [((), iter(roots))]
    while open_lists:
        path, rest = open_lists[-1]
        item = next(rest, _END)
        if item is _END:
            open_lists.pop()
            continue
        if not isinstance(item, dict):
            count += 1
            yield Fault(count, "it is no JSON object: left out")
            continue
        node = read(item)
        if node is None:
            continue
        count += 1
        added, fault = dated(count, "its date", _text(node.added))
        if fault is not None:
            yield fault
        if node.href is not None and not isinstance(node.href, str):
            yield no_text(count, "its address", node.href)
            continue
        (title, href, description), fault = whole(
            count, _text(node.title), node.href or "", _text(node.description)
        )
        if fault is not None:
            yield fault
        title = " ".join(title.split())
        if node.href is not None:
            modified = 0 if added else dated(count, "its date", _text(node.modified))[0]
            link = Link(
                line=count,
                path=path,
                href=href,
                title=title,
                description=description,
                added=added,
                number=links + 1,
                modified=modified,
            )
            for event in linked(link):
                links += isinstance(event, Link)
                yield event
            continue
        inside = path
        if len(path) < MAX_DEPTH:
            inside = (*path, title or "Untitled")
            yield Folder(count, inside, node.scaffold, added, description)
        else:
            message = f"folders nested deeper than {MAX_DEPTH}: {title!r} joins its parent"
            yield Fault(count, message, kept=True)
        open_lists.append((inside, iter(_listed(node.children))))


def _trashed(trash: Any) -> Iterator[Trashed]:
    """The links in the trash, at any depth, without recursion."""
    waiting = [trash]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, dict):
            continue
        if node.get("url") is not None:
            yield Trashed(0)
        waiting += _listed(node.get("children"))


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _text(value: object) -> str:
    known = isinstance(value, str | int | float) and not isinstance(value, bool)
    return str(value) if known and value else ""
