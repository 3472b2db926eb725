"""Exploration: a share of a chunk's places goes to pins of which the order knows too little.

The pins are drawn with a known probability, their propensity, which the visit stores. So a training
can give them the weight of the pins for which they stand.
"""

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

from feed_engine.feeds.smart.diversity import Groups
from feed_engine.feeds.smart.generator import Candidate


class Explored(NamedTuple):
    """A chunk in which some places were given away. `odds`: explored pin → its propensity."""

    chosen: list[Candidate]
    odds: dict[int, float]


def explore(
    chosen: Sequence[Candidate],
    unknown: Sequence[Candidate],
    *,
    share: float,
    groups_of: Callable[[Candidate], Groups],
    seed: str,
) -> Explored:
    """Give the share of the places (rounded down) to candidates of `unknown`, each drawn with the
    same probability. Drawn pins have owners and boards that no other pin of the chunk has, so the
    limits of `diversity` hold if they held before. The same input and seed give the same chunk."""
    taken = {group for c in chosen for group in groups_of(c)}
    offered: list[Candidate] = []
    for c in unknown:
        groups = groups_of(c)
        if taken.isdisjoint(groups):
            taken.update(groups)
            offered.append(c)
    count = min(int(share * len(chosen) + 1e-9), len(offered))
    if not count:
        return Explored(list(chosen), {})
    rng, found = random.Random(seed), list(chosen)
    for place, c in zip(
        rng.sample(range(len(found)), count), rng.sample(offered, count), strict=True
    ):
        found[place] = c
    drawn = {c.pin_id for c in offered} & {c.pin_id for c in found}
    return Explored(found, dict.fromkeys(sorted(drawn), round(count / len(offered), 4)))
