"""Errors' messages without the schema's names: for gateways that keep their schema to themselves.

A message may repeat the names that the client sent. Any other name of the schema in it is replaced
by "...": graphql-core quotes names, and outside of quotes only types are named.
"""

import re
from collections.abc import Iterable
from typing import Any

import orjson
from graphql import (
    GraphQLEnumType,
    GraphQLError,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    is_specified_scalar_type,
)

_NAME = re.compile(r"[_A-Za-z][_0-9A-Za-z]*")
_QUOTED = re.compile(r"'[^']*'")
_SUGGESTION = re.compile(r" Did you mean [^?]*\?")
HIDDEN = "..."


class Hiding:
    """Hides the names of one schema."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self._types: set[str] = set()
        self._names: set[str] = {directive.name for directive in schema.directives}
        for name, type_ in schema.type_map.items():
            if not (is_specified_scalar_type(type_) or name.startswith("__")):
                self._types.add(name)
            if isinstance(type_, GraphQLEnumType):
                self._names.update(type_.values)
            elif isinstance(type_, GraphQLObjectType | GraphQLInterfaceType):
                for field_name, field in type_.fields.items():
                    self._names.update((field_name, *field.args))
            elif isinstance(type_, GraphQLInputObjectType):
                self._names.update(type_.fields)
        self._names |= self._types

    def hidden(self, message: str, sent: "Sent") -> str:
        """The message, with those names only that the client sent."""
        message = _SUGGESTION.sub("", message)
        told = self._names.intersection(_NAME.findall(message))
        hidden = {name for name in told if not sent.has(name)}
        message = _QUOTED.sub(lambda quoted: self._without(quoted[0], hidden), message)
        return self._without(message, hidden & self._types)

    @staticmethod
    def _without(text: str, names: set[str]) -> str:
        return _NAME.sub(lambda name: HIDDEN if name[0] in names else name[0], text)


class Sent:
    """The texts of a client's request, in which names may stand. Each name is looked for once: the
    texts may be long, and the errors many."""

    def __init__(self, *texts: str) -> None:
        self._texts = texts
        self._known: dict[str, bool] = {}

    def has(self, name: str) -> bool:
        """Whether the client sent this name."""
        known = self._known.get(name)
        if known is None:
            # The name comes first in the pattern, so that the search goes from one to the next.
            whole = re.compile(f"{name}(?<![_0-9A-Za-z]{name})(?![_0-9A-Za-z])")
            known = self._known[name] = any(whole.search(text) for text in self._texts)
        return known


def hide(
    hiding: Hiding, errors: Iterable[GraphQLError], query: str, variables: dict[str, Any] | None
) -> None:
    """Hide the schema's names in the errors that graphql-core words: those of variables and of
    arguments. The words of resolvers are meant for clients."""
    sent = Sent(query, orjson.dumps(variables or {}).decode())
    for error in errors:
        if error.original_error is None or isinstance(error.original_error, GraphQLError):
            error.message = hiding.hidden(error.message, sent)
