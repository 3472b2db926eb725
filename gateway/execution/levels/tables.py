"""The tables of a request: the rows of each place of the operation, and the positions of values.

There is one table for each place. Its rows are objects of one type, or the items of lists. Each
column holds the completed values of one field, or of the items:

| type | value of a column |
| --- | --- |
| scalar, enum | the coerced value |
| object type | the row of the object in the table below |
| list | the first row of its items in the table below, and the row after the last |
| interface, union | the table of the object's type, and the row in it |

A null is None. A position of the response is a column and a row of it. Its path is computed for
errors alone: the table knows the parent's row of each row.

    query { boards { pins { title } } }

    table   Query    boards          Board     pins              Pin
    column  boards   (items)         pins      (items)           title
    rows    (0, 2)   0, 1            (0, 1)    0, 1              "a", "b"
                                     (1, 2)
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from gateway.execution.model.fragments import Group
from gateway.execution.model.selection import Field, Place, Selection

LEAF, ID, LIST, OBJECT, ABSTRACT = range(5)
"""The kinds of columns. In a column of IDs, compiled code has integers beside strings."""
Rows: TypeAlias = Sequence[int]
"""Rows of a table: a range if they are consecutive, else a list."""


class Typed:
    """The type of a column's values. Its subclass `slot.Slot` completes them."""

    __slots__ = ("field", "kind", "nonnull")

    field: Field
    kind: int
    nonnull: bool


class Columns:
    """The plan of a table. Its subclass `shapes.Shape` resolves and writes the columns of a
    selection."""

    __slots__ = ("keys", "place", "selection", "slots")

    def __init__(self, slots: list[Any], selection: Selection | None = None) -> None:
        self.slots: list[Any] = slots
        """The `Typed` of each column."""
        self.selection = selection
        """None for the items of lists."""
        self.place = None if selection is None else selection.place
        self.keys: Any = None
        """The compiled writer's texts between the fields; None until it needs them."""


class Column:
    """The values of one field, or of the items of a place's lists."""

    __slots__ = ("below", "dead", "kind", "slot", "table", "values")

    def __init__(self, slot: Typed, table: Table) -> None:
        self.slot, self.table, self.kind = slot, table, slot.kind
        self.values: list[Any] = []
        self.dead: set[int] | None = None
        """The rows whose values are null because of an error, at them or below them."""
        self.below: list[Table] | None = None
        """The tables of the values: one for each object type, or the items' table."""

    def table_of(self, shape: Columns) -> Table | None:
        """Returns the table of the objects with this plan; None if there is none yet."""
        if self.below is not None:
            for table in self.below:
                if table.selection is shape.selection:
                    return table
        return None

    def add_table(self, table: Table) -> Table:
        if self.below is None:
            self.below = [table]
        else:
            self.below.append(table)
        return table

    def put(self, rows: Rows, values: Sequence[Any]) -> None:
        """Put completed values at these rows."""
        if type(rows) is range:
            self.values[rows.start : rows.stop] = values
        else:
            own = self.values
            for row, value in zip(rows, values, strict=True):
                own[row] = value

    def put_numbers(self, rows: Rows, first: int) -> None:
        """Put the numbers from `first` on at these rows."""
        own = self.values
        if type(rows) is range:
            start = rows.start
            for n in range(len(rows)):
                own[start + n] = first + n
        else:
            for row in rows:
                own[row] = first
                first += 1

    def nullify(self, row: int) -> None:
        """Put a null in place of the value, because of an error at it or below it."""
        self.values[row] = None
        if self.dead is None:
            self.dead = {row}
        else:
            self.dead.add(row)

    # -- positions, as `info.path_of` reads them

    def base(self, row: int) -> tuple[Column, int]:
        return self, row

    def above(self, row: int) -> tuple[Column | None, int]:
        """The position of the object that has the field, or of the item's list. The column is None
        for the root's fields."""
        table = self.table
        return table.above, table.parent(row)

    def step(self, row: int) -> tuple[str | int, int, str | None]:
        """The last key of the path, its rank among its siblings in the response, and the name of
        the type that has the field (None for a list's item)."""
        if self.table.listed:
            index = self.table.index(row)
            return index, index, None
        field = self.slot.field
        return field.key, field.rank, field.parent.name


class Table:
    """The rows of one place.

    Rows are added in groups: the objects of a group have the rows `parents[n]` of the column above,
    and the items of a list all have the same parent.
    """

    __slots__ = (
        *("above", "columns", "count", "entry", "later", "listed", "parents", "selection"),
        *("shape", "starts"),
    )

    def __init__(self, shape: Columns, above: Column | None) -> None:
        self._begin(shape, above, 0, None)

    def _begin(self, shape: Columns, above: Column | None, count: int, parents: Any) -> None:
        """Begin with a group of rows, if there are any (see `add`)."""
        self.shape: Any = shape
        self.above, self.selection, self.listed = above, shape.selection, shape.selection is None
        self.columns = []
        for slot in shape.slots:
            self.columns.append(_column(slot, self, count))
        self.count = count
        self.starts: list[int] = [0] if count else []
        """The first row of each group."""
        self.parents: list[Any] = [parents] if count else []
        """The parents' rows of each group; the parent's row for the items of a list."""
        self.entry: Any = None
        """The latest entry of the queue for rows of this table, which may be extended."""
        self.later: Later | None = None
        """The objects and the layers of deferred fields; None without deferred fields."""
        if shape.place is not None:
            self.later = Later(shape.place)

    def add(self, count: int, parents: Any) -> int:
        """Add a group of rows, whose values are null at first. Returns the first row."""
        first = self.count
        self.starts.append(first)
        self.parents.append(parents)
        self.count = first + count
        nulls = [None] * count
        for column in self.columns:
            column.values += nulls
        return first

    def parent(self, row: int) -> int:
        """The row of the column above that has this object, or this item's list."""
        group = bisect_right(self.starts, row) - 1
        parents = self.parents[group]
        found: int = parents if self.listed else parents[row - self.starts[group]]
        return found

    def index(self, row: int) -> int:
        """The index of an item in its list."""
        return row - self.starts[bisect_right(self.starts, row) - 1]


