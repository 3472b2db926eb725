"""The errors of operations that are refused for what they cost."""

from dataclasses import dataclass

import orjson
from graphql import GraphQLError


@dataclass(slots=True)
class Refusals:
    """How many operations were refused, by the reason."""

    cost: int = 0


def too_dear(estimate: int, bound: int) -> GraphQLError:
    """An operation above the bound of the setting `max_cost`."""
    return GraphQLError(
        f"The operation may cost {estimate}: at most {bound} is allowed. Ask for shorter pages "
        "(first), for fewer lists within lists, or in several operations.",
        extensions={"code": "COST_EXCEEDED", "estimate": estimate, "bound": bound},
    )


def told(cost: int | None, bound: int) -> bytes:
    """The extensions of a response that was asked to tell its cost, as JSON."""
    if cost is None:
        return b""
    return orjson.dumps({"cost": {"estimate": cost, "bound": bound or None}})
