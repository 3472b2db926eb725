"""The inputs of the mutations, as their resolvers read them.

Each input type of the schema is a subclass of one of these classes, and adds descriptions and
defaults. Ids are strings, as the client sent them.
"""

from collections.abc import Sequence
from enum import Enum
from typing import Any


class Input:
    idempotency_key: str | None


class SignUp(Input):
    username: str
    full_name: str
    about: str


class CreateBoard(Input):
    name: str
    description: str
    secret: bool


class Change(Input):
    def given(self) -> dict[str, Any]:
        """The changed fields that the client sent, by name."""
        raise NotImplementedError


class UpdateProfile(Change):
    pass


class ChangeUserName(Input):
    username: str


class ChangeEmail(Input):
    email: str | None


class LinkSubject(Input):
    token: str


class UnlinkSubject(Input):
    pass


class SignOutEverywhere(Input):
    pass


class RefreshToken(Input):
    pass


class RequestMyData(Input):
    pass


class DeleteAccount(Input):
    username: str


class UpdateBoard(Change):
    board_id: str


class DeleteBoard(Input):
    board_id: str


class Collaborator(Input):
    board_id: str
    user_id: str


class Membership(Input):
    board_id: str


class PinImage:
    url: str
    width: int | None
    height: int | None
    dominant_color: str | None


class CreatePin(Input):
    board_id: str
    title: str
    description: str
    link: str | None
    image: PinImage | None
    interest_ids: Sequence[str]
    section_id: str | None


class UpdatePin(Change):
    pin_id: str


class DeletePin(Input):
    pin_id: str


class Repin(Input):
    pin_id: str
    board_id: str
    section_id: str | None


class LikePin(Input):
    pin_id: str


class HidePin(Input):
    pin_id: str


class FeedPreference(Input):
    id: str


class PinEvent:
    pin_id: str
    kind: Enum  # its member has the name of an EventKind


class RecordEvents(Input):
    events: Sequence[PinEvent]


class DeleteEvents(Input):
    pass


class CreateUpload(Input):
    pass


class Report(Input):
    id: str
    reason: Enum  # its member has the name of a ReportReason
    text: str


class MarkNotificationsRead(Input):
    up_to: str | None


class CreateComment(Input):
    pin_id: str
    text: str


class DeleteComment(Input):
    comment_id: str


class FollowUser(Input):
    user_id: str


class BlockUser(Input):
    user_id: str


class MuteUser(Input):
    user_id: str


class FollowBoard(Input):
    board_id: str


class FollowInterest(Input):
    interest_id: str


class CreateSection(Input):
    board_id: str
    name: str


class RenameSection(Input):
    section_id: str
    name: str


class ReorderSection(Input):
    section_id: str
    before_section_id: str | None
    after_section_id: str | None


class DeleteSection(Input):
    section_id: str


class MovePinToSection(Input):
    pin_id: str
    section_id: str | None
    before_pin_id: str | None
    after_pin_id: str | None


class ReorderPin(Input):
    board_id: str
    pin_id: str
    before_pin_id: str | None
    after_pin_id: str | None


class ReorderPins(Input):
    board_id: str
    pin_ids: Sequence[str]
    before_pin_id: str | None
    after_pin_id: str | None


class MovePin(Input):
    pin_id: str
    board_id: str
    before_pin_id: str | None
    after_pin_id: str | None
