"""A population of users with heavy tails and drifting tastes: all of it is drawn from one seed.

Pins are numbered by time. Their parameters:

    activity      an owner's share of the pins: lognormal, sigma 1.5
    popularity    an owner's chance to be followed: Zipf, exponent 0.8
    follows       a user follows users: lognormal, median 20, sigma 1, from 3 to 500; with
                  probability 0.7 among the owners of a topic that the user likes
    topics        Zipf, exponent 0.8; an owner publishes pins of three, in shares of 6 : 3 : 1, on a
                  board each; a topic is an interest
    tastes        a user likes two topics; each day, each of them is replaced with probability 0.1
    repins        40% of the pins repin the best of three earlier pins of their topic that are drawn
                  uniformly, so that a picture with many repins gets more
    likes         before the week two for each pin, by the pin's quality and the square root of its
                  owner's followers; 9 of 10 are of users who like the pin's topic
    visits        a viewer visits the home feed lognormal times a week, median 8, sigma 0.7, from 1
                  to 40
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.smartfeed.liking import draw, quality
from feed_engine.times import DAY

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

START = 1_700_000_000_000
"""Epoch ms of the first pin."""
TOPICS_OF_OWNER = (0.6, 0.3, 0.1)
LIKES_OF_PIN = 2
DRIFT = 0.1
LIKERS = 10
"""The number of users who don't visit the home feed for each like of a day of the week."""
FRESH = 3 * DAY
"""The age up to which users other than the viewers like pins during the week."""


class Shape(NamedTuple):
    """The size of a population. `history`: days before the week. `viewers` of the users visit the
    home feed during the week."""

    users: int = 20_000
    pins: int = 500_000
    viewers: int = 300
    days: int = 7
    history: int = 173
    topics: int = 64

    @property
    def begin(self) -> int:
        """Epoch ms at which the week begins."""
        return START + self.history * DAY

    @property
    def end(self) -> int:
        return self.begin + self.days * DAY


class Like(NamedTuple):
    """A like of a user who is no viewer."""

    at: int
    user: int
    pin: int


class Visit(NamedTuple):
    """A visit of the home feed by a viewer, and how many visits of the viewer came before."""

    at: int
    user: int
    number: int


@dataclass(frozen=True)
class Population:
    """Users and pins by their numbers. Arrays by pin have the pins in the order of time."""

    shape: Shape
    topics_of: Ints  # (users, 3)
    follows: Sequence[tuple[int, int]]  # follower, user
    interests: Sequence[tuple[int, int]]  # follower, topic
    viewers: Sequence[int]
    owner: Ints
    place: Ints  # of the pin's topic among its owner's
    at: Ints  # epoch ms
    root: Ints  # the first pin of its chain of repins; itself, if it is no repin
    quality: Floats  # the root's

    @cached_property
    def topic(self) -> Ints:
        """The topic of each pin."""
        return np.asarray(self.topics_of[self.owner, self.place])

    @cached_property
    def published(self) -> int:
        """The number of pins that were published before the week."""
        return int(np.searchsorted(self.at, self.shape.begin))

    def tastes(self, user: int, day: int) -> set[int]:
        """The topics that a user likes on a day of the week."""
        return {self._taste(user, place, day) for place in range(2)}

    def _taste(self, user: int, place: int, day: int) -> int:
        """The first two topics of an owner are what the owner likes at first."""
        while day > 0:
            if draw("drift", user, place, day) < DRIFT:
                return int(draw("new taste", user, place, day) * self.shape.topics)
            day -= 1
        return int(self.topics_of[user, place])

    @cached_property
    def _fans(self) -> list[Ints]:
        """The users who like a topic at first, by topic."""
        liked = self.topics_of[:, :2]
        return [np.flatnonzero((liked == t).any(axis=1)) for t in range(self.shape.topics)]

    @cached_property
    def _appeal(self) -> Floats:
        """The chance of each pin to be liked, up to a factor."""
        followers = np.bincount([user for _, user in self.follows], minlength=self.shape.users)
        return np.asarray(self.quality * np.sqrt(1 + followers[self.owner]))

    def _fan(self, rng: np.random.Generator, pin: int) -> int:
        """A user who likes a pin of this topic; now and then any user."""
        fans = self._fans[self.topic[pin]]
        if len(fans) == 0 or rng.random() < 0.1:
            return int(rng.integers(self.shape.users))
        return int(rng.choice(fans))

    def earlier_likes(self) -> Iterator[Like]:
        """The likes before the week, each once."""
        rng, end = np.random.default_rng(2), self.shape.begin
        appeal = self._appeal[: self.published]
        counts = rng.poisson(LIKES_OF_PIN * appeal / appeal.mean())
        known = set[tuple[int, int]]()
        for pin in np.flatnonzero(counts).tolist():
            delays = rng.exponential(2 * DAY, counts[pin])
            for at in (self.at[pin] + delays).astype(np.int64).tolist():
                user = self._fan(rng, pin)
                if at < end and user != self.owner[pin] and (user, pin) not in known:
                    known.add((user, pin))
                    yield Like(at, user, pin)

    def likes_of_others(self) -> list[Like]:
        """The likes during the week of users who are no viewers."""
        rng, viewers = np.random.default_rng(3), set(self.viewers)
        many = self.shape.users * self.shape.days // LIKERS
        found = []
        for at in rng.integers(self.shape.begin, self.shape.end, many):
            first, last = np.searchsorted(self.at, [at - FRESH, at])
            if first == last:
                continue
            appeal = self._appeal[first:last]
            pin = first + int(np.searchsorted(np.cumsum(appeal), rng.random() * appeal.sum()))
            user = self._fan(rng, pin)
            if user not in viewers and user != self.owner[pin]:
                found.append(Like(int(at), user, int(pin)))
        return found

    def visits(self) -> list[Visit]:
        rng = np.random.default_rng(4)
        found = []
        for user in self.viewers:
            many = int(np.clip(rng.lognormal(np.log(8), 0.7), 1, 40))
            times = np.sort(rng.integers(self.shape.begin, self.shape.end, many)).tolist()
            found += [Visit(at, user, number) for number, at in enumerate(times)]
        return found


