"""Changes of a graph: both directions stay the same, whatever the order of the changes."""

from pathlib import Path

import pytest
from hypothesis import strategies as st

from feed_engine.related import snapshot
from tests.generated import given, settings
from tests.scale import scaled
from tests.unit.feed_engine.related.graphs import board, edges_of, fresh, graph, pin, saved

_CHANGES = st.lists(
    st.tuples(st.sampled_from(["save", "remove", "hide"]), st.integers(0, 7), st.integers(0, 5)),
    max_size=40,
)


class _Model:
    """Pins, each on one board; a board that was hidden has the pins that were saved since."""

    def __init__(self, edges: list[tuple[int, int]]) -> None:
        self.edges = set(edges)

    def save(self, root: int, on: int) -> None:
        self.remove(root)
        self.edges.add((root, on))

    def remove(self, root: int) -> None:
        self.edges = {edge for edge in self.edges if edge[0] != root}

    def hide(self, on: int) -> None:
        self.edges = {edge for edge in self.edges if edge[1] != on}


@given(changes=_CHANGES)
@settings(max_examples=scaled(60, 5_000))
def test_a_changed_graph_has_the_edges_of_what_is_public_now(
    changes: list[tuple[str, int, int]],
) -> None:
    edges = [(root, root % 3) for root in range(5)]
    model, found = _Model(edges), fresh(edges)
    for change, root, on in changes:
        match change:
            case "save":
                model.save(root, on)
                found.save(pin(root), pin(root), board(on))
            case "remove":
                model.remove(root)
                found.remove(pin(root), pin(root))
            case "hide":
                model.hide(on)
                found.hide(board(on))
    assert edges_of(found) == {(pin(root), board(on)) for root, on in model.edges}
    assert not found.full


def test_a_repeated_change_changes_nothing(tmp_path: Path) -> None:
    found = graph(tmp_path, saved([(0, 0), (1, 0)]))
    for _ in range(3):
        found.save(pin(2), pin(2), board(0))
        found.remove(pin(1), pin(1))
    assert edges_of(found) == {(pin(0), board(0)), (pin(2), board(0))}


def test_a_moved_pin_leaves_its_board_and_its_siblings_stay(tmp_path: Path) -> None:
    found = graph(tmp_path, saved([(0, 0), (1, 0)]))
    found.save(pin(8), pin(0), board(1))
    found.save(pin(8), pin(0), board(2))
    assert edges_of(found) == {(pin(0), board(0)), (pin(1), board(0)), (pin(0), board(2))}
    assert found.pins_of(0) == [pin(0), pin(8)]


def test_a_root_that_is_not_public_is_shown_by_a_repin(tmp_path: Path) -> None:
    found = graph(tmp_path, saved([(0, 0), (1, 0)]))
    found.save(pin(8), pin(0), board(1))
    found.remove(pin(0), pin(0))
    assert found.pins_of(0) == [pin(8)]
    found.hide(board(1))
    assert found.pins_of(0) == []


def test_a_list_grows_far_beyond_its_place(tmp_path: Path) -> None:
    found = graph(tmp_path, saved([(0, 0), (1, 0)]))
    for number in range(2, 500):
        found.save(pin(number), pin(number), board(0))
    assert edges_of(found) == {(pin(number), board(0)) for number in range(500)}
    numbers = found.roots_on([board(0), board(77)])
    assert set(found.root_names.ids(numbers).tolist()) == {pin(n) for n in range(500)}


def test_a_graph_without_room_says_so_and_stays_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "LEAST_ROOM", 8)
    found = graph(tmp_path, saved([(0, 0), (1, 0)]))
    for number in range(2, 40):
        found.save(pin(number), pin(number), board(number % 2))
    assert found.full
    assert {(pin(0), board(0)), (pin(1), board(0))} <= edges_of(found)
