"""Small graphs in snapshot files."""

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from datasources.ids import Kind, compose
from feed_engine.related import snapshot
from feed_engine.related.arrays import Saves
from feed_engine.related.graph import Graph


def pin(number: int) -> int:
    return compose(number % 3, Kind.PIN, number + 1)


def board(number: int) -> int:
    return compose(number % 3, Kind.BOARD, number + 1)


def saved(edges: Iterable[tuple[int, int]]) -> Saves:
    """Saves of roots (by number) to boards (by number), each by a pin that is its own root."""
    saves = Saves()
    for root, on in edges:
        saves.add(pin(root), pin(root), board(on), created=root)
    return saves


def graph(folder: Path, saves: Saves, name: str = "graph") -> Graph:
    path = folder / name
    snapshot.write(path, saves.arrange(), built=1, pins=len(saves))
    return Graph(snapshot.opened(path))


def fresh(edges: Iterable[tuple[int, int]]) -> Graph:
    """A graph whose file is removed at once: it stays mapped."""
    with TemporaryDirectory() as folder:
        return graph(Path(folder), saved(edges))


def edges_of(graph: Graph) -> set[tuple[int, int]]:
    """The (root id, board id) that walks can go both ways. A root may still name a board that was
    hidden, and no board names a root that does not name the board."""
    forth = {
        (graph.root_names.id(root), graph.board_names.id(on))
        for root in range(len(graph.root_names))
        for on in graph.roots.of(root).tolist()
    }
    back = {
        (graph.root_names.id(root), graph.board_names.id(on))
        for on in range(len(graph.board_names))
        for root in graph.boards.of(on).tolist()
    }
    assert back <= forth
    return back
