"""Errors with their locations and paths: as graphql-core's `located_error`, but a field's locations
in the document are worked out once, not for each error."""

from __future__ import annotations

from graphql import GraphQLError, located_error

from gateway.execution.model.selection import Field

_TELLS_ITSELF = ("message", "nodes", "source", "positions", "extensions")
"""Attributes that graphql-core takes from the error itself."""


def located(error: Exception, field: Field, path: list[str | int]) -> GraphQLError:
    try:
        for name in _TELLS_ITSELF:
            if hasattr(error, name):
                return located_error(error, field.nodes, path)
        message = str(error)
    except Exception:  # raised by the error's own __str__, or by a property of it
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
    """The error of a mutation's field that the deadline cut, or kept from beginning."""
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
