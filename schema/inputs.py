"""The inputs of mutations: for each, one strawberry input type with the fields that its resolver
reads (`resolvers.mutations.inputs`)."""

import dataclasses
from typing import Any, ClassVar

import strawberry

from resolvers.mutations import inputs
from schema.costs import Cost
from schema.feeds import PinEventKind
from schema.reports import ReportReason


def _given(description: str, default: Any = dataclasses.MISSING, weight: str = "") -> Any:
    """A field of an input; `weight` is the cost of each value."""
    directives = [Cost(weight=weight)] if weight else []
    return strawberry.field(description=description, default=default, directives=directives)


def _kept(description: str) -> Any:
    return strawberry.field(description=description, default=strawberry.UNSET)


def _key(
    description: str = "A string that is new for each write, such as a random UUID. After a lost "
    "answer, send the same input with the same key: the write is done once, and the answer is the "
    "same.",
) -> Any:
    return strawberry.field(default=None, description=description)


def _section() -> Any:
    return _given("A section of the board, on top of which the pin also goes; null: none.", None)


class _Change(inputs.Change):
    """An input whose absent fields stay unchanged. `_apart` are its fields that name the object or
    the write."""

    _apart: ClassVar[frozenset[str]] = frozenset(("board_id", "pin_id", "idempotency_key"))

    def given(self) -> dict[str, Any]:
        """The changed fields that were sent."""
        names = [f.name for f in dataclasses.fields(self)]  # type: ignore[arg-type]
        sent = {name: getattr(self, name) for name in names if name not in self._apart}
        return {name: value for name, value in sent.items() if value is not strawberry.UNSET}


@strawberry.input(description="A new user.")
class SignUpInput(inputs.SignUp):
    username: str = _given("3 to 30 letters, digits, dots or underscores; unique.")
    full_name: str = _given("The displayed name.", "")
    about: str = _given("A text about the user.", "")
    idempotency_key: str | None = _key(
        "At least 16 characters that nobody can guess, such as a random UUID. Send the same input "
        "with the same key again, and no second user is made; for 15 minutes, the answer also has "
        "the token."
    )


@strawberry.input(
    description="Changes to the viewer's profile. An absent field stays unchanged; a null clears "
    "the field."
)
class UpdateProfileInput(_Change, inputs.UpdateProfile):
    full_name: str | None = _kept("The displayed name, up to 180 characters.")
    about: str | None = _kept("A text about the user, up to 2,000 characters.")
    avatar: "ImageInput | None" = _kept("The picture of the user.")
    idempotency_key: str | None = _key()


@strawberry.input(description="The viewer's new user name.")
class ChangeUserNameInput(inputs.ChangeUserName):
    username: str = _given(
        "3 to 30 letters, digits, dots or underscores; unique. The viewer may take an old name "
        "again for 30 days."
    )
    idempotency_key: str | None = _key()


@strawberry.input(description="The viewer's new e-mail address.")
class ChangeEmailInput(inputs.ChangeEmail):
    email: str | None = _given(
        "An address as name@example.org, at most 254 characters; null to have none.", None
    )
    idempotency_key: str | None = _key()


@strawberry.input(description="The subject by whose tokens the viewer will sign in.")
class LinkSubjectInput(inputs.LinkSubject):
    token: str = _given("A token of the subject, as its issuer signed it.")
    idempotency_key: str | None = _key()


@strawberry.input(description="The end of the viewer's sign-in by the subject.")
class UnlinkSubjectInput(inputs.UnlinkSubject):
    idempotency_key: str | None = _key()


@strawberry.input(description="The end of all sessions of the viewer.")
class SignOutEverywhereInput(inputs.SignOutEverywhere):
    idempotency_key: str | None = _key()


@strawberry.input(description="The renewal of the token that the request has.")
class RefreshTokenInput(inputs.RefreshToken):
    idempotency_key: str | None = _key("Ignored: each answer has a token of its own.")


@strawberry.input(description="A request for the viewer's own data.")
class RequestMyDataInput(inputs.RequestMyData):
    idempotency_key: str | None = _key()


@strawberry.input(description="The account to delete: the viewer's own.")
class DeleteAccountInput(inputs.DeleteAccount):
    username: str = _given("The viewer's user name, repeated so that nobody does it by accident.")
    idempotency_key: str | None = _key()


@strawberry.input(description="A new board for the viewer.")
class CreateBoardInput(inputs.CreateBoard):
    name: str = _given("The name, 1 to 180 characters.")
    description: str = _given("The description.", "")
    secret: bool = _given("Whether only the viewer can see the board.", False)
    idempotency_key: str | None = _key()


