"""From what resolvers gave to what stands in the response, a column of one type at a time.

As the section "Value Completion" of the GraphQL specification has it, and graphql-core's
`complete_value`, whose messages these are.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

from graphql import (
    GraphQLAbstractType,
    GraphQLBoolean,
    GraphQLEnumType,
    GraphQLError,
    GraphQLFloat,
    GraphQLID,
    GraphQLInt,
    GraphQLLeafType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLScalarType,
    GraphQLString,
    default_type_resolver,
    is_leaf_type,
    is_object_type,
)
from graphql.pyutils import Undefined, inspect, is_async_iterable, is_awaitable, is_iterable

from gateway.execution.classes import known_type, names_by_class
from gateway.execution.dropped import drop
from gateway.execution.frames import without_frame
from gateway.execution.info import field_position, make_info, same_for_all
from gateway.execution.kinds import PLAIN, all_plain, is_callable, is_plain, kinds_of
from gateway.execution.places import ItemPlace, Place, some

if TYPE_CHECKING:
    from gateway.execution.collect import Field, Selection
    from gateway.execution.run import Run

SLICE = 256
"""Objects made, or values completed, before the clock is looked at."""
LEAST, GREATEST = -(2**31), 2**31 - 1
NULL = type(None)


class Completed:
    """What all types share: nulls and errors are taken out first."""

    def __init__(self, field: Field, nonnull: bool) -> None:
        self.field, self.nonnull = field, nonnull

    def complete(
        self, run: Run, values: Sequence[Any], place: Place, kinds: set[type] | None = None
    ) -> None:
        """Put what stands in the response for these values, none of them awaitable any more, where
        it belongs; `kinds` are their classes, if they are known."""
        raise NotImplementedError

    def fails(self, value: Any) -> bool:
        """Whether a value is an error, or is null where none may be, as far as it says itself."""
        if value is None or value is Undefined:
            return self.nonnull
        return isinstance(value, Exception)

    def null_error(self) -> TypeError:
        field = self.field
        return TypeError(f"Cannot return null for non-nullable field {field.parent}.{field.name}.")

    def present(
        self, run: Run, values: Sequence[Any], place: Place, kinds: set[type] | None
    ) -> tuple[Sequence[Any], Place]:
        """The values that are neither null nor errors, and where they go."""
        if all_plain(kinds_of(values) if kinds is None else kinds):
            return values, place
        kept, indexes = [], []
        for i, value in enumerate(values):
            if value is None or value is Undefined:
                if self.nonnull:
                    run.fail(place, i, self.null_error())
            elif isinstance(value, BaseException):
                run.fail(place, i, value)
            else:
                kept.append(value)
                indexes.append(i)
        return kept, some(place, indexes)


class Leaf(Completed):
    """A scalar or an enum."""

    def __init__(self, field: Field, type_: GraphQLLeafType, nonnull: bool) -> None:
        super().__init__(field, nonnull)
        self.type = type_
        self._coerce = type_.coerce_output_value
        self._exact = _exact_kind(type_)
        self._names: dict[Any, str] = {}
        self._plain: set[type] = set()

    def complete(
        self, run: Run, values: Sequence[Any], place: Place, kinds: set[type] | None = None
    ) -> None:
        place.put_all(self.column(run, values, place, kinds))

    def column(
        self, run: Run, values: Sequence[Any], place: Place, kinds: set[type] | None = None
    ) -> Sequence[Any]:
        """What stands in the response for each; null for those that failed."""
        if kinds is None:
            kinds = kinds_of(values)
        exact = self._exact
        if exact is not None:
            if kinds == {exact} or not kinds:
                if self._in_range(values):
                    return values
            elif (
                not self.nonnull
                and kinds <= {exact, NULL}
                and self._in_range([value for value in values if value is not None])
            ):
                return values
        else:
            try:
                return self._coerced(values, kinds)
            except Exception:  # found again, and where, below
                pass
        return [self._one(run, value, place, i) for i, value in enumerate(values)]

    def _in_range(self, values: Sequence[Any]) -> bool:
        if not values:
            return True
        if self._exact is int:
            return bool(min(values) >= LEAST and max(values) <= GREATEST)
        return self._exact is not float or all(map(isfinite, values))

    def _coerced(self, values: Sequence[Any], kinds: set[type]) -> list[Any]:
        if isinstance(self.type, GraphQLEnumType):
            names = self._names
            if NULL in kinds and not self.nonnull:
                return [None if value is None else names[value] for value in values]
            return [names[value] for value in values]
        coerce = self._coerce
        if all_plain(kinds):
            coerced = [coerce(value) for value in values]
        elif not self.nonnull and all_plain(kinds - {NULL}):
            coerced = [None if value is None else coerce(value) for value in values]
        else:
            raise TypeError
        for value, given in zip(coerced, values, strict=True):
            if value is Undefined or (value is None and given is not None):
                raise TypeError
        return coerced

    def _one(self, run: Run, value: Any, place: Place, i: int) -> Any:
        try:
            if isinstance(value, BaseException):
                run.fail(place, i, value)
            elif value is None or value is Undefined:
                if self.nonnull:
                    run.fail(place, i, self.null_error())
            else:
                return self.coerce(value)
        except Exception as error:
            run.fail(place, i, error)
        return None

    def coerce(self, value: Any) -> Any:
        """Raises what graphql-core would."""
        coerced = self._coerce(value)
        if coerced is None or coerced is Undefined:
            raise TypeError(
                f"Expected `{inspect(self.type)}.coerce_output_value({inspect(value)})` to return "
                f"non-nullable value, returned: {inspect(coerced)}"
            )
        if isinstance(self.type, GraphQLEnumType) and len(self._names) < 1_000:
            with suppress(TypeError):  # of an unhashable value
                self._names[value] = coerced
        return coerced

    def fails(self, value: Any) -> bool:
        if super().fails(value):
            return True
        if value is None or value is Undefined or self._exact is None or is_awaitable(value):
            return False  # what others say of it is asked once, in the end
        try:
            self.coerce(value)
        except Exception:
            return True
        return False

    def inline(self, n: int, env: dict[str, Any], keyed: bool) -> tuple[str, str]:
        """The condition under which v{n} is as usual (or none), and what stands in the response
        for it then, which raises where the usual isn't met."""
        v, exact = f"v{n}", self._exact
        null = "" if self.nonnull else f" or {v} is None"
        if self.type is GraphQLID:
            # Ids that are numbers are as usual as ids that are strings.
            check = f"(type({v}) is str or type({v}) is int{null})"
            return check, f"(str({v}) if type({v}) is int else {v})"
        if exact is not None:
            check = f"type({v}) is {exact.__name__}"
            if exact is int:
                check += f" and {LEAST} <= {v} <= {GREATEST}"
            elif exact is float:
                check += f" and isfinite({v})"
            return f"({check}{null})", v
        absent = "" if self.nonnull else f"None if {v} is None else "
        if isinstance(self.type, GraphQLEnumType):
            env[f"names{n}"] = _Names(self)
            return "", f"{absent}names{n}[{v}]"
        env[f"plain{n}"] = plain = self._plain
        env[f"coerce{n}"], env[f"learn{n}"] = self.coerce, self._learner(plain, keyed)
        return "", f"{absent}(coerce{n}({v}) if type({v}) in plain{n} else learn{n}({v}))"

    def _learner(self, plain: set[type], keyed: bool) -> Callable[[Any], Any]:
        def learn(value: Any) -> Any:
            kind = type(value)
            if not is_plain(kind) or (keyed and is_callable(kind)):
                raise TypeError
            plain.add(kind)
            return self.coerce(value)

        return learn


