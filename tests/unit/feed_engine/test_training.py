"""The training of the home feed's weights, on examples of simulated viewers."""

import random
from math import exp

import numpy as np

from feed_engine.feeds.learning import learned
from feed_engine.feeds.learning.examples import Example
from feed_engine.feeds.learning.learned import NAME, Learned
from feed_engine.feeds.learning.training import fit, train
from feed_engine.feeds.rows import Source
from feed_engine.feeds.settings import Weights
from feed_engine.feeds.visits import Features


def simulated(
    weights: Weights, *, viewers: int = 40, visits: int = 12, seed: int = 1
) -> list[Example]:
    """Visits of viewers who act by these weights, whatever the place."""
    rng, found = random.Random(seed), list[Example]()
    for viewer in range(1, viewers + 1):
        for generation in range(1, visits + 1):
            at = generation * 100_000 + viewer
            for position in range(12):
                features = Features(rng.uniform(-4, 0), rng.uniform(0, 3), rng.uniform(0, 4))
                score = features.in_pool + weights.affinity * features.affinity
                chance = 1 / (1 + exp(4 - score - weights.likes * features.likes))
                acted = at + 1 if rng.random() < chance else None
                example = Example(
                    viewer, generation, at, Source.FOLLOWED, position, features, acted
                )
                found.append(example)
    return found


def test_the_fit_finds_the_weights_by_which_viewers_act() -> None:
    told = train(simulated(Weights(2.0, 0.0)), Weights(0.0, 1.0))
    assert told.weights is not None
    assert told.weights == told.fitted
    assert 1.6 < told.weights.affinity < 2.4
    assert told.weights.likes < 0.3
    assert told.learned > told.formula + 0.1
    assert 0 < told.low < told.learned - told.formula < told.high


def test_the_same_examples_and_seed_give_the_same_outcome_in_any_order() -> None:
    examples = simulated(Weights(1.0, 0.5))
    told = train(examples, Weights(0.0, 2.0), seed=3)
    random.Random(5).shuffle(examples)
    assert train(examples, Weights(0.0, 2.0), seed=3) == told


def test_nothing_that_may_be_worse_than_the_formula_is_installed() -> None:
    true = Weights(1.0, 0.5)
    told = train(simulated(true), true)
    assert told.weights is None
    assert "formula" in told.reason
    assert told.pairs > 1_000


def test_later_actions_do_not_reach_the_fit() -> None:
    """Actions after the split do not count for the earlier visits."""
    examples = simulated(Weights(2.0, 0.0))
    last = max(e.at for e in examples) + 1
    late = [e if e.acted is None else e._replace(acted=last) for e in examples]
    assert train(late, Weights()).actions == 0


def test_too_few_actions_or_pairs_teach_nothing() -> None:
    assert train([], Weights()).reason == "no visit has examples yet"
    idle = [e._replace(acted=None) for e in simulated(Weights())]
    assert train(idle, Weights()).reason.startswith("0 actions are too few")
    split = train(idle, Weights()).split
    early = [e if e.at < split else e._replace(acted=None) for e in simulated(Weights(1.0, 1.0))]
    assert train(early, Weights()).reason.startswith("0 pairs are too few")


def test_viewers_who_prefer_old_pins_change_nothing() -> None:
    examples = [
        e._replace(features=e.features._replace(in_pool=-e.features.in_pool))
        for e in simulated(Weights(0.5, 0.5))
    ]
    told = train(examples, Weights())
    assert (told.weights, told.fitted) == (None, None)
    assert "old pins" in told.reason


def test_the_place_on_the_page_does_not_pass_for_what_ordered_the_page() -> None:
    """Viewers act on the top of the page only, and pins with likes are there."""
    rng, found = random.Random(2), list[Example]()
    for viewer in range(200):
        order = sorted((rng.uniform(0, 4) + rng.gauss(0, 2) for _ in range(12)), reverse=True)
        for position, likes in enumerate(order):
            features = Features(rng.uniform(-4, 0), 0.0, max(0.0, likes))
            acted = 1 if rng.random() < 0.6 / (1 + position) * exp(features.in_pool / 2) else None
            found.append(Example(viewer, 1, 0, Source.FOLLOWED, position, features, acted))
    told = train(
        [e._replace(at=e.viewer_id * 10, acted=e.acted and e.viewer_id * 10 + 1) for e in found],
        Weights(),
    )
    assert told.fitted is not None
    assert told.fitted.likes < 0.35


def test_a_fit_of_separable_examples_ends() -> None:
    inputs = np.array([[n / 10.0] for n in range(-50, 50)])
    [found] = fit(inputs, (inputs[:, 0] > 0).astype(float), np.ones(100))
    assert 1 < found < 100


def test_an_example_with_a_propensity_stands_for_as_many_up_to_a_bound() -> None:
    examples = simulated(Weights(1.0, 0.5), viewers=10)

    def drawn(odds: float) -> Weights | None:
        some = [e._replace(odds=odds if n % 3 else 1.0) for n, e in enumerate(examples)]
        return train(some, Weights()).fitted

    assert drawn(0.5) != drawn(1.0)
    assert drawn(0.1) == drawn(0.001) != drawn(0.2)


def test_stored_weights_are_read_again_and_others_are_refused() -> None:
    stored = Learned(0.7, 0.25, 1_700_000_000_000)
    assert learned.decode({NAME: learned.encode(stored)}) == stored
    assert stored.weights == Weights(0.7, 0.25)
    assert learned.decode({}) is None
    for text in ("", "{}", '{"affinity": -1, "likes": 1, "trained": 1}', '{"affinity": 1e9'):
        try:
            learned.decode({NAME: text})
        except ValueError:
            continue
        raise AssertionError(text)
