"""The payloads of mutations: the objects that a normalized cache needs, and errors for clients."""

from datetime import datetime
from enum import Enum
from typing import Any

import strawberry

from schema.fields import named, plain
from schema.nodes import Edge, Node
from schema.notifications import COUNTED
from schema.types import BlockedUser, Board, Comment, Interest, Pin, Section, User


@strawberry.enum(description="The kind of an error.")
class UserErrorCode(Enum):
    BAD_USER_INPUT = strawberry.enum_value(
        "BAD_USER_INPUT", description="A value of the input is not allowed."
    )
    NOT_FOUND = strawberry.enum_value("NOT_FOUND", description="The object does not exist.")
    FORBIDDEN = strawberry.enum_value(
        "FORBIDDEN", description="The object belongs to somebody else."
    )
    CONFLICT = strawberry.enum_value(
        "CONFLICT", description="The name is taken, or the object has changed: read it again."
    )
    RATE_LIMITED = strawberry.enum_value(
        "RATE_LIMITED", description="The client sent too many requests: wait a little."
    )
    QUOTA_EXCEEDED = strawberry.enum_value(
        "QUOTA_EXCEEDED",
        description="The viewer has written as much as a day allows: wait for the next day.",
    )


@strawberry.type(description="A reason why nothing was changed.")
class UserError:
    code: UserErrorCode = named(UserErrorCode, "code", "The kind of the error.")
    message: str = plain("A message for people: what is wrong, and what would be right.")
    field: str | None = plain("The wrong field of the input; null if no single field is wrong.")
    retry_after: int | None = plain(
        "Seconds until the write may be sent again, after QUOTA_EXCEEDED; otherwise null."
    )


def _errors() -> Any:
    return plain("The reasons why nothing was changed; empty when the write was done.")


def _object() -> Any:
    return plain(
        "The object as it is now; null when there are errors, or when the viewer can't see it."
    )


def _edge() -> Any:
    return plain("The new entry in the list.")


def _section_edge() -> Any:
    return plain("The pin's entry in the section that the input names; null without a section.")


def _set_edge(list: str) -> Any:
    return plain(f"The entry in the viewer's `{list}`; null when it was removed.")


def _mirror_edge(list: str) -> Any:
    return plain(f"The viewer's entry in the object's `{list}`; null when it was removed.")


def _taken_back(list: str) -> Any:
    return plain(
        f"The id of the object that was removed from the viewer's `{list}`; otherwise null."
    )


def _order_version() -> Any:
    return plain(
        "The version of the board's order: a whole number of up to 64 bits, in a string. It grows "
        "with every change: of two answers, the answer with the higher version is the later one."
    )


def _feed_token() -> Any:
    return plain(
        "A token of this write. Pass it to a feed as `seen`, and the feed waits for this write. "
        "Null when there are errors, or when the write changes no feed."
    )


@strawberry.type(description="The new user.")
class SignUpPayload:
    user: User | None = _object()
    token: str | None = plain(
        "A bearer token for the new user; null when the same sign-up is sent again too late, and "
        "when the request has a token of another issuer, which signs the user in from now on."
    )
    errors: list[UserError] = _errors()


@strawberry.type(description="The viewer as it is now, for every reader at once.")
class UpdateProfilePayload:
    user: User | None = _object()
    errors: list[UserError] = _errors()


@strawberry.type(description="The viewer with the new user name, for every reader at once.")
class ChangeUserNamePayload:
    user: User | None = _object()
    errors: list[UserError] = _errors()


@strawberry.type(description="The viewer with the new e-mail address.")
class ChangeEmailPayload:
    user: User | None = _object()
    errors: list[UserError] = _errors()


@strawberry.type(
    description="The viewer, whom tokens of the subject sign in now. Tokens of a subject that was "
    "linked before sign nobody in."
)
class LinkSubjectPayload:
    user: User | None = _object()
    errors: list[UserError] = _errors()


@strawberry.type(
    description="The viewer, whom only tokens of this server sign in now. Streams that were opened "
    "with the subject's tokens end."
)
class UnlinkSubjectPayload:
    user: User | None = _object()
    errors: list[UserError] = _errors()


@strawberry.type(
    description="All tokens of the viewer that were issued before are refused now, also the token "
    "of this request; open streams end."
)
class SignOutEverywherePayload:
    errors: list[UserError] = _errors()