class _Names(dict[Any, str]):
    """The names of an enum's values, as they are met."""

    def __init__(self, leaf: Leaf) -> None:
        super().__init__()
        self._leaf = leaf

    def __missing__(self, value: Any) -> str:
        kind = type(value)
        if not is_plain(kind) or is_callable(kind):
            raise TypeError
        name: str = self._leaf.coerce(value)
        if len(self) < 1_000:
            self[value] = name
        return name


class Listed(Completed):
    """A list of anything."""

    def __init__(self, field: Field, item: Completer, nonnull: bool) -> None:
        super().__init__(field, nonnull)
        self.item = item

    def complete(
        self, run: Run, values: Sequence[Any], place: Place, kinds: set[type] | None = None
    ) -> None:
        if values and (kinds_of(values) if kinds is None else kinds) == {list}:
            self._complete(run, values, place, None)
            return
        values, place = self.present(run, values, place, kinds)
        lists: list[Sequence[Any]] = []
        which = []
        streams, streamed = [], []
        for i, value in enumerate(values):
            if type(value) is list or type(value) is tuple:
                lists.append(value)
                which.append(i)
            elif is_async_iterable(value):
                streams.append(_gathered(value, self.item))
                streamed.append(i)
            elif not is_iterable(value):
                field = self.field
                run.fail(
                    place,
                    i,
                    GraphQLError(
                        "Expected Iterable, but did not find one for field"
                        f" '{field.parent}.{field.name}'."
                    ),
                )
            else:
                items: list[Any] = []
                try:
                    iterator = iter(value)
                    items.extend(islice(iterator, SLICE))
                except Exception as error:
                    drop(items)
                    run.fail(place, i, error)
                else:
                    if len(items) == SLICE:
                        streams.append(_read_on(iterator, items))
                        streamed.append(i)
                        continue
                    lists.append(items)
                    which.append(i)
        if lists:
            self._complete(run, lists, place, which)
        if streams:
            run.settle(streams, some(place, streamed), self)

    def fails(self, value: Any) -> bool:
        if super().fails(value):
            return True
        known = type(value) is list or type(value) is tuple
        return known and self.item.nonnull and any(map(self.item.fails, value))

    def _complete(
        self, run: Run, lists: Sequence[Sequence[Any]], place: Place, which: list[int] | None
    ) -> None:
        """`which` are the lists' positions in the place; None if it is each in turn."""
        starts: list[int] = []
        flat = lists[0]
        if len(lists) > 1:
            joined: list[Any] = []
            for items in lists:
                starts.append(len(joined))
                joined += items
            flat = joined
        made: list[list[Any]] = [[None] * len(items) for items in lists]
        item = self.item
        items_at = ItemPlace(place, self.field, which, made, starts, item.nonnull)
        if which is None:
            place.put_all(made)
        else:
            place.put_some(which, made)
        if flat:
            run.settle(flat, items_at, item)


