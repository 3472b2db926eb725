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


def _set_edge(list: str) -> Any:
    return plain(f"Its entry in the viewer's `{list}`; null when it is in there no more.")


def _mirror_edge(list: str) -> Any:
    return plain(f"The viewer's entry in its `{list}`; null when it is in there no more.")


def _taken_back(list: str) -> Any:
    return plain(f"Its id, where it is in the viewer's `{list}` no more; else null.")


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


@strawberry.type(
    description="The pin and the viewer, with the viewer's like and the count as they are now."
)
class LikePinPayload:
    pin: Pin | None = _object()
    viewer: User | None = _object()
    liked_pin_edge: Edge[Pin] | None = _set_edge("likedPins")
    liker_edge: Edge[User] | None = _mirror_edge("likedBy")
    unliked_pin_id: strawberry.ID | None = _taken_back("likedPins")
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
    followed_user_edge: Edge[User] | None = _set_edge("followingUsers")
    follower_edge: Edge[User] | None = _mirror_edge("followers")
    unfollowed_user_id: strawberry.ID | None = _taken_back("followingUsers")
    feed_token: str | None = _feed_token()
    errors: list[UserError] = _errors()


@strawberry.type(
    description="The board and the viewer, their edge and counts as they are now; the viewer's "
    "feeds follow by a job."
)
class FollowBoardPayload:
    board: Board | None = _object()
    viewer: User | None = _object()
    followed_board_edge: Edge[Board] | None = _set_edge("followingBoards")
    follower_edge: Edge[User] | None = _mirror_edge("followers")
    unfollowed_board_id: strawberry.ID | None = _taken_back("followingBoards")
    feed_token: str | None = _feed_token()
    errors: list[UserError] = _errors()


@strawberry.type(
    description="The interest and the viewer, their edge as it is now; the viewer's home feed "
    "follows by a job."
)
class FollowInterestPayload:
    interest: Interest | None = _object()
    viewer: User | None = _object()
    followed_interest_edge: Edge[Interest] | None = _set_edge("followingInterests")
    unfollowed_interest_id: strawberry.ID | None = _taken_back("followingInterests")
    feed_token: str | None = _feed_token()
    errors: list[UserError] = _errors()


@strawberry.type(
    description="The pin on its new board: of two boards that one query asks for, every reader "
    "sees it on one, at once. When anchors stand in the opposite order the answer is `CONFLICT`, "
    "and nothing was changed. Likes, comments and repins stay with the pin. Feeds of those who "
    "follow the new board follow by a job; those who follow the old one alone don't see it any "
    "more. On a secret board nobody else sees it; from one, it reaches feeds as a new pin does."
)
class MovePinPayload:
    pin: Pin | None = _object()
    pin_edge: Edge[Pin] | None = _edge()
    above_pin: Pin | None = plain("The pin directly above it now; null at the top of the board.")
    below_pin: Pin | None = plain("The pin directly below it now; null at the bottom.")
    from_board: Board | None = plain("The board that it was on.")
    to_board: Board | None = plain("The board that it is on.")
    removed_pin_id: strawberry.ID | None = plain(
        "The pin's id, to take out of the list of `fromBoard`; null if it was on the same board."
    )
    from_order_version: str | None = _order_version()
    to_order_version: str | None = _order_version()
    feed_token: str | None = _feed_token()
    errors: list[UserError] = _errors()


@strawberry.type(
    description="The board with its pins in their new order, which every reader sees now. When the "
    "pins or the anchors are not as asked, nothing was changed."
)
class ReorderPinsPayload:
    board: Board | None = _object()
    order_version: str | None = _order_version()
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