@strawberry.input(
    description="Changes to a board. An absent field stays unchanged; a null clears the field."
)
class UpdateBoardInput(_Change, inputs.UpdateBoard):
    board_id: strawberry.ID = _given("A board that the viewer owns.")
    name: str | None = _kept("The name; it can't be cleared.")
    description: str | None = _kept("The description.")
    secret: bool | None = _kept("Whether only the viewer can see the board.")
    cover_pin_id: strawberry.ID | None = _kept("A pin on the board; null: the newest pin.")
    idempotency_key: str | None = _key()


@strawberry.input(description="A board to delete, with all its pins.")
class DeleteBoardInput(inputs.DeleteBoard):
    board_id: strawberry.ID = _given("A board that the viewer owns.")
    idempotency_key: str | None = _key()


@strawberry.input(description="A picture's address and size.")
class ImageInput(inputs.PinImage):
    url: str = _given("An http(s) address, or a path on the gateway that begins with /images/.")
    width: int | None = _given("The width in pixels.", None)
    height: int | None = _given("The height in pixels.", None)
    dominant_color: str | None = _given("The dominant color, as #rrggbb.", None)


@strawberry.input(
    description="A new pin. It goes on top of the board, which the viewer owns or collaborates on."
)
class CreatePinInput(inputs.CreatePin):
    board_id: strawberry.ID = _given("The board.")
    title: str = _given("The title.", "")
    description: str = _given("The description.", "")
    link: str | None = _given(
        "The address of the page that the picture is from: http or https.", None
    )
    image: ImageInput | None = _given("The picture.", None)
    interest_ids: list[strawberry.ID] = strawberry.field(
        description="The pin's topics, at most 20.", default_factory=list
    )
    section_id: strawberry.ID | None = _section()
    idempotency_key: str | None = _key()


@strawberry.input(
    description="Changes to a pin. An absent field stays unchanged; a null clears the field."
)
class UpdatePinInput(_Change, inputs.UpdatePin):
    pin_id: strawberry.ID = _given("A pin that the viewer added.")
    title: str | None = _kept("The title.")
    description: str | None = _kept("The description.")
    link: str | None = _kept("The address of the page that the picture is from: http or https.")
    image: ImageInput | None = _kept("The picture.")
    interest_ids: list[strawberry.ID] | None = _kept("The pin's topics, at most 20.")
    idempotency_key: str | None = _key()


@strawberry.input(description="A pin to delete.")
class DeletePinInput(inputs.DeletePin):
    pin_id: strawberry.ID = _given(
        "A pin that the viewer added, or a pin on a board that the viewer owns."
    )
    idempotency_key: str | None = _key()


@strawberry.input(description="A pin to save to one of the viewer's boards.")
class RepinInput(inputs.Repin):
    pin_id: strawberry.ID = _given("The pin to save.")
    board_id: strawberry.ID = _given("The board to save it to.")
    section_id: strawberry.ID | None = _section()
    idempotency_key: str | None = _key()


@strawberry.input(description="The pin to like or unlike.")
class LikePinInput(inputs.LikePin):
    pin_id: strawberry.ID = _given("A pin.")
    idempotency_key: str | None = _key()


@strawberry.input(description="The pin to hide in the viewer's home feed, or to show again.")
class HidePinInput(inputs.HidePin):
    pin_id: strawberry.ID = _given("A pin.")
    idempotency_key: str | None = _key()


@strawberry.input(description="The subject of a preference for the viewer's home feed.")
class FeedPreferenceInput(inputs.FeedPreference):
    id: strawberry.ID = _given("A user, a board or an interest.")
    idempotency_key: str | None = _key()


@strawberry.input(description="A picture that the viewer is going to upload.")
class CreateUploadInput(inputs.CreateUpload):
    idempotency_key: str | None = _key()


@strawberry.input(description="What the viewer did with a pin.")
class PinEventInput(inputs.PinEvent):
    pin_id: strawberry.ID = _given("A pin. Pins that the viewer can't see are ignored.")
    kind: PinEventKind = _given("What the viewer did.")


@strawberry.input(description="Events since the last call.")
class RecordEventsInput(inputs.RecordEvents):
    events: list[PinEventInput] = _given(
        "1 to 100 events. Of a pin and a kind, one event is kept for each day.", weight="1"
    )
    idempotency_key: str | None = _key()


