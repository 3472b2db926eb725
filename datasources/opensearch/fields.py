"""The fields of an index, and the names of indexes.

The words of a text are made here, not in the server, so that they are the words of the embedded
index. The server only splits them at spaces.
"""

import re
from typing import Any

from datasources.ids import kind_of
from datasources.protocols import Document
from datasources.tantivy.words import stems, words

VERSION = 4
"""The version of fields and words. Each version has indexes of its own, so processes of two
versions work side by side during an upgrade."""
STATE = "state"
"""The id of the document with the times of its index."""
LONGEST_START = 20
"""The letters of the longest beginnings of words that are indexed."""
TOMBSTONES = "10m"
"""How long a deleted document's version is known: longer than a writer that lost its right may have
a write on its way."""


def settings(shards: int) -> dict[str, Any]:
    """The settings of a new index. It is refreshed when it is complete."""
    return {
        "number_of_shards": shards,
        "auto_expand_replicas": "0-1",  # a copy, if there is a second node
        "refresh_interval": "-1",
        "gc_deletes": TOMBSTONES,
    }


def _words(**more: Any) -> dict[str, Any]:
    return {"type": "text", "analyzer": "whitespace", **more}


MAPPINGS: dict[str, Any] = {
    "dynamic": "strict",
    "_source": {"includes": ["built", "read_to"]},  # no text can be read from the index
    "properties": {
        "key": {"type": "keyword"},
        "group": {"type": "keyword"},
        "kind": {"type": "keyword", "doc_values": False},
        "board": {"type": "keyword", "doc_values": False},
        "weight": {"type": "double", "index": False},
        "title": _words(index_options="freqs"),
        "stems": _words(index_options="freqs"),
        "body": _words(index_options="freqs"),
        "starts": _words(index_options="docs", norms=False),
        "built": {"type": "long", "index": False},
        "read_to": {"type": "long", "index": False},
    },
}


def stored(document: Document) -> dict[str, Any]:
    """A document for the index."""
    title = words(document.title)
    starts = {word[:length] for word in title for length in range(1, LONGEST_START + 1)}
    return {
        "key": str(document.id),
        "group": str(document.group or document.id),
        "kind": kind_of(document.id).name,
        "board": str(document.board_id),
        "weight": document.weight,
        "title": " ".join(title),
        "stems": " ".join(stems(document.title)),
        "body": " ".join(stems(document.body)),
        "starts": " ".join(sorted(starts)),
    }


class Names:
    """The names of a prefix's indexes: the alias of the index in use, the indexes that were built
    (`PREFIX-vVERSION-BUILT-TOKEN`), and the index of the locks."""

    def __init__(self, prefix: str) -> None:
        self.alias = f"{prefix}-v{VERSION}"
        self.locks = f"{prefix}-locks"
        self.pattern = f"{prefix}-v*-*"
        self._built = re.compile(rf"{re.escape(prefix)}-v(\d+)-\d+-[0-9a-f]{{8}}")

    def new(self, built: int, token: str) -> str:
        return f"{self.alias}-{built}-{token}"

    def version(self, index: str) -> int | None:
        """The version of an index; None for an index that is not of this prefix."""
        found = self._built.fullmatch(index)
        return int(found[1]) if found else None