@strawberry.type(
    description="A token in place of the request's, which stays valid until it expires."
)
class RefreshTokenPayload:
    token: str | None = plain("A new bearer token; null when there are errors.")
    errors: list[UserError] = _errors()


@strawberry.type(
    description="The request. A job makes the file; `User.dataExport` says when it is ready. While "
    "the file is being made, a further request returns the same one. Within a day of a request "
    "whose file is ready, the error's code is QUOTA_EXCEEDED."
)
class RequestMyDataPayload:
    user: User | None = _object()
    errors: list[UserError] = _errors()


@strawberry.type(
    description="The deleted account. For everybody, the user and all that belonged to the user is "
    "gone now, and the user's tokens are refused; jobs remove the rest from lists and counts."
)
class DeleteAccountPayload:
    deleted_user_id: strawberry.ID | None = plain(
        "The id of the deleted user; null when there are errors."
    )
    errors: list[UserError] = _errors()


@strawberry.type(
    description="The new board. The board and its owner's lists and counts can be read now."
)
class CreateBoardPayload:
    board: Board | None = _object()
    board_edge: Edge[Board] | None = _edge()
    user: User | None = _object()
    errors: list[UserError] = _errors()


@strawberry.type(
    description="The board as it is now. A board that became secret or public is so for every "
    "reader at once; feeds and public counts follow by a job."
)
class UpdateBoardPayload:
    board: Board | None = _object()
    errors: list[UserError] = _errors()


@strawberry.type(
    description="The id of the deleted board. The board and its pins are gone for every reader at "
    "once; counts of pins follow by a job."
)
class DeleteBoardPayload:
    deleted_board_id: strawberry.ID | None = plain("The board's id.")
    user: User | None = _object()
    errors: list[UserError] = _errors()


@strawberry.type(
    description="The new pin. The pin, its board and their lists and counts can be read now; feeds "
    "of followers follow by a job."
)
class CreatePinPayload:
    pin: Pin | None = _object()
    pin_edge: Edge[Pin] | None = _edge()
    section_edge: Edge[Pin] | None = _section_edge()
    board: Board | None = _object()
    feed_token: str | None = _feed_token()
    errors: list[UserError] = _errors()


@strawberry.type(description="The new pin on the viewer's board; feeds follow by a job.")
class RepinPayload:
    pin: Pin | None = _object()
    pin_edge: Edge[Pin] | None = _edge()
    section_edge: Edge[Pin] | None = _section_edge()
    board: Board | None = _object()
    feed_token: str | None = _feed_token()
    errors: list[UserError] = _errors()


@strawberry.type(description="The pin as it is now.")
class UpdatePinPayload:
    pin: Pin | None = _object()
    errors: list[UserError] = _errors()


@strawberry.type(description="The id of the deleted pin, and its board.")
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


@strawberry.type(
    description="The pin that was hidden or is shown again, with all repins of its picture. This "
    "holds for every page of the viewer's home feed that is read from now on, on all devices."
)
class HidePinPayload:
    pin: Pin | None = _object()
    hidden_pin_id: strawberry.ID | None = plain("The id of the hidden pin; otherwise null.")
    unhidden_pin_id: strawberry.ID | None = plain(
        "The id of the pin that is shown again; otherwise null."
    )
    errors: list[UserError] = _errors()


@strawberry.enum(description="How much of a user, board or interest a viewer wants to see.")
class FeedPreference(Enum):
    LESS = strawberry.enum_value(
        "LESS",
        description="Its pins count an eighth in new pins, and a page of 25 has one of them, at "
        "most.",
    )
    MORE = strawberry.enum_value("MORE", description="Its pins count four times in new pins.")
    USUAL = strawberry.enum_value("USUAL", description="As much as without a preference.")


@strawberry.type(
    description="Send the picture's bytes to `url` by PUT: JPEG, PNG, WebP, GIF or AVIF, 10 MB and "
    "50 million pixels (WebP: 25 million) at most. The JSON in the answer is an ImageInput, for a "
    "pin or the viewer's profile. Each upload takes one picture."
)
class CreateUploadPayload:
    url: str | None = plain(
        "The absolute address to send the picture to; null when there are errors."
    )
    expires: datetime | None = plain("When the address ends, 15 minutes later.")
    errors: list[UserError] = _errors()


@strawberry.type(description="A job stores the events within seconds.")
class RecordEventsPayload:
    errors: list[UserError] = _errors()


