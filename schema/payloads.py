"""What mutations answer: what a normalised cache needs, and errors a client can act on."""

from enum import Enum
from typing import Any

import strawberry

from schema.fields import named, plain
from schema.nodes import Edge
from schema.types import Board, Comment, Interest, Pin, User


@strawberry.enum(description="What kind of mistake it was.")
class UserErrorCode(Enum):
    BAD_USER_INPUT = strawberry.enum_value(
        "BAD_USER_INPUT", description="An input is not of the form asked."
    )
    NOT_FOUND = strawberry.enum_value("NOT_FOUND", description="There is no such object.")
    FORBIDDEN = strawberry.enum_value("FORBIDDEN", description="It is somebody else's.")
    CONFLICT = strawberry.enum_value(
        "CONFLICT", description="It is taken, or has changed meanwhile: look again."
    )
    RATE_LIMITED = strawberry.enum_value("RATE_LIMITED", description="Too often: wait a little.")


@strawberry.type(description="Why nothing was changed.")
class UserError:
    code: UserErrorCode = named(UserErrorCode, "code", "What kind of mistake it was.")
    message: str = plain("What was wrong and what would be right, for people.")
    field: str | None = plain("The input field that was wrong, where it was one.")


def _errors() -> Any:
    return plain("Why nothing was changed; empty when all went well.")


def _object() -> Any:
    return plain(
        "The object as it is now; null when there are errors, or when it can't be seen (any more)."
    )


def _edge() -> Any:
    return plain("Its entry in the list it went into.")


def _order_version() -> Any:
    return plain(
        "How often what is on the board changed: a whole number of up to 64 bits, so in a string. "
        "It grows with every change; of two answers the one with the higher number is the later."
    )


def _feed_token() -> Any:
    return plain(
        "Names this write to a feed that is to show it: pass it as `seen`. Null when there are "
        "errors, or no feed follows."
    )


@strawberry.type(description="The new user.")
class SignUpPayload:
    user: User | None = _object()
    token: str | None = plain(
        "A bearer token that names the user; null for one who signed up long ago."
    )
    errors: list[UserError] = _errors()


@strawberry.type(description="The new board. It and its owner's lists and counts can be read now.")
class CreateBoardPayload:
    board: Board | None = _object()
    board_edge: Edge[Board] | None = _edge()
    user: User | None = _object()
    errors: list[UserError] = _errors()


@strawberry.type(
    description="The board as it is now. A change of secrecy holds at once for every reader; "
    "feeds and public counts follow by a job."
)
class UpdateBoardPayload:
    board: Board | None = _object()
    errors: list[UserError] = _errors()


@strawberry.type(
    description="What was deleted. It and its pins are gone at once for every reader; counts of "
    "pins follow by a job."
)
class DeleteBoardPayload:
    deleted_board_id: strawberry.ID | None = plain("The board's id.")
    user: User | None = _object()
    errors: list[UserError] = _errors()


@strawberry.type(
    description="The new pin. It, its board and its lists and counts can be read now; feeds of "
    "followers follow by a job."
)
class CreatePinPayload:
    pin: Pin | None = _object()
    pin_edge: Edge[Pin] | None = _edge()
    board: Board | None = _object()
    feed_token: str | None = _feed_token()
    errors: list[UserError] = _errors()


@strawberry.type(description="The new pin on the viewer's board; feeds follow by a job.")
class RepinPayload:
    pin: Pin | None = _object()
    pin_edge: Edge[Pin] | None = _edge()
    board: Board | None = _object()
    feed_token: str | None = _feed_token()
    errors: list[UserError] = _errors()


@strawberry.type(description="The pin as it is now.")
class UpdatePinPayload:
    pin: Pin | None = _object()
    errors: list[UserError] = _errors()


@strawberry.type(description="What was deleted, and the board it was on.")
class DeletePinPayload:
    deleted_pin_id: strawberry.ID | None = plain("The pin's id.")
    board: Board | None = _object()
    errors: list[UserError] = _errors()


@strawberry.type(description="The pin, with the viewer's like and the count as they are now.")
class LikePinPayload:
    pin: Pin | None = _object()
    errors: list[UserError] = _errors()


@strawberry.type(description="The new comment.")
class CreateCommentPayload:
    comment: Comment | None = _object()
    comment_edge: Edge[Comment] | None = _edge()
    pin: Pin | None = _object()
    errors: list[UserError] = _errors()


@strawberry.type(description="What was deleted, and the pin it was under.")
class DeleteCommentPayload:
    deleted_comment_id: strawberry.ID | None = plain("The comment's id.")
    pin: Pin | None = _object()
    errors: list[UserError] = _errors()


@strawberry.type(
    description="The user and the viewer, their edge and counts as they are now; the viewer's "
    "feeds follow by a job."
)
class FollowUserPayload:
    user: User | None = _object()
    viewer: User | None = _object()
    feed_token: str | None = _feed_token()
    errors: list[UserError] = _errors()


@strawberry.type(
    description="The board and the viewer, their edge and counts as they are now; the viewer's "
    "feeds follow by a job."
)
class FollowBoardPayload:
    board: Board | None = _object()
    viewer: User | None = _object()
    feed_token: str | None = _feed_token()
    errors: list[UserError] = _errors()


@strawberry.type(
    description="The interest and the viewer, their edge as it is now; the viewer's home feed "
    "follows by a job."
)
class FollowInterestPayload:
    interest: Interest | None = _object()
    viewer: User | None = _object()
    feed_token: str | None = _feed_token()
    errors: list[UserError] = _errors()


@strawberry.type(
    description="Where the pin ended: its edge, whose cursor is new, and the pins that are its "
    "neighbours now, others than the anchors if some came between. When the anchors stand in the "
    "opposite order (`CONFLICT`), nothing was changed, and these are the pin and its neighbours "
    "where it still stands; then the edge is null."
)
class ReorderPinPayload:
    pin: Pin | None = _object()
    pin_edge: Edge[Pin] | None = _edge()
    above_pin: Pin | None = plain("The pin directly above it now; null at the top of the board.")
    below_pin: Pin | None = plain("The pin directly below it now; null at the bottom.")
    board: Board | None = _object()
    order_version: str | None = _order_version()
    errors: list[UserError] = _errors()
