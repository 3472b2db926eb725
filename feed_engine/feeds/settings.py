"""The parts of the feeds besides the stores: their races, and all limits of sizes."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from datasources.protocols import Stores
from feed_engine.feeds.rows import Source
from feed_engine.speculation import Race


@dataclass(frozen=True)
class FeedSettings:
    """Sizes in pins, unless said otherwise."""

    following_cap: int = 1000  # of a following feed
    pool_cap: int = 1000  # of each pool of a user
    interest_cap: int = 1000  # of the pool of an interest
    interests: int = 10  # followed interests that a visit reads at most
    popular_cap: int = 5000
    materialized_cap: int = 2000
    shown_days: int = 90  # that a pin which was shown is not shown again as new
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
LOOK_AGAIN = 60_000  # ms
REMEMBERED = 10_000  # viewers and interests that a process remembers


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
    """Viewer or interest → epoch ms of when this process last asked whether their row is to be
    filled."""
    interests: dict[int, Sequence[int]] = field(default_factory=dict)
    """Viewer → the interests that their last visit in this process read."""
    filled: dict[int, bool] = field(default_factory=dict)
    """Viewer → whether their last visit in this process was filled up with popular pins."""

    def look(self, id: int) -> bool:
        """Whether to ask now: a row is asked about once in a while."""
        now = self.clock()
        if now - self.looked.get(id, 0) < LOOK_AGAIN:
            return False
        _make_room(self.looked)
        self.looked[id] = now
        return True

    def remember_interests(self, viewer_id: int, interest_ids: Sequence[int]) -> None:
        _make_room(self.interests)
        self.interests[viewer_id] = interest_ids

    def remember_filled(self, viewer_id: int, filled: bool) -> None:
        _make_room(self.filled)
        self.filled[viewer_id] = filled


def _make_room(found: dict[int, Any]) -> None:
    if len(found) >= REMEMBERED:
        del found[next(iter(found))]
