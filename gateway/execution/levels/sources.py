"""Resolves a field's values: with a constant, an attribute, a call for each object, or one call for
all objects (section "Value Resolution" of the specification). `compile.resolvers` chooses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any

from gateway.execution.levels.arguments import Arguments, shareable
from gateway.execution.levels.info import make_info
from gateway.execution.levels.tables import Positions
from gateway.execution.model.selection import Field
from gateway.execution.model.state import State
from gateway.execution.model.value_classes import any_callable, classes_of
from gateway.execution.tasks.frames import without_frame


class Constant:
    """A value that is put into each object as it is, without completion: `__typename`. It is never
    null, and never an exception."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Attribute:
    """An attribute of each object. With `keyed`, it acts as graphql-core's default resolver: it
    reads an item if the object is a mapping, gives None for a missing attribute, and calls a
    callable value."""

    def __init__(self, name: str, keyed: bool, arguments: Arguments) -> None:
        self.name, self.keyed, self.arguments = name, keyed, arguments
        self.get: Callable[[Any], Any] = (
            partial(item_or_attribute, name) if keyed else attrgetter(name)
        )
        """Reads the attribute of an object."""

    def start(
        self, run: State, field: Field, objs: Sequence[Any], positions: Positions
    ) -> Sequence[Any]:
        """A value, an awaitable or an exception for each object."""
        return self.called(run, field, read_one(self.get, objs), positions)

    def called(
        self, run: State, field: Field, values: Sequence[Any], positions: Positions
    ) -> Sequence[Any]:
        """Returns the values that were read. With `keyed`, a callable value is called, and replaced
        by its result."""
        if not self.keyed or not any_callable(classes_of(values)):
            return values
        return [
            self._call(run, field, value, positions, i) if callable(value) else value
            for i, value in enumerate(values)
        ]

    def _call(self, run: State, field: Field, function: Any, positions: Positions, i: int) -> Any:
        try:
            return function(make_info(run, field, positions, i), **self.arguments.of(run))
        except Exception as error:
            return without_frame(error)


def item_or_attribute(name: str, obj: Any) -> Any:
    return obj.get(name) if isinstance(obj, Mapping) else getattr(obj, name, None)


def read(getters: Sequence[Callable[[Any], Any]], objs: Sequence[Any]) -> list[list[Any]]:
    """Reads attributes of objects. Returns a column for each getter. All attributes of an object
    are read before the attributes of the next object. If reading raises an exception, it is the
    value."""
    if len(getters) == 1:
        return [read_one(getters[0], objs)]
    columns: list[list[Any]] = [[] for _ in getters]
    pairs = list(zip(getters, columns, strict=True))
    for obj in tuple(objs):
        for get, column in pairs:
            try:
                column.append(get(obj))
            except Exception as error:
                column.append(without_frame(error))
    return columns


def read_one(get: Callable[[Any], Any], objs: Sequence[Any]) -> list[Any]:
    """Reads one attribute of objects. If reading raises an exception, it is the value."""
    column: list[Any] = []
    for obj in tuple(objs):
        try:
            column.append(get(obj))
        except Exception as error:
            column.append(without_frame(error))
    return column


class Call:
    """A function that is called for each object, by a generated loop."""

    def __init__(
        self,
        function: Callable[..., Any],
        expression: str,
        arguments: Arguments,
        new_info: Callable[[Any], Any] | None,
        shared_info: bool,
    ) -> None:
        self._function, self._arguments = function, arguments
        self._new_info, self._shared_info = new_info, shared_info
        # Python code that calls the function: F is the function, o the object, ctx the context.
        self._expression = expression if arguments.none else _with_keywords(expression)

    def start(
        self, run: State, field: Field, objs: Sequence[Any], positions: Positions
    ) -> list[Any]:
        """A value, an awaitable or an exception for each object."""
        count = len(objs)
        try:
            arguments = self._arguments.of(run)
            each = count > 1 and not shareable(arguments)
            kws: Any = [self._arguments.of(run) for _ in objs] if each else arguments
        except Exception as error:
            return [error] * count
        infos: Any = None
        each_info = False
        if self._new_info is not None:
            if self._shared_info or count == 1:
                infos = self._new_info(make_info(run, field, positions, 0))
            else:
                each_info = True
                infos = [self._new_info(make_info(run, field, positions, i)) for i in range(count)]
        return _caller(self._expression, each_info, each)(
            self._function, objs, run.context, infos, kws
        )


def _with_keywords(expression: str) -> str:
    return expression[:-1] + ("**kw)" if expression.endswith("()") else ", **kw)")


class Bulk:
    """A function that is called once with all objects."""

    def __init__(self, function: Callable[..., Any], arguments: Arguments) -> None:
        self.function = function
        self.arguments = None if arguments.none else arguments


@lru_cache(256)
def _caller(expression: str, infos: bool, kws: bool) -> Callable[..., list[Any]]:
    names = ["o", *(["info"] if infos else []), *(["kw"] if kws else [])]
    columns = ["objs", *(["info_"] if infos else []), *(["kw_"] if kws else [])]
    loop = "o in objs" if len(names) == 1 else f"{', '.join(names)} in zip({', '.join(columns)})"
    source = (
        f"def call(F, objs, ctx, {'info_' if infos else 'info'}, {'kw_' if kws else 'kw'}):\n"
        f"    out = []\n    add = out.append\n    for {loop}:\n"
        f"        try: add({expression})\n        except Exception as e: add(without_frame(e))\n"
        "    return out\n"
    )
    env: dict[str, Any] = {"without_frame": without_frame}
    exec(compile(source, "<calls>", "exec"), env)
    return env["call"]  # type: ignore[no-any-return]
