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
from functools import cached_property
from math import isfinite
from types import CoroutineType
from typing import TYPE_CHECKING, Any, TypeAlias

from gateway.execution.asking import start
from gateway.execution.bind import Attribute, Bulk, Call, Constant
from gateway.execution.completed import SLICE
from gateway.execution.composites import Objects
from gateway.execution.forms import form_of
from gateway.execution.generate import Odd, compiled, odd
from gateway.execution.goals import Goal
from gateway.execution.kinds import PLAIN, all_plain, kinds_of
from gateway.execution.leaves import NULL, Leaf
from gateway.execution.lists import Listed
from gateway.execution.waiting import WaitingCalls

if TYPE_CHECKING:
    from gateway.execution.attempts import Attempt
    from gateway.execution.collect import Field, Selection
    from gateway.execution.written import Form

Rows: TypeAlias = "Callable[[Attempt], list[dict[str, Any]]]"
FormOf: TypeAlias = "Callable[[Spot], Form]"

PASSED = 256
"""Times that a subtree isn't tried after it was in vain too often."""
VARIANTS = 8
"""How many sets of objects that may be null have code of their own, where they are."""


class NotStraight(Exception):
    """A field that needs a place, whatever its values are."""


class Subtree:
    """What is compiled for a selection. Raises NotStraight."""

    def __init__(self, selection: Selection) -> None:
        self.size = 0
        """Columns."""
        self.root = Spot(self, selection)
        self.tried = self.failed = self._passed = 0

    @cached_property
    def form(self) -> Form | None:
        """What writes its objects; None without compiled code."""
        return form_of(self.root)

    def promising(self) -> bool:
        """Whether it is worth a try: for a while it isn't where that was often in vain."""
        if self.failed < 8 or self.failed * 4 < self.tried:
            return True
        self._passed += 1
        if self._passed == PASSED:
            self.tried = self.failed = self._passed = 0
        return False

    def number(self) -> int:
        self.size += 1
        return self.size - 1


class Spot:
    """The objects of one type at one place of a subtree."""

    def __init__(self, subtree: Subtree, selection: Selection) -> None:
        self.selection = selection
        self.number = subtree.number()
        self.asks: list[Callable[[Attempt, Sequence[Any]], None]] = []
        """For the values of each field that isn't read where the response is made, in its order."""
        self._shown: dict[Field, Argument] = {}
        self._unusual: dict[frozenset[Spot], Rows] = {}
        for field in selection.fields:
            source = field.source
            if isinstance(source, Constant):
                continue
            attribute = isinstance(source, Attribute) and source.placeless
            if not (attribute and isinstance(field.completer, Leaf)):
                self._shown[field] = argument = _argument(subtree, field)
                self.asks.append(_part(field, argument).ask)

    @cached_property
    def usual(self) -> Rows:
        """What makes the response of its objects, where none below them is null."""
        return _Writer(frozenset()).rows(self)

    def rows(self, apart: frozenset[Spot]) -> Rows:
        """The same where the objects of some spots are made apart, as not all are there. Raises
        Odd."""
        found = self._unusual.get(apart)
        if found is None:
            if len(self._unusual) >= VARIANTS:
                raise Odd
            found = self._unusual[apart] = _Writer(apart).rows(self)
        return found

    def shown(self, field: Field) -> Argument | None:
        """What is shown of a field's values; None where they are read with the objects."""
        return self._shown.get(field)


class Values:
    """Leaves, or lists of them, that stand in the response as they are."""

    def __init__(self, subtree: Subtree, leaf: Leaf, listed: bool) -> None:
        self._leaf, self._listed = leaf, listed
        self._number = subtree.number()

    def take(self, attempt: Attempt, values: Sequence[Any]) -> None:
        if self._listed:
            flat, lengths = _flat(values)
            attempt.columns[self._number] = _split(self._usual(flat), lengths)
        else:
            attempt.columns[self._number] = self._usual(values)

    def column(self, attempt: Attempt) -> Sequence[Any]:
        return attempt.columns[self._number]  # type: ignore[no-any-return]

    def add_to(self, form: Form, form_of: FormOf) -> None:
        form.column(self._number)

    def _usual(self, values: Sequence[Any]) -> Sequence[Any]:
        return self._leaf.usual(values, kinds_of(values))


class Composed:
    """Objects of one type."""

    def __init__(self, subtree: Subtree, completer: Objects) -> None:
        self._completer = completer
        self._is_of = None if completer.any_class else completer.is_of
        self.spot = Spot(subtree, completer.selection(completer.type))

    def _ask(self, attempt: Attempt, objs: Sequence[Any], kinds: set[type]) -> None:
        """For what is to be shown of these, of which no class is known to be as usual."""
        if not (kinds <= PLAIN or all_plain(kinds)):
            raise Odd
        if self._is_of is not None and not self._is_of(objs):
            raise Odd
        if objs:
            attempt.ask(self.spot, objs)


