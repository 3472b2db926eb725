"""Tells by a value's class whether the value is null, an exception or awaitable.

graphql-core asks each value. The answer depends on the class alone, except for a few classes, so
the executor asks once for each class in a column: most columns hold one or two.
"""

from collections.abc import Iterable
from types import FunctionType, GeneratorType
from typing import Any

from graphql.pyutils import Undefined

NULLS = (type(None), type(Undefined))
MOST = 10_000
"""The number of classes remembered: classes made at run time must not fill the memory."""

PLAIN: set[type] = {str, int, float, bool, dict, list, tuple}
_callable: dict[type, bool] = {}


def all_plain(classes: set[type]) -> bool:
    """Whether no value of these classes is null, an exception or awaitable."""
    return classes <= PLAIN or all(map(is_plain, classes))


def none_awaited(classes: set[type]) -> bool:
    """Whether no value of these classes is awaitable."""
    return classes <= PLAIN or all(
        kind in NULLS
        or is_plain(kind)
        or (issubclass(kind, Exception) and not hasattr(kind, "__await__"))
        for kind in classes
    )


def is_plain(kind: type) -> bool:
    if kind in PLAIN:
        return True
    plain = not (
        kind in NULLS
        or kind is GeneratorType
        or issubclass(kind, Exception)
        or hasattr(kind, "__await__")
        or _answers_to_any_name(kind)
    )
    if plain:
        if len(PLAIN) >= MOST:
            PLAIN.clear()
        PLAIN.add(kind)
    return plain


def any_callable(classes: Iterable[type]) -> bool:
    """Whether values of one of these classes can be called."""
    return any(map(is_callable, classes))


def is_callable(kind: type) -> bool:
    found = _callable.get(kind)
    if found is None:
        if len(_callable) >= MOST:
            _callable.clear()
        found = _callable[kind] = any("__call__" in base.__dict__ for base in kind.__mro__)
    return found


def _answers_to_any_name(kind: type) -> bool:
    """Whether instances may have `__await__` although the class has none."""
    return any(
        "__getattr__" in base.__dict__
        or isinstance(base.__dict__.get("__getattribute__"), FunctionType)
        for base in kind.__mro__
    )


def classes_of(values: Iterable[Any]) -> set[type]:
    return set(map(type, values))
