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
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
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
    rates: Mapping[Source, int],
    floor: float,
    excluded: Collection[int] = (),
    shown: Collection[int] = (),
    root_of: Callable[[Candidate], int] = lambda c: c.root_id or c.pin_id,
    groups_of: Callable[[Candidate], Groups] = board_of,
    rare: Collection[int] = (),
) -> Iterator[Candidate]:
    """Yields candidates until none is left. No two are of the same picture; none is excluded or
    scored below the floor. A picture is a pin and its repins. `shown` are the pins, and the first
    pins of chains, that earlier visits showed.

    Each pool is sorted, best first. A source with rate 0 fills what the other sources leave,
    without regard to the floor, so that no feed is empty. While other pins are left, fillers among
    them, the limits of `diversity` hold. Of `rare` groups, a window has one pin at most, whatever
    is left. The same input gives the same candidates.
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
    while True:
        for level, sources in steps:
            if heads := {s: n for s in sources if (n := lines[s].head(level)) is not None}:
                break
        else:
            return
        for source in heads:
            credit[source] += rates[source]
        richest = max(heads, key=lambda s: (credit[s], -s))
        credit[richest] -= sum(rates[source] for source in heads)
        best, ids, groups = lines[richest].take(heads[richest])
        taken.update(ids)
        for group in places.place(groups):
            for each in lines.values():
                each.release(group)
        yield best


def _fillers(rates: Mapping[Source, int]) -> list[list[Source]]:
    return [[source] for source in rates if rates[source] == 0]


class _Line:
    """A source's candidates that are left, best first. A candidate that is held back waits under
    the group for which it is, so that a head is found without looking at all that wait.
    Candidates are named by their numbers in the pool."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        taken: Set[int],
        places: Places,
        root_of: Callable[[Candidate], int],
        groups_of: Callable[[Candidate], Groups],
    ) -> None:
        self._candidates, self._taken, self._places = candidates, taken, places
        self._root_of, self._groups_of = root_of, groups_of
        self._next = 0  # the first candidate that was not looked at
        self._ids: list[tuple[int, int]] = []  # the pin and the root of each that was looked at
        self._groups: list[Groups] = []
        self._held: dict[int, list[int]] = defaultdict(list)  # group → sorted numbers
        self._open: set[int] = set()  # groups of `_held` that may no longer be blocked

    def release(self, group: int) -> None:
        """Look again at the candidates that wait under a group."""
        if group in self._held:
            self._open.add(group)

    def take(self, number: int) -> tuple[Candidate, tuple[int, int], Groups]:
        """The candidate, its pin and root, and its groups."""
        return self._candidates[number], self._ids[number], self._groups[number]

    def head(self, level: int) -> int | None:
        """The best candidate of a picture that is not taken, if it may come next at this level."""
        waiting = self._held if level else self._open
        if waiting:
            free = [n for g in tuple(waiting) if (n := self._free(g, level)) is not None]
            if free:
                return min(free)
        blocking, taken = self._places.blocking, self._taken
        while (number := self._next) < len(self._candidates):
            if number == len(self._ids):
                c = self._candidates[number]
                self._ids.append((c.pin_id, self._root_of(c)))
                self._groups.append(self._groups_of(c))
            if taken.isdisjoint(self._ids[number]):
                group = blocking(self._groups[number], level)
                if group is None:
                    return number
                insort(self._held[group], number)
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
        if not held or self._places.blocks(group):
            self._open.discard(group)
        if self._places.blocks(group, level):
            return None
        for number in tuple(held):
            if self._is_taken(number):
                continue
            blocking = self._places.blocking(self._groups[number], level)
            if blocking is None:
                return number
            if level == 0:
                held.remove(number)
                insort(self._held[blocking], number)
        return None

    def _is_taken(self, number: int) -> bool:
        return not self._taken.isdisjoint(self._ids[number])
