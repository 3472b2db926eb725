"""Baselines: rankings that walks must beat."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bench.related.saves import Rank, Saves
from feed_engine.feeds.settings import DEFAULTS

POPULAR, BESIDE, NEAREST, EASE = "popular", "the newest pins beside", "nearest", "EASE"
REGULAR = 30.0  # the weight of EASE's regularization
LIKED = 30  # last saves from which the rule before walks begins


def baselines(saves: Saves) -> Iterator[tuple[str, Rank]]:
    """Each baseline, with its name."""
    yield POPULAR, lambda user: saves.counts
    yield BESIDE, beside(saves)
    gram = together(saves)
    yield NEAREST, by_item(saves, nearest(gram))
    yield EASE, by_item(saves, ease(gram))


def by_item(saves: Saves, similar: NDArray[np.float32]) -> Rank:
    """The sum of the similarities to what the user saved."""
    return lambda user: similar[saves.history[user]].sum(0, dtype=np.float64)


def nearest(gram: NDArray[np.float32]) -> NDArray[np.float32]:
    """The cosine of the boards of each two pins."""
    norm = np.sqrt(np.maximum(np.diag(gram), 1e-9))
    near: NDArray[np.float32] = gram / norm[:, None] / norm[None, :]
    np.fill_diagonal(near, 0)
    return near


def beside(saves: Saves) -> Rank:
    """The rule of feeds without walks (`feeds.smart.related_pins`): the newest pins beside
    the pins that were saved last. A pin of the set is on many boards; the rule takes all of them.
    The set's dates are days, so the saves keep their order by place: with the product's own score
    by date, the rule is worse (NDCG 0.025)."""
    newest = [
        sorted(pins, key=lambda pin: -saves.dates[board, pin])[: DEFAULTS.related]
        for board, pins in enumerate(saves.boards)
    ]
    boards_of: dict[int, list[int]] = {}
    for board, pins in enumerate(saves.boards):
        for pin in pins:
            boards_of.setdefault(pin, []).append(board)

    def rank(user: int) -> NDArray[np.float64]:
        scores = np.full(saves.pins, -1e12)
        for place, liked in enumerate(saves.history[user][:LIKED]):
            for board in boards_of[liked]:
                for pin in newest[board]:
                    scores[pin] = max(scores[pin], saves.dates[board, pin] - 1e6 * place)
        return scores

    return rank


def together(saves: Saves) -> NDArray[np.float32]:
    """The number of boards that each two pins share."""
    gram = np.zeros((saves.pins, saves.pins), np.float32)
    for pins in saves.boards:
        gram[np.ix_(pins, pins)] += 1
    return gram


def ease(gram: NDArray[np.float32]) -> NDArray[np.float32]:
    """Steck 2019, "Embarrassingly shallow autoencoders": the closed form of a linear autoencoder. A
    pin without boards is similar to no pin, and is left out of the inversion, which takes minutes.
    """
    known = np.flatnonzero(np.diag(gram))
    part = gram[np.ix_(known, known)]
    part[np.diag_indices(len(part))] += REGULAR
    inverse = np.linalg.inv(part)
    part[:] = -inverse / np.diag(inverse)
    np.fill_diagonal(part, 0)
    found = np.zeros_like(gram)
    found[np.ix_(known, known)] = part
    return found
