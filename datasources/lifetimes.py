"""How long a cache server keeps an entry: a random part less than the longest time, so that entries
which were filled together, after a restart of the cache, are not all filled again together.
"""

from random import Random

SPREAD = 0.1
"""The largest part by which a life is shorter than the longest."""


def lifetime(longest: int, rng: Random) -> int:
    """A time from 90% to 100% of the longest one, in its unit."""
    return longest - rng.randrange(int(longest * SPREAD) + 1)
