"""Scores of pins, as logarithms to base 2, which never need to be recomputed.

The interest in a pin is modelled as `weight * 2 ** (-age / HALF_LIFE)`. Its logarithm is
`log2(weight) + created / HALF_LIFE - now / HALF_LIFE`. The last term is the same for all pins, so
it is left out, and pins keep their order as time passes. Reddit's published "hot" rank has the same
form (log10 of the votes, plus the seconds of creation / 45,000).
"""

from math import log2

from feed_engine.feeds.rows import Reason
from feed_engine.times import DAY

HALF_LIFE = 3 * DAY

WEIGHTS = {
    Reason.FOLLOWED_USER: 1.0,
    Reason.FOLLOWED_BOARD: 1.5,  # chosen from all pins that its owner collects
    Reason.FOLLOWED_INTEREST: 0.6,
    Reason.RELATED: 0.8,
}


def fresh(reason: Reason, created: int) -> float:
    """log2(weight of the reason) + created / HALF_LIFE, for a pin created at an epoch ms."""
    return log2(WEIGHTS[reason]) + created / HALF_LIFE


def related(created: int, liked_at: int) -> float:
    """The score of a related pin: as fresh as the like, and halved each time that the pin's age at
    the like doubles beyond a week."""
    weeks = max(0, liked_at - created) / (7 * DAY)
    return fresh(Reason.RELATED, liked_at) - log2(1 + weeks)


def hot(likes: int, created: int) -> float:
    """log2(1 + likes) + created / HALF_LIFE: twice the likes outweigh one half-life."""
    return log2(1 + likes) + created / HALF_LIFE
