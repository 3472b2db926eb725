"""The arrays of the graph of roots and boards, made from the saves of public pins.

A root is the first pin of a chain of repins: a picture, however often it was saved. The graph has
an edge for each board that a root was saved to. Both directions are lists in one array (compressed
sparse rows): node `n` has the neighbors `targets[start[n] : start[n] + degree[n]]`. Nodes are
numbered in the order of their ids.
"""

from array import array
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
Nodes = NDArray[np.int32]


class Arrays(NamedTuple):
    """The graph. `root_pins` has, beside each entry of `root_boards`, the pin that the board has:
    the root itself first, then the newest repin."""

    root_ids: Ids  # ascending
    board_ids: Ids  # ascending
    root_start: Nodes
    root_degree: Nodes
    root_boards: Nodes
    root_pins: Ids
    board_start: Nodes
    board_degree: Nodes
    board_roots: Nodes


class Saves:
    """Public pins, collected for `arrange`: 32 bytes each."""

    def __init__(self) -> None:
        self._columns = [array("q") for _ in range(4)]

    def add(self, pin_id: int, root_id: int, board_id: int, created: int) -> None:
        for column, value in zip(self._columns, (pin_id, root_id, board_id, created), strict=True):
            column.append(value)

    def __len__(self) -> int:
        return len(self._columns[0])

    def arrange(self) -> Arrays:
        """The graph of the saves. Takes some 100 bytes for each save while it works."""
        pins, roots, boards, created = (
            np.frombuffer(column, np.int64) if column else np.zeros(0, np.int64)
            for column in self._columns
        )
        root_ids, root = np.unique(roots, return_inverse=True)
        board_ids, board = np.unique(boards, return_inverse=True)
        # The first pin of a root on a board stands for all its pins there.
        order = np.lexsort((-created, pins != roots, board, root))
        edge = root[order] * max(1, len(board_ids)) + board[order]
        order = order[np.diff(edge, prepend=-1) != 0]
        order = order[np.lexsort((-created[order], pins[order] != roots[order], root[order]))]
        root_start, root_degree = _lists(root[order], len(root_ids))
        by_board = order[np.argsort(board[order], kind="stable")]
        board_start, board_degree = _lists(board[order], len(board_ids))
        return Arrays(
            root_ids=root_ids,
            board_ids=board_ids,
            root_start=root_start,
            root_degree=root_degree,
            root_boards=board[order].astype(np.int32),
            root_pins=pins[order],
            board_start=board_start,
            board_degree=board_degree,
            board_roots=root[by_board].astype(np.int32),
        )


def _lists(of: NDArray[np.intp], nodes: int) -> tuple[Nodes, Nodes]:
    """The starts and the lengths of the nodes' lists, from the nodes of all entries."""
    degree = np.bincount(of, minlength=nodes)
    return (np.cumsum(degree) - degree).astype(np.int32), degree.astype(np.int32)
