"""Makes GraphQL errors with locations and paths, like graphql-core's `located_error`. The locations
of a field are computed once, not for each error."""

from __future__ import annotations

from graphql import GraphQLError, located_error

from gateway.execution.model.selection import Field

_OWN_ATTRIBUTES = ("message", "nodes", "source", "positions", "extensions")
"""If an error has one of these attributes, graphql-core copies the attribute."""


def located(error: Exception, field: Field, path: list[str | int]) -> GraphQLError:
    """Returns a resolver's error as a GraphQLError with the field's locations and this path."""
    try:
        for name in _OWN_ATTRIBUTES:
            if hasattr(error, name):
                return located_error(error, field.nodes, path)
        message = str(error)
    except Exception:  # raised by __str__ or a property of the error
        message = f"{type(error).__name__} (its text can't be made)"
    made = GraphQLError(message, path=path, original_error=error)
    found = field.in_document
    made.nodes, made.locations = (
        list(field.nodes),
        found.locations and list(found.locations),
    )
    made.source, made.positions = found.source, found.positions
    return made


def late(seconds: float, *, begun: bool) -> GraphQLError:
    """Returns the error of a mutation's root field that was running (`begun`) or had not begun when
    the deadline passed."""
    if begun:
        message = (
            f"The operation took longer than {seconds:g} s and was cut in this field: it may be "
            "done or not. Send it again with the same idempotencyKey."
        )
    else:
        message = (
            f"The operation took longer than {seconds:g} s: this field was not begun, and nothing "
            "of it is done."
        )
    return GraphQLError(message, extensions={"code": "TIMEOUT"})
