"""What mutations take."""

import dataclasses
from typing import Any

import strawberry

from schema.costs import Cost


def _given(description: str, default: Any = dataclasses.MISSING, weight: str = "") -> Any:
    """A field; `weight` is the cost of each of its values."""
    directives = [Cost(weight=weight)] if weight else []
    return strawberry.field(description=description, default=default, directives=directives)


def _kept(description: str) -> Any:
    return strawberry.field(description=description, default=strawberry.UNSET)


def _key(
    description: str = "Any string that is new for each mutation meant: sent again with the same "
    "one after a lost answer, nothing is done twice and the answer is the same.",
) -> Any:
    return strawberry.field(default=None, description=description)


class Change:
    """An input whose absent fields keep what is there."""

    def given(self) -> dict[str, Any]:
        """The fields that were sent, but for the object's id and the idempotency key."""
        names = [f.name for f in dataclasses.fields(self)]  # type: ignore[arg-type]
        sent = {name: getattr(self, name) for name in names[1:] if name != "idempotency_key"}
        return {name: value for name, value in sent.items() if value is not strawberry.UNSET}


@strawberry.input(description="A new user.")
class SignUpInput:
    username: str = _given("3 to 30 letters, digits, dots or underscores; unique.")
    full_name: str = _given("The name as shown.", "")
    about: str = _given("What they say of themselves.", "")
    idempotency_key: str | None = _key(
        "Sent again with the same key, the same input makes no second user. At least 16 characters "
        "that nobody can guess, as a random UUID has: within 15 minutes the answer has the token."
    )


@strawberry.input(description="A new board of the viewer's.")
class CreateBoardInput:
    name: str = _given("Its name, 1 to 180 characters.")
    description: str = _given("What it is about.", "")
    secret: bool = _given("Whether only the viewer can see it.", False)
    idempotency_key: str | None = _key()


@strawberry.input(description="Changes to a board; what is absent stays, what is null is cleared.")
class UpdateBoardInput(Change):
    board_id: strawberry.ID = _given("A board of the viewer's.")
    name: str | None = _kept("Its name; can't be cleared.")
    description: str | None = _kept("What it is about.")
    secret: bool | None = _kept("Whether only the viewer can see it.")
    cover_pin_id: strawberry.ID | None = _kept("A pin on it; null: the newest one.")
    idempotency_key: str | None = _key()


@strawberry.input(description="A board to delete, with all its pins.")
class DeleteBoardInput:
    board_id: strawberry.ID = _given("A board of the viewer's.")
    idempotency_key: str | None = _key()


@strawberry.input(description="A picture's address and measures.")
class ImageInput:
    url: str = _given("An http(s) address, or a path on the gateway that begins with /images/.")
    width: int | None = _given("In pixels.", None)
    height: int | None = _given("In pixels.", None)
    dominant_color: str | None = _given("As #rrggbb.", None)


@strawberry.input(description="A new pin, on top of a board of the viewer's.")
class CreatePinInput:
    board_id: strawberry.ID = _given("The board.")
    title: str = _given("Its title.", "")
    description: str = _given("What is said about it.", "")
    link: str | None = _given("Where the picture is from: an http(s) address.", None)
    image: ImageInput | None = _given("The picture.", None)
    interest_ids: list[strawberry.ID] = strawberry.field(
        description="Topics it belongs to, at most 20.", default_factory=list
    )
    idempotency_key: str | None = _key()


@strawberry.input(description="Changes to a pin; what is absent stays, what is null is cleared.")
class UpdatePinInput(Change):
    pin_id: strawberry.ID = _given("A pin of the viewer's.")
    title: str | None = _kept("Its title.")
    description: str | None = _kept("What is said about it.")
    link: str | None = _kept("Where the picture is from.")
    image: ImageInput | None = _kept("The picture.")
    interest_ids: list[strawberry.ID] | None = _kept("Topics it belongs to.")
    idempotency_key: str | None = _key()


@strawberry.input(description="A pin to delete.")
class DeletePinInput:
    pin_id: strawberry.ID = _given("A pin of the viewer's.")
    idempotency_key: str | None = _key()


