"""Completes objects, interfaces and unions: resolves the type of each value, and adds the values of
each object type to the type's table (sections "Value Completion" and "Resolving Abstract Types" of
the specification).

`is_type_of` and `resolve_type` are called once for each class, if their result depends on the class
alone. This holds for strawberry's own functions with objects of strawberry types, and for functions
that have the attribute `by_class = True`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from graphql import (
    GraphQLAbstractType,
    GraphQLError,
    GraphQLObjectType,
    GraphQLSchema,
    default_type_resolver,
    is_object_type,
)
from graphql.pyutils import inspect

from gateway.execution.levels.awaits import add_objects, when_ready
from gateway.execution.levels.info import make_info, same_for_all
from gateway.execution.levels.slot import Slot
from gateway.execution.levels.tables import (
    ABSTRACT,
    OBJECT,
    Column,
    Columns,
    Positions,
    Rows,
    field_of,
)
from gateway.execution.model.selection import Field, Selection
from gateway.execution.model.state import State, Then
from gateway.execution.model.value_classes import classes_of
from gateway.execution.strawberry_details import (
    is_type_of_by_class,
    resolve_type_by_class,
    simple_name,
)
from gateway.execution.tasks.frames import without_frame

_known: WeakKeyDictionary[GraphQLObjectType, set[type]] = WeakKeyDictionary()
_names: WeakKeyDictionary[GraphQLAbstractType, dict[type, str]] = WeakKeyDictionary()


class CompositeSlot(Slot):
    """The base of the slots of objects, interfaces and unions."""

    __slots__ = ("_selections",)

    def __init__(self, field: Field, nonnull: bool, kind: int) -> None:
        Slot.__init__(self, field, nonnull, kind)
        self._selections: dict[GraphQLObjectType, Selection] = {}

    def selection(self, type_: GraphQLObjectType) -> Selection:
        found = self._selections.get(type_)
        if found is None:
            found = self.field.compiler.select(type_, self.field.details)
            self._selections[type_] = found
        return found

    def _check(
        self,
        run: State,
        type_: GraphQLObjectType,
        column: Column,
        rows: Rows,
        values: Sequence[Any],
    ) -> None:
        """Complete values whose type is resolved, after checking them with `is_type_of`."""
        is_type_of = type_.is_type_of
        if is_type_of is None or known_type(type_, values):
            add_objects(run, column, self.selection(type_).shape, rows, values)
            return
        answers = self._ask(run, is_type_of, column, rows, values)

        def then(run: State, answers: Sequence[Any], numbers: Sequence[int] | None) -> None:
            kept, places = [], []
            for n, answer in zip(numbers or range(len(values)), answers, strict=True):
                if isinstance(answer, Exception):
                    run.failures.add(column, rows[n], answer)
                elif answer:
                    kept.append(values[n])
                    places.append(rows[n])
                else:
                    message = f"Expected value of type '{type_}' but got: {inspect(values[n])}."
                    run.failures.add(column, rows[n], GraphQLError(message))
            if kept:
                add_objects(run, column, self.selection(type_).shape, places, kept)

        when_ready(run, answers, Positions(column, rows), then)

    def _ask(
        self,
        run: State,
        ask: Callable[..., Any],
        column: Column,
        rows: Rows,
        values: Sequence[Any],
        *more: Any,
    ) -> list[Any]:
        """Call `is_type_of` or `resolve_type` for each value. Returns the result (which may be
        awaitable) or the exception of each.

        For list items, the info is the info of the list's field.
        """
        places: list[Any] = [field_of(column, row) for row in rows]
        if same_for_all(ask, 1):
            infos = [make_info(run, self.field, *places[0])] * len(values)
        else:
            infos = [make_info(run, self.field, *place) for place in places]
        answers = []
        for value, info in zip(values, infos, strict=True):
            try:
                answers.append(ask(value, info, *more))
            except Exception as error:
                answers.append(without_frame(error))
        return answers


class ObjectSlot(CompositeSlot):
    """Objects of one type."""

    __slots__ = ("_any_class", "_classes", "_shape", "type")

    def __init__(self, field: Field, type_: GraphQLObjectType, nonnull: bool) -> None:
        CompositeSlot.__init__(self, field, nonnull, OBJECT)
        self.type = type_
        self._any_class = type_.is_type_of is None
        """Whether the type has no `is_type_of`, and so accepts values of any class."""
        self._classes: set[type] = set()
        """Classes whose values all have the type."""
        self._shape: Columns | None = None

    def complete_present(
        self, run: State, column: Column, rows: Rows, values: Sequence[Any]
    ) -> None:
        if self._shape is None:
            self._shape = self.selection(self.type).shape
        if not (self._any_class or classes_of(values) <= self._classes):
            if not known_type(self.type, values):
                self._check(run, self.type, column, rows, values)
                return
            if is_by_class(self.type):
                self._classes |= classes_of(values)
        add_objects(run, column, self._shape, rows, values)


class AbstractSlot(CompositeSlot):
    """An interface or a union."""

    __slots__ = ("type",)

    def __init__(self, field: Field, type_: GraphQLAbstractType, nonnull: bool) -> None:
        CompositeSlot.__init__(self, field, nonnull, ABSTRACT)
        self.type = type_

    def complete_present(
        self, run: State, column: Column, rows: Rows, values: Sequence[Any]
    ) -> None:
        names = names_by_class(self.field.operation.schema, self.type, values)
        if names is not None:
            self._add_by_type(run, column, rows, values, names)
            return
        resolve = self.type.resolve_type or default_type_resolver
        answers = self._ask(run, resolve, column, rows, values, self.type)

        when_ready(run, answers, Positions(column, rows), self._adding(column, rows, values))

    def _adding(self, column: Column, rows: Rows, values: Sequence[Any]) -> Then:
        """Returns a function that completes some of the values, with the names of their types."""

        def then(run: State, names: Sequence[Any], numbers: Sequence[int] | None) -> None:
            if numbers is None:
                self._add_by_type(run, column, rows, values, names)
            else:
                some = [rows[n] for n in numbers]
                self._add_by_type(run, column, some, [values[n] for n in numbers], names)

        return then

    def _add_by_type(
        self, run: State, column: Column, rows: Rows, values: Sequence[Any], names: Sequence[Any]
    ) -> None:
        """Complete values, each with the name of its type, or the exception of its resolution."""
        by_type: dict[str, tuple[list[int], list[Any]]] = {}
        for row, value, name in zip(rows, values, names, strict=True):
            if isinstance(name, Exception):
                run.failures.add(column, row, name)
                continue
            if type(name) is not str or name not in by_type:
                try:
                    name = self._valid(name, value).name
                except GraphQLError as error:
                    run.failures.add(column, row, error)
                    continue
            places, kept = by_type.setdefault(name, ([], []))
            places.append(row)
            kept.append(value)
        for name, (places, kept) in by_type.items():
            self._check(run, self._valid(name, None), column, places, kept)

    def _valid(self, name: Any, value: Any) -> GraphQLObjectType:
        """Returns the object type with this name. Raises GraphQLError, with graphql-core's message,
        if it is not a possible type."""
        field, type_ = self.field, self.type
        schema = field.operation.schema
        if name is None:
            raise GraphQLError(
                f"Abstract type '{type_}' must resolve to an Object type at runtime"
                f" for field '{field.parent}.{field.name}'."
                f" Either the '{type_}' type should provide a 'resolve_type' function"
                " or each possible type should provide an 'is_type_of' function."
            )
        if not isinstance(name, str):
            raise GraphQLError(
                f"Abstract type '{type_}' must resolve to an Object type at runtime"
                f" for field '{field.parent}.{field.name}' with value {inspect(value)},"
                f" received '{inspect(name)}', which is not a valid Object type name."
            )
        found = schema.get_type(name)
        if found is None:
            raise GraphQLError(
                f"Abstract type '{type_}' was resolved to a type '{name}' that does not exist"
                " inside the schema."
            )
        if not is_object_type(found):
            raise GraphQLError(
                f"Abstract type '{type_}' was resolved to a non-object type '{name}'."
            )
        if not schema.is_sub_type(type_, found):
            raise GraphQLError(
                f"Runtime Object type '{found}' is not a possible type for '{type_}'."
            )
        return found


def is_by_class(type_: GraphQLObjectType) -> bool:
    """Whether the type's `is_type_of` says that its result depends on the class alone."""
    return getattr(type_.is_type_of, "by_class", False)


