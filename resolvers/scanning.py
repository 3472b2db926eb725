"""The number of entries that a request may read beyond the entries that its pages ask for.

A page of `first` entries reads `first` and one more. Where some can't be seen (they are secret, or
were deleted) it reads on for others. A list of which nothing can be seen would be read to its end,
so reading on is bounded, for each page and for all pages of a request together.
"""

MOST_A_PAGE = 300
MOST_A_REQUEST = 1_000
LEAST_AT_ONCE = 32
"""Rows of the first further read of a page; each later one has twice as many."""


class Scanning:
    """One request's rows that are left."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = MOST_A_REQUEST

    @property
    def used(self) -> int:
        """The rows that were taken."""
        return MOST_A_REQUEST - self.left

    def take(self, rows: int) -> int:
        """Take so many of the remaining rows, which are then used."""
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
        """How many rows to read now; 0 when the page has to end with the rows it has."""
        taken = self._scanning.take(min(self._next, MOST_A_PAGE - self._used))
        self._used += taken
        self._next *= 2
        return taken
