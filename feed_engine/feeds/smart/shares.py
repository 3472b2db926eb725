"""A viewer's shares: how many pins of each source a visit shows, learned from the viewer's likes.

The settings have a rate for each source, which holds for a viewer of whom nothing is known. The
pins that recent visits showed, and the viewer's likes of these pins, tell which sources the viewer
likes. A source that the viewer likes more than the other sources gets a larger share:

    like rate    (likes + PRIOR x mean) / (shown + PRIOR), where the mean is the viewer's like rate
                 over all sources: a few likes do not swing it
    weight       the source's rate x (like rate / mean) ^ power
    share        the weight's part of all weights, but at least `least`: the viewer's taste may
                 change, and a source that is never shown can't be liked

The weight of a visit halves in HALF_LIFE.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from datasources.mappings import SEQUENCE_STEP, Edge, ListKey, PageRequest
from datasources.mappings import Mapping as Lists
from feed_engine.feeds.rows import Reason, Source
from feed_engine.feeds.visits import Remembered
from feed_engine.times import DAY, MINUTE

HALF_LIFE = 14 * DAY
PRIOR = 25.0
"""The shown pins for which the viewer's mean like rate stands in each source."""
SKEW = MINUTE
"""By which the clock that dates a like may be behind the clock that dated the visit."""
READ = 100
"""The likes that a visit reads: the newest."""
PARTS = 1000
"""The sum of learned rates, up to rounding."""

Rates = Mapping[Source, int]

SOURCES = {
    Reason.FOLLOWED_USER: Source.FOLLOWED,
    Reason.FOLLOWED_BOARD: Source.FOLLOWED,
    Reason.FOLLOWED_INTEREST: Source.INTEREST,
    Reason.RELATED: Source.RELATED,
    Reason.POPULAR: Source.POPULAR,
}


class Likes(NamedTuple):
    """A viewer's newest likes. `at`: pin → epoch ms. `since`: epoch ms from which on they are
    complete."""

    at: Mapping[int, int] = {}
    since: int = 0


class Tally(NamedTuple):
    """The number of pins of a source that recent visits showed, and of the pins among them that the
    viewer liked since. Both are decayed by age."""

    shown: float = 0.0
    liked: float = 0.0


class Shares(NamedTuple):
    """The rates of a visit, and what they were learned from."""

    rates: Rates
    tallies: Mapping[Source, Tally] = {}


def request(viewer_id: int) -> PageRequest:
    """The list of the viewer's newest likes."""
    return PageRequest(ListKey(Lists.USER_LIKES_PINS, viewer_id), READ)


def of_page(page: Sequence[Edge]) -> Likes:
    """The likes that the list of `request` holds."""
    at = {edge.to_id: edge.sequence // SEQUENCE_STEP for edge in page}
    return Likes(at, min(at.values()) if len(page) == READ else 0)


def tallied(visits: Iterable[Remembered], likes: Likes, now: int) -> dict[Source, Tally]:
    """The tally of each source, as of an epoch ms. A visit that is older than the known likes tells
    nothing."""
    found: dict[Source, Tally] = {}
    for visit in visits:
        if visit.created < likes.since:
            continue
        weight = float(0.5 ** (max(0, now - visit.created) / HALF_LIFE))
        roots = visit.chunk.roots
        for pin_id, reason in visit.chunk.pins:
            ids = (pin_id, roots.get(pin_id, pin_id))
            is_liked = any(likes.at.get(id, -1) >= visit.created - SKEW for id in ids)
            shown, liked = found.get(source := SOURCES[reason], Tally())
            found[source] = Tally(shown + weight, liked + weight * is_liked)
    return found


def learned(rates: Rates, tallies: Mapping[Source, Tally], *, power: float, least: float) -> Rates:
    """The viewer's rates. A source with rate 0 keeps it. No other source's share is below `least`,
    or below its share by `rates` if that is lower. The rates stay as they are without likes, and
    with the power 0."""
    mixed = {source: rate for source, rate in rates.items() if rate > 0}
    there = {source: tallies.get(source, Tally()) for source in mixed}
    shown, liked = (sum(tally[n] for tally in there.values()) for n in range(2))
    if not liked or not power:
        return rates
    mean = liked / shown
    weights = {
        source: mixed[source] * ((tally.liked / mean + PRIOR) / (tally.shown + PRIOR)) ** power
        for source, tally in there.items()
    }
    total = sum(mixed.values())
    floors = {source: min(least, rate / total) for source, rate in mixed.items()}
    shares = _above(weights, floors)
    return {
        source: max(1, round(PARTS * shares[source])) if rate else 0
        for source, rate in rates.items()
    }


def _above(weights: Mapping[Source, float], floors: Mapping[Source, float]) -> dict[Source, float]:
    """The weights' parts of their sum. Parts below their floors are raised to them, at the cost of
    the other parts, in proportion."""
    raised: dict[Source, float] = {}
    while True:
        rest = {source: weight for source, weight in weights.items() if source not in raised}
        left, total = 1 - sum(raised.values()), sum(rest.values())
        parts = {source: left * weight / total for source, weight in rest.items()}
        low = [source for source, part in parts.items() if part < floors[source]]
        if not low:
            return raised | parts
        raised |= {source: floors[source] for source in low}
