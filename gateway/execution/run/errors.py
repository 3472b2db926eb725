"""Makes GraphQL errors with locations and paths, like graphql-core's `located_error`, and bounds
their number. The locations of a field are computed once, not for each error."""

from __future__ import annotations

from graphql import GraphQLError, located_error

from gateway.execution.model.selection import Field

MOST_ERRORS = 50
"""The maximum number of errors of a response. One more error tells how many are left out. An
operation of 4 kB may fail in ten thousand fields."""

_LOCATED = ("nodes", "source", "positions")
"""If an error has one of these attributes, graphql-core locates the error by it."""


def located(error: Exception, field: Field, path: list[str | int]) -> GraphQLError:
    """Returns a resolver's error as a GraphQLError with the field's locations and this path."""
    if isinstance(error, GraphQLError):
        if error.path is not None:
            return error
        if error.nodes or (error.source and error.positions):
            found = error
        elif error.source or error.positions:
            return located_error(error, field.nodes, path)
        else:
            found = field.in_document
        message = error.message
    else:
        found = field.in_document
        try:
            for name in _LOCATED:
                if getattr(error, name, None):
                    return located_error(error, field.nodes, path)
            message = str(error.message if hasattr(error, "message") else error)
        except Exception:  # raised by __str__ or a property of the error
            message = f"{type(error).__name__} (its text can't be made)"
    made = GraphQLError(message, path=path, original_error=error)
    made.nodes = found.nodes and list(found.nodes)
    made.locations = found.locations and list(found.locations)
    made.source, made.positions = found.source, found.positions
    return made


def left_out(count: int) -> GraphQLError:
    """Returns the last error of a response with more than `MOST_ERRORS` errors: `count` of them are
    left out."""
    number = "One more error is" if count == 1 else f"{count:,} more errors are"
    return GraphQLError(
        f"{number} left out: the answer shows the first ones. The data has a null for each.",
        extensions={"code": "TOO_MANY_ERRORS", "leftOut": count},
    )


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