@strawberry.input(description="The deletion of all recorded events of the viewer.")
class DeleteEventsInput(inputs.DeleteEvents):
    idempotency_key: str | None = _key()


@strawberry.input(description="A report to the operators.")
class ReportInput(inputs.Report):
    id: strawberry.ID = _given("A pin, a board, a user or a comment of somebody else.")
    reason: ReportReason = _given("The reason.")
    text: str = _given("An explanation for the operators, up to 1,000 characters.", "")
    idempotency_key: str | None = _key()


@strawberry.input(description="The notifications that the viewer has seen.")
class MarkNotificationsReadInput(inputs.MarkNotificationsRead):
    up_to: str | None = _given(
        "The cursor of the newest notification that was shown: it and all older notifications are "
        "read. Without it, all notifications are.",
        None,
    )
    idempotency_key: str | None = _key()


@strawberry.input(description="A new comment.")
class CreateCommentInput(inputs.CreateComment):
    pin_id: strawberry.ID = _given("The pin to comment on.")
    text: str = _given("The text, 1 to 2,000 characters.")
    idempotency_key: str | None = _key()


@strawberry.input(description="A comment to delete.")
class DeleteCommentInput(inputs.DeleteComment):
    comment_id: strawberry.ID = _given(
        "A comment that the viewer wrote, or a comment on one of the viewer's pins."
    )
    idempotency_key: str | None = _key()


@strawberry.input(description="The user to follow or unfollow.")
class FollowUserInput(inputs.FollowUser):
    user_id: strawberry.ID = _given("A user.")
    idempotency_key: str | None = _key()


@strawberry.input(description="The user to block or unblock.")
class BlockUserInput(inputs.BlockUser):
    user_id: strawberry.ID = _given("A user.")
    idempotency_key: str | None = _key()


@strawberry.input(description="The user to mute or unmute.")
class MuteUserInput(inputs.MuteUser):
    user_id: strawberry.ID = _given("A user.")
    idempotency_key: str | None = _key()


@strawberry.input(description="The user to invite to a board, or to remove from it.")
class CollaboratorInput(inputs.Collaborator):
    board_id: strawberry.ID = _given("A board that the viewer owns.")
    user_id: strawberry.ID = _given("Another user.")
    idempotency_key: str | None = _key()


@strawberry.input(description="The board whose invitation the viewer answers, or that they leave.")
class MembershipInput(inputs.Membership):
    board_id: strawberry.ID = _given("Another user's board.")
    idempotency_key: str | None = _key()


@strawberry.input(description="The board to follow or unfollow.")
class FollowBoardInput(inputs.FollowBoard):
    board_id: strawberry.ID = _given("A board.")
    idempotency_key: str | None = _key()


@strawberry.input(description="The interest to follow or unfollow.")
class FollowInterestInput(inputs.FollowInterest):
    interest_id: strawberry.ID = _given("An interest.")
    idempotency_key: str | None = _key()


@strawberry.input(
    description="The board to move a pin to. Without `beforePinId` and `afterPinId` the pin goes "
    "on top of that board. With them it goes where `reorderPin` would put it; both name pins of "
    "that board. A pin that is on the board already moves to the named place, or stays where it is "
    "if no place is named."
)
class MovePinInput(inputs.MovePin):
    pin_id: strawberry.ID = _given(
        "A pin on a board of the viewer, or a pin that the viewer added as a collaborator."
    )
    board_id: strawberry.ID = _given(
        "The board to move the pin to: of the same owner, and the viewer owns or shares it too."
    )
    before_pin_id: strawberry.ID | None = _given(
        "The pin that comes before the new place in the list: the pin directly above it.", None
    )
    after_pin_id: strawberry.ID | None = _given(
        "The pin that comes after the new place in the list: the pin directly below it.", None
    )
    idempotency_key: str | None = _key()


