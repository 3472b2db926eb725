"""The order of a viewer's candidates within their source: what adds to a pin's score in its pool.

A score is a binary logarithm of the interest in a pin (see `scores`), so each part of it is a
factor of the interest:

    in the pool    the reason, and how new the pin is; both are known when the pin arrives
    affinity       log2(1 + the viewer's affinity to its owner, board and interests), weighted
    likes          log2(1 + its likes), weighted; popular pins have their likes in their score
    preferences    what the viewer wants to see less or more

The parts other than the first are computed at each visit. So a like, or a wish to see less, acts at
the next visit, whenever the pin came to its pool.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from math import log2
from typing import NamedTuple

from datasources.records import Pin
from feed_engine.feeds.affinity import Levels, strength
from feed_engine.feeds.preferences import NONE, bias, subjects
from feed_engine.feeds.rows import Source
from feed_engine.feeds.settings import Preferences, Weights
from feed_engine.feeds.smart.generator import Candidate
from feed_engine.feeds.visits import Features

BROUGHT_BY_FOLLOW = (Source.FOLLOWED, Source.INTEREST)


class Score(NamedTuple):
    """The parts of a candidate's score."""

    in_pool: float
    affinity: float = 0.0
    likes: float = 0.0
    preferences: float = 0.0

    @property
    def total(self) -> float:
        return sum(self)


@dataclass
class Ranking:
    """A viewer's order. `loaded`: the pins that were loaded. `likes`: pin → its likes, as far as
    they were counted."""

    weights: Weights
    loaded: Mapping[int, Pin]
    preferences: Preferences = NONE
    likes: dict[int, int] = field(default_factory=dict)
    _affinity: dict[int, float] = field(default_factory=dict)

    def learn(self, levels: Levels, now: int) -> None:
        """Use the viewer's affinities, as of an epoch ms."""
        self._affinity = {id: strength(level, now) for id, level in levels.items()}

    @property
    def knows_viewer(self) -> bool:
        """Whether the viewer's likes and saves taught anything."""
        return bool(self._affinity) and self.weights.affinity > 0

    def affinity_to(self, id: int) -> float:
        """The viewer's affinity to a user, board or interest."""
        return self._affinity.get(id, 0.0)

    def order(self, pools: Mapping[Source, list[Candidate]]) -> Mapping[Source, list[Candidate]]:
        """The pools, each in this order. The candidates of a pool have the order of their scores in
        it, and keep that order where nothing else adds to them."""
        preferences = self.preferences
        if not (self._affinity or self.likes or preferences.less or preferences.more):
            return pools
        touched = preferences.less | preferences.more | self._affinity.keys()
        likes, loaded = self.likes, self.loaded

        def key(c: Candidate) -> float:
            if (
                c.pin_id in loaded
                or c.pin_id in likes
                or c.cause_id in touched
                or c.board_id in touched
            ):
                return -self.score(c).total
            return -c.score  # nothing adds to it

        return {source: sorted(some, key=key) for source, some in pools.items()}

    def subjects(self, c: Candidate) -> Collection[int]:
        """The owner, the board and the interests, as far as the cell and the loaded pins say."""
        if (pin := self.loaded.get(c.pin_id)) is not None:
            return subjects(pin)
        brought = c.cause_id if c.source in BROUGHT_BY_FOLLOW else 0
        return dict.fromkeys(id for id in (brought, c.board_id) if id)

    def score(self, c: Candidate) -> Score:
        found, weights = self.features(c), self.weights
        return Score(
            found.in_pool,
            weights.affinity * found.affinity,
            weights.likes * found.likes,
            found.preferences,
        )

    def features(self, c: Candidate) -> Features:
        """The parts of the score before the weights."""
        ids = self.subjects(c)
        found, affinity = 0.0, self._affinity
        if affinity:
            for id in ids:
                found += affinity.get(id, 0.0)
        likes = 0 if c.source is Source.POPULAR else self.likes.get(c.pin_id, 0)
        preferences = self.preferences
        return Features(
            c.score,
            log2(1 + found) if found else 0.0,
            log2(1 + likes) if likes else 0.0,
            bias(preferences, ids) if preferences.less or preferences.more else 0.0,
        )
