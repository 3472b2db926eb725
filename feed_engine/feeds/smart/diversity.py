"""How many pins of one owner or board may be near each other in a chunk.

A chunk has each picture (the root of repins) once, so it needs no limit of its own.
"""

from collections import defaultdict, deque
from collections.abc import Collection, Sequence

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
        self._counts = defaultdict[int, int](int)
        self._run: Collection[int] = ()
        self._blocked: tuple[set[int], ...] = tuple(set() for _ in LEVELS)

    def place(self, groups: Groups) -> Collection[int]:
        """Add the next pin. Returns the groups that were blocked before, and aren't now."""
        last, counts = self._last, self._counts
        leaving = last.popleft() if len(last) == WINDOW - 1 else ()
        changed = {*groups, *leaving, *self._run}
        last.append(groups)
        for group in groups:
            counts[group] += 1
        for group in leaving:
            counts[group] -= 1
        self._run = _run(last)
        blocked = self._blocked[0]
        before = blocked & changed
        for group in changed:
            self._judge(group)
        return before - blocked

    def _judge(self, group: int) -> None:
        """Tell for each level whether a pin of the group may come next."""
        alone = group in self._rare and self._counts[group] > 0
        blocks = (
            alone or group in self._run or self._counts[group] >= MOST,
            alone or group in self._run,
            alone,
        )
        for blocked, is_blocked in zip(self._blocked, blocks, strict=True):
            if is_blocked:
                blocked.add(group)
            else:
                blocked.discard(group)

    def has(self, group: int) -> bool:
        """Whether a pin of the group is in the window."""
        return self._counts[group] > 0

    def blocking(self, groups: Groups, level: int = 0) -> int | None:
        """A group for which a pin must not come next; None if there is none."""
        blocked = self._blocked[level]
        for group in groups:
            if group in blocked:
                return group
        return None

    def blocks(self, group: int, level: int = 0) -> bool:
        """Whether no pin of the group may come next."""
        return group in self._blocked[level]


def _run(last: Sequence[Groups]) -> Collection[int]:
    """The groups that all of the last pins have, if there are as many as may be in a row."""
    if len(last) < IN_A_ROW:
        return ()
    return frozenset(last[-1]).intersection(*(last[-n] for n in range(2, IN_A_ROW + 1)))


def is_diverse(chunk: Sequence[Groups]) -> bool:
    """Whether both limits hold for the pins of a chunk, which have these groups."""
    places = Places()
    for groups in chunk:
        if places.blocking(groups) is not None:
            return False
        places.place(groups)
    return True
