"""The orders in which clients can read lists."""

from enum import Enum
from typing import Any, TypeVar

import strawberry

from resolvers.orders import BoardOrder, CommentOrder, PinOrder, UserOrder
from schema.costs import sorting

E = TypeVar("E", bound=type[Enum])


def described(enum: E, description: str, **values: str) -> E:
    """Make a GraphQL enum of an enum of `resolvers`, with a description of each value."""
    for member in enum:
        described: Any = strawberry.enum_value(member.value, description=values[member.name])
        member._value_ = described
    return strawberry.enum(enum, description=description)


described(
    BoardOrder,
    "The order of the boards that a user has or follows.",
    NEWEST="The board that was made last, or followed last, comes first.",
    OLDEST="The board that was made first, or followed first, comes first.",
    NAME="By name, whatever its case. Only for lists of at most 500 boards.",
    PINS="The board with the most pins comes first. Only for lists of at most 500 boards.",
)
described(
    PinOrder,
    "The order of the pins of a board or a section.",
    MANUAL="The owner's order.",
    NEWEST="The pin that was made last comes first. Only for lists of at most 500 pins.",
    LIKES="The pin with the most likes comes first. Only for lists of at most 500 pins.",
)
described(
    CommentOrder,
    "The order of a pin's comments.",
    NEWEST="The comment that was written last comes first.",
    OLDEST="The comment that was written first comes first.",
)
described(
    UserOrder,
    "The order of users in a list of follows, likes, mutes or blocks.",
    NEWEST="The user of the last follow, like, mute or block comes first.",
    OLDEST="The user of the first follow, like, mute or block comes first.",
    NAME="By user name, whatever its case. Only for lists of at most 500 users.",
)

SORTED_BOARDS = sorting(["NAME", "PINS"], calls=6, entries=3)
"""The further cost of boards in an order without an index."""
SORTED_PINS = sorting(["NEWEST", "LIKES"], calls=6, entries=7)
"""The further cost of pins in an order without an index."""
SORTED_USERS = sorting(["NAME"], calls=6, entries=2)
"""The further cost of users in an order without an index."""
