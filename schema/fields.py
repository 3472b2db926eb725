"""Turns a plain function of `resolvers/` into a field, with one line for each field.

A resolver takes the request's Context, then (except on root types) its parent, and its arguments by
keyword, as in `async def pins(context, board, *, first: int = 25)`. A bulk resolver takes all
parents (see `loaders.bulk`). The field's metadata has the resolver, for the executor.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Annotated, Any, TypeVar

import strawberry
from strawberry.types import Info

from loaders.bulk import Resolver, for_one, is_bulk
from resolvers.context import ID
from resolvers.mutations.payloads import Payload
from resolvers.payloads import Resolver as Mutation
from schema.caching import CacheControl

F = TypeVar("F", bound=Callable[..., Any])
In = TypeVar("In")

_ARGUMENTS = {
    "first": "The maximum number of entries, 1 to 100.",
    "last": "The maximum number of entries of a page from the list's end, or before `before`: 1 to "
    "100, in place of `first`. The entries keep the order of the list.",
    "before": "The cursor before which a page of `last` entries ends: the `startCursor` of the "
    "page after it.",
    "after": "The cursor after which the page begins: the `endCursor` of the page before.",
    "order_by": "The order of the list; without it, the order that the field names. A cursor "
    "belongs to one order.",
    "secret": "true: only secret boards, which only their owner sees. false: only public boards. "
    "Without it: all boards that the viewer may see.",
    "id": "The object's id.",
    "ids": "The objects' ids, at most 100.",
    "username": "The user's name, in upper or lower case; for 30 days also an earlier name.",
    "visit_id": "The id of a visit: its pages are always the same. Without it, a new visit starts; "
    "all fields of one request share the visit.",
    "visit": "The earlier name of `visitId`.",
    "seen": "A `feedToken`: the feed waits for that write, for about two seconds at most; after "
    "that, `health` says that the feed may be stale. A visit that has begun does not change.",
    "unread_only": "Whether only notifications that are not marked as read are listed.",
    "input": "The input of the mutation.",
    "text": "The words to search for, at most 200 characters. Nothing in them is an operator.",
    "types": "The types of the objects that are searched; without it, all types.",
    "prefix": "The words as typed so far, at most 200 characters. The last word may be unfinished.",
    "representations": "The types and ids of the objects, at most 1,000.",
}
_OF_STREAMS = {
    "board_id": "The id of the board.",
    "pin_id": "The id of the pin.",
    "after": "The `cursor` of the last event that the client has: the events after it are "
    "delivered first. If some of them are not known any more, the first event is a REFETCH.",
}
_DEPRECATED = {"visit": "Use `visitId`: the field's answer has that name."}
_TYPES: dict[Any, Any] = {
    ID: strawberry.ID,
    ID | None: strawberry.ID | None,
    list[ID]: list[strawberry.ID],
}


def field(
    resolver: Callable[..., Any],
    description: str,
    *,
    input: type | None = None,
    cost: Sequence[Any] = (),
    cached: int | None = None,
    name: str | None = None,
    stream: type | None = None,
) -> Any:
    """A field with the given resolver. `stream` is the stream of a subscription's events
    (`resolvers.live.streams.Stream`): the resolver gets an event in place of a parent. `name` is
    its name in GraphQL, if it is not the attribute's name in camel case. `input` is the GraphQL
    type of its argument `input`; `cost` describes what it reads (`schema.costs`); `cached` are the
    seconds for which shared caches may keep it (`schema.caching`)."""
    parameters = inspect.signature(resolver).parameters.values()
    positional = [p for p in parameters if p.kind is not inspect.Parameter.KEYWORD_ONLY]
    arguments = [
        _argument(p, input, _OF_STREAMS if stream else {})
        for p in parameters
        if p.kind is inspect.Parameter.KEYWORD_ONLY
    ]
    resolved = Resolver(resolver, rooted=len(positional) > 1, bulk=is_bulk(resolver))
    if resolved.bulk and not resolved.rooted:
        raise TypeError(f"{resolver.__qualname__} is bulk, but takes no parents after the context")

    def call(root: Any, info: Info, **given: Any) -> Any:
        # A null argument means the same as a missing argument.
        arguments = {name: value for name, value in given.items() if value is not None}
        if resolved.bulk:
            return for_one(resolver, info.context, root, **arguments)
        return (
            resolver(info.context, root, **arguments)
            if resolved.rooted
            else resolver(info.context, **arguments)
        )

    head = [
        inspect.Parameter("root", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Any),
        inspect.Parameter("info", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Info),
    ]
    call.__signature__ = inspect.Signature([*head, *arguments])  # type: ignore[attr-defined]
    call.__annotations__ = {p.name: p.annotation for p in (*head, *arguments)}
    call.__name__, call.__module__ = resolver.__name__, resolver.__module__
    return strawberry.field(
        resolver=call,
        name=name,
        description=description,
        metadata={"resolver": resolved, **({"stream": stream} if stream else {})},
        directives=[*cost, *([] if cached is None else [CacheControl(max_age=cached)])],
    )


def mutation(
    resolver: Mutation[In, Payload], description: str, *, input: type[In], cost: Sequence[Any]
) -> Any:
    """The field of a mutation. `input` is the GraphQL type of its resolver's input."""
    return field(resolver, description, input=input, cost=cost)


def plain(description: str, *, cost: Sequence[Any] = ()) -> Any:
    """A field that reads the record's attribute of the same name."""
    return strawberry.field(description=description, directives=list(cost))


def named(enum: type[Enum], attribute: str, description: str) -> Any:
    """A field whose attribute is None, the name of a member of `enum`, or an object with such a
    name."""

    def member(root: Any) -> Any:
        value = getattr(root, attribute)
        return None if value is None else enum[getattr(value, "name", value)]

    resolved = Resolver(member, rooted=True, contextual=False)
    return strawberry.field(
        resolver=member, description=description, metadata={"resolver": resolved}
    )


def by_class(is_type_of: F) -> F:
    """Mark an `is_type_of` whose answer depends on the value's class only."""
    is_type_of.by_class = True  # type: ignore[attr-defined]
    return is_type_of


def _argument(
    parameter: inspect.Parameter, input: type | None, others: Mapping[str, str]
) -> inspect.Parameter:
    name, default = parameter.name, parameter.default
    annotation: Any = (
        input if name == "input" else _TYPES.get(parameter.annotation, parameter.annotation)
    )
    if default is not inspect.Parameter.empty:
        annotation = annotation | None
    about = strawberry.argument(
        description=others.get(name) or _ARGUMENTS[name], deprecation_reason=_DEPRECATED.get(name)
    )
    described = Annotated[annotation, about]
    # A missing argument stays missing: the schema has no default of null.
    return parameter.replace(
        annotation=described, default=strawberry.UNSET if default is None else default
    )
