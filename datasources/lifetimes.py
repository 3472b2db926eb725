"""How long a cache server keeps an entry: a random time up to 10% below the longest time. Entries
that were filled at the same time, after a restart of the cache, then don't all expire together."""

from random import Random

SPREAD = 0.1
"""The largest share by which a lifetime is shorter than the longest."""


def lifetime(longest: int, rng: Random) -> int:
    """A random time from 90% to 100% of `longest`, in the same unit."""
    return longest - rng.randrange(int(longest * SPREAD) + 1)
