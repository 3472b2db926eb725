"""An order learned from earlier saves, beside the order of the walks alone.

The candidates of a user are the pins that walks find, and the pins of the followed users. A
logistic regression, the one of `pinway train`, learns how much three features tell: the walks'
score, the number of followed users who saved the pin, and the number of all users who did. It
learns from each user's saves between 64% and 80% of their history, with features of what was
saved before, and is judged by the last 20%, as all rankings are.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.related.saves import BEFORE, Rank, Saves, read_follows
from feed_engine.feeds.learning.training import fit

Walks = Callable[[Saves, int], Rank]
"""The ranking by walks over the saves before a split, for a seed."""

ABSENT = 1e-3  # in place of a walks' score of 0, beside a best of 1
RESAMPLES = 1_000


class Gain(NamedTuple):
    """The NDCG@50 of the learned order, its ratio to the walks', and the ratio's interval of 90%: a
    bootstrap over users."""

    ndcg: float
    ratio: float
    low: float
    high: float


def learned(folder: Path, saves: Saves, users: list[int], walks: Walks, seed: int) -> Gain:
    """Learn by an earlier split of the saves, and judge by the later one."""
    follows = read_follows(folder)
    early = Saves(folder, BEFORE * BEFORE)
    walked = walks(early, seed)
    inputs: list[NDArray[np.float64]] = []
    saved: list[NDArray[np.float64]] = []
    for user in early.judged:
        later = early.later[user].difference(saves.later[user])
        pins, features = _candidates(early, follows, walked, user)
        found = np.isin(pins, list(later)).astype(np.float64)
        if found.any():
            inputs.append(features - features.mean(axis=0))
            saved.append(found)
    told = np.concatenate(saved)
    coefficients = fit(np.concatenate(inputs), told, np.ones(len(told)))

    walked = walks(saves, seed)

    def rank(user: int) -> NDArray[np.float64]:
        pins, features = _candidates(saves, follows, walked, user)
        scores = np.full(saves.pins, -np.inf)
        scores[pins] = features @ coefficients
        return scores

    ours = np.array([saves.judge(rank, [user]).ndcg for user in users])
    theirs = np.array([saves.judge(walked, [user]).ndcg for user in users])
    random = np.random.default_rng(seed)
    some = random.integers(0, len(users), (RESAMPLES, len(users)))
    low, high = np.quantile(ours[some].mean(axis=1) / theirs[some].mean(axis=1), [0.05, 0.95])
    return Gain(float(ours.mean()), float(ours.mean() / theirs.mean()), float(low), float(high))


def _candidates(
    saves: Saves, follows: Mapping[int, set[int]], walked: Rank, user: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The candidates of a user, and their features."""
    walk = np.array(walked(user), np.float64)
    followed = np.zeros(saves.pins)
    for other in follows.get(user, ()):
        followed[saves.history.get(other, [])] += 1
    possible = (walk > 0) | (followed > 0)
    possible[saves.history[user]] = False
    pins = np.flatnonzero(possible)
    features = (
        np.log2(ABSENT + walk / max(walk.max(), 1e-9)),
        walk > 0,
        np.log2(1 + followed),
        np.log2(1 + saves.counts),
    )
    return pins, np.column_stack([feature[pins] for feature in features])
