"""Checks by the classes of values whether a value is null, an exception, awaitable or callable.

graphql-core checks each value. For almost all classes the result depends on the class alone, so the
executor checks each class in a column once: most columns have one or two classes.
"""

from collections.abc import Iterable
from types import FunctionType, GeneratorType
from typing import Any

from graphql.pyutils import Undefined

NULLS = (type(None), type(Undefined))
MOST = 10_000
"""The maximum number of cached classes: classes that are made at run time must not fill the
memory."""

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
    """Whether no value of this class is null, an exception or awaitable. The result is cached."""
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
    """Whether values of any of these classes are callable."""
    return any(map(is_callable, classes))


def is_callable(kind: type) -> bool:
    found = _callable.get(kind)
    if found is None:
        if len(_callable) >= MOST:
            _callable.clear()
        found = _callable[kind] = any("__call__" in base.__dict__ for base in kind.__mro__)
    return found


def _answers_to_any_name(kind: type) -> bool:
    """Whether the class has a `__getattr__` or `__getattribute__` in Python, so that an instance
    may have `__await__` although the class has not."""
    return any(
        "__getattr__" in base.__dict__
        or isinstance(base.__dict__.get("__getattribute__"), FunctionType)
        for base in kind.__mro__
    )


def classes_of(values: Iterable[Any]) -> set[type]:
    found: set[type] = set()
    latest = None
    for value in values:
        kind = type(value)
        if kind is not latest:  # most columns have one class
            found.add(kind)
            latest = kind
    return found
