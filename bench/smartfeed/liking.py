"""The likes of simulated people, and the comparison of two orders by these likes.

A person likes a pin of a page with the probability taste x quality. A draw belongs to a person and
a pin, so an order can't be lucky.
"""

import random
from collections.abc import Sequence

from bench.rows import Row
from feed_engine.feeds.settings import Weights

LIKED, OTHER = 0.6, 0.04
"""The taste for a liked topic, and for any other topic."""
NEWEST = Weights(affinity=0.0, likes=0.0)
"""The order by reason and time alone."""


def draw(*key: object) -> float:
    """A number from 0 to 1 that belongs to the key."""
    return random.Random(repr(key)).random()


def quality(pin: int) -> float:
    """The quality of a pin, by its number in the world: a third on average."""
    return draw("quality", pin) ** 2


def likes(person: int, pin: int, taste: float) -> bool:
    """Whether a person with this taste for the pin's topic likes the pin, by their numbers in the
    world."""
    return draw("like", person, pin) < taste * quality(pin)


def ratio(found: Sequence[int], plain: Sequence[int]) -> tuple[float, float, float]:
    """The ratio of two orders' likes by person, with an interval of 95%: a bootstrap over the
    persons."""
    rng, many = random.Random(2), len(found)
    ratios = sorted(
        sum(found[n] for n in some) / max(1, sum(plain[n] for n in some))
        for some in (rng.choices(range(many), k=many) for _ in range(1000))
    )
    return sum(found) / max(1, sum(plain)), ratios[25], ratios[975]


def row(measure: str, found: Sequence[int], plain: Sequence[int], *, goal: str, peer: str) -> Row:
    """The ratio of two orders' likes as a row of the results."""
    value, low, high = ratio(found, plain)
    return Row(measure, value, "x", goal, f"{peer}; 95%: {low:.2f} to {high:.2f}")
