"""The graph that walks use: a mapped snapshot, and the changes since it was built.

Changes go to this process' own copy of the mapped pages. A list that grows beyond its place moves
to the room behind its array, so a walk reads one array, whether or not its lists have changed.
Nothing here waits or locks: one thread at a time may use a graph.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from feed_engine.related.arrays import Ids, Nodes
from feed_engine.related.snapshot import Snapshot

CANDIDATES = 4  # pins of one root that are offered, at most


class Graph:
    """Roots and boards by number. A number is valid until the process opens another snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        header, arrays = snapshot
        self.header = header
        self.roots = Lists(arrays.root_start, arrays.root_degree, arrays.root_boards, header.edges)
        self.boards = Lists(
            arrays.board_start, arrays.board_degree, arrays.board_roots, header.edges
        )
        self._pins = arrays.root_pins
        self.roots.beside = arrays.root_pins
        self.root_names = Names(arrays.root_ids, header.roots)
        self.board_names = Names(arrays.board_ids, header.boards)
        self.changes = 0
        """The number of changes since the snapshot."""

    @property
    def full(self) -> bool:
        """Whether a change found no room. The graph needs another snapshot."""
        return self.roots.full or self.boards.full or self.root_names.full or self.board_names.full

    def save(self, pin_id: int, root_id: int, board_id: int) -> None:
        """Add a public pin. If the pin was on another board, it leaves that board."""
        self.changes += 1
        root = self.root_names.number(root_id)
        board = self.board_names.number(board_id)
        if root is None or board is None:
            return
        self._remove(pin_id, root, but=board)
        place = self.roots.find(root, board)
        if place is None:
            place = self.roots.append(root, board)
        if place is not None:
            if self._pins[place] != root_id:  # the root itself stands for all its pins on a board
                self._pins[place] = pin_id
            if self.boards.find(board, root) is None:
                self.boards.append(board, root)

    def remove(self, pin_id: int, root_id: int) -> None:
        """Remove a pin that is no longer public."""
        self.changes += 1
        (root,) = self.root_names.known([root_id])
        if root >= 0:
            self._remove(pin_id, root)

    def hide(self, board_id: int) -> None:
        """Remove a board. Its roots still name it, and walks pass no further from there."""
        self.changes += 1
        (board,) = self.board_names.known([board_id])
        if board >= 0:
            self.boards.clear(board)

    def pins_of(self, root: int) -> list[int]:
        """Pins of a root on boards of the graph, the root itself first."""
        boards, pins = self.roots.of(root), self.roots.beside_of(root)
        shown = pins[self.boards.degree[boards] > 0]
        root_id = self.root_names.id(root)
        first = np.flatnonzero(shown == root_id)[:1]
        return [*shown[first].tolist(), *shown[shown != root_id][:CANDIDATES].tolist()][:CANDIDATES]

    def roots_on(self, board_ids: Iterable[int]) -> Nodes:
        """The roots that are on some of the boards."""
        boards = self.board_names.known(list(board_ids))
        found = [self.boards.of(board) for board in boards[boards >= 0].tolist()]
        return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int32)

    def _remove(self, pin_id: int, root: int, *, but: int = -1) -> None:
        places = np.flatnonzero(self.roots.beside_of(root) == pin_id)
        for board in [int(self.roots.of(root)[place]) for place in places]:
            if board != but:
                self.roots.remove(root, board)
                self.boards.remove(board, root)


class Lists:
    """The neighbors of nodes, in one array with room at its end. `beside`: another array whose
    entries move with the neighbors."""

    def __init__(self, start: Nodes, degree: Nodes, targets: Nodes, used: int) -> None:
        self.start, self.degree, self.targets = start, degree, targets
        self.beside: Ids | None = None
        self.full = False
        self._used = used
        self._room: dict[int, int] = {}  # node → length of its place, if it has moved

    def of(self, node: int) -> Nodes:
        start = self.start[node]
        return self.targets[start : start + self.degree[node]]

    def beside_of(self, node: int) -> Ids:
        assert self.beside is not None
        start = self.start[node]
        return self.beside[start : start + self.degree[node]]

    def find(self, node: int, target: int) -> int | None:
        """The place of a neighbor in the array."""
        found = np.flatnonzero(self.of(node) == target)
        return int(self.start[node] + found[0]) if len(found) else None

    def append(self, node: int, target: int) -> int | None:
        """Add a neighbor. Returns its place; None if there is no room."""
        degree = int(self.degree[node])
        if degree >= self._room.get(node, 0) and not self._move(node, degree):
            return None
        place = int(self.start[node]) + degree
        self.targets[place] = target
        if self.beside is not None:
            self.beside[place] = 0
        self.degree[node] = degree + 1
        return place

    def remove(self, node: int, target: int) -> None:
        """Remove a neighbor, if it is there. The last neighbor takes its place."""
        place = self.find(node, target)
        if place is None:
            return
        last = int(self.start[node] + self.degree[node]) - 1
        self.targets[place] = self.targets[last]
        if self.beside is not None:
            self.beside[place] = self.beside[last]
        self._room.setdefault(node, int(self.degree[node]))
        self.degree[node] -= 1

    def clear(self, node: int) -> None:
        self._room.setdefault(node, int(self.degree[node]))
        self.degree[node] = 0

    def _move(self, node: int, degree: int) -> bool:
        """Give a list a place that is a quarter longer."""
        wanted = degree + degree // 4 + 4
        if self._used + wanted > len(self.targets):
            self.full = True
            return False
        old, new = int(self.start[node]), self._used
        for moved in (self.targets, self.beside):
            if moved is not None:
                moved[new : new + degree] = moved[old : old + degree]
        self.start[node], self._room[node] = new, wanted
        self._used += wanted
        return True


class Names:
    """The numbers of ids: places in a sorted array, then numbers of ids that were added."""

    def __init__(self, ids: Ids, count: int) -> None:
        self._ids, self._count = ids, count
        self._sorted = ids[:count]
        self._added: dict[int, int] = {}
        self.full = False

    def __len__(self) -> int:
        return self._count + len(self._added)

    def known(self, ids: Sequence[int]) -> NDArray[np.int64]:
        """The numbers of ids; -1 for an unknown id."""
        wanted = np.asarray(ids, np.int64)
        at = np.searchsorted(self._sorted, wanted)
        found = at < self._count
        found[found] = self._sorted[at[found]] == wanted[found]
        numbers = np.where(found, at, -1)
        if self._added:
            for place in np.flatnonzero(~found).tolist():
                numbers[place] = self._added.get(int(wanted[place]), -1)
        return numbers

    def number(self, id: int) -> int | None:
        """The id's number, a new number if necessary; None if there is no room."""
        (number,) = self.known([id]).tolist()
        if number >= 0:
            return int(number)
        number = len(self)
        if number >= len(self._ids):
            self.full = True
            return None
        self._ids[number], self._added[id] = id, number
        return number

    def id(self, number: int) -> int:
        return int(self._ids[number])

    def ids(self, numbers: NDArray[np.integer]) -> Ids:
        found: Ids = self._ids[numbers]
        return found
