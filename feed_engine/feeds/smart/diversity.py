"""How many pins of one owner or board may be near each other in a chunk.

A chunk has each picture (the root of repins) once, so it needs no limit of its own.
"""

from collections import Counter, deque
from collections.abc import Collection, Sequence
from itertools import islice

IN_A_ROW = 2  # neighboring pins of one group, at most
WINDOW = 25  # neighboring pins, a page of the home feed
MOST = 4  # pins of one group in a window, at most

Groups = Sequence[int]
"""The ids of a pin's groups: its owner and its board."""

LEVELS = range(3)
"""0: both limits hold. 1: the limit of a window gives way. 2: both limits give way."""


class Places:
    """The groups of the pins that were placed so far. `rare`: groups with one pin in a window, at
    most, whatever the level."""

    def __init__(self, rare: Collection[int] = ()) -> None:
        self._rare = rare
        self._last = deque[Groups]()
        self._counts = Counter[int]()
        self._run = frozenset[int]()

    def place(self, groups: Groups) -> None:
        """Add the next pin."""
        self._last.append(groups)
        self._counts.update(groups)
        if len(self._last) == WINDOW:
            self._counts.subtract(self._last.popleft())
        last = list(islice(reversed(self._last), IN_A_ROW))
        full = len(last) == IN_A_ROW
        self._run = frozenset(last[0]).intersection(*last[1:]) if full else frozenset()

    def has(self, group: int) -> bool:
        """Whether a pin of the group is in the window."""
        return self._counts[group] > 0

    def blocking(self, groups: Groups, level: int = 0) -> int | None:
        """A group for which a pin must not come next; None if there is none."""
        for group in groups:
            if self.blocks(group, level):
                return group
        return None

    def blocks(self, group: int, level: int = 0) -> bool:
        """Whether no pin of the group may come next."""
        if group in self._rare and self.has(group):
            return True
        many = level < 1 and self._counts[group] >= MOST
        return level < 2 and (many or group in self._run)


def is_diverse(chunk: Sequence[Groups]) -> bool:
    """Whether both limits hold for the pins of a chunk, which have these groups."""
    places = Places()
    for groups in chunk:
        if places.blocking(groups) is not None:
            return False
        places.place(groups)
    return True
