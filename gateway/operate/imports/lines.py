"""The lines of an import, as its readers hand them to its two passes."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from gateway.operate.imports.events import Fault, Trashed
from gateway.operate.imports.jsonl import AnyLine, BadLine, canonical, decode

_FIELD = re.compile(r" - at `\$\.(\w+)`")
_PLACES = {
    "link": "HREF",
    "title": "the link's text",
    "name": "the folder's name",
    "description": "DD",
    "created": "ADD_DATE",
    "username": "the name after --as",
}
"""The places of fields in a file of bookmarks."""


class Entry(NamedTuple):
    """A valid line: its number (a line may have several entries) and its JSON. `adopt`: the user is
    the existing user with this user name, whatever the user's key. `private`: the line is a private
    link, which goes to a secret board."""

    line: int
    parsed: AnyLine
    data: bytes
    adopt: bool = False
    private: bool = False


Entries = Iterable[Entry | Fault | Trashed]


def entry(line: int, parsed: AnyLine, *, adopt: bool = False, private: bool = False) -> Entry:
    """A checked line of a file of bookmarks. Raises BadLine: a text may be too long for a field."""
    data = canonical(parsed)
    try:
        return Entry(line, decode(data), data, adopt, private)
    except BadLine as error:
        told = _FIELD.sub(lambda found: f" - in {_PLACES.get(found[1], found[1])}", str(error))
        raise BadLine(told) from None