def known_type(type_: GraphQLObjectType, values: Sequence[Any]) -> bool:
    """Whether the classes of the values show that `is_type_of` is true for all of them."""
    is_type_of = type_.is_type_of
    if not (is_by_class(type_) or is_type_of_by_class(is_type_of, values)):
        return False
    known = _known.get(type_)
    if known is None:
        known = _known[type_] = set()
    classes = classes_of(values)
    if classes <= known:
        return True
    for value in values:
        if type(value) not in known:
            if is_type_of(value, None) is not True:  # type: ignore[misc,arg-type]
                return False
            known.add(type(value))
    return True


def names_by_class(
    schema: GraphQLSchema, type_: GraphQLAbstractType, values: Sequence[Any]
) -> list[str] | None:
    """Returns the name of each value's type, parallel to `values`. Returns None if `resolve_type`
    must be called for each value."""
    if not resolve_type_by_class(type_.resolve_type, values):
        return None
    names = _names.get(type_)
    if names is None:
        names = _names[type_] = {}
    try:
        return [names[type(value)] for value in values]
    except KeyError:
        pass
    for kind in classes_of(values) - names.keys():
        name = simple_name(kind)
        found = schema.get_type(name) if name else None
        if not isinstance(found, GraphQLObjectType) or not schema.is_sub_type(type_, found):
            return None
        names[kind] = name
    return [names[type(value)] for value in values]