class One(Composed):
    """An object, or null."""

    def __init__(self, subtree: Subtree, completer: Objects) -> None:
        super().__init__(subtree, completer)
        self._number = subtree.number()
        """The column of those, where some are null."""

    def take(self, attempt: Attempt, values: Sequence[Any]) -> None:
        kinds = set(map(type, values))
        if NULL in kinds:
            if self._completer.nonnull:
                raise Odd
            attempt.columns[self._number] = values
            attempt.nulls.add(self.spot)
            kinds.discard(NULL)
            values = [value for value in values if value is not None]
        self._ask(attempt, values, kinds)

    def column(self, attempt: Attempt) -> Sequence[Any]:
        """Where some are null: the others as they are shown, and null for those."""
        values: Sequence[Any] = attempt.columns[self._number]
        if attempt.columns[self.spot.number] is None:  # all are null
            return values
        made = iter(attempt.made(self.spot))
        return [None if value is None else next(made) for value in values]

    def add_to(self, form: Form, form_of: FormOf) -> None:
        form.one(form_of(self.spot), self._number)


class Many(Composed):
    """A list of objects."""

    def __init__(self, subtree: Subtree, completer: Objects) -> None:
        super().__init__(subtree, completer)
        self._number = subtree.number()

    def take(self, attempt: Attempt, values: Sequence[Any]) -> None:
        flat, attempt.columns[self._number] = _flat(values)
        self._ask(attempt, flat, set(map(type, flat)))

    def column(self, attempt: Attempt) -> Sequence[Any]:
        lengths = attempt.columns[self._number]
        return _split(attempt.made(self.spot) if any(lengths) else [], lengths)

    def add_to(self, form: Form, form_of: FormOf) -> None:
        form.many(form_of(self.spot), self._number)


Argument: TypeAlias = Values | One | Many


class Part:
    """A field whose values are got apart from the others of its objects: attributes that are no
    leaves, or what a plain function gives, be it coroutines."""

    def __init__(self, field: Field, source: Attribute | Call, argument: Argument) -> None:
        self.field, self._source, self.take = field, source, argument.take
        self.more = isinstance(argument, Composed) and bool(argument.spot.asks)
        """Whether there is more to be got below its values."""

    def ask(self, attempt: Attempt, objs: Sequence[Any]) -> None:
        """Take the values, now or when they are there."""
        source, take = self._source, self.take
        values: Sequence[Any] = source.start(attempt.run, self.field, objs, None)
        if type(values[0]) is CoroutineType and kinds_of(values) == {CoroutineType}:
            waiting = WaitingCalls(attempt, self, values)
            if waiting.opened():
                attempt.given[self.field] = waiting
                attempt.waits += 1
                return
            values = waiting.values
        attempt.given[self.field] = values
        take(attempt, values)


class Bulked:
    """The same for a bulk resolver's."""

    def __init__(self, field: Field, source: Bulk, argument: Argument) -> None:
        self.field, self._source, self.take = field, source, argument.take

    def ask(self, attempt: Attempt, objs: Sequence[Any]) -> None:
        found = start(attempt.run, self.field, self._source, objs, None)
        attempt.given[self.field] = found
        if isinstance(found, Goal):
            found.attempt, found.part = attempt, self
            attempt.waits += 1
        else:
            take = self.take
            take(attempt, found)


def _argument(subtree: Subtree, field: Field) -> Argument:
    completer = field.completer
    if isinstance(completer, Leaf):
        return Values(subtree, completer, listed=False)
    if isinstance(completer, Objects):
        return One(subtree, completer)
    if isinstance(completer, Listed):
        if isinstance(completer.item, Leaf):
            return Values(subtree, completer.item, listed=True)
        if isinstance(completer.item, Objects):
            return Many(subtree, completer.item)
    raise NotStraight


def _part(field: Field, argument: Argument) -> Part | Bulked:
    source = field.source
    if isinstance(source, Bulk):
        return Bulked(field, source, argument)
    if isinstance(source, Attribute | Call) and source.placeless:
        return Part(field, source, argument)
    raise NotStraight


def _flat(lists: Sequence[Any]) -> tuple[Sequence[Any], list[int]]:
    """The items of all lists, and how many each has. Raises Odd."""
    if len(lists) == 1:
        (only,) = lists
        if type(only) is not list or len(only) > SLICE:
            raise Odd
        return only, [len(only)]
    if kinds_of(lists) != {list}:
        raise Odd
    lengths = list(map(len, lists))
    if sum(lengths) > SLICE:
        raise Odd
    return [item for items in lists for item in items], lengths


def _split(items: Sequence[Any], lengths: list[int]) -> list[Any]:
    if len(lengths) == 1:
        return [list(items)]
    rest = iter(items)
    return [[next(rest) for _ in range(length)] for length in lengths]


class _Writer:
    """Writes the code that makes the objects of a spot, and of those below it but for lists and
    what is made apart."""

    def __init__(self, apart: frozenset[Spot]) -> None:
        self._apart = apart
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
        return self._env["rows"]  # type: ignore[no-any-return]

    def _object(self, spot: Spot) -> str:
        o = self._column(f"columns[{spot.number}]")
        parts = []
        for field in spot.selection.fields:
            shown = spot.shown(field)
            if shown is None:
                value = self._leaf(field, o)
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
