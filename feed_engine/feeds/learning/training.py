"""Fits the weights of the home feed's order to examples, and compares them with given weights.

The model is a logistic regression: iteratively reweighted least squares with a small ridge. The
order only holds among the pins of one source in one visit, a group, so all features are relative to
the mean of their group. The place on the page is a feature too, because pins at the top are acted
on more: it takes this effect away from the other features, and is not used afterwards.

Both orders are judged by the last visits, which the fit has not seen: the share of all pairs of a
pin with and a pin without an action, in one group, that have the right order (AUC).
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feed_engine.feeds.learning.examples import Example
from feed_engine.feeds.learning.learned import MOST
from feed_engine.feeds.settings import Weights

HELD_OUT = 0.25  # the share of the examples, the last in time, by which orders are judged
LEAST_ACTIONS, LEAST_PAIRS = 20, 100
HEAVIEST = 10.0  # the weight of an explored pin, at most: 1 / its propensity
RIDGE = 1.0
ROUNDS = 30
RESAMPLES = 1_000
CERTAIN = 0.05  # the share of resamples in which the learned order may be worse

Floats = NDArray[np.float64]


class Trained(NamedTuple):
    """The outcome of a training. `weights`: what to install; None if `reason` says why nothing is.
    `fitted`: the weights of the fit. `formula` and `learned`: the AUC of both orders on `pairs`
    pairs of the held-out visits. `low` and `high`: an interval of 90% of their difference. All four
    are None when nothing was judged."""

    weights: Weights | None
    reason: str
    fitted: Weights | None = None
    formula: float | None = None
    learned: float | None = None
    low: float | None = None
    high: float | None = None
    pairs: int = 0
    viewers: int = 0  # with such pairs
    examples: int = 0  # that were fitted
    actions: int = 0  # among the fitted examples
    split: int = 0  # epoch ms


def train(examples: Sequence[Example], formula: Weights, *, seed: int = 0) -> Trained:
    """Fit weights to the earlier examples, and judge them by the later ones. The same examples and
    seed give the same outcome."""
    ordered = sorted(examples, key=lambda e: (e.at, e.viewer_id, e.generation, e.position))
    if not ordered:
        return Trained(None, "no visit has examples yet")
    split = ordered[int(len(ordered) * (1 - HELD_OUT))].at
    early = [e for e in ordered if e.at < split]
    late = [e for e in ordered if e.at >= split]
    acted = np.array([e.acted is not None and e.acted < split for e in early], dtype=np.float64)
    told = Trained(None, "", examples=len(early), actions=int(acted.sum()), split=split)
    if told.actions < LEAST_ACTIONS:
        reason = f"{told.actions:,} actions are too few to learn from: {LEAST_ACTIONS} are needed"
        return told._replace(reason=reason)
    judged = _Judged(late, seed)
    told = told._replace(pairs=judged.pairs, viewers=judged.viewers)
    if judged.pairs < LEAST_PAIRS:
        reason = f"{judged.pairs:,} pairs are too few to judge by: {LEAST_PAIRS} are needed"
        return told._replace(reason=reason)
    in_pool, affinity, likes, *_ = fit(_inputs(early), acted, _stands_for(early))
    if in_pool <= 0:
        return told._replace(reason="the fit prefers old pins, which no weights can express")
    fitted = Weights(*(round(float(np.clip(w / in_pool, 0, MOST)), 4) for w in (affinity, likes)))
    low, high = judged.difference(fitted, formula)
    by_formula, by_fit = judged.auc(formula), judged.auc(fitted)
    told = told._replace(fitted=fitted, formula=by_formula, learned=by_fit, low=low, high=high)
    if by_fit <= by_formula:
        return told._replace(reason="the learned order is no better than the formula's")
    if low < 0:
        return told._replace(reason="the learned order may be worse than the formula's")
    return told._replace(weights=fitted, reason="the learned order is better than the formula's")


def fit(inputs: Floats, acted: Floats, counts: Floats) -> Floats:
    """The coefficients of a logistic regression with an intercept, which is left out. `counts`: how
    many examples each example stands for."""
    x = np.column_stack([inputs, np.ones(len(inputs))])
    ridge = np.diag([RIDGE] * inputs.shape[1] + [1e-6])
    found = np.zeros(x.shape[1])
    for _ in range(ROUNDS):
        p = 1 / (1 + np.exp(-np.clip(x @ found, -30, 30)))
        gradient = x.T @ (counts * (acted - p)) - ridge @ found
        step = np.linalg.solve((x * (counts * p * (1 - p))[:, None]).T @ x + ridge, gradient)
        found = found + np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-8:
            break
    return found[:-1]


def _stands_for(examples: Sequence[Example]) -> Floats:
    """The inverse propensities, clipped."""
    return np.array([min(1 / e.odds, HEAVIEST) for e in examples], dtype=np.float64)


def _inputs(examples: Sequence[Example]) -> Floats:
    """The features and the place of each example, relative to its group."""
    rows = np.array([[*e.features, np.log2(1 + e.position)] for e in examples], dtype=np.float64)
    for members in _groups(examples).values():
        rows[members] -= rows[members].mean(axis=0)
    return rows


def _groups(examples: Sequence[Example]) -> dict[tuple[int, ...], list[int]]:
    found = defaultdict[tuple[int, ...], list[int]](list)
    for number, e in enumerate(examples):
        found[e.viewer_id, e.generation, int(e.source)].append(number)
    return found


class _Judged:
    """The pairs of the held-out examples: of each, the pin with an action less the pin without."""

    def __init__(self, examples: Sequence[Example], seed: int) -> None:
        differences: list[Floats] = []
        whose: list[int] = []
        for (viewer_id, *_), members in _groups(examples).items():
            rows = np.array([examples[n].features for n in members], dtype=np.float64)
            acted = np.array([examples[n].acted is not None for n in members])
            pairs = (rows[acted][:, None, :] - rows[~acted][None, :, :]).reshape(-1, rows.shape[1])
            differences.append(pairs)
            whose += [viewer_id] * len(pairs)
        self._differences = np.concatenate(differences) if differences else np.zeros((0, 4))
        ids, self._whose = np.unique(np.array(whose, dtype=np.int64), return_inverse=True)
        self.pairs, self.viewers, self._seed = len(whose), len(ids), seed

    def auc(self, weights: Weights) -> float:
        return float(self._right(weights).mean())

    def difference(self, one: Weights, other: Weights) -> tuple[float, float]:
        """The interval of the difference of the AUC of two orders: a bootstrap over viewers."""
        gains = self._right(one) - self._right(other)
        sums = np.bincount(self._whose, weights=gains, minlength=self.viewers)
        counts = np.bincount(self._whose, minlength=self.viewers)
        rng, found = np.random.default_rng(self._seed), list[float]()
        for _ in range(RESAMPLES):
            some = rng.integers(self.viewers, size=self.viewers)
            found.append(sums[some].sum() / counts[some].sum())
        low, high = np.quantile(found, [CERTAIN, 1 - CERTAIN])
        return float(low), float(high)

    def _right(self, weights: Weights) -> Floats:
        """For each pair 1 if the order is right, 0 if it is wrong, and a half for a tie. Wishes to
        see less or more count as in the formula."""
        score = self._differences @ np.array([1.0, weights.affinity, weights.likes, 1.0])
        right: Floats = (np.sign(np.round(score, 6)) + 1) / 2
        return right
