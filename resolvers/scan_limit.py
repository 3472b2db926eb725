"""Limits how many entries a request may read beyond the entries of its pages.

A page of `first` entries reads one more than `first`. If the viewer can't see some of them (they
are secret or deleted), it reads further entries. A list without any visible entry would be read to
its end, so further reads are limited, for each page and for all pages of a request together.
"""

MOST_A_PAGE = 300
MOST_A_REQUEST = 1_000
LEAST_AT_ONCE = 32
"""Rows of a page's first further read; each later read has twice as many."""


class Scanning:
    """The rows that one request may still read."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = MOST_A_REQUEST

    @property
    def used(self) -> int:
        """The rows that were taken."""
        return MOST_A_REQUEST - self.left

    def take(self, rows: int) -> int:
        """Take up to `rows` of the remaining rows. Returns the number."""
        taken = min(rows, self.left)
        self.left -= taken
        return taken


class Further:
    """The number of entries that one page has read beyond its own."""

    __slots__ = ("_next", "_scanning", "_used")

    def __init__(self, scanning: Scanning, size: int) -> None:
        self._scanning, self._used = scanning, 0
        self._next = max(size + 1, LEAST_AT_ONCE)

    def rows(self) -> int:
        """The number of rows to read now; 0 if the page must end with the rows that it has."""
        taken = self._scanning.take(min(self._next, MOST_A_PAGE - self._used))
        self._used += taken
        self._next *= 2
        return taken