def drawn(shape: Shape) -> Population:
    """The population of this shape."""
    rng = np.random.default_rng(1)
    topics_of = _topics(rng, shape)
    follows = _follows(rng, shape, topics_of)
    interests = [
        (user, int(topic))
        for user in range(shape.users)
        for topic in {*topics_of[user, :2].tolist(), int(rng.integers(shape.topics))}
        if rng.random() < 0.7
    ]
    activity = rng.lognormal(0, 1.5, shape.users)
    owner = rng.choice(shape.users, shape.pins, p=activity / activity.sum())
    place = rng.choice(3, shape.pins, p=TOPICS_OF_OWNER)
    at = np.sort(rng.integers(START, shape.end, shape.pins))
    own = np.array([quality(pin) for pin in range(shape.pins)])
    root = _roots(rng, owner, np.asarray(topics_of[owner, place]), own)
    viewers = rng.choice(shape.users, shape.viewers, replace=False).tolist()
    return Population(
        *(shape, topics_of, follows, interests, viewers),
        *(owner, place, at, root, own[root]),
    )


def _zipf(many: int, exponent: float) -> Floats:
    weights = np.arange(1, many + 1) ** -exponent
    return np.asarray(weights / weights.sum())


def _topics(rng: np.random.Generator, shape: Shape) -> Ints:
    """Three topics of each user, without repetition: the highest of Gumbel's noise over the logs of
    the weights (a draw without replacement)."""
    noise = rng.gumbel(size=(shape.users, shape.topics)) + np.log(_zipf(shape.topics, 0.8))
    return np.asarray(np.argsort(-noise, axis=1)[:, :3])


def _follows(rng: np.random.Generator, shape: Shape, topics_of: Ints) -> list[tuple[int, int]]:
    popularity = rng.permutation(_zipf(shape.users, 0.8))
    owners = [np.flatnonzero((topics_of == t).any(axis=1)) for t in range(shape.topics)]
    sums = [np.cumsum(popularity[some]) for some in owners]
    everyone, total = np.arange(shape.users), np.cumsum(popularity)
    found: list[tuple[int, int]] = []
    for user in range(shape.users):
        many = int(np.clip(rng.lognormal(np.log(20), 1.0), 3, min(500, shape.users // 4)))
        near = rng.random(many) < 0.7
        places, draws = rng.integers(2, size=many), rng.random(many)
        targets = set[int]()
        for is_near, place, value in zip(near, places, draws, strict=True):
            topic = topics_of[user, place]
            some, weights = (owners[topic], sums[topic]) if is_near else (everyone, total)
            chosen = int(np.searchsorted(weights, value * weights[-1]))
            targets.add(int(some[min(chosen, len(some) - 1)]))
        found += [(user, target) for target in sorted(targets - {user})]
    return found


def _roots(rng: np.random.Generator, owner: Ints, topic: Ints, own: Floats) -> Ints:
    """The root of each pin: its own number, or the root of the pin that it repins."""
    many = len(owner)
    root = np.arange(many)
    is_repin, draws = rng.random(many) < 0.4, rng.random((many, 3))
    earlier: dict[int, list[int]] = {}
    for pin, of in enumerate(topic.tolist()):
        some = earlier.setdefault(of, [])
        if is_repin[pin] and some:
            roots = [int(root[some[int(value * len(some))]]) for value in draws[pin]]
            best = max(roots, key=lambda each: own[each])
            if owner[best] != owner[pin]:
                root[pin] = best
        some.append(pin)
    return np.asarray(root)
