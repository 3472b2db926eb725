"""Chooses the names that are counted by themselves: the most frequent names of the clients.

A client may send any number of names, so only some can be kept. If the first names were kept, a
stranger who sends a few hundred would displace all others until the next start. Here a name that is
not kept is a candidate, and takes the place of the least frequent kept name when it is more
frequent. All scores are halved from time to time, so that names which nobody sends any more leave.

Candidates are counted as in Misra and Gries, "Finding repeated elements" (1982): when there are too
many of them, the score of each is halved, and the names with a score of 1 are forgotten. A flood of
new names thus displaces no name that comes more than once while the flood fills the table.
"""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Name = TypeVar("Name", bound=Hashable)

CANDIDATES = 10
"""Candidates for each kept name."""
GENERATION = 20
"""Counted events for each kept name, after which the scores are halved."""


class Frequent(Generic[Name]):
    """The `most` most frequent names. `left` is called with each name that is not kept any
    more."""

    def __init__(self, most: int, left: Callable[[Name], None]) -> None:
        self._most, self._left = most, left
        self._kept: dict[Name, int] = {}
        """The score of each kept name."""
        self._candidates: dict[Name, int] = {}
        self._least = 0
        """No kept name has a lower score. It may be too low: it is only computed when needed."""
        self._events = 0

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def candidates(self) -> int:
        """The names that may be kept later."""
        return len(self._candidates)

    def add(self, name: Name) -> bool:
        """Count an event with this name. Returns whether the name is kept."""
        self._events += 1
        if self._events >= GENERATION * self._most:
            self._begin_generation()
        score = self._kept.get(name)
        if score is not None:
            self._kept[name] = score + 1
            return True
        if len(self._kept) < self._most:
            self._kept[name] = self._candidates.pop(name, 0) + 1
            self._least = 0
            return True
        score = self._candidates.get(name, 0) + 1
        if score > self._least and self._replaces(score):
            self._candidates.pop(name, None)
            self._kept[name] = score
            return True
        if score == 1 and len(self._candidates) >= CANDIDATES * self._most:
            self._candidates = _halved(self._candidates)
        self._candidates[name] = score
        return False

    def _replaces(self, score: int) -> bool:
        """Make room for a name with this score, if a kept name has a lower one."""
        name = min(self._kept, key=self._kept.__getitem__)
        self._least = self._kept[name]
        if score <= self._least:
            return False
        self._candidates[name] = self._kept.pop(name)
        self._left(name)
        return True

    def _begin_generation(self) -> None:
        self._events, self._least = 0, 0
        # A candidate that came once has a score of 1, so it never replaces a kept name.
        self._kept = {name: max(1, score // 2) for name, score in self._kept.items()}
        self._candidates = _halved(self._candidates)


def _halved(scores: dict[Name, int]) -> dict[Name, int]:
    return {name: score // 2 for name, score in scores.items() if score > 1}