async def _read_on(iterator: Iterator[Any], items: list[Any]) -> list[Any]:
    """What is left of a long iterable, with rests."""
    try:
        size = 0
        while len(items) >= size + SLICE:
            size = len(items)
            await asyncio.sleep(0)
            items.extend(islice(iterator, SLICE))
    except BaseException:
        drop(items)
        raise
    return items


async def _gathered(items: AsyncIterable[Any], completer: Completer) -> list[Any]:
    """All items, or those up to one that makes the list null, whatever may follow.

    As graphql-core, which closes the iterator then, and awaits none of the items before its end.
    """
    iterator = aiter(items)
    gathered = []
    try:
        async for item in iterator:
            gathered.append(item)
            if completer.nonnull and completer.fails(item):
                await _close(iterator)
                break
            if len(gathered) % SLICE == 0:
                await asyncio.sleep(0)
    except BaseException as error:
        drop(gathered)
        if isinstance(error, Exception):
            await _close(iterator)
        raise
    return gathered


async def _close(iterator: AsyncIterator[Any]) -> None:
    close = getattr(iterator, "aclose", None)
    if close is not None:
        with suppress(Exception):
            await close()


class Composite(Completed):
    """Objects, once their type is known."""

    def __init__(self, field: Field, nonnull: bool) -> None:
        super().__init__(field, nonnull)
        self._selections: dict[GraphQLObjectType, Selection] = {}

    def selection(self, type_: GraphQLObjectType) -> Selection:
        found = self._selections.get(type_)
        if found is None:
            found = self.field.variant.select(type_, self.field.details)
            self._selections[type_] = found
        return found

    def objects(
        self, run: Run, type_: GraphQLObjectType, values: Sequence[Any], place: Place
    ) -> None:
        """Values said to be of a type, which may know better."""
        if not values:
            return
        is_type_of = type_.is_type_of
        if is_type_of is None or known_type(type_, values):
            self.group(run, type_, values, place)
            return
        answers = self._asked(run, is_type_of, values, place)

        def then(run: Run, answers: Sequence[Any], numbers: Sequence[int] | None) -> None:
            self._kept(run, type_, values, place, answers, numbers or range(len(values)))

        run.ask(answers, place, then)

    def _kept(
        self,
        run: Run,
        type_: GraphQLObjectType,
        values: Sequence[Any],
        place: Place,
        answers: Sequence[Any],
        numbers: Sequence[int],
    ) -> None:
        """Those of which the type says that they are its own; `numbers` are those answered."""
        kept, indexes = [], []
        for number, answer in zip(numbers, answers, strict=True):
            if isinstance(answer, BaseException):
                run.fail(place, number, answer)
            elif answer:
                kept.append(values[number])
                indexes.append(number)
            else:
                run.fail(
                    place,
                    number,
                    GraphQLError(
                        f"Expected value of type '{type_}' but got: {inspect(values[number])}.",
                        self.field.nodes,
                    ),
                )
        if kept:
            whole = len(kept) == len(values)
            self.group(run, type_, kept, place if whole else some(place, indexes))

    def _asked(
        self,
        run: Run,
        ask: Callable[..., Any],
        values: Sequence[Any],
        place: Place,
        *more: Any,
    ) -> list[Any]:
        """What a function says of each value, or the error it raises.

        The info it is given is the field's, also for the items of a list.
        """
        if same_for_all(ask, 1):
            infos = [make_info(run, self.field, *field_position(place, 0))] * len(values)
        else:
            infos = [
                make_info(run, self.field, *field_position(place, i)) for i in range(len(values))
            ]
        answers = []
        for value, info in zip(values, infos, strict=True):
            try:
                answers.append(ask(value, info, *more))
            except Exception as error:
                answers.append(without_frame(error))
        return answers

    def group(
        self, run: Run, type_: GraphQLObjectType, values: Sequence[Any], place: Place
    ) -> None:
        run.queue.append((self.selection(type_), values, place, run.ambient))


