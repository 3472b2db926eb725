"""The payloads of the mutations, as their resolvers return them.

Each payload type of the schema has the same fields, with descriptions. A field is None if the write
was refused, or if it does not apply.
"""

from dataclasses import dataclass, field
from datetime import datetime

from datasources.records import Board, Comment, Interest, Pin, Record, Section, User
from resolvers.paging import Edge


@dataclass(frozen=True, slots=True)
class UserError:
    """A fault of an input: `field` is its path, `code` its kind. `retry_after` is in seconds."""

    code: str
    message: str
    field: str | None
    retry_after: int | None = None


@dataclass(kw_only=True, slots=True)
class Payload:
    errors: list[UserError] = field(default_factory=list)


@dataclass(kw_only=True, slots=True)
class SignUpPayload(Payload):
    user: User | None = None
    token: str | None = None


@dataclass(kw_only=True, slots=True)
class UpdateProfilePayload(Payload):
    user: User | None = None


@dataclass(kw_only=True, slots=True)
class ChangeUserNamePayload(Payload):
    user: User | None = None


@dataclass(kw_only=True, slots=True)
class ChangeEmailPayload(Payload):
    user: User | None = None


@dataclass(kw_only=True, slots=True)
class LinkSubjectPayload(Payload):
    user: User | None = None


@dataclass(kw_only=True, slots=True)
class UnlinkSubjectPayload(Payload):
    user: User | None = None


@dataclass(kw_only=True, slots=True)
class SignOutEverywherePayload(Payload):
    pass


@dataclass(kw_only=True, slots=True)
class RefreshTokenPayload(Payload):
    token: str | None = None


@dataclass(kw_only=True, slots=True)
class RequestMyDataPayload(Payload):
    user: User | None = None


@dataclass(kw_only=True, slots=True)
class DeleteAccountPayload(Payload):
    deleted_user_id: str | None = None


@dataclass(kw_only=True, slots=True)
class CreateBoardPayload(Payload):
    board: Board | None = None
    board_edge: Edge[Board] | None = None
    user: User | None = None


@dataclass(kw_only=True, slots=True)
class UpdateBoardPayload(Payload):
    board: Board | None = None


@dataclass(kw_only=True, slots=True)
class DeleteBoardPayload(Payload):
    deleted_board_id: str | None = None
    user: User | None = None


@dataclass(kw_only=True, slots=True)
class SavedPinPayload(Payload):
    """The payload of `createPin` and of `repin`."""

    pin: Pin | None = None
    pin_edge: Edge[Pin] | None = None
    section_edge: Edge[Pin] | None = None
    board: Board | None = None
    feed_token: str | None = None


@dataclass(kw_only=True, slots=True)
class CollaboratorPayload(Payload):
    """The payload of `inviteCollaborator` and `removeCollaborator`."""

    board: Board | None = None
    user: User | None = None


@dataclass(kw_only=True, slots=True)
class MembershipPayload(Payload):
    """The payload of `acceptInvitation`, `declineInvitation` and `leaveBoard`."""

    board: Board | None = None
    viewer: User | None = None


@dataclass(kw_only=True, slots=True)
class UpdatePinPayload(Payload):
    pin: Pin | None = None


@dataclass(kw_only=True, slots=True)
class DeletePinPayload(Payload):
    deleted_pin_id: str | None = None
    board: Board | None = None


@dataclass(kw_only=True, slots=True)
class CreateCommentPayload(Payload):
    comment: Comment | None = None
    comment_edge: Edge[Comment] | None = None
    pin: Pin | None = None


@dataclass(kw_only=True, slots=True)
class DeleteCommentPayload(Payload):
    deleted_comment_id: str | None = None
    pin: Pin | None = None


@dataclass(kw_only=True, slots=True)
class LikePinPayload(Payload):
    pin: Pin | None = None
    viewer: User | None = None
    liked_pin_edge: Edge[Pin] | None = None
    liker_edge: Edge[User] | None = None
    unliked_pin_id: str | None = None


@dataclass(kw_only=True, slots=True)
class HidePinPayload(Payload):
    pin: Pin | None = None
    hidden_pin_id: str | None = None
    unhidden_pin_id: str | None = None


