"""Bulk resolvers, which take all parents at once, and the mark that a field carries of its
resolver."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

R = TypeVar("R", bound=Callable[..., Awaitable[Sequence[Any]]])

_MARK = "__bulk__"


def bulk(resolver: R) -> R:
    """Mark a resolver `async def r(context, parents, *, args) -> Sequence[V | BaseException]`, or a
    plain `def` of which that can be awaited, such as what a loader's `many` answers.

    It is called once with all parents of one field of the response (of very many, for 2,048 at a
    time; with one, when something other than our executor runs the schema), and answers with as
    many values in their order; an exception among them is the error of that parent's field alone,
    one raised is the error of all. Only fields of objects can be bulk: the roots have one parent,
    which is nothing.
    """
    setattr(resolver, _MARK, True)
    return resolver


def is_bulk(resolver: Callable[..., Any]) -> bool:
    return getattr(resolver, _MARK, False)


@dataclass(frozen=True, slots=True)
class Resolver:
    """A field's resolver, to be called without GraphQL's wrappers around it.

    `call(context, parent, **arguments)`; without the parent unless `rooted`, with a sequence of
    parents if `bulk`, and with nothing but the parent unless `contextual`. Arguments that are
    null are left out. It stands in a field's metadata as "resolver".
    """

    call: Callable[..., Any]
    rooted: bool
    bulk: bool = False
    contextual: bool = True


async def for_one(resolver: Callable[..., Any], context: Any, parent: Any, **given: Any) -> Any:
    """A bulk resolver's value for a single parent. Raises the error if the value is an error: an
    Exception, as in graphql-core; any other BaseException is a value."""
    values = checked(await resolver(context, [parent], **given), 1, resolver)
    if isinstance(values[0], Exception):
        raise values[0]
    return values[0]


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