@strawberry.input(description="A pin to save to a board of the viewer's.")
class RepinInput:
    pin_id: strawberry.ID = _given("The pin to save.")
    board_id: strawberry.ID = _given("The board to save it to.")
    idempotency_key: str | None = _key()


@strawberry.input(description="The pin to like, or to like no more.")
class LikePinInput:
    pin_id: strawberry.ID = _given("A pin.")
    idempotency_key: str | None = _key()


@strawberry.input(description="A new comment.")
class CreateCommentInput:
    pin_id: strawberry.ID = _given("The pin to write under.")
    text: str = _given("1 to 2,000 characters.")
    idempotency_key: str | None = _key()


@strawberry.input(description="A comment to delete.")
class DeleteCommentInput:
    comment_id: strawberry.ID = _given("The viewer's comment, or one under a pin of theirs.")
    idempotency_key: str | None = _key()


@strawberry.input(description="The user to follow, or to follow no more.")
class FollowUserInput:
    user_id: strawberry.ID = _given("A user.")
    idempotency_key: str | None = _key()


@strawberry.input(description="The board to follow, or to follow no more.")
class FollowBoardInput:
    board_id: strawberry.ID = _given("A board.")
    idempotency_key: str | None = _key()


@strawberry.input(description="The interest to follow, or to follow no more.")
class FollowInterestInput:
    interest_id: strawberry.ID = _given("An interest.")
    idempotency_key: str | None = _key()


@strawberry.input(
    description="Where to move a pin: on top of the board or, with anchors, where `reorderPin` "
    "would put it there; they are pins of that board. If the pin is on the board already, it is "
    "put at its anchors, and without any it stays where it is."
)
class MovePinInput:
    pin_id: strawberry.ID = _given("A pin of the viewer's.")
    board_id: strawberry.ID = _given("The board to move it to, the viewer's too.")
    before_pin_id: strawberry.ID | None = _given("The pin directly above its new place.", None)
    after_pin_id: strawberry.ID | None = _given("The pin directly below its new place.", None)
    idempotency_key: str | None = _key()


@strawberry.input(
    description="Pins to put together in the order given, the first on top. They go directly below "
    "`beforePinId`, or, if that is null, directly above `afterPinId`, or, if both are, on top of "
    "the board. So a board is sorted by naming all of its pins; a longer one in several calls, "
    "each with the last pin of the one before as `beforePinId`. Pins that are not named keep their "
    "order. Unless all pins and anchors are on the board, and each is named once, nothing changes; "
    "nor if both anchors are given and stand in the opposite order now, which is `CONFLICT`. "
    "It is as if each pin were dragged below the one before it: what others drag, save or delete "
    "in the midst of it stays where they put it."
)
class ReorderPinsInput:
    board_id: strawberry.ID = _given("A board of the viewer's.")
    pin_ids: list[strawberry.ID] = _given(
        "Pins on it in their new order, each once; at most 10,000. Send them as a variable.",
        weight="0.1",
    )
    before_pin_id: strawberry.ID | None = _given("The pin that they go directly below.", None)
    after_pin_id: strawberry.ID | None = _given("The pin that they go directly above.", None)
    idempotency_key: str | None = _key()


@strawberry.input(
    description="Where a pin was dropped. Its new neighbours are named as the client saw them, "
    "newest first; one of the two is enough, neither is `BAD_USER_INPUT`; all must be on the board "
    "and distinct. It goes directly below `beforePinId`, or, if that is null, directly above "
    "`afterPinId`. If others have come between the two it still goes directly below `beforePinId`; "
    "if the two stand in the opposite order now the answer is `CONFLICT` and nothing changes. A "
    "pin dropped where it is stays there, and that is no error."
)
class ReorderPinInput:
    board_id: strawberry.ID = _given("A board of the viewer's.")
    pin_id: strawberry.ID = _given("The pin that was dragged.")
    before_pin_id: strawberry.ID | None = _given("The pin directly above the drop.", None)
    after_pin_id: strawberry.ID | None = _given("The pin directly below the drop.", None)
    idempotency_key: str | None = _key()
