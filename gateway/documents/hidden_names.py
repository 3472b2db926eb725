"""Removes the schema's names from error messages, for gateways that keep their schema secret.

A message may repeat names that the client sent. Every other name of the schema is replaced by
"...". graphql-core's messages quote all names except the names of types.
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
        """Returns the message with only the names that the client sent."""
        message = _SUGGESTION.sub("", message)
        told = self._names.intersection(_NAME.findall(message))
        hidden = {name for name in told if not sent.has(name)}
        message = _QUOTED.sub(lambda quoted: self._without(quoted[0], hidden), message)
        return self._without(message, hidden & self._types)

    @staticmethod
    def _without(text: str, names: set[str]) -> str:
        return _NAME.sub(lambda name: HIDDEN if name[0] in names else name[0], text)


class Sent:
    """The names in the texts of a client's request. Each name is searched for once, because texts
    may be long and errors many."""

    def __init__(self, *texts: str) -> None:
        self._texts = texts
        self._known: dict[str, bool] = {}

    def has(self, name: str) -> bool:
        """Whether the client sent this name."""
        known = self._known.get(name)
        if known is None:
            # The name comes first in the pattern, so that the search can skip to its occurrences.
            whole = re.compile(f"{name}(?<![_0-9A-Za-z]{name})(?![_0-9A-Za-z])")
            known = self._known[name] = any(whole.search(text) for text in self._texts)
        return known


def hide(
    hiding: Hiding, errors: Iterable[GraphQLError], query: str, variables: dict[str, Any] | None
) -> None:
    """Hide the schema's names in errors of variables and arguments, whose messages graphql-core
    writes. Messages of resolvers are left alone: they are written for clients."""
    sent = Sent(query, orjson.dumps(variables or {}).decode())
    for error in errors:
        if error.original_error is None or isinstance(error.original_error, GraphQLError):
            error.message = hiding.hidden(error.message, sent)
