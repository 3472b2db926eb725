"""The content of a file of bookmarks in its order, in any format: folders, links and faults."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from gateway.operate.imports import addresses, dates

_HALVES = re.compile("[\ud800-\udfff]")


class Folder(NamedTuple):
    """A folder that was opened. `path` has the names from the outermost folder inwards. `scaffold`
    is true for a browser's own folder (its toolbar, its other bookmarks), whose name is not the
    user's. A private folder's links are private."""

    line: int
    path: tuple[str, ...]
    scaffold: bool
    added: int  # epoch ms, 0 if unknown
    description: str
    private: bool = False


class Link(NamedTuple):
    """A link directly in folder `path` (empty: in no folder). `number` counts the file's links."""

    line: int
    path: tuple[str, ...]
    href: str
    title: str
    description: str
    added: int  # epoch ms, 0 if unknown
    number: int
    private: bool = False
    modified: int = 0  # epoch ms, 0 if unknown; it stands in for an unknown `added`
    usable: bool = True  # false: `href` is no web address, but a text for people


class Title(NamedTuple):
    """The file's own title."""

    text: str


class Fault(NamedTuple):
    """A fault of a line. `kept`: the line is imported all the same, as the message says."""

    line: int
    message: str
    kept: bool = False


class Trashed(NamedTuple):
    """A link that the user had thrown away: browsers of the Vivaldi and Opera families have a
    folder for such links. It is not imported."""

    line: int


Event = Folder | Link | Title | Fault | Trashed


def linked(link: Link) -> Iterator[Link | Fault]:
    """The link with its address as a browser reads it, and what is wrong with the address."""
    address = addresses.read(link.href)
    if not address.text:
        yield Fault(link.line, address.fault)
        return
    if address.fault:
        yield Fault(link.line, address.fault, kept=True)
    yield link._replace(href=address.text, usable=not address.fault)


def dated(line: int, name: str, text: str) -> tuple[int, Fault | None]:
    """Epoch milliseconds of the date in field `name` (0 if it is none), and what is wrong with
    it."""
    found = dates.milliseconds(text)
    if found is not None:
        return found, None
    message = (
        f"{name} is {text.strip()[:40]!r}, which is not {dates.FORMS}: "
        "the item is imported without its date"
    )
    return 0, Fault(line, message, kept=True)


def whole(line: int, *texts: str) -> tuple[tuple[str, ...], Fault | None]:
    """The texts of a line with U+FFFD in the place of lone surrogates, which are no characters, and
    what was wrong with them."""
    mended = tuple(_HALVES.sub("\ufffd", text) for text in texts)
    if mended == texts:
        return texts, None
    shown = next(filter(None, mended))[:40]
    message = f"{shown!r} has bytes or escapes that are no characters: U+FFFD stands in their place"
    return mended, Fault(line, message, kept=True)


def no_text(line: int, name: str, value: object) -> Fault:
    """The fault of a line whose address is a JSON value of another type."""
    return Fault(line, f"{name} is {str(value)[:40]!r}, which is no text: link left out")


def is_private(value: object) -> bool:
    """Whether a field "private" with this value says yes. Every word that does not clearly say no
    says yes, because a link that was private must not become public."""
    if isinstance(value, str):
        return value.strip().lower() not in ("0", "false", "no", "off")
    return bool(value)


def is_hidden(value: object) -> bool:
    """Whether a field "public" or "shared" with this value says no."""
    if isinstance(value, str):
        return value.strip().lower() in ("0", "false", "no", "off", "private")
    return value is not None and not value
