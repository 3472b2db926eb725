"""How a field's values are resolved: a constant, an attribute, a call for each object, or one call
for all objects. `compile.resolvers` chooses. Section "Value Resolution" of the specification."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any

from gateway.execution.model.positions import Positions
from gateway.execution.model.selection import Field
from gateway.execution.model.state import State
from gateway.execution.model.value_classes import any_callable, classes_of
from gateway.execution.run.arguments import Arguments, shareable
from gateway.execution.run.info import make_info
from gateway.execution.tasks.frames import without_frame


class Constant:
    """The same value for all objects: `__typename`."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Attribute:
    """An attribute of each object. With `keyed`, as graphql-core's default resolver has it: an item
    of a mapping, None when it is missing, and called when it can be."""

    def __init__(self, name: str, keyed: bool, arguments: Arguments) -> None:
        self.name, self.keyed, self.arguments = name, keyed, arguments
        self._get = attrgetter(name)
        self._plain = name.isidentifier() and not keyword.iskeyword(name)
        self.placeless = not keyed
        """Whether the source needs no response position, as a called attribute does for its
        info."""

    def of_object(self, o: str) -> str:
        """The Python expression that reads it from `o`."""
        return f"{o}.{self.name}" if self._plain else f"getattr({o}, {self.name!r})"

    def start(
        self, run: State, field: Field, objs: Sequence[Any], positions: Positions | None
    ) -> list[Any]:
        try:
            if not self.keyed:
                return list(map(self._get, objs))
            classes = classes_of(objs)
            if classes == {dict}:
                name = self.name
                values = [o.get(name) for o in objs]
            elif _has_mapping(classes):
                raise AttributeError
            else:
                values = list(map(self._get, objs))
            if not any_callable(classes_of(values)):
                return values
        except Exception:  # an object, or its attribute, is unusual: one by one
            pass
        return [self._or_error(run, field, obj, positions, i) for i, obj in enumerate(objs)]

    def _or_error(
        self, run: State, field: Field, obj: Any, positions: Positions | None, i: int
    ) -> Any:
        try:
            return self.of(run, field, obj, positions, i)
        except Exception as error:
            return without_frame(error)

    def of(self, run: State, field: Field, obj: Any, positions: Positions | None, i: int) -> Any:
        """The value of one object. Raises what reading or calling the attribute does."""
        if not self.keyed:
            return getattr(obj, self.name)
        value = obj.get(self.name) if isinstance(obj, Mapping) else getattr(obj, self.name, None)
        if callable(value):
            info = make_info(run, field, positions, i)
            return value(info, **self.arguments.of(run))
        return value


def _has_mapping(classes: set[type]) -> bool:
    return any(issubclass(kind, Mapping) for kind in classes)


class Call:
    """A function that is called for each object, in a generated loop."""

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
        self._expression = expression if arguments.none else _with_keywords(expression)
        self.placeless = shared_info
        """Whether the source needs no response position: no info, or a shared one."""

    def start(
        self, run: State, field: Field, objs: Sequence[Any], positions: Positions | None
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
