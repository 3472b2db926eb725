"""Completes objects, interfaces and unions: resolves the type of each value, and queues the values
of each object type (sections "Value Completion" and "Resolving Abstract Types" of the
specification)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from graphql import (
    GraphQLAbstractType,
    GraphQLError,
    GraphQLObjectType,
    default_type_resolver,
    is_object_type,
)
from graphql.pyutils import inspect

from gateway.execution.model.positions import Positions, some
from gateway.execution.model.selection import Field, Selection
from gateway.execution.model.state import State
from gateway.execution.run.base_completer import BaseCompleter
from gateway.execution.run.info import field_position, make_info, same_for_all
from gateway.execution.run.types_by_class import known_type, names_by_class
from gateway.execution.tasks.frames import without_frame


class CompositeCompleter(BaseCompleter):
    """The base of the completers of objects, interfaces and unions."""

    def __init__(self, field: Field, nonnull: bool) -> None:
        super().__init__(field, nonnull)
        self._selections: dict[GraphQLObjectType, Selection] = {}

    def selection(self, type_: GraphQLObjectType) -> Selection:
        found = self._selections.get(type_)
        if found is None:
            found = self.field.compiler.select(type_, self.field.details)
            self._selections[type_] = found
        return found

    def objects(
        self,
        run: State,
        type_: GraphQLObjectType,
        values: Sequence[Any],
        positions: Positions,
    ) -> None:
        """Complete values whose type is resolved, after checking them with `is_type_of`."""
        if not values:
            return
        is_type_of = type_.is_type_of
        if is_type_of is None or known_type(type_, values):
            self.group(run, type_, values, positions)
            return
        answers = self._type_answers(run, is_type_of, values, positions)

        def then(run: State, answers: Sequence[Any], numbers: Sequence[int] | None) -> None:
            self._kept(run, type_, values, positions, answers, numbers or range(len(values)))

        run.when_ready(answers, positions, then)

    def _kept(
        self,
        run: State,
        type_: GraphQLObjectType,
        values: Sequence[Any],
        positions: Positions,
        answers: Sequence[Any],
        numbers: Sequence[int],
    ) -> None:
        """Complete the values that `is_type_of` accepts, and record an error for all others.
        `answers` is parallel to `numbers`, the indexes of the checked values."""
        kept, indexes = [], []
        for number, answer in zip(numbers, answers, strict=True):
            if isinstance(answer, Exception):
                run.fail(positions, number, answer)
            elif answer:
                kept.append(values[number])
                indexes.append(number)
            else:
                run.fail(
                    positions,
                    number,
                    GraphQLError(
                        f"Expected value of type '{type_}' but got: {inspect(values[number])}."
                    ),
                )
        if kept:
            whole = len(kept) == len(values)
            self.group(run, type_, kept, positions if whole else some(positions, indexes))

    def _type_answers(
        self,
        run: State,
        ask: Callable[..., Any],
        values: Sequence[Any],
        positions: Positions,
        *more: Any,
    ) -> list[Any]:
        """Call `is_type_of` or `resolve_type` for each value. Returns the result (which may be
        awaitable) or the exception of each.

        For list items, the info is the info of the list's field.
        """
        if same_for_all(ask, 1):
            infos = [make_info(run, self.field, *field_position(positions, 0))] * len(values)
        else:
            infos = [
                make_info(run, self.field, *field_position(positions, i))
                for i in range(len(values))
            ]
        answers = []
        for value, info in zip(values, infos, strict=True):
            try:
                answers.append(ask(value, info, *more))
            except Exception as error:
                answers.append(without_frame(error))
        return answers

    def group(
        self,
        run: State,
        type_: GraphQLObjectType,
        values: Sequence[Any],
        positions: Positions,
    ) -> None:
        run.complete_later(self.selection(type_), values, positions)


class ObjectCompleter(CompositeCompleter):
    """Completes values of one object type."""

    def __init__(self, field: Field, type_: GraphQLObjectType, nonnull: bool) -> None:
        super().__init__(field, nonnull)
        self.type = type_
        self.any_class = type_.is_type_of is None
        """Whether the type has no `is_type_of`, and so accepts values of any class."""

    def is_of(self, values: Sequence[Any]) -> bool:
        """Whether the classes of the values show that all values are of the type."""
        return self.any_class or known_type(self.type, values)

    @cached_property
    def _selection(self) -> Selection:
        return self.selection(self.type)

    def complete_present(self, run: State, values: Sequence[Any], positions: Positions) -> None:
        if not self.is_of(values):
            self.objects(run, self.type, values, positions)
        else:
            run.complete_later(self._selection, values, positions)


class AbstractCompleter(CompositeCompleter):
    """Completes an interface or a union."""

    def __init__(self, field: Field, type_: GraphQLAbstractType, nonnull: bool) -> None:
        super().__init__(field, nonnull)
        self.type = type_

    def complete_present(self, run: State, values: Sequence[Any], positions: Positions) -> None:
        names = names_by_class(self.field.operation.schema, self.type, values)
        if names is not None:
            self._typed(run, values, positions, names, range(len(values)))
            return
        resolve = self.type.resolve_type or default_type_resolver
        answers = self._type_answers(run, resolve, values, positions, self.type)

        def then(run: State, names: Sequence[Any], numbers: Sequence[int] | None) -> None:
            self._typed(run, values, positions, names, numbers or range(len(values)))

        run.when_ready(answers, positions, then)

    def _typed(
        self,
        run: State,
        values: Sequence[Any],
        positions: Positions,
        names: Sequence[Any],
        numbers: Sequence[int],
    ) -> None:
        by_type: dict[Any, list[int]] = {}
        for number, name in zip(numbers, names, strict=True):
            if type(name) is str:
                found = by_type.get(name)
                if found is None:
                    by_type[name] = [number]
                else:
                    found.append(number)
            elif isinstance(name, Exception):
                run.fail(positions, number, name)
            else:
                try:
                    type_name = self._valid(name, values[number]).name
                except GraphQLError as error:
                    run.fail(positions, number, error)
                else:
                    by_type.setdefault(type_name, []).append(number)
        for name, indexes in by_type.items():
            try:
                type_ = self._valid(name, None)
            except GraphQLError as error:
                for number in indexes:
                    run.fail(positions, number, error)
                continue
            if len(indexes) == len(values):
                self.objects(run, type_, values, positions)
            else:
                self.objects(run, type_, [values[i] for i in indexes], some(positions, indexes))

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
