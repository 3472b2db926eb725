"""Reads the JSON documents in which browsers keep bookmarks: backups of Firefox, and the file
`Bookmarks` of Chrome and its relatives. They give the same events as bookmarks in HTML."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, Any, NamedTuple, TypeVar, cast

import msgspec

from datasources.errors import BadInput
from gateway.operate.imports import text_encoding
from gateway.operate.imports.bookmarks import MAX_DEPTH
from gateway.operate.imports.events import Event, Fault, Folder, Link, Trashed, dated, linked

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
T = TypeVar("T")
N = TypeVar("N")


class _Annotation(msgspec.Struct):
    name: str = ""
    value: Any = None


class _FirefoxNode(msgspec.Struct, rename="camel"):
    title: str | None = None
    uri: str | None = None
    root: str | None = None
    type: str | None = None
    type_code: int = 0
    date_added: Any = None
    last_modified: Any = None
    annos: list[_Annotation] | None = None
    children: "list[_FirefoxNode] | None" = None


class _ChromeNode(msgspec.Struct):
    name: str | None = None
    url: str | None = None
    date_added: Any = None
    date_modified: Any = None
    children: "list[_ChromeNode] | None" = None


class _ChromeFile(msgspec.Struct):
    roots: dict[str, Any]


class _Node(NamedTuple):
    """A bookmark (with an address) or a folder of either browser."""

    title: str
    href: str | None
    added: Any
    modified: Any
    description: str
    scaffold: bool
    children: Sequence[Any]


def read_firefox(file: IO[bytes]) -> Iterator[Event]:
    """The folders and bookmarks of a backup of Firefox. Raises BadInput."""
    found = document(file, _FirefoxNode)
    yield from _walk([found] if found.root != "placesRoot" else found.children or [], _of_firefox)


def read_chrome(file: IO[bytes]) -> Iterator[Event]:
    """The folders and bookmarks of Chrome's own file. Raises BadInput."""
    found = document(file, _ChromeFile).roots
    if isinstance(own := found.pop(_OPERA_ROOTS, None), dict):
        found |= own
    roots = {name: root for name, root in found.items() if isinstance(root, dict)}  # or a version
    try:
        nodes = msgspec.convert(roots, dict[str, _ChromeNode])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise _broken(error) from None
    trash = nodes.pop(_CHROME_TRASH, None)
    tops = {id(node) for node in nodes.values()}
    yield from _walk(nodes.values(), lambda node: _of_chrome(node, scaffold=id(node) in tops))
    if trash is not None:
        yield from _trashed(trash)


def document(file: IO[bytes], kind: type[T]) -> T:
    """A JSON document. Raises BadInput if it is broken, or too large."""
    data = file.read(MOST + 1)
    if len(data) > MOST:
        raise BadInput(
            f"a JSON document of over {MOST >> 20} MiB is not read: export the bookmarks as HTML"
        )
    encoding = text_encoding.sniff(data[: text_encoding.HEAD])
    try:
        return msgspec.json.decode(data.decode(encoding.codec).lstrip("\ufeff"), type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise _broken(error) from None


def _broken(error: Exception) -> BadInput:
    why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
    return BadInput(f"the JSON document can't be read ({why}): export the bookmarks again, as HTML")


def _of_firefox(node: _FirefoxNode) -> _Node | None:
    if node.root == _FIREFOX_TAGS:
        return None
    if node.type_code == _SEPARATOR or node.type == _SEPARATOR_TYPE:
        return None
    notes = [a.value for a in node.annos or () if a.name == _DESCRIPTION]
    return _Node(
        title=_FIREFOX_ROOTS.get(node.root or "", node.title or ""),
        href=(node.uri or "") if node.type_code == _LINK or node.uri is not None else None,
        added=node.date_added,
        modified=node.last_modified,
        description=str(notes[0] or "") if notes else "",
        scaffold=node.root in _FIREFOX_ROOTS,
        children=node.children or (),
    )


def _of_chrome(node: _ChromeNode, *, scaffold: bool) -> _Node:
    return _Node(
        title=node.name or "",
        href=node.url,
        added=node.date_added,
        modified=node.date_modified,
        description="",
        scaffold=scaffold,
        children=node.children or (),
    )


def _walk(roots: Iterable[N], read: Callable[[N], _Node | None]) -> Iterator[Event]:
    """The events of trees, without recursion. Their numbers count the bookmarks and folders."""
    count = links = 0
    open_lists: list[tuple[tuple[str, ...], Iterator[N]]] = [((), iter(roots))]
    while open_lists:
        path, rest = open_lists[-1]
        item = next(rest, None)
        if item is None:
            open_lists.pop()
            continue
        node = read(item)
        if node is None:
            continue
        count += 1
        added, fault = dated(count, "its date", _text(node.added))
        if fault is not None:
            yield fault
        title = " ".join(node.title.split())
        if node.href is not None:
            modified = 0 if added else dated(count, "its date", _text(node.modified))[0]
            link = Link(
                line=count,
                path=path,
                href=node.href,
                title=title,
                description=node.description,
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
            yield Folder(count, inside, node.scaffold, added, node.description)
        else:
            message = f"folders nested deeper than {MAX_DEPTH}: {title!r} joins its parent"
            yield Fault(count, message, kept=True)
        open_lists.append((inside, iter(cast(Sequence[N], node.children))))


def _trashed(trash: _ChromeNode) -> Iterator[Trashed]:
    """The links in the trash, at any depth, without recursion."""
    waiting = [trash]
    while waiting:
        node = waiting.pop()
        if node.url is not None:
            yield Trashed(0)
        waiting += node.children or ()


def _text(value: object) -> str:
    return str(value) if isinstance(value, str | int | float) and value else ""