@dataclass(kw_only=True, slots=True)
class CreateUploadPayload(Payload):
    url: str | None = None
    expires: datetime | None = None


@dataclass(kw_only=True, slots=True)
class RecordEventsPayload(Payload):
    pass


@dataclass(kw_only=True, slots=True)
class DeleteEventsPayload(Payload):
    pass


@dataclass(kw_only=True, slots=True)
class ReportPayload(Payload):
    reported_id: str | None = None


@dataclass(kw_only=True, slots=True)
class MarkNotificationsReadPayload(Payload):
    unread_notification_count: int | None = None


@dataclass(kw_only=True, slots=True)
class FeedPreferencePayload(Payload):
    """The payload of `seeLess`, `seeMore` and `seeAsUsual`."""

    target: Record | None = None
    preference: str | None = None


@dataclass(kw_only=True, slots=True)
class FollowUserPayload(Payload):
    user: User | None = None
    viewer: User | None = None
    followed_user_edge: Edge[User] | None = None
    follower_edge: Edge[User] | None = None
    unfollowed_user_id: str | None = None
    feed_token: str | None = None


@dataclass(kw_only=True, slots=True)
class BlockUserPayload(Payload):
    blocked_user: User | None = None
    blocked_user_edge: Edge[User] | None = None
    unblocked_user_id: str | None = None
    user: User | None = None


@dataclass(kw_only=True, slots=True)
class MuteUserPayload(Payload):
    user: User | None = None
    muted_user_id: str | None = None
    unmuted_user_id: str | None = None


@dataclass(kw_only=True, slots=True)
class FollowBoardPayload(Payload):
    board: Board | None = None
    viewer: User | None = None
    followed_board_edge: Edge[Board] | None = None
    follower_edge: Edge[User] | None = None
    unfollowed_board_id: str | None = None
    feed_token: str | None = None


@dataclass(kw_only=True, slots=True)
class FollowInterestPayload(Payload):
    interest: Interest | None = None
    viewer: User | None = None
    followed_interest_edge: Edge[Interest] | None = None
    unfollowed_interest_id: str | None = None
    feed_token: str | None = None


@dataclass(kw_only=True, slots=True)
class CreateSectionPayload(Payload):
    section: Section | None = None
    section_edge: Edge[Section] | None = None
    board: Board | None = None


@dataclass(kw_only=True, slots=True)
class RenameSectionPayload(Payload):
    section: Section | None = None


@dataclass(kw_only=True, slots=True)
class ReorderSectionPayload(Payload):
    section: Section | None = None
    section_edge: Edge[Section] | None = None
    above_section: Section | None = None
    below_section: Section | None = None
    board: Board | None = None


@dataclass(kw_only=True, slots=True)
class DeleteSectionPayload(Payload):
    deleted_section_id: str | None = None
    board: Board | None = None


@dataclass(kw_only=True, slots=True)
class MovePinToSectionPayload(Payload):
    pin: Pin | None = None
    pin_edge: Edge[Pin] | None = None
    above_pin: Pin | None = None
    below_pin: Pin | None = None
    from_section: Section | None = None
    to_section: Section | None = None
    removed_pin_id: str | None = None


@dataclass(kw_only=True, slots=True)
class ReorderPinPayload(Payload):
    pin: Pin | None = None
    pin_edge: Edge[Pin] | None = None
    above_pin: Pin | None = None
    below_pin: Pin | None = None
    board: Board | None = None
    order_version: str | None = None


@dataclass(kw_only=True, slots=True)
class ReorderPinsPayload(Payload):
    board: Board | None = None
    order_version: str | None = None


@dataclass(kw_only=True, slots=True)
class MovePinPayload(Payload):
    pin: Pin | None = None
    pin_edge: Edge[Pin] | None = None
    above_pin: Pin | None = None
    below_pin: Pin | None = None
    from_board: Board | None = None
    to_board: Board | None = None
    removed_pin_id: str | None = None
    from_order_version: str | None = None
    to_order_version: str | None = None
    feed_token: str | None = None