@strawberry.input(
    description="Pins to put together in the given order, the first on top. The pins go directly "
    "below `beforePinId`; if that is null, directly above `afterPinId`; if both are null, on top "
    "of the board. Example: a board shows A, B, C, D from top to bottom. With `pinIds: [D, B]` and "
    "`beforePinId: A` it shows A, D, B, C. To sort a whole board, name all of its pins. Sort a "
    "board of more than 10,000 pins in several calls: each call passes the last pin of the call "
    "before as `beforePinId`. Pins that are not named keep their order. All named pins, the two "
    "neighbors included, must be on the board and different; otherwise nothing changes. If "
    "`beforePinId` is below `afterPinId` now, the error is `CONFLICT` and nothing changes. Pins "
    "that other users drag, save or delete meanwhile stay where those users put them."
)
class ReorderPinsInput(inputs.ReorderPins):
    board_id: strawberry.ID = _given("A board that the viewer owns or collaborates on.")
    pin_ids: list[strawberry.ID] = _given(
        "Pins of the board in their new order, each once; at most 10,000. Send them as a variable.",
        weight="1",
    )
    before_pin_id: strawberry.ID | None = _given(
        "The pin that comes before the first named pin: the pin directly above it.", None
    )
    after_pin_id: strawberry.ID | None = _given(
        "The pin that comes after the last named pin: the pin directly below it.", None
    )
    idempotency_key: str | None = _key()


@strawberry.input(description="A new section on one of the viewer's boards.")
class CreateSectionInput(inputs.CreateSection):
    board_id: strawberry.ID = _given("A board that the viewer owns or collaborates on.")
    name: str = _given("The name, 1 to 180 characters.")
    idempotency_key: str | None = _key()


@strawberry.input(description="The new name of a section.")
class RenameSectionInput(inputs.RenameSection):
    section_id: strawberry.ID = _given(
        "A section of a board that the viewer owns or collaborates on."
    )
    name: str = _given("The name, 1 to 180 characters.")
    idempotency_key: str | None = _key()


@strawberry.input(
    description="A section and its new neighbors on its board: `beforeSectionId`, "
    "`afterSectionId`, or both. They mean the same as the neighbors in `ReorderPinInput`."
)
class ReorderSectionInput(inputs.ReorderSection):
    section_id: strawberry.ID = _given(
        "A section of a board that the viewer owns or collaborates on."
    )
    before_section_id: strawberry.ID | None = _given(
        "The section that comes before the new place in the list.", None
    )
    after_section_id: strawberry.ID | None = _given(
        "The section that comes after the new place in the list.", None
    )
    idempotency_key: str | None = _key()


@strawberry.input(description="A section to delete. Its pins stay on the board.")
class DeleteSectionInput(inputs.DeleteSection):
    section_id: strawberry.ID = _given(
        "A section of a board that the viewer owns or collaborates on."
    )
    idempotency_key: str | None = _key()


@strawberry.input(
    description="A pin, the section that it goes to, and its new neighbors there, which mean the "
    "same as in `ReorderPinInput`. Without neighbors, a pin that comes to the section goes on top, "
    "and a pin that is in it stays at its place. The pin's place on the board stays in any case."
)
class MovePinToSectionInput(inputs.MovePinToSection):
    pin_id: strawberry.ID = _given("A pin on a board that the viewer owns or collaborates on.")
    section_id: strawberry.ID | None = _given(
        "A section of the same board; null: the pin leaves its section.", None
    )
    before_pin_id: strawberry.ID | None = _given(
        "The pin that comes before the new place in the section.", None
    )
    after_pin_id: strawberry.ID | None = _given(
        "The pin that comes after the new place in the section.", None
    )
    idempotency_key: str | None = _key()


@strawberry.input(
    description="The place where a pin was dropped, named by its new neighbors. `beforePinId` "
    "comes before the new place in the list, so it is the pin directly above; `afterPinId` is the "
    "pin directly below. Example: a board shows A, B, C from top to bottom. To drag C between A "
    "and B, send `pinId: C, beforePinId: A, afterPinId: B`; the board then shows A, C, B. To drag "
    "C to the top, send only `afterPinId: A`; to drag A to the bottom, only `beforePinId: C`. One "
    "neighbor is enough; with none the error is `BAD_USER_INPUT`. All named pins must be on the "
    "board, and different. The pin goes directly below `beforePinId`, also when other pins have "
    "come between the neighbors; if `beforePinId` is null, it goes directly above `afterPinId`. If "
    "`beforePinId` is below `afterPinId` now, the error is `CONFLICT` and nothing changes. A pin "
    "that is dropped where it is stays there, without an error."
)
class ReorderPinInput(inputs.ReorderPin):
    board_id: strawberry.ID = _given("A board that the viewer owns or collaborates on.")
    pin_id: strawberry.ID = _given("The pin that was dragged.")
    before_pin_id: strawberry.ID | None = _given(
        "The pin that comes before the new place in the list: the pin directly above it.", None
    )
    after_pin_id: strawberry.ID | None = _given(
        "The pin that comes after the new place in the list: the pin directly below it.", None
    )
    idempotency_key: str | None = _key()
