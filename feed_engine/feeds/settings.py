"""The feeds' settings: limits of sizes, and the races between the sides of their stores."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from datasources.clocks import now_ms
from datasources.protocols import Stores
from feed_engine.feeds.rows import Source
from feed_engine.feeds.visits import Span
from feed_engine.speculation import Race
from feed_engine.transactions import blocks
from feed_engine.transactions.blocks import Blocks


class Weights(NamedTuple):
    """The weights of the parts of a score that a visit adds (see `smart.ranking`)."""

    affinity: float = 0.5
    likes: float = 0.5


@dataclass(frozen=True)
class FeedSettings:
    """Sizes are in pins, unless stated otherwise."""

    following_cap: int = 1000  # pins in a following feed
    pool_cap: int = 1000  # pins in each pool of a user
    interest_cap: int = 1000  # pins in the pool of an interest
    interests: int = 10  # followed interests that a visit reads, at most
    popular_cap: int = 5000
    materialized_cap: int = 2000
    shown_days: int = 90  # days during which a shown pin is not shown again as new
    chunk: int = 25  # new pins in a visit
    owed_cap: int = 100  # pins added to a chunk to make up for missed chunks, at most
    backfill: int = 200  # newest pins that a follow puts into a pool
    related: int = 20  # related pins from each place that a like searches
    generator_seconds: float = 0.15  # seconds for improving a chunk by further reads
    explore: float = 0.0  # share of a chunk's places for new pins and new owners
    weights: Weights = field(default_factory=Weights)
    floor: float = -1200.0  # log2 of the interest below which a pin stays in its pool
    rates: Mapping[Source, int] = field(
        default_factory=lambda: {
            Source.FOLLOWED: 5,
            Source.INTEREST: 3,
            Source.RELATED: 2,
            Source.POPULAR: 0,  # fills what the other sources leave
        }
    )
    rates_power: float = 2.0  # how much a viewer's likes change the rates (see `smart.shares`)
    least_share: float = 0.1  # share of a source in the changed rates, at least


DEFAULTS = FeedSettings()
LOOK_AGAIN = 60_000  # ms
REMEMBERED = 10_000  # viewers and interests that a process remembers


class Passed(NamedTuple):
    """A visit's knowledge of the pools that its viewer shares with other viewers. `shown`: pins,
    and first pins of chains, that it read there and that were shown."""

    generation: int
    spans: Mapping[int, Span]
    shown: frozenset[int]


class Preferences(NamedTuple):
    """A viewer's preferences for the home feed: the pictures that are hidden, each by the first pin
    of its chain of repins; the users, boards and interests to see less or more of; and the users
    of whom no pins come. `blocks` are the users of whom the viewer sees nothing anywhere."""

    hidden: frozenset[int] = frozenset()
    less: frozenset[int] = frozenset()
    more: frozenset[int] = frozenset()
    muted: frozenset[int] = frozenset()
    blocks: Blocks = blocks.NONE


@dataclass
class Override:
    """Weights in place of the settings' weights; None: the settings' weights hold."""

    weights: Weights | None = None


@dataclass(frozen=True)
class Feeds:
    """The stores, a race for each pair of sides, the settings and a clock. Built once in a
    process."""

    stores: Stores
    pools_race: Race
    feeds_race: Race
    settings: FeedSettings = DEFAULTS
    clock: Callable[[], int] = now_ms
    learned: Override = field(default_factory=Override)
    """The weights that `pinway train` installed."""
    looked: dict[bytes, int] = field(default_factory=dict)
    """Row of a feed or pool → epoch ms at which this process last checked whether it needs a
    refill."""
    interests: dict[int, Sequence[int]] = field(default_factory=dict)
    """Viewer → the interests that the viewer's last visit in this process read."""
    filled: dict[int, bool] = field(default_factory=dict)
    """Viewer → whether the viewer's last visit in this process was filled up with popular pins."""

    passed: dict[int, Passed] = field(default_factory=dict)
    """Viewer → what the viewer's last visit in this process knew of shared pools."""
    preferences: dict[int, Preferences] = field(default_factory=dict)
    """Viewer → the viewer's preferences as this process last read them."""

    @property
    def weights(self) -> Weights:
        """The weights of new visits."""
        return self.learned.weights or self.settings.weights

    def looked_at(self, row: bytes) -> bool:
        """Whether a row was checked in the last LOOK_AGAIN ms."""
        # The clock may have been set back.
        return abs(self.clock() - self.looked.get(row, 0)) < LOOK_AGAIN

    def look(self, row: bytes) -> bool:
        """Whether to check a row now: at most once in LOOK_AGAIN ms."""
        if self.looked_at(row):
            return False
        _make_room(self.looked)
        self.looked[row] = self.clock()
        return True

    def remember_passed(self, viewer_id: int, passed: Passed) -> None:
        _make_room(self.passed)
        self.passed[viewer_id] = passed

    def remember_preferences(self, viewer_id: int, preferences: Preferences) -> None:
        _make_room(self.preferences)
        self.preferences[viewer_id] = preferences

    def remember_interests(self, viewer_id: int, interest_ids: Sequence[int]) -> None:
        _make_room(self.interests)
        self.interests[viewer_id] = interest_ids

    def remember_filled(self, viewer_id: int, filled: bool) -> None:
        _make_room(self.filled)
        self.filled[viewer_id] = filled


def _make_room(found: dict[Any, Any]) -> None:
    if len(found) >= REMEMBERED:
        del found[next(iter(found))]
