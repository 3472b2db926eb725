"""Properties of walks."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

from feed_engine.related.graph import Graph
from feed_engine.related.walk import PLAN, Plan, Query, related_boards, related_roots, walk
from tests.generated import given, settings
from tests.scale import scaled
from tests.unit.feed_engine.related.graphs import board, fresh, graph, pin, saved

SMALL = Plan(steps=4_000, walkers=200)
_EDGES = st.lists(st.tuples(st.integers(0, 15), st.integers(0, 6)), min_size=1, max_size=60)
_QUERIES = st.lists(st.integers(0, 20), min_size=1, max_size=5, unique=True)


def _ids(graph: Graph, queries: list[Query], plan: Plan = SMALL, seed: int = 1) -> list[int]:
    found = related_roots(graph, queries, seed=seed, plan=plan)
    return [int(id) for id in graph.root_names.ids(found.numbers)]


@given(edges=_EDGES, asked=_QUERIES, seed=st.integers(0, 2**32))
@settings(max_examples=scaled(40, 5_000))
def test_walks_find_roots_that_are_connected_and_never_a_query(
    edges: list[tuple[int, int]], asked: list[int], seed: int
) -> None:
    found, queries = fresh(edges), [Query(pin(number)) for number in asked]
    ranked = related_roots(found, queries, seed=seed, plan=SMALL)
    ids = [int(id) for id in found.root_names.ids(ranked.numbers)]
    assert not {query.root_id for query in queries} & set(ids)
    assert len(ids) == len(set(ids))
    assert set(ids) <= _reached(edges, asked)
    assert (np.diff(ranked.scores) <= 0).all()
    assert (ranked.scores > 0).all()
    known = {root for root, _ in edges}
    assert all(asked[cause] in known for cause in ranked.causes)
    again = related_roots(found, queries, seed=seed, plan=SMALL)
    for one, other in zip(ranked, again, strict=True):
        assert (one == other).all()


def _reached(edges: list[tuple[int, int]], asked: list[int]) -> set[int]:
    roots = {number for number in asked if any(root == number for root, _ in edges)}
    while True:
        boards = {on for root, on in edges if root in roots}
        further = {root for root, on in edges if on in boards}
        if further <= roots:
            return {pin(number) for number in roots}
        roots |= further


def test_a_hidden_board_connects_nothing(tmp_path: Path) -> None:
    found = graph(tmp_path, saved([(0, 0), (1, 0), (0, 1), (2, 1), (3, 2), (2, 2)]))
    assert set(_ids(found, [Query(pin(0))])) == {pin(1), pin(2), pin(3)}
    found.hide(board(1))
    assert set(_ids(found, [Query(pin(0))])) == {pin(1)}
    found.hide(board(0))
    assert _ids(found, [Query(pin(0))]) == []


def test_more_shared_boards_are_more_related(tmp_path: Path) -> None:
    edges = [(0, on) for on in range(6)]
    edges += [(1, on) for on in range(6)]
    edges += [(2, on) for on in range(2)]
    edges += [(2, on) for on in range(10, 14)]  # as often saved as root 1
    found = graph(tmp_path, saved(edges))
    assert _ids(found, [Query(pin(0))])[:2] == [pin(1), pin(2)]


def test_what_is_saved_everywhere_does_not_come_first(tmp_path: Path) -> None:
    edges = [(0, on) for on in range(4)]
    edges += [(1, on) for on in range(3)]
    edges += [(9, on) for on in range(100)]
    found = graph(tmp_path, saved(edges))
    assert _ids(found, [Query(pin(0))])[0] == pin(1)
    assert _ids(found, [Query(pin(0))], Plan(steps=4_000, walkers=200, rarity=0.0))[0] == pin(9)


def test_a_root_of_several_queries_counts_more(tmp_path: Path) -> None:
    edges = [(0, 0), (1, 1)]
    edges += [(5, 0), (5, 1)]  # of both queries
    edges += [(6, 0), (6, 0), (7, 1), (8, 0), (9, 1)]
    found = graph(tmp_path, saved(edges))
    plan = Plan(steps=20_000, walkers=500, restart=1.0, rarity=0.0)
    ranked = related_roots(found, [Query(pin(0)), Query(pin(1))], seed=3, plan=plan)
    ids = found.root_names.ids(ranked.numbers).tolist()
    assert ids[0] == pin(5)
    assert ranked.scores[0] > 2.5 * ranked.scores[1], "a half of two, boosted, against a third"


def test_the_heavier_query_has_more_steps_and_degree_counts_less_than_proportionally(
    tmp_path: Path,
) -> None:
    edges = [(0, on) for on in range(50)] + [(1, 60), (1, 61)]
    edges += [(2, on) for on in range(70)]
    found = graph(tmp_path, saved(edges))

    def share(heavier: float) -> float:
        roots = found.root_names.known([pin(0), pin(1)])
        visits = walk(found, roots, [1.0, heavier], seed=1, plan=SMALL)
        return float((visits.roots >= len(found.root_names)).mean())

    assert 2 / 50 < share(1.0) < 0.5
    assert share(1.0) < share(3.0) < share(50.0)


def test_walks_end_early_when_enough_roots_have_enough_visits(tmp_path: Path) -> None:
    found = graph(tmp_path, saved([(root, 0) for root in range(20)]))
    roots = found.root_names.known([pin(0)])
    whole = walk(found, roots, [1.0], seed=1, plan=SMALL)
    early = walk(
        *(found, roots, [1.0]),
        seed=1,
        plan=Plan(steps=4_000, walkers=200, enough_roots=10, enough_visits=2),
    )
    assert whole.steps == 4_000
    assert early.steps == 1_000, "after the first look"
    assert (early.roots == whole.roots[: len(early.roots)]).all()


def test_the_steps_are_bounded_whatever_the_number_of_queries(tmp_path: Path) -> None:
    found = graph(tmp_path, saved([(root, root % 7) for root in range(300)]))
    roots = found.root_names.known([pin(number) for number in range(300)])
    assert walk(found, roots, [1.0] * 300, seed=1, plan=SMALL).steps <= 4_000
    assert walk(found, roots, [1.0] * 300, seed=1, plan=PLAN).steps <= PLAN.steps


def test_the_cause_is_the_query_that_visits_most(tmp_path: Path) -> None:
    edges = [(0, 0), (5, 0), (1, 1), (6, 1), (1, 2), (5, 2), *((1, on) for on in range(3, 12))]
    found = graph(tmp_path, saved(edges))
    plan = Plan(steps=8_000, walkers=400, restart=1.0)
    ranked = related_roots(found, [Query(pin(0)), Query(pin(1))], seed=1, plan=plan)
    ids = found.root_names.ids(ranked.numbers).tolist()
    causes = dict(zip(ids, ranked.causes.tolist(), strict=True))
    assert causes == {pin(5): 0, pin(6): 1}


def test_unknown_queries_and_left_out_roots_give_nothing(tmp_path: Path) -> None:
    found = graph(tmp_path, saved([(0, 0), (1, 0), (2, 0)]))
    assert _ids(found, [Query(pin(50))]) == []
    assert _ids(found, []) == []
    assert _ids(found, [Query(pin(0), 0.0)]) == []
    left_out = found.roots_on([board(0)])
    assert len(related_roots(found, [Query(pin(0))], seed=1, plan=SMALL, but=left_out).numbers) == 0


def test_boards_are_ranked_by_the_same_walks(tmp_path: Path) -> None:
    edges = [(root, 0) for root in range(6)] + [(root, 1) for root in range(3, 9)] + [(8, 2)]
    found = graph(tmp_path, saved(edges))
    ranked = related_boards(found, [Query(pin(0)), Query(pin(1))], seed=1, plan=SMALL)
    assert found.board_names.ids(ranked.numbers).tolist()[0] == board(0)
    assert len(ranked.numbers) == 3


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_another_seed_walks_elsewhere_and_finds_the_same(tmp_path: Path, seed: int) -> None:
    found = graph(tmp_path, saved([(root, root % 4) for root in range(40)]))
    first = related_roots(found, [Query(pin(0))], seed=0, plan=SMALL)
    other = related_roots(found, [Query(pin(0))], seed=seed, plan=SMALL)
    assert set(first.numbers) == set(other.numbers)
    assert (first.scores != other.scores).any()
