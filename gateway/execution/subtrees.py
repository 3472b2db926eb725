"""A selection and all that is below it, made in one go where everything in it is as usual.

Where each field below an object is read from it, comes from a bulk resolver or from a plain
function, no place and no path is needed unless something goes wrong. So the objects are found
first, column by column (`attempts`), and the response is made of them in the end: written at once
by compiled code (`forms`), or else, as here, in one comprehension for all objects, with the objects
in them, for each level of lists.

    def rows(attempt):
        columns = attempt.columns
        return [{'cursor': v0, 'node': {'id': v1, 'tags': x2}} if (type(v0) is str) else odd()
                for x0, x1, x2 in zip(columns[0], columns[1], column2(attempt))
                for v0 in (x0.cursor,) for v1 in (x1.id,)]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

from gateway.execution.attempts import Asked, Attempt, Shown, Spot
from gateway.execution.bind import Attribute, Bulk, Call, Constant
from gateway.execution.composites import Objects
from gateway.execution.forms import form_of
from gateway.execution.generate import Odd, compiled, odd
from gateway.execution.leaves import Leaf
from gateway.execution.lists import Listed
from gateway.execution.parts import Bulked, Many, One, Read, Values

if TYPE_CHECKING:
    from gateway.execution.collect import Field, Selection

Rows: TypeAlias = Callable[[Attempt], list[dict[str, Any]]]

PASSED = 256
"""Times that a subtree isn't tried after it was in vain too often."""
MOST = 512
"""Columns of a subtree. Of more, what is below is made level by level until fewer are left: paths
that share selections would make a subtree far larger than the document."""
VARIANTS = 8
"""How many sets of objects that may be null have code of their own, where they are."""


class NotStraight(Exception):
    """A field needs a place, whatever its values are, or none has values to be got."""


class Subtree:
    """What is compiled for a selection. Raises NotStraight."""

    def __init__(self, selection: Selection) -> None:
        self.size = 0
        """Columns."""
        self._selections: set[Selection] = set()
        self.root = self._spot(selection)
        self._selections.clear()
        if not self.root.asked:
            raise NotStraight
        self.form = form_of(self.root)
        """What writes its objects; None without compiled code."""
        self.tried = self.failed = self._passed = 0

    def promising(self) -> bool:
        """Whether it is worth a try: for a while it isn't where that was often in vain."""
        if self.failed < 8 or self.failed * 4 < self.tried:
            return True
        self._passed += 1
        if self._passed == PASSED:
            self.tried = self.failed = self._passed = 0
        return False

    def give_up(self) -> None:
        """An attempt was in vain."""
        self.failed += 1

    def write(self, attempt: Attempt) -> Sequence[Any]:
        """What stands in the response for the objects of an attempt. Raises whatever."""
        if self.form is None:
            return attempt.made(self.root)
        return self.form.write(attempt.columns)

    def leaves(self, spot: Spot) -> Rows:
        """What makes the leaves that are read from a spot's objects alone. Raises Odd."""
        if spot.leaves is None:
            spot.leaves = _Writer(frozenset(), leaves_only=True).rows(spot)
        return spot.leaves

    def rows(self, spot: Spot, apart: frozenset[Spot]) -> Rows:
        """What makes the response of a spot's objects, where the objects of some spots are made
        apart, as not all are there. Raises Odd."""
        found = spot.rows.get(apart)
        if found is None:
            if len(spot.rows) > VARIANTS:
                raise Odd
            found = spot.rows[apart] = _Writer(apart).rows(spot)
        return found

    def _number(self) -> int:
        self.size += 1
        if self.size > MOST:
            raise NotStraight
        return self.size - 1

    def _spot(self, selection: Selection) -> Spot:
        if selection in self._selections:
            raise NotStraight  # what is given to a field would be given to it in two places
        self._selections.add(selection)
        spot = Spot(selection, self._number())
        for field in selection.fields:
            source = field.source
            if isinstance(source, Constant):
                continue
            attribute = isinstance(source, Attribute) and source.placeless
            if attribute and isinstance(field.completer, Leaf):
                spot.leafy = True
            else:
                spot.shown[field] = shown = self._shown(field)
                spot.asked.append(_asked(field, shown))
        return spot

    def _shown(self, field: Field) -> Shown:
        completer = field.completer
        if isinstance(completer, Leaf):
            return Values(self._number(), completer, listed=False)
        if isinstance(completer, Objects):
            return One(self._number(), completer, self._below(completer))
        if isinstance(completer, Listed):
            if isinstance(completer.item, Leaf):
                return Values(self._number(), completer.item, listed=True)
            if isinstance(completer.item, Objects):
                return Many(self._number(), completer.item, self._below(completer.item))
        raise NotStraight

    def _below(self, completer: Objects) -> Spot:
        return self._spot(completer.selection(completer.type))


def _asked(field: Field, shown: Shown) -> Asked:
    source = field.source
    if isinstance(source, Bulk):
        return Bulked(field, shown, source)
    if isinstance(source, Attribute | Call) and source.placeless:
        return Read(field, shown, source)
    raise NotStraight


class _Writer:
    """Writes the code that makes the objects of a spot, and of those below it but for lists and
    what is made apart."""

    def __init__(self, apart: frozenset[Spot], leaves_only: bool = False) -> None:
        self._apart, self._leaves_only = apart, leaves_only
        self._env: dict[str, Any] = {"odd": odd, "isfinite": isfinite}
        self._reads: list[str] = []
        self._checks: list[str] = []
        self._columns: list[str] = []

    def rows(self, spot: Spot) -> Rows:
        made = self._object(spot)
        if self._checks:
            made += f" if {' and '.join(self._checks)} else odd()"
        names = ", ".join(f"x{n}" for n in range(len(self._columns)))
        columns = ", ".join(self._columns)
        loop = f"{names} in zip({columns})" if len(self._columns) > 1 else f"x0 in {columns}"
        code = (
            "def rows(attempt):\n"
            "    columns = attempt.columns\n"
            f"    return [{made} for {loop}{''.join(self._reads)}]\n"
        )
        exec(compiled(code), self._env)
        return self._env.pop("rows")  # type: ignore[no-any-return]

    def _object(self, spot: Spot) -> str:
        o = self._column(f"columns[{spot.number}]")
        parts = []
        for field in spot.selection.fields:
            shown = spot.shown.get(field)
            if shown is None:
                value = self._leaf(field, o)
            elif self._leaves_only:
                continue
            elif isinstance(shown, One) and shown.spot not in self._apart:
                value = self._object(shown.spot)
            else:
                name = f"column{len(self._columns)}"
                self._env[name] = shown.column
                value = self._column(f"{name}(attempt)")
            parts.append(f"{field.key!r}: {value}")
        return f"{{{', '.join(parts)}}}"

    def _column(self, expression: str) -> str:
        self._columns.append(expression)
        return f"x{len(self._columns) - 1}"

    def _leaf(self, field: Field, o: str) -> str:
        source, leaf = field.source, field.completer
        if isinstance(source, Constant):
            return repr(source.value)
        assert isinstance(source, Attribute)
        assert isinstance(leaf, Leaf)
        n = len(self._reads)
        self._reads.append(f" for v{n} in ({source.of_object(o)},)")
        check, value = leaf.inline(n, self._env, keyed=False)
        if check:
            self._checks.append(check)
        return value
