"""The errors of operations that are refused because of their cost."""

from dataclasses import dataclass

import orjson
from graphql import GraphQLError


@dataclass(slots=True)
class Refusals:
    """Counts of refused operations: because of their cost, because the client spent too much or had
    too many running, because of the size of the response, because the address created too many
    accounts, and because too many bytes of earlier answers were not read."""

    cost: int = 0
    rate: int = 0
    running: int = 0
    bytes: int = 0
    accounts: int = 0
    unread: int = 0


def too_dear(estimate: int, bound: int) -> GraphQLError:
    """The error of an operation that costs more than the setting `limits.max_cost`."""
    return GraphQLError(
        f"The operation may cost {estimate}: at most {bound} is allowed. Ask for shorter pages "
        "(first), for fewer lists within lists, or in several operations.",
        extensions={"code": "COST_EXCEEDED", "estimate": estimate, "bound": bound},
    )


def too_often(seconds: int) -> GraphQLError:
    """The error of an operation whose client has spent its tokens."""
    return GraphQLError(
        f"This client has spent what it may for now: send the operation again in {seconds} s.",
        extensions={"code": "RATE_LIMITED", "retryAfter": seconds},
    )


def too_many(running: int) -> GraphQLError:
    """The error of an operation whose client has too many running operations."""
    return GraphQLError(
        f"{running} operations of this client are running, which is as many as may: wait until one "
        "of them has ended.",
        extensions={"code": "RATE_LIMITED", "retryAfter": 1},
    )


def too_large(most: int) -> GraphQLError:
    """The error of a response that is larger than the setting `max_response_bytes`."""
    return GraphQLError(
        f"The response has more than the {most} bytes that are allowed. Ask for shorter pages "
        "(first) or for fewer fields. What a mutation wrote is written.",
        extensions={"code": "RESPONSE_TOO_LARGE", "bound": most},
    )


def told(cost: int | None, bound: int) -> bytes:
    """The extensions of a response whose client requested the cost, as JSON."""
    if cost is None:
        return b""
    return orjson.dumps({"cost": {"estimate": cost, "bound": bound or None}})