@strawberry.type(description="All events that were recorded before are deleted.")
class DeleteEventsPayload:
    errors: list[UserError] = _errors()


@strawberry.type(
    description="The report is stored for the operators. Nobody else learns of it, and no query "
    "reads it."
)
class ReportPayload:
    reported_id: strawberry.ID | None = plain(
        "The id of the reported object; null when there are errors."
    )
    errors: list[UserError] = _errors()


@strawberry.type(description="The mark holds for all notifications that came before it.")
class MarkNotificationsReadPayload:
    unread_notification_count: int | None = plain(
        "The number of notifications that are still unread; 100 stands for more than 99. Null when "
        "there are errors.",
        cost=COUNTED,
    )
    errors: list[UserError] = _errors()


@strawberry.type(
    description="The preference as it is now. It holds for every page of the viewer's home feed "
    "that is read from now on, on all devices."
)
class FeedPreferencePayload:
    target: Node | None = _object()
    preference: FeedPreference | None = named(
        FeedPreference, "preference", "The preference; null when there are errors."
    )
    errors: list[UserError] = _errors()


@strawberry.type(description="The new comment.")
class CreateCommentPayload:
    comment: Comment | None = _object()
    comment_edge: Edge[Comment] | None = _edge()
    pin: Pin | None = _object()
    errors: list[UserError] = _errors()


@strawberry.type(description="The id of the deleted comment, and its pin.")
class DeleteCommentPayload:
    deleted_comment_id: strawberry.ID | None = plain("The comment's id.")
    pin: Pin | None = _object()
    errors: list[UserError] = _errors()


@strawberry.type(
    description="The user and the viewer, with their edge and counts as they are now; the viewer's "
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
    description="The user who is blocked, or is not any more. A block holds for all reads from now "
    "on; a job removes the follows between the two users, and of their boards."
)
class BlockUserPayload:
    blocked_user: BlockedUser | None = plain(
        "The user whom the viewer blocks; null when there are errors, or after an unblock."
    )
    blocked_user_edge: Edge[BlockedUser] | None = plain(
        "The entry in `blockedUsers`; null when it was removed."
    )
    unblocked_user_id: strawberry.ID | None = _taken_back("blockedUsers")
    user: User | None = plain(
        "The user as the viewer sees them after an unblock; null after a block, or when there are "
        "errors."
    )
    errors: list[UserError] = _errors()


@strawberry.type(
    description="A board of the viewer, and the user who was invited or removed. From now on, a "
    "removed user sees nothing of a secret board; the pins that they added stay. A job notifies an "
    "invited user."
)
class CollaboratorPayload:
    board: Board | None = plain("The board; null when there are errors.")
    user: User | None = plain(
        "The user; null when there are errors, or when the viewer can't see the user."
    )
    errors: list[UserError] = _errors()


@strawberry.type(
    description="A board whose invitation the viewer answered, or that the viewer left. What the "
    "viewer may see and do there is so from now on. A job notifies the board's owner of a new "
    "collaborator."
)
class MembershipPayload:
    board: Board | None = plain(
        "The board; null when there are errors, or when the viewer can't see it any more."
    )
    viewer: User | None = plain("The viewer; null when there are errors.")
    errors: list[UserError] = _errors()


@strawberry.type(
    description="The user who is muted, or is not any more: in the viewer's feeds from now on."
)
class MuteUserPayload:
    user: User | None = _object()
    muted_user_id: strawberry.ID | None = plain("The user's id after `muteUser`; otherwise null.")
    unmuted_user_id: strawberry.ID | None = _taken_back("mutedUsers")
    errors: list[UserError] = _errors()


@strawberry.type(
    description="The board and the viewer, with their edge and counts as they are now; the "
    "viewer's feeds follow by a job."
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
    description="The interest and the viewer, with their edge as it is now; the viewer's home feed "
    "follows by a job."
)
class FollowInterestPayload:
    interest: Interest | None = _object()
    viewer: User | None = _object()
    followed_interest_edge: Edge[Interest] | None = _set_edge("followingInterests")
    unfollowed_interest_id: strawberry.ID | None = _taken_back("followingInterests")
    feed_token: str | None = _feed_token()
    errors: list[UserError] = _errors()


@strawberry.type(description="The new section, which can be read on its board now.")
class CreateSectionPayload:
    section: Section | None = _object()
    section_edge: Edge[Section] | None = _edge()
    board: Board | None = _object()
    errors: list[UserError] = _errors()


