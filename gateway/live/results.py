"""The results of one operation, as clients of a stream get them: one of a query or a mutation, one
of each event of a subscription."""

import logging
from collections.abc import Awaitable, Callable

from graphql import GraphQLError

from datasources.errors import PinwayError
from gateway.execution.executor import Result, refused
from gateway.http.endpoint import FAILED
from gateway.live.open_streams import OpenStreams

log = logging.getLogger("pinway")

Deliver = Callable[[Result], Awaitable[None]]
"""Sends a result to the client."""


async def deliver(result: Result, streams: OpenStreams, next: Deliver) -> Result | None:
    """Deliver all results of an operation that began. Returns the errors for which its stream
    broke; None if the operation is complete. Ends the stream in any case. If the client has gone,
    raises the error of `next`."""
    stream = result.stream
    if stream is None:
        await next(result)
        return None
    try:
        with streams.subscribed():
            while True:
                try:
                    event = await stream.next()
                except PinwayError as error:
                    return refused(GraphQLError(str(error), original_error=error))
                except Exception:
                    log.exception("a subscription failed")
                    return refused(GraphQLError(FAILED, extensions={"code": "INTERNAL"}))
                if event is None:
                    return None
                streams.events += 1
                await next(event)
    finally:
        await stream.end()
