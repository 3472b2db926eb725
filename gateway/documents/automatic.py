"""The documents that clients registered by their hashes (Apollo's automatic persisted queries).

A client sends the SHA-256 hash of a document in place of the document. If the gateway does not know
the hash, the client sends both once. Every process has its own documents: a client that reaches
another process sends both there too. No document here is trusted: all are read and bounded
like documents that are sent in full.
"""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from sys import getsizeof

from gateway.documents.two_queues import TwoQueues

MOST_BYTES = 16 * 1024**2
"""The maximum size of all texts in a process."""


@dataclass(slots=True)
class _Text:
    text: str
    bytes: int
    grown: Callable[[int], None] | None = None

    def forget(self) -> None:
        """Nothing else refers to a text."""


class AutomaticDocuments:
    """At most `size` texts of at most `max_bytes` together. A client that registers many documents
    and uses each once evicts no document that is in use (`two_queues`)."""

    def __init__(self, size: int, max_bytes: int = MOST_BYTES) -> None:
        self._texts: TwoQueues[_Text] = TwoQueues(size, max_bytes)

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def bytes(self) -> int:
        """The size of all texts."""
        return self._texts.bytes

    def text(self, digest: str) -> str | None:
        """The text with this hash (hexadecimal, lower case); None if it is unknown."""
        found = self._texts.get(digest)
        return None if found is None else found.text

    def add(self, digest: str, text: str) -> None:
        """Register a text under its hash."""
        if self._texts.get(digest) is None:
            self._texts.put(digest, _Text(text, getsizeof(text) + getsizeof(digest)))


def digest_of(text: str) -> str:
    """The SHA-256 hash of a document's text in UTF-8: hexadecimal, lower case."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