class Later:
    """The objects of a table, and the tables of their deferred fields, which are the table's
    layers: they have the same rows. For a layer, `of` is the table."""

    __slots__ = ("layers", "objs", "of", "place")

    def __init__(self, place: Place | None, of: Table | None = None) -> None:
        self.place, self.of = place, of
        self.objs: list[Any] = []
        self.layers: dict[Group, Table] = {}


def new_layer(table: Table, selection: Selection) -> Table:
    """Returns a new layer of a table. It shares the rows' positions with the table."""
    layer = Table(selection.shape, table.above)
    layer.later = Later(None, table)
    layer.starts, layer.parents = table.starts, table.parents
    return layer


def new_table(shape: Columns, above: Column | None, count: int, parents: Any) -> Table:
    """Returns a table with a first group of rows (see `Table.add`)."""
    table = Table.__new__(Table)
    table._begin(shape, above, count, parents)
    return table


_FIRST_ROWS = [range(count) for count in range(257)]


def rows_from(first: int, count: int) -> range:
    """Returns `range(first, first + count)`. Making a range takes compiled code as long as
    resolving several fields, and most are the first rows of a table."""
    if first == 0 and count < len(_FIRST_ROWS):
        return _FIRST_ROWS[count]
    return range(first, first + count)


def _column(slot: Typed, table: Table, count: int) -> Column:
    """Returns `Column(slot, table)` with `count` nulls. Compiled code needs no call of `__init__`,
    with a tuple of its arguments, for each column."""
    column = Column.__new__(Column)
    column.slot, column.table, column.kind = slot, table, slot.kind
    column.values, column.dead, column.below = [None] * count, None, None
    return column


class Positions:
    """The positions of some values of a column: number `i` is at `rows[i]`."""

    __slots__ = ("column", "rows")

    def __init__(self, column: Column, rows: Rows) -> None:
        self.column, self.rows = column, rows

    def base(self, i: int) -> tuple[Column, int]:
        return self.column, self.rows[i]


def path_of(column: Column | None, row: int) -> list[str | int] | None:
    """Returns the path of a position; None if a null replaced it or a parent of it."""
    path: list[str | int] = []
    while column is not None:
        if column.dead is not None and row in column.dead:
            return None
        path.append(column.step(row)[0])
        column, row = column.above(row)
    path.reverse()
    return path


def is_alive(column: Column | None, row: int) -> bool:
    """Whether a position is still in the response: no null replaced it or a parent of it."""
    while column is not None:
        if column.dead is not None and row in column.dead:
            return False
        column, row = column.above(row)
    return True


def field_of(column: Column, row: int) -> tuple[Column, int]:
    """Returns the position of the field of a value. For an item, this is the position of the
    outermost list."""
    while column.table.listed:
        above, row = column.above(row)
        assert above is not None
        column = above
    return column, row


def ranks(column: Column | None, row: int) -> list[int]:
    """The ranks of all positions from the root down to this position, each among its siblings.
    These lists sort in response order."""
    found = []
    while column is not None:
        found.append(column.step(row)[1])
        column, row = column.above(row)
    found.reverse()
    return found


class Order:
    """The sort keys that sort failures in response order: the ranks of each position. Thousands of
    fields may fail below one object, so the ranks of an object are found once."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, int], tuple[int, ...]] = {}
        """The ranks of the objects above failures, by the id of their column and the row."""

    def __call__(self, failure: tuple[Column, int, Exception]) -> tuple[int, ...]:
        column, row, _ = failure
        return (*self._above(*column.above(row)), column.step(row)[1])

    def _above(self, column: Column | None, row: int) -> tuple[int, ...]:
        steps: list[tuple[tuple[int, int], int]] = []
        found: tuple[int, ...] = ()
        while column is not None:
            key = id(column), row
            known = self.known.get(key)
            if known is not None:
                found = known
                break
            steps.append((key, column.step(row)[1]))
            column, row = column.above(row)
        for key, rank in reversed(steps):
            found = self.known[key] = (*found, rank)
        return found


def cut_loose(table: Table) -> None:
    """Break the reference cycles of a table and all tables below it."""
    columns, table.columns = table.columns, []
    later, table.later = table.later, None
    if later is not None:
        layers, later.of, later.layers = later.layers, None, {}
        for layer in layers.values():
            cut_loose(layer)
    for column in columns:
        below, column.below = column.below, None
        if below is not None:
            if column.kind == ABSTRACT:
                column.values = []  # they refer to the tables
            for each in below:
                cut_loose(each)


def tables_below(roots: Sequence[Table]) -> Iterator[Table]:
    """Yields all tables of a request, each before the tables below it."""
    left = list(roots)
    while left:
        table = left.pop()
        yield table
        for column in table.columns:
            if column.below is not None:
                left += column.below
        if table.later is not None:
            left += table.later.layers.values()
