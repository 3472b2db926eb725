"""The later items of streamed lists (@stream): a table beside the table of the first items."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from gateway.execution.levels.tables import Column, Table, path_of
from gateway.execution.levels.writer import written_rows
from gateway.execution.model.fragments import Stream
from gateway.execution.model.selection import Selection


class Tail(Table):
    """The later items of the streamed lists of a column, which begin at the index `initial` of
    their lists. Each list is a group of rows."""

    def __init__(self, stream: Stream, initial: int, column: Column) -> None:
        self.stream, self.initial = stream, initial
        self._whole: Selection = stream.whole()
        self._slot: Any = self._whole.fields[0].slot
        Table.__init__(self, self._slot.columns, column)

    def index(self, row: int) -> int:
        return Table.index(self, row) + self.initial

    def group(self, row: int) -> int:
        """The number of the list that has an item."""
        return bisect_right(self.starts, row) - 1

    def path(self, group: int) -> list[str | int]:
        """The path of a list's first later item."""
        path = path_of(self.above, self.parents[group])
        assert path is not None
        return [*path, self.initial]

    async def written(
        self, groups: Sequence[int], rest: Callable[[], Awaitable[None]]
    ) -> list[list[bytes]]:
        """The JSON of the later items of some lists, each as an object with the key ITEMS, in
        several parts if it is large."""
        ends = [*self.starts[1:], self.count]
        view = Table(self._whole.shape, None)
        lists = Column(self._slot, view)
        lists.below, lists.values = [self], list(zip(self.starts, ends, strict=True))
        view.columns, view.count = [lists], len(ends)
        try:
            return await written_rows(view, groups, rest)
        finally:
            view.columns = []  # a reference cycle


def tail_at(table: Table, row: int) -> tuple[Tail, int] | None:
    """The streamed lists in whose items a position is, and the number of the list; None if it is in
    no streamed items."""
    while not isinstance(table, Tail):
        column = table.above
        if column is None:
            return None
        row = table.parent(row)
        table = column.table
    return table, table.group(row)