class Objects(Composite):
    """An object type."""

    def __init__(self, field: Field, type_: GraphQLObjectType, nonnull: bool) -> None:
        super().__init__(field, nonnull)
        self.type = type_
        self._any_class = type_.is_type_of is None

    @cached_property
    def _selection(self) -> Selection:
        return self.selection(self.type)

    @cached_property
    def _leaves(self) -> Callable[[Sequence[Any]], list[dict[str, Any]]] | None:
        return self._selection.build.leaves_only

    def complete(
        self, run: Run, values: Sequence[Any], place: Place, kinds: set[type] | None = None
    ) -> None:
        if kinds is None or not kinds <= PLAIN:
            values, place = self.present(run, values, place, kinds)
        if not values:
            return
        if not (self._any_class or known_type(self.type, values)):
            self.objects(run, self.type, values, place)
        elif self._leaves is None or len(values) > SLICE:
            run.queue.append((self._selection, values, place, run.ambient))
        else:
            try:
                made = self._leaves(values)
            except Exception:  # found again, and where
                run.queue.append((self._selection, values, place, run.ambient))
            else:
                place.put_all(made)
                run.made += len(values)
                run.unrested += len(values)


class Abstract(Composite):
    """An interface or a union."""

    def __init__(self, field: Field, type_: GraphQLAbstractType, nonnull: bool) -> None:
        super().__init__(field, nonnull)
        self.type = type_

    def complete(
        self, run: Run, values: Sequence[Any], place: Place, kinds: set[type] | None = None
    ) -> None:
        values, place = self.present(run, values, place, kinds)
        if not values:
            return
        names = names_by_class(self.field.variant.plan.operation.schema, self.type, values)
        if names is not None:
            self._typed(run, values, place, names, range(len(values)))
            return
        resolve = self.type.resolve_type or default_type_resolver
        answers = self._asked(run, resolve, values, place, self.type)

        def then(run: Run, names: Sequence[Any], numbers: Sequence[int] | None) -> None:
            self._typed(run, values, place, names, numbers or range(len(values)))

        run.ask(answers, place, then)

    def _typed(
        self,
        run: Run,
        values: Sequence[Any],
        place: Place,
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
            elif isinstance(name, BaseException):
                run.fail(place, number, name)
            else:
                try:
                    type_name = self._valid(name, values[number]).name
                except GraphQLError as error:
                    run.fail(place, number, error)
                else:
                    by_type.setdefault(type_name, []).append(number)
        for name, indexes in by_type.items():
            try:
                type_ = self._valid(name, None)
            except GraphQLError as error:
                for number in indexes:
                    run.fail(place, number, error)
                continue
            if len(indexes) == len(values):
                self.objects(run, type_, values, place)
            else:
                self.objects(run, type_, [values[i] for i in indexes], some(place, indexes))

    def _valid(self, name: Any, value: Any) -> GraphQLObjectType:
        """The type of this name. Raises GraphQLError, in graphql-core's words."""
        field, type_ = self.field, self.type
        schema = field.variant.plan.operation.schema
        if name is None:
            raise GraphQLError(
                f"Abstract type '{type_}' must resolve to an Object type at runtime"
                f" for field '{field.parent}.{field.name}'."
                f" Either the '{type_}' type should provide a 'resolve_type' function"
                " or each possible type should provide an 'is_type_of' function.",
                field.nodes,
            )
        if not isinstance(name, str):
            raise GraphQLError(
                f"Abstract type '{type_}' must resolve to an Object type at runtime"
                f" for field '{field.parent}.{field.name}' with value {inspect(value)},"
                f" received '{inspect(name)}', which is not a valid Object type name.",
                field.nodes,
            )
        found = schema.get_type(name)
        if found is None:
            raise GraphQLError(
                f"Abstract type '{type_}' was resolved to a type '{name}' that does not exist"
                " inside the schema.",
                field.nodes,
            )
        if not is_object_type(found):
            raise GraphQLError(
                f"Abstract type '{type_}' was resolved to a non-object type '{name}'.",
                field.nodes,
            )
        if not schema.is_sub_type(type_, found):
            raise GraphQLError(
                f"Runtime Object type '{found}' is not a possible type for '{type_}'.",
                field.nodes,
            )
        return found


Completer: TypeAlias = Leaf | Listed | Objects | Abstract


def completer_of(field: Field, type_: GraphQLOutputType, nonnull: bool = False) -> Completer:
    if isinstance(type_, GraphQLNonNull):
        return completer_of(field, type_.of_type, True)
    if isinstance(type_, GraphQLList):
        return Listed(field, completer_of(field, type_.of_type), nonnull)
    if is_leaf_type(type_):
        return Leaf(field, type_, nonnull)
    if isinstance(type_, GraphQLObjectType):
        return Objects(field, type_, nonnull)
    return Abstract(field, type_, nonnull)  # type: ignore[arg-type]


def _exact_kind(type_: GraphQLLeafType) -> type | None:
    """The Python class whose values stand in the response as they are, if there is one."""
    if isinstance(type_, GraphQLScalarType):
        for scalar, kind in _EXACT:
            if type_.coerce_output_value == scalar.coerce_output_value:
                return kind
    return None


_EXACT = (
    (GraphQLString, str),
    (GraphQLID, str),
    (GraphQLInt, int),
    (GraphQLFloat, float),
    (GraphQLBoolean, bool),
)
