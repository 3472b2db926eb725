"""The content generator: how many new pins of each source a chunk takes, and in which order.

Sources are interleaved by smooth weighted round robin (as nginx balances its upstreams). In each
turn, every source that has pins left gains its rate; the source with the highest balance gives its
best pin and pays the sum of the rates. So the rates hold over any part of the chunk, and a source
that runs out leaves its turns to the other sources.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from feed_engine.feeds.rows import Reason, Source


class Candidate(NamedTuple):
    """A pin in a pool: its score there, and what put it there."""

    pin_id: int
    score: float
    source: Source
    reason: Reason
    cause_id: int
    board_id: int = 0  # the board that the pin was on; 0 if unknown
    root_id: int = 0  # the first pin of its chain of repins, as far as the cell says


def generate(
    pools: Mapping[Source, Sequence[Candidate]],
    *,
    size: int,
    rates: Mapping[Source, int],
    floor: float,
    excluded: Collection[int] = (),
    shown: Collection[int] = (),
    root_of: Callable[[Candidate], int] = lambda c: c.root_id or c.pin_id,
) -> list[Candidate]:
    """Up to `size` candidates. No two are of the same picture; none is excluded or scored below the
    floor. A picture is a pin and its repins. `shown` are the pins, and the first pins of chains,
    that earlier visits showed.

    Each pool is sorted, best first. A source with rate 0 fills what the other sources leave,
    without regard to the floor, so that no feed is empty. The same input gives the same chunk.
    """
    taken = set(shown)
    fit = {s: [c for c in some if c.pin_id not in excluded] for s, some in pools.items()}
    mixed = {s: [c for c in fit.get(s, ()) if c.score >= floor] for s in rates if rates[s] > 0}
    chunk = _interleave(mixed, rates, size, taken, root_of)
    for source in (s for s in rates if rates[s] == 0):
        left = size - len(chunk)
        chunk += _interleave({source: fit.get(source, ())}, {source: 1}, left, taken, root_of)
    return chunk


def _interleave(
    pools: Mapping[Source, Sequence[Candidate]],
    rates: Mapping[Source, int],
    size: int,
    taken: set[int],
    root_of: Callable[[Candidate], int],
) -> list[Candidate]:
    rest = {source: iter(pools[source]) for source in sorted(pools)}

    def best_of(source: Source) -> tuple[Candidate, int] | None:
        """The source's next candidate of a picture that is not taken, and its root."""
        for c in rest[source]:
            if c.pin_id not in taken and (root := root_of(c)) not in taken:
                return c, root
        return None

    heads = {source: head for source in rest if (head := best_of(source)) is not None}
    credit = dict.fromkeys(heads, 0)
    chunk: list[Candidate] = []
    while heads and len(chunk) < size:
        for source in heads:
            credit[source] += rates[source]
        richest = max(heads, key=lambda s: (credit[s], -s))
        credit[richest] -= sum(rates[source] for source in heads)
        best, root = heads[richest]
        taken |= {best.pin_id, root}
        chunk.append(best)
        for source, (c, root_of_c) in list(heads.items()):
            if c.pin_id in taken or root_of_c in taken:
                if (head := best_of(source)) is None:
                    del heads[source]
                else:
                    heads[source] = head
    return chunk
