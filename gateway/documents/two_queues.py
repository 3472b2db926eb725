"""A cache in two queues: of documents that were used once, and of documents that were used again.
The algorithm is 2Q (Johnson and Shasha, VLDB 1994).

With one queue, from which the least recently used document is evicted, a client that sends each
document once fills the whole cache, and evicts the documents of all other clients. Here a new
document enters a small queue. It moves to the large queue when it is used again. The cache
remembers the digests of documents that left the small queue. If such a document is read again, it
enters the large queue at once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from typing import Generic, Protocol, TypeVar

SHARE = 8
"""New documents get an eighth of the cache. The newest document is kept though it may be larger."""


class Entry(Protocol):
    """A document in the cache."""

    bytes: int
    grown: Callable[[int], None] | None
    """Called with the number of bytes by which the document grew; None outside the cache."""

    def forget(self) -> None:
        """The document was evicted."""


E = TypeVar("E", bound=Entry)


class _Queue(Generic[E]):
    """Documents by text, the least recently used first, and the sum of their bytes."""

    def __init__(self, trim: Callable[[], None]) -> None:
        """`trim` is called when a document has grown."""
        self.entries: OrderedDict[str, E] = OrderedDict()
        self.bytes = 0
        self._trim = trim

    def add(self, text: str, entry: E) -> None:
        self.entries[text] = entry
        self.bytes += entry.bytes
        entry.grown = self._grown

    def remove(self, text: str) -> E | None:
        entry = self.entries.pop(text, None)
        if entry is not None:
            self.bytes -= entry.bytes
        return entry

    def pop(self) -> tuple[str, E]:
        """Remove the least recently used document."""
        text, entry = self.entries.popitem(last=False)
        self.bytes -= entry.bytes
        return text, entry

    def _grown(self, taken: int) -> None:
        self.bytes += taken
        self._trim()


class TwoQueues(Generic[E]):
    """At most `size` documents of at most `max_bytes` together."""

    def __init__(self, size: int, max_bytes: int) -> None:
        self._size, self._max_bytes = size, max_bytes
        self._new, self._used = _Queue[E](self._trim), _Queue[E](self._trim)
        self._left: OrderedDict[bytes, None] = OrderedDict()
        """The digests of the last documents that left the queue of new ones, `size` at most."""
        self.evictions = 0

    def __len__(self) -> int:
        return len(self._new.entries) + len(self._used.entries)

    @property
    def bytes(self) -> int:
        """The size of all documents."""
        return self._new.bytes + self._used.bytes

    def get(self, text: str) -> E | None:
        """Returns the document of this text, which is used now; None if it is not in the cache."""
        entry = self._used.entries.get(text)
        if entry is not None:
            self._used.entries.move_to_end(text)
            return entry
        entry = self._new.remove(text)
        if entry is not None:
            self._used.add(text, entry)
        return entry

    def put(self, text: str, entry: E) -> None:
        """Add a document that is not in the cache. A document larger than the cache is left out."""
        if entry.bytes > self._max_bytes:
            return
        digest = digest_of(text)
        is_known = digest in self._left
        if is_known:
            del self._left[digest]
        (self._used if is_known else self._new).add(text, entry)
        self._trim()

    def _trim(self) -> None:
        new, used = self._new, self._used
        while True:
            is_over = len(new.entries) > 1 and (
                len(new.entries) * SHARE > self._size or new.bytes * SHARE > self._max_bytes
            )
            if not is_over and len(self) <= self._size and self.bytes <= self._max_bytes:
                return
            is_new = is_over or not used.entries
            text, entry = (new if is_new else used).pop()
            if is_new:
                self._left[digest_of(text)] = None
                if len(self._left) > self._size:
                    self._left.popitem(last=False)
            self.evictions += 1
            entry.grown = None
            entry.forget()


def digest_of(text: str) -> bytes:
    """Returns a short digest that identifies a text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
