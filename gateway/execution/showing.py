"""Errors of one operation as a client sees them, and as the log tells them."""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from graphql import GraphQLError

from datasources.errors import PinwayError, RequestError, Unfinished

log = logging.getLogger("pinway")

_SOMETHING = "Something went wrong."
_STORE_MESSAGES = {
    "UNAVAILABLE": "A store did not answer: what it holds is missing here. Try again.",
    "TIMEOUT": "A store did not answer in time. Try again.",
    "CONFLICT": "Something else changed this at the same time. Try again.",
}


FEW = 256
"""Errors that are shown in one go."""


def shown(*errors: GraphQLError) -> list[dict[str, Any]]:
    """Our own errors' words and code; of others, nothing. What isn't the client's doing is logged
    once for each cause, with its first path and how many fields it took: a dead shard, or one wrong
    line of a resolver, blanks many cards."""
    causes: Causes = {}
    _count(causes, errors)
    for first, count in causes.values():
        _log(first, count)
    return [_shown(error) for error in errors]


async def shown_in_slices(errors: Sequence[GraphQLError]) -> list[dict[str, Any]]:
    """The same for very many, with rests."""
    causes: Causes = {}
    found: list[dict[str, Any]] = []
    for start in range(0, len(errors), FEW):
        some = errors[start : start + FEW]
        _count(causes, some)
        found += map(_shown, some)
        await asyncio.sleep(0)
    for first, count in causes.values():
        _log(first, count)
    return found


Causes: TypeAlias = dict[tuple[type[Exception], object], tuple[GraphQLError, int]]
"""The first error of each cause, and how many there are."""


def _count(causes: Causes, errors: Iterable[GraphQLError]) -> None:
    for error in errors:
        if cause := _not_the_clients(error):
            key = type(cause), _origin(cause)
            first, count = causes.get(key, (error, 0))
            causes[key] = first, count + 1


def _origin(cause: Exception) -> object:
    """The words of a store's error, or the place where any other error was raised."""
    trace = cause.__traceback__
    if trace is None or isinstance(cause, PinwayError):
        return str(cause)
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame.f_code, trace.tb_lasti


def _not_the_clients(error: GraphQLError) -> Exception | None:
    cause = error.original_error
    return None if isinstance(cause, RequestError | GraphQLError) else cause


def _log(first: GraphQLError, count: int) -> None:
    cause = first.original_error
    path = "/".join(map(str, first.path or ()))
    where = path if count == 1 else f"{path} and {count - 1} more"
    if isinstance(cause, PinwayError):
        log.warning("%s (%s)", cause, where)
    else:
        log.error("%s", where, exc_info=cause)


def _shown(error: GraphQLError) -> dict[str, Any]:
    cause = error.original_error
    formatted = error.formatted
    extensions = dict(formatted.get("extensions") or {})
    if isinstance(cause, RequestError):
        extensions["code"] = cause.code
        if cause.field:
            extensions["field"] = cause.field
    elif isinstance(cause, PinwayError):
        extensions["code"] = cause.code
        if not isinstance(cause, Unfinished):  # whose words are meant for the client
            formatted["message"] = _STORE_MESSAGES.get(cause.code, _SOMETHING)
    elif _not_the_clients(error):
        extensions["code"] = "INTERNAL"
        formatted["message"] = _SOMETHING
    extensions.setdefault("code", "BAD_USER_INPUT")
    formatted["extensions"] = extensions
    return dict(formatted)
