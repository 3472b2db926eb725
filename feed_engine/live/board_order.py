"""Puts the events of one board into the order of its order versions.

Writes are published after their commit, by any process, so two events may arrive in the wrong
order. An event whose predecessor has not come yet waits for it. If the predecessor never comes, the
reader of the stream must read the board again.
"""

from typing import NamedTuple

from feed_engine.live.events import BoardEvent
from feed_engine.live.shared import Shared

MOST_HELD = 64


class Placed(NamedTuple):
    """An event, its place in the board's log, and the values that its streams make of it."""

    event: BoardEvent
    place: str
    shared: Shared


class BoardOrder:
    """The events that follow an order version of a board."""

    __slots__ = ("_held", "version")

    def __init__(self, version: int) -> None:
        self.version = version
        self._held: dict[int, Placed] = {}

    @property
    def waits(self) -> bool:
        """Whether an event waits for its predecessor."""
        return bool(self._held)

    def take(self, placed: Placed) -> list[Placed]:
        """Take an event. Returns the events that can be delivered now, in their order. An event
        that was delivered before, or is older than the stream, is dropped."""
        event = placed.event
        if event.version == 0:  # the order did not change
            return [placed]
        if event.version <= self.version:
            return []
        if len(self._held) < MOST_HELD:
            self._held[event.before] = placed
        return self._next()

    def skip_to(self, version: int) -> list[Placed]:
        """Give up waiting: the reader has read the board at this version or a later one. Returns
        the events that follow."""
        self.version = max(self.version, version)
        later = self._held.items()
        self._held = {b: placed for b, placed in later if placed.event.version > self.version}
        return self._next()

    def _next(self) -> list[Placed]:
        ready: list[Placed] = []
        while (placed := self._held.pop(self.version, None)) is not None:
            ready.append(placed)
            self.version = placed.event.version
        return ready
