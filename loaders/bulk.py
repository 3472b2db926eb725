"""Bulk resolvers, which take all parents at once, and the description of a resolver in its field's
metadata."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any, TypeVar

R = TypeVar("R", bound=Callable[..., Awaitable[Sequence[Any]] | Sequence[Any]])

_MARK = "__bulk__"


def bulk(resolver: R) -> R:
    """Mark a bulk resolver: an `async def r(context, parents, *, args)` that returns
    `Sequence[V | BaseException]`, a `def` that returns an awaitable of it, such as the load that
    `Loader.many` returns, or a `def` that returns the sequence itself.

    The executor calls it once for all objects that have the field at one depth of the response, in
    groups of 2,048. Another executor calls it for each object. The resolver returns a value for
    each parent, in the parents' order. A value may be awaitable. A value that is an exception is
    the error of that parent's field. An exception that the resolver raises is the error of all.
    Only fields of objects can be bulk, because root fields have no parent object.
    """
    setattr(resolver, _MARK, True)
    return resolver


def is_bulk(resolver: Callable[..., Any]) -> bool:
    return getattr(resolver, _MARK, False)


@dataclass(frozen=True, slots=True)
class Resolver:
    """A field's resolver, which is called without GraphQL's wrappers.

    The call is `call(context, parent, **arguments)`: without the parent unless `rooted`, with a
    sequence of parents if `bulk`, and with the parent alone unless `contextual`. Arguments that are
    null are left out. The field's metadata has it under "resolver".
    """

    call: Callable[..., Any]
    rooted: bool
    bulk: bool = False
    contextual: bool = True


async def for_one(resolver: Callable[..., Any], context: Any, parent: Any, **given: Any) -> Any:
    """A bulk resolver's value for a single parent. Raises the error if the value is an error: an
    Exception, as in graphql-core; any other BaseException is a value."""
    values = resolver(context, [parent], **given)
    if isawaitable(values):
        values = await values
    value = checked(values, 1, resolver)[0]
    if isawaitable(value):
        value = await value
    if isinstance(value, Exception):
        raise value
    return value


def checked(values: Sequence[Any], parents: int, resolver: Callable[..., Any]) -> Sequence[Any]:
    """The values, if there is one for each parent. Raises TypeError."""
    try:
        count = len(values)
    except TypeError:
        name = getattr(resolver, "__qualname__", repr(resolver))
        kind = type(values).__name__
        raise TypeError(f"{name} is bulk: a sequence was expected of it, not {kind}") from None
    if count != parents:
        name = getattr(resolver, "__qualname__", repr(resolver))
        raise TypeError(f"{name} is bulk: it gave {count} values for {parents} parents")
    return values
