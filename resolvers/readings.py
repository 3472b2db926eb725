"""Reads a root field of an operation again if pins moved between boards during the first reading.

Work that must happen once (a mutation's write, the visit that a home feed begins) is kept from the
first reading: the same fields request it in the same order each time.
"""

from dataclasses import dataclass
from typing import Any

from datasources.errors import Conflict
from loaders import Loaders

READINGS = 5
"""The maximum number of readings of a field."""
TORN = (
    "Pins were moved from board to board whenever this was read: one of them may be shown on two "
    "boards, or on none. Read it again."
)


@dataclass(slots=True)
class Kept:
    """The value that a field keeps from one reading for the next. None before the first reading."""

    value: Any = None


class Readings:
    """The readings of one request. `torn` says that a field still shows several moments, between
    which pins were moved, after its last reading: a pin may be on two boards, or on none."""

    def __init__(self, loaders: Loaders) -> None:
        self._loaders = loaders
        self._number = 1
        self._kept: list[Kept] = []
        self._asked = 0
        self.torn = False

    def once(self) -> Kept:
        """The value that the caller kept in the previous reading."""
        if self._asked == len(self._kept):
            self._kept.append(Kept())
        self._asked += 1
        return self._kept[self._asked - 1]

    @property
    def fault(self) -> Conflict | None:
        """The error of an answer with a field that is `torn`."""
        return Conflict(TORN) if self.torn or self._loaders.torn else None

    def again(self) -> bool:
        """Whether the field that was just read, with all fields below it, must be read again."""
        self._asked = 0
        if self._loaders.torn:
            self._loaders.read_again()
            if self._number < READINGS:
                self._number += 1
                return True
            self.torn = True
        self._number = 1
        self._kept.clear()
        return False
