"""Formats the errors of an operation for the client, and logs them: error messages and codes."""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from graphql import GraphQLError

from datasources.errors import PinwayError, RequestError, Unfinished

log = logging.getLogger("pinway")

_SOMETHING = "Something went wrong."
_STORE_MESSAGES = {
    "UNAVAILABLE": "A store did not answer: its data is missing here. Try again.",
    "TIMEOUT": "A store did not answer in time. Try again.",
    "CONFLICT": "Something else changed this at the same time. Try again.",
}


MESSAGE = 500
"""The maximum length of an error's message, in characters. Some messages repeat names or values of
the document, in each error."""
AT_ONCE = 256
"""The maximum number of exceptions that are counted between two rests of the event loop."""


def shown(*errors: GraphQLError) -> list[dict[str, Any]]:
    """Returns the errors as the client sees them: Pinway's own errors with message and code, all
    other errors without details.

    Errors that the client did not cause are logged once for each cause, with the first path and the
    number of fields: a dead shard, or one wrong line in a resolver, fails many fields.
    """
    causes: Causes = {}
    _count(causes, errors)
    return _shown_and_logged(causes, errors)


async def shown_with(
    errors: Sequence[GraphQLError], left_out: Sequence[Exception]
) -> list[dict[str, Any]]:
    """Like `shown`. The exceptions that are left out of the response are logged, too. They may be
    tens of thousands, so the event loop rests in between."""
    causes: Causes = {}
    _count(causes, errors)
    for start in range(0, len(left_out), AT_ONCE):
        _count(causes, left_out[start : start + AT_ONCE])
        await asyncio.sleep(0)
    return _shown_and_logged(causes, errors)


def cut(message: str) -> str:
    """Returns the message with `MESSAGE` characters at most."""
    return message if len(message) <= MESSAGE else message[:MESSAGE] + "..."


Causes: TypeAlias = dict[tuple[type[Exception], object], tuple[Exception, int]]
"""For each cause: its first error, and the number of its errors."""


def _shown_and_logged(causes: Causes, errors: Iterable[GraphQLError]) -> list[dict[str, Any]]:
    for first, count in causes.values():
        _log(first, count)
    return [_shown(error) for error in errors]


def _count(causes: Causes, errors: Iterable[Exception]) -> None:
    for error in errors:
        if cause := _cause_to_log(error):
            key = type(cause), _origin(cause)
            first, count = causes.get(key, (error, 0))
            causes[key] = first, count + 1


def _origin(cause: Exception) -> object:
    """The identity of a cause: the message of a store's error, or the line of code that raised any
    other error."""
    trace = cause.__traceback__
    if trace is None or isinstance(cause, PinwayError):
        return str(cause)
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame.f_code, trace.tb_lasti


def _cause_to_log(error: Exception) -> Exception | None:
    """The exception behind an error, unless the request caused it."""
    cause = error.original_error if isinstance(error, GraphQLError) else error
    return None if isinstance(cause, RequestError | GraphQLError) else cause


def _log(first: Exception, count: int) -> None:
    cause: Exception | None = first
    where = "left out of the response"
    if isinstance(first, GraphQLError):
        cause, where = first.original_error, "/".join(map(str, first.path or ()))
    if count > 1:
        where += f" and {count - 1} more"
    if isinstance(cause, PinwayError):
        log.warning("%s (at response path %s)", cause, where)
    else:
        log.error("%s", where, exc_info=cause)


def _shown(error: GraphQLError) -> dict[str, Any]:
    cause = error.original_error
    formatted = error.formatted
    formatted["message"] = cut(formatted["message"])
    extensions = dict(formatted.get("extensions") or {})
    if isinstance(cause, RequestError):
        extensions["code"] = cause.code
        if cause.field:
            extensions["field"] = cause.field
    elif isinstance(cause, PinwayError):
        extensions["code"] = cause.code
        if not isinstance(cause, Unfinished):  # the messages of Unfinished are for clients
            formatted["message"] = _STORE_MESSAGES.get(cause.code, _SOMETHING)
    elif _cause_to_log(error):
        extensions["code"] = "INTERNAL"
        formatted["message"] = _SOMETHING
    extensions.setdefault("code", "BAD_USER_INPUT")
    formatted["extensions"] = extensions
    return dict(formatted)
