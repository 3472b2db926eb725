"""Random walks over roots and boards: Pixie (Eksombatchai et al. 2018), with numpy.

A walk begins at a query root. Each step leads to a random board of the root, and to a random root
on that board. After a step, the walk continues or begins again. The roots that walks visit often
are related to the query. Many walkers take each step at the same time, so a step is a few
operations on arrays.

From the paper: the steps are shared among several queries by their weights and, more slowly than in
proportion, by their degrees; a root that several queries reach counts more than a root that one
query reaches as often (the square of the sum of square roots); and the walks end early when enough
roots were visited often enough. Added: the scores are divided by a power of the root's degree, so
that pictures that are saved everywhere do not come first everywhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feed_engine.related.arrays import Ids, Nodes
from feed_engine.related.graph import Graph, Lists, Names


@dataclass(frozen=True, slots=True)
class Plan:
    """How far walks go. Their time is bounded by `steps`."""

    steps: int = 50_000  # steps of all walkers together
    walkers: int = 2_000
    restart: float = 0.5  # the chance that a walker begins again after a step
    enough_roots: int = 2_000  # the walks end when this number of roots
    enough_visits: int = 4  # have this number of visits each
    rarity: float = 0.5  # the power of the degree by which scores are divided


PLAN = Plan()
BRIEF = Plan(steps=20_000, walkers=1_000)
"""For answers that somebody waits for."""
_LOOK = 5  # rounds between two looks whether there are enough visits


class Query(NamedTuple):
    """A root from which walks begin, and its weight among the queries."""

    root_id: int
    weight: float = 1.0


class Ranked(NamedTuple):
    """The roots or boards that walks visited, best first. `causes` has, for each number, the index
    of the query that visited it most often."""

    numbers: NDArray[np.int64]
    scores: NDArray[np.float64]
    causes: NDArray[np.int64]


class Visits(NamedTuple):
    """The visits of walks. A key is query × (number of nodes) + node."""

    roots: Ids
    boards: Ids
    steps: int


def related_roots(
    graph: Graph,
    queries: Sequence[Query],
    *,
    seed: int,
    plan: Plan = PLAN,
    but: Nodes | None = None,
) -> Ranked:
    """The roots that walks from the queries visit. Neither the queries themselves nor the roots in
    `but` are among them. The same graph, queries and seed give the same answer."""
    known = graph.root_names.known([query.root_id for query in queries])
    visits = walk(graph, known, [query.weight for query in queries], seed=seed, plan=plan)
    left_out = known[known >= 0]
    if but is not None:
        left_out = np.concatenate([left_out, but])
    return _ranked(visits.roots, graph.root_names, graph.roots, plan, left_out)


def related_boards(
    graph: Graph, queries: Sequence[Query], *, seed: int, plan: Plan = PLAN
) -> Ranked:
    """The boards that walks from the queries visit."""
    known = graph.root_names.known([query.root_id for query in queries])
    visits = walk(graph, known, [query.weight for query in queries], seed=seed, plan=plan)
    return _ranked(visits.boards, graph.board_names, graph.boards, plan, np.zeros(0, np.int64))


def walk(
    graph: Graph,
    roots: NDArray[np.int64],
    weights: Sequence[float],
    *,
    seed: int,
    plan: Plan = PLAN,
) -> Visits:
    """Walk from root numbers (negative: unknown, left out)."""
    roots_, boards = graph.roots, graph.boards
    none = np.zeros(0, np.int64)
    degree = np.where(roots >= 0, roots_.degree[roots], 0)
    share = np.asarray(weights, np.float64) * np.log1p(degree)
    if not share.sum() > 0:
        return Visits(none, none, 0)
    walkers = np.round(share / share.sum() * plan.walkers).astype(np.int64)
    walkers[(walkers == 0) & (share > 0)] = 1
    query = np.repeat(np.arange(len(roots)), walkers)
    home = roots[query]
    at, random = home, np.random.default_rng(seed)
    root_keys, board_keys = query * len(graph.root_names), query * len(graph.board_names)
    on_roots, on_boards = list[Ids](), list[Ids]()
    rounds = max(1, plan.steps // len(query))
    for number in range(1, rounds + 1):
        chance = random.random((3, len(query)))
        # A board that was hidden has no roots, and a root that left all its boards has no boards.
        out = roots_.degree[at]
        at = np.where(out > 0, at, home)
        out = roots_.degree[at]
        board = roots_.targets[roots_.start[at] + (chance[0] * out).astype(np.int32)]
        back = boards.degree[board]
        open_ = back > 0
        at = boards.targets[boards.start[board] + (chance[1] * back).astype(np.int32)]
        if not open_.all():
            at = np.where(open_, at, home)
        on_roots.append((root_keys + at)[open_])
        on_boards.append((board_keys + board)[open_])
        at = np.where(chance[2] < plan.restart, home, at)
        if number % _LOOK == 0 and number < rounds and _enough(on_roots, plan):
            break
    return Visits(np.concatenate(on_roots), np.concatenate(on_boards), number * len(query))


def _enough(keys: list[Ids], plan: Plan) -> bool:
    if sum(map(len, keys)) < plan.enough_roots * plan.enough_visits:
        return False
    _, counts = np.unique(np.concatenate(keys), return_counts=True)
    return int((counts >= plan.enough_visits).sum()) >= plan.enough_roots


def _ranked(keys: Ids, names: Names, lists: Lists, plan: Plan, but: NDArray[np.int64]) -> Ranked:
    visited, visits = np.unique(keys, return_counts=True)
    query, node = np.divmod(visited, len(names) or 1)
    if len(but):
        kept = ~np.isin(node, but)
        query, node, visits = query[kept], node[kept], visits[kept]
    numbers, place = np.unique(node, return_inverse=True)
    boosted = np.bincount(place, np.sqrt(visits), minlength=len(numbers)) ** 2
    scores = boosted / np.maximum(lists.degree[numbers], 1) ** plan.rarity
    # Entries by node, then by visits, most first: the first entry of each node is its cause.
    order = np.lexsort((query, -visits, place))
    first = order[np.diff(place[order], prepend=-1) != 0]
    # Equal scores are in the order of ids, which all snapshots share.
    best = np.lexsort((names.ids(numbers), -scores))
    return Ranked(numbers[best], scores[best], query[first][best])