@strawberry.type(description="The section as it is now, for every reader at once.")
class RenameSectionPayload:
    section: Section | None = _object()
    errors: list[UserError] = _errors()


@strawberry.type(
    description="The section at its new place, which every reader sees now. Its neighbors differ "
    "from the named sections if other sections came between. If the error is `CONFLICT`, nothing "
    "was changed: the payload has the section with its unchanged neighbors, and the edge is null."
)
class ReorderSectionPayload:
    section: Section | None = _object()
    section_edge: Edge[Section] | None = _edge()
    above_section: Section | None = plain(
        "The section directly above the moved section now; null at the top of the board."
    )
    below_section: Section | None = plain(
        "The section directly below the moved section now; null at the bottom of the board."
    )
    board: Board | None = _object()
    errors: list[UserError] = _errors()


@strawberry.type(
    description="The id of the deleted section, and its board. Its pins are on the board, in no "
    "section."
)
class DeleteSectionPayload:
    deleted_section_id: strawberry.ID | None = plain("The section's id.")
    board: Board | None = _object()
    errors: list[UserError] = _errors()


@strawberry.type(
    description="The pin in its section, which every reader sees now. Its place on the board is "
    "as before."
)
class MovePinToSectionPayload:
    pin: Pin | None = _object()
    pin_edge: Edge[Pin] | None = plain(
        "The pin's entry in `toSection`; null if the pin is in no section."
    )
    above_pin: Pin | None = plain(
        "The pin directly above the moved pin in the section now; null at its top."
    )
    below_pin: Pin | None = plain(
        "The pin directly below the moved pin in the section now; null at its bottom."
    )
    from_section: Section | None = plain("The section that the pin was in; null: none.")
    to_section: Section | None = plain("The section that the pin is in now; null: none.")
    removed_pin_id: strawberry.ID | None = plain(
        "The pin's id, to remove from the list of `fromSection`; null if it left no section."
    )
    errors: list[UserError] = _errors()


@strawberry.type(
    description="The pin on its new board. Every reader sees the move at once: a query that reads "
    "both boards finds the pin on one of them. If `beforePinId` is below `afterPinId`, the error "
    "is `CONFLICT` and nothing was changed. Likes, comments and repins stay with the pin. A job "
    "adds the pin to the feeds of the new board's followers, and removes it from the feeds of "
    "users who follow only the old board. On a secret board, only its owner sees the pin. A pin "
    "that leaves a secret board reaches feeds as a new pin does."
)
class MovePinPayload:
    pin: Pin | None = _object()
    pin_edge: Edge[Pin] | None = _edge()
    above_pin: Pin | None = plain(
        "The pin directly above the moved pin now; null at the top of the board."
    )
    below_pin: Pin | None = plain(
        "The pin directly below the moved pin now; null at the bottom of the board."
    )
    from_board: Board | None = plain("The board that the pin was on.")
    to_board: Board | None = plain("The board that the pin is on now.")
    removed_pin_id: strawberry.ID | None = plain(
        "The pin's id, to remove from the list of `fromBoard`; null if the pin stayed on its board."
    )
    from_order_version: str | None = _order_version()
    to_order_version: str | None = _order_version()
    feed_token: str | None = _feed_token()
    errors: list[UserError] = _errors()


@strawberry.type(
    description="The board with its pins in their new order, which every reader sees now. If there "
    "are errors, nothing was changed."
)
class ReorderPinsPayload:
    board: Board | None = _object()
    order_version: str | None = _order_version()
    errors: list[UserError] = _errors()


@strawberry.type(
    description="The pin's new place: its edge with a new cursor, and its neighbors now. The "
    "neighbors differ from the named pins if other pins came between. If the error is `CONFLICT`, "
    "nothing was changed: the payload has the pin with its unchanged neighbors, and the edge is "
    "null."
)
class ReorderPinPayload:
    pin: Pin | None = _object()
    pin_edge: Edge[Pin] | None = _edge()
    above_pin: Pin | None = plain(
        "The pin directly above the moved pin now; null at the top of the board."
    )
    below_pin: Pin | None = plain(
        "The pin directly below the moved pin now; null at the bottom of the board."
    )
    board: Board | None = _object()
    order_version: str | None = _order_version()
    errors: list[UserError] = _errors()
