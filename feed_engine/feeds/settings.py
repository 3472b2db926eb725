"""The parts of the feeds besides the stores: their races, and all limits of sizes."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from datasources.protocols import Stores
from feed_engine.feeds.rows import Source
from feed_engine.speculation import Race


@dataclass(frozen=True)
class FeedSettings:
    """Sizes in pins, unless said otherwise."""

    following_cap: int = 1000  # of a following feed
    pool_cap: int = 1000  # of each pool of a user
    popular_cap: int = 5000
    materialized_cap: int = 2000
    chunk: int = 25  # new pins a visit
    owed_cap: int = 100  # added to a chunk at most, after chunks that were missed
    backfill: int = 200  # newest pins that go into a pool after a follow
    related: int = 20  # related pins from each of the places where a like finds some
    generator_seconds: float = 0.15  # that a chunk may be improved by reading on and choosing again
    floor: float = -1200.0  # log2 of the interest below which a pin stays in its pool
    rates: Mapping[Source, int] = field(
        default_factory=lambda: {
            Source.FOLLOWED: 5,
            Source.INTEREST: 3,
            Source.RELATED: 2,
            Source.POPULAR: 0,  # fills what the others leave
        }
    )


DEFAULTS = FeedSettings()


def epoch_ms() -> int:
    return time.time_ns() // 1_000_000


@dataclass(frozen=True)
class Feeds:
    """Built once a process: the stores, a race for each pair of sides, settings, a clock."""

    stores: Stores
    pools_race: Race
    feeds_race: Race
    settings: FeedSettings = DEFAULTS
    clock: Callable[[], int] = epoch_ms
    looked: dict[int, int] = field(default_factory=dict)
    """Viewer → epoch ms of when this process last asked whether their feed needs a refill."""
