"""A viewer's affinity to users, boards and interests, learned from likes and saves.

A like adds 1 to the affinity to the pin's owner, board and interests, and a save adds 2. What was
added halves each HALF_LIFE. An affinity is stored as its level: the time at which one like alone
would be as strong. So it never needs to be computed again as time passes, and the strongest
affinities are the first rows of a list that is sorted by level ("forward decay": Cormode et al.,
Forward Decay: A Practical Time Decay Model for Streaming Systems, 2009).
"""

from collections.abc import Iterable, Mapping
from math import log2

from datasources.mappings import SEQUENCE_STEP, Edge, ListKey, PageRequest
from datasources.mappings import Mapping as Lists
from feed_engine.times import DAY

HALF_LIFE = 30 * DAY
LIKE, SAVE = 1.0, 2.0
"""The amounts that a like and a save add."""
READ = 100
"""The affinities that a visit reads: the strongest."""
LEAST = 0.01
"""An affinity that a withdrawn like leaves below this is forgotten."""

Levels = Mapping[int, int]
"""The id of a user, board or interest → the level of the affinity, in epoch ms."""


def request(viewer_id: int) -> PageRequest:
    """The list of the viewer's strongest affinities."""
    return PageRequest(ListKey(Lists.USER_HAS_AFFINITIES, viewer_id), READ)


def of_page(page: Iterable[Edge]) -> Levels:
    """The affinities that the list of `request` holds."""
    return {edge.to_id: level_of(edge) for edge in page}


def level_of(edge: Edge) -> int:
    return edge.sequence // SEQUENCE_STEP


def strength(level: int, at: int) -> float:
    """The affinity at an epoch ms, in likes of that moment."""
    return float(2.0 ** ((level - at) / HALF_LIFE))


def changed(level: int | None, weight: float, at: int) -> int | None:
    """The level after a like or save of a weight at an epoch ms; before it was withdrawn, if the
    weight is negative. None: no affinity."""
    left = weight + (strength(level, at) if level is not None else 0.0)
    return at + round(HALF_LIFE * log2(left)) if left >= LEAST else None
