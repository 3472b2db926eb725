"""Response positions: where completed values are put in the response, and their paths.

graphql-core makes a path for each value. Here one object has all positions of one field, or of one
list level, numbered from 0; a column's values are parallel to these numbers. A single position is
therefore a pair `(positions, i)`. Its path, and whether a null above it removed it from the
response, are computed only for errors and arriving values.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence, Set
from itertools import accumulate, pairwise
from typing import Any, Protocol, TypeAlias

from gateway.execution.model.selection import Field

Base: TypeAlias = "FieldPositions | ItemPositions"
Positions: TypeAlias = "FieldPositions | ItemPositions | SomePositions | JoinedPositions"


NONE: Set[int] = frozenset()


class Parents(Protocol):
    """The objects that have the fields: `run.groups.Group`."""

    @property
    def positions(self) -> Positions | None:
        """The positions of the objects themselves; None for the root."""

    @property
    def out(self) -> list[dict[str, Any]]:
        """The dict of each object in the response, parallel to the objects."""


class FieldPositions:
    """The positions of one field in the objects of a group: position `i` is in object `i`."""

    __slots__ = ("dead", "field", "group", "nonnull")

    def __init__(self, group: Parents, field: Field, nonnull: bool) -> None:
        self.group, self.field, self.nonnull = group, field, nonnull
        self.dead: Set[int] = NONE
        """The numbers of the positions that are null because of an error, at them or below them."""

    def put(self, i: int, value: Any) -> None:
        self.group.out[i][self.field.key] = value

    def put_all(self, values: Iterable[Any]) -> None:
        key = self.field.key
        for row, value in zip(self.group.out, values, strict=True):
            row[key] = value

    def put_some(self, indexes: Iterable[int], values: Iterable[Any]) -> None:
        key, out = self.field.key, self.group.out
        for i, value in zip(indexes, values, strict=True):
            out[i][key] = value

    def base(self, i: int) -> tuple[Base, int]:
        """The same position, as a number among all positions of the field or the list level. Only
        these have `dead`, `above` and `step`."""
        return self, i

    def above(self, i: int) -> tuple[Positions | None, int]:
        """The position of the object that has the field; None for the root's fields."""
        return self.group.positions, i

    def step(self, i: int) -> tuple[str | int, int, str | None]:
        """The last key of the path, its rank among its siblings in the response, and the name of
        the type that has the field (None for a list item)."""
        return self.field.key, self.field.rank, self.field.parent.name


class ItemPositions:
    """The positions of the items of several lists, one list after the other.

    `lists` are the lists in the response, and `starts` the number of each list's first item
    (unused for a single list). List `n` is at position `which[n]` of `of`, or at position `n` if
    `which` is None.
    """

    __slots__ = ("dead", "field", "lists", "nonnull", "of", "starts", "which")

    def __init__(
        self,
        of: Positions,
        field: Field,
        which: Sequence[int] | None,
        lists: list[list[Any]],
        starts: list[int],
        nonnull: bool,
    ) -> None:
        self.of, self.which, self.lists, self.starts = of, which, lists, starts
        self.field, self.nonnull = field, nonnull
        self.dead: Set[int] = NONE

    def _find(self, i: int) -> tuple[int, int]:
        if len(self.lists) == 1:
            return 0, i
        number = bisect_right(self.starts, i) - 1
        return number, i - self.starts[number]

    def put(self, i: int, value: Any) -> None:
        number, at = self._find(i)
        self.lists[number][at] = value

    def put_all(self, values: Sequence[Any]) -> None:
        if len(self.lists) == 1:
            self.lists[0][:] = values
        else:
            for start, items in zip(self.starts, self.lists, strict=True):
                items[:] = values[start : start + len(items)]

    def put_some(self, indexes: Iterable[int], values: Iterable[Any]) -> None:
        if len(self.lists) == 1:
            items = self.lists[0]
            for i, value in zip(indexes, values, strict=True):
                items[i] = value
        else:
            for i, value in zip(indexes, values, strict=True):
                self.put(i, value)

    def base(self, i: int) -> tuple[Base, int]:
        return self, i

    def above(self, i: int) -> tuple[Positions | None, int]:
        number, _ = self._find(i)
        return self.of, number if self.which is None else self.which[number]

    def step(self, i: int) -> tuple[str | int, int, str | None]:
        _, at = self._find(i)
        return at, at, None


