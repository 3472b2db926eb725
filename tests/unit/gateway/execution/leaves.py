"""Reads the leaves of objects with compiled code, and writes the objects as JSON."""

from collections.abc import Callable, Sequence
from typing import Any, cast

from gateway.execution.levels.slot import Slot
from gateway.execution.levels.tables import ID, LEAF, LIST, OBJECT, Columns, Table
from gateway.execution.levels.writer import json_writer


class Form:
    """The leaves of one type of object. `names` are the attributes of the objects, and the keys in
    the JSON. `kinds` are kinds of LeafReader, parallel to `names`; `shown` coerces values of the
    kind "other"."""

    def __init__(
        self,
        names: Sequence[str],
        kinds: Sequence[str],
        *,
        nonnull: bool = True,
        shown: Callable[[Any], Any] | None = None,
    ) -> None:
        self._kinds = kinds
        self._reader, before, text = json_writer.LeafReader(), [], "{"
        for number, (name, kind) in enumerate(zip(names, kinds, strict=True)):
            self._reader.add(number, name, kind, nonnull, shown if kind == "other" else None)
            before.append(f'{text}"{name}":'.encode())
            text = ","
        self._keys = json_writer.Keys(before, b"}")

    def read(self, objs: Sequence[Any]) -> "Read":
        """Read the leaves of these objects into a table."""
        root = Table(Columns([_slot(LIST)]), None)
        root.shape.keys = json_writer.Keys([b""], b"")
        root.add(1, (0,))
        (column,) = root.columns
        items = column.add_table(Table(Columns([_slot(OBJECT)]), column))
        slots = [_slot(ID if kind == "ID" else LEAF) for kind in self._kinds]
        table = items.columns[0].add_table(Table(Columns(slots), items.columns[0]))
        table.shape.keys = self._keys
        read = Read(self._reader, root, items, table)
        read.more(objs)
        return read


class Read:
    """Objects whose leaves were read. `unusual` has the number of the leaf, the row and the value
    of each value that is left to Python."""

    def __init__(self, reader: Any, root: Table, items: Table, table: Table) -> None:
        self._reader, self._root, self._items, self._table = reader, root, items, table
        self.unusual: list[tuple[int, int, Any]] = []

    def more(self, objs: Sequence[Any]) -> None:
        count = len(objs)
        first = self._table.add(count, range(count))
        self.unusual += self._reader.read(objs, self._table, first) or ()

    def columns(self) -> list[list[Any]]:
        """The values of each leaf, in the order of the rows."""
        return [column.values for column in self._table.columns]

    def written(self, rows: Sequence[int | None] | None = None) -> bytes:
        """Returns the objects with these rows (None: null) as a JSON list; all objects by
        default."""
        rows = range(self._table.count) if rows is None else rows
        items, first = self._items, self._items.count
        items.add(len(rows), 0)
        items.columns[0].values[first:] = rows
        self._root.columns[0].values[0] = (first, items.count)
        writer = json_writer.TableWriter(self._root)
        assert not writer.step(10**9, 10**9)
        return writer.take()


def _slot(kind: int) -> Slot:
    return Slot(cast(Any, None), False, kind)
