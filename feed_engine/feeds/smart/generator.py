"""The content generator: how many new pins of each source a chunk takes, and in which order.

Sources are interleaved by smooth weighted round robin (as nginx balances its upstreams). In each
turn, every source that has pins left gains its rate; the source with the highest balance gives its
best pin and pays the sum of the rates. So the rates hold over any part of the chunk, and a source
that runs out leaves its turns to the other sources.

A pin is held back while too many pins of its owner or its board are near (`diversity`), and comes
as soon as it may. If all pins that are left are held back, the limits give way, so that the chunk
is full. A pin that finds no place stays in its pool for a later visit.
"""

from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from feed_engine.feeds.rows import Reason, Source
from feed_engine.feeds.smart.diversity import LEVELS, Groups, Places


class Candidate(NamedTuple):
    """A pin in a pool: its score there, and what put it there."""

    pin_id: int
    score: float
    source: Source
    reason: Reason
    cause_id: int
    board_id: int = 0  # the board that the pin was on; 0 if unknown
    root_id: int = 0  # the first pin of its chain of repins, as far as the cell says


def board_of(c: Candidate) -> Groups:
    """The candidate's groups, as far as the cell says."""
    return (c.board_id,) if c.board_id else ()


def generate(
    pools: Mapping[Source, Sequence[Candidate]],
    *,
    size: int,
    rates: Mapping[Source, int],
    floor: float,
    excluded: Collection[int] = (),
    shown: Collection[int] = (),
    root_of: Callable[[Candidate], int] = lambda c: c.root_id or c.pin_id,
    groups_of: Callable[[Candidate], Groups] = board_of,
    rare: Collection[int] = (),
) -> list[Candidate]:
    """Up to `size` candidates. No two are of the same picture; none is excluded or scored below the
    floor. A picture is a pin and its repins. `shown` are the pins, and the first pins of chains,
    that earlier visits showed.

    Each pool is sorted, best first. A source with rate 0 fills what the other sources leave,
    without regard to the floor, so that no feed is empty. While other pins are left, fillers among
    them, the limits of `diversity` hold. Of `rare` groups, a window has one pin at most, whatever
    is left. The same input gives the same chunk.
    """
    taken, places = set(shown), Places(rare)

    def line(source: Source) -> _Line:
        fit = [c for c in pools.get(source, ()) if c.pin_id not in excluded]
        mixed = [c for c in fit if c.score >= floor] if rates[source] else fit
        return _Line(mixed, taken, places, root_of, groups_of)

    lines = {source: line(source) for source in sorted(rates)}
    credit = dict.fromkeys(lines, 0)
    mixed = [source for source in lines if rates[source] > 0]
    steps = [(level, some) for level in LEVELS for some in (mixed, *_fillers(rates))]
    chunk: list[Candidate] = []
    while len(chunk) < size:
        for level, sources in steps:
            if heads := {s: c for s in sources if (c := lines[s].head(level)) is not None}:
                break
        else:
            return chunk
        for source in heads:
            credit[source] += rates[source]
        richest = max(heads, key=lambda s: (credit[s], -s))
        credit[richest] -= sum(rates[source] for source in heads)
        best = heads[richest]
        taken |= {best.pin_id, root_of(best)}
        places.place(groups_of(best))
        chunk.append(best)
    return chunk


def _fillers(rates: Mapping[Source, int]) -> list[list[Source]]:
    return [[source] for source in rates if rates[source] == 0]


class _Line:
    """A source's candidates that are left, best first. A candidate that is held back waits under
    the group for which it is, so that a head is found without looking at all that wait."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        taken: Collection[int],
        places: Places,
        root_of: Callable[[Candidate], int],
        groups_of: Callable[[Candidate], Groups],
    ) -> None:
        self._candidates, self._taken, self._places = candidates, taken, places
        self._root_of, self._groups_of = root_of, groups_of
        self._next = 0  # the first candidate that was not looked at
        self._held: dict[int, list[int]] = defaultdict(list)  # group → sorted numbers

    def head(self, level: int) -> Candidate | None:
        """The best candidate of a picture that is not taken, if it may come next at this level."""
        free = [n for group in list(self._held) if (n := self._free(group, level)) is not None]
        if free:
            return self._candidates[min(free)]
        while self._next < len(self._candidates):
            number, c = self._next, self._candidates[self._next]
            if not self._is_taken(number):
                blocking = self._places.blocking(self._groups_of(c), level)
                if blocking is None:
                    return c
                insort(self._held[blocking], number)
            self._next += 1
        return None

    def _free(self, group: int, level: int) -> int | None:
        """The best of the candidates that wait under a group, if it may come next. A candidate that
        must wait for another of its groups waits there from now on."""
        held = self._held[group]
        while held and self._is_taken(held[0]):
            del held[0]
        if not held:
            del self._held[group]
            return None
        if self._places.blocks(group, level):
            return None
        for number in tuple(held):
            if self._is_taken(number):
                continue
            blocking = self._places.blocking(self._groups_of(self._candidates[number]), level)
            if blocking is None:
                return number
            if level == 0:
                held.remove(number)
                insort(self._held[blocking], number)
        return None

    def _is_taken(self, number: int) -> bool:
        c = self._candidates[number]
        return c.pin_id in self._taken or self._root_of(c) in self._taken