def mark_dead(base: Base, i: int) -> None:
    """Note that a null replaced the value at a position: nothing below it is in the response."""
    if isinstance(base.dead, set):
        base.dead.add(i)
    else:
        base.dead = {i}


class SomePositions:
    """Some positions of a field or of a list level: position `i` is position `indexes[i]` of
    `of`."""

    __slots__ = ("indexes", "nonnull", "of")

    def __init__(self, of: Base | JoinedPositions, indexes: Sequence[int]) -> None:
        self.of, self.indexes = of, indexes
        self.nonnull: bool = of.nonnull

    def put(self, i: int, value: Any) -> None:
        self.of.put(self.indexes[i], value)

    def put_all(self, values: Iterable[Any]) -> None:
        self.of.put_some(self.indexes, values)

    def put_some(self, indexes: Iterable[int], values: Iterable[Any]) -> None:
        own = self.indexes
        self.of.put_some([own[i] for i in indexes], values)

    def base(self, i: int) -> tuple[Base, int]:
        return self.of.base(self.indexes[i])


class JoinedPositions:
    """The positions of several slices of one field, one slice after the other. The counts are
    parallel to the parts."""

    __slots__ = ("nonnull", "parts", "starts")

    def __init__(self, parts: Sequence[Positions], counts: Iterable[int]) -> None:
        self.parts = parts
        self.nonnull: bool = parts[0].nonnull
        self.starts = list(accumulate(counts, initial=0))
        """The number of the first position of each part, and at last the number of all
        positions."""

    def put(self, i: int, value: Any) -> None:
        number = bisect_right(self.starts, i) - 1
        self.parts[number].put(i - self.starts[number], value)

    def put_all(self, values: Sequence[Any]) -> None:
        for part, (start, stop) in zip(self.parts, pairwise(self.starts), strict=True):
            part.put_all(values[start:stop])

    def put_some(self, indexes: Iterable[int], values: Iterable[Any]) -> None:
        for i, value in zip(indexes, values, strict=True):
            self.put(i, value)

    def base(self, i: int) -> tuple[Base, int]:
        number = bisect_right(self.starts, i) - 1
        return self.parts[number].base(i - self.starts[number])


def some(positions: Positions, indexes: Sequence[int]) -> SomePositions:
    """The positions with these numbers, as new positions numbered from 0."""
    if isinstance(positions, SomePositions):
        own = positions.indexes
        return SomePositions(positions.of, [own[i] for i in indexes])
    return SomePositions(positions, indexes)


class Order:
    """The sort keys that sort failures in response order: the ranks (`ranks`) of each position.
    Thousands of fields may fail below one object, so the ranks of an object are found once."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, int], tuple[int, ...]] = {}
        """The ranks of the objects above failures, by the id of their positions and the number."""

    def __call__(self, failure: tuple[Positions, int, Exception]) -> tuple[int, ...]:
        base, i = failure[0].base(failure[1])
        return (*self._above(*base.above(i)), base.step(i)[1])

    def _above(self, positions: Positions | None, i: int) -> tuple[int, ...]:
        steps: list[tuple[tuple[int, int], int]] = []
        found: tuple[int, ...] = ()
        while positions is not None:
            base, i = positions.base(i)
            key = id(base), i
            known = self.known.get(key)
            if known is not None:
                found = known
                break
            steps.append((key, base.step(i)[1]))
            positions, i = base.above(i)
        for key, rank in reversed(steps):
            found = self.known[key] = (*found, rank)
        return found


def ranks(positions: Positions | None, i: int) -> list[int]:
    """The ranks of all positions from the root down to this position, each among its siblings.
    These lists sort in response order."""
    found = []
    while positions is not None:
        base, i = positions.base(i)
        found.append(base.step(i)[1])
        positions, i = base.above(i)
    found.reverse()
    return found
