"""What a value's class alone says of it: most columns hold one or two classes of plain values.

graphql-core asks of each value whether it is awaitable, an exception or null. The answer hangs on
the class but for a few odd ones, so a column asks it once for each class in it.
"""

from collections.abc import Iterable
from types import FunctionType, GeneratorType
from typing import Any

from graphql.pyutils import Undefined

NULLS = (type(None), type(Undefined))
MOST = 10_000
"""Classes remembered, so that classes made on the fly don't fill the memory."""

PLAIN: set[type] = {str, int, float, bool, dict, list, tuple}
_callable: dict[type, bool] = {}


def all_plain(kinds: set[type]) -> bool:
    """Whether no value of these classes is null, an exception or awaitable."""
    return kinds <= PLAIN or all(map(is_plain, kinds))


def none_awaited(kinds: set[type]) -> bool:
    """Whether no value of these classes is awaitable."""
    return kinds <= PLAIN or all(
        kind in NULLS
        or is_plain(kind)
        or (issubclass(kind, Exception) and not hasattr(kind, "__await__"))
        for kind in kinds
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


def any_callable(kinds: Iterable[type]) -> bool:
    """Whether values of one of these classes can be called."""
    return any(map(is_callable, kinds))


def is_callable(kind: type) -> bool:
    found = _callable.get(kind)
    if found is None:
        if len(_callable) >= MOST:
            _callable.clear()
        found = _callable[kind] = any("__call__" in base.__dict__ for base in kind.__mro__)
    return found


def _answers_to_any_name(kind: type) -> bool:
    """Such an object may have __await__ without its class."""
    return any(
        "__getattr__" in base.__dict__
        or isinstance(base.__dict__.get("__getattribute__"), FunctionType)
        for base in kind.__mro__
    )


def kinds_of(values: Iterable[Any]) -> set[type]:
    return set(map(type, values))
