"""The inputs of the writes. `checked()` returns an input as it will be stored.

In the inputs of edits, UNSET keeps a field's value and None clears it.
"""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from datasources.errors import BadInput
from datasources.records import Image
from feed_engine.transactions import validation as v

ABOUT, DESCRIPTION, FULL_NAME, NAME, TITLE, COMMENT = 2000, 5000, 180, 180, 500, 2000
REPORT = 1000


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """An input. An idempotency key is bound to the input's JSON."""


class NewUser(Input, frozen=True, kw_only=True):
    username: str
    full_name: str = ""
    about: str = ""
    avatar: Image | None = None

    def checked(self) -> "NewUser":
        return NewUser(
            username=v.free_username(self.username),
            full_name=v.line(self.full_name, "fullName", FULL_NAME),
            about=v.text(self.about, "about", ABOUT),
            avatar=v.image(self.avatar, "avatar"),
        )


class ProfileChange(Input, frozen=True, kw_only=True):
    full_name: str | UnsetType | None = UNSET
    about: str | UnsetType | None = UNSET
    avatar: Image | UnsetType | None = UNSET

    def fields(self) -> dict[str, Any]:
        """The changed fields, checked, by the record's field names."""
        found: dict[str, Any] = {}
        if self.full_name is not UNSET:
            found["full_name"] = v.line(self.full_name or "", "fullName", FULL_NAME)
        if self.about is not UNSET:
            found["about"] = v.text(self.about or "", "about", ABOUT)
        if self.avatar is not UNSET:
            found["avatar"] = v.image(self.avatar, "avatar")
        return found


class NameChange(Input, frozen=True, kw_only=True):
    """The new user name of a user."""

    username: str

    def checked(self) -> "NameChange":
        return NameChange(username=v.free_username(self.username))


class EmailChange(Input, frozen=True, kw_only=True):
    """The new e-mail address of a user; None to have none."""

    email: str | None

    def checked(self) -> "EmailChange":
        return EmailChange(email=None if self.email is None else v.email(self.email))


class SubjectChange(Input, frozen=True, kw_only=True):
    """The subject by whose tokens a user signs in, as a key (`key_kinds.subject_key`); None to sign
    in by none."""

    subject: str | None


class Deletion(Input, frozen=True, kw_only=True):
    """The deletion of an account, with the user's own name."""

    username: str


class NewBoard(Input, frozen=True, kw_only=True):
    name: str
    description: str = ""
    secret: bool = False

    def checked(self) -> "NewBoard":
        return NewBoard(
            name=v.line(self.name, "name", NAME, least=1),
            description=v.text(self.description, "description", DESCRIPTION),
            secret=self.secret,
        )


class BoardChange(Input, frozen=True, kw_only=True):
    name: str | UnsetType | None = UNSET
    description: str | UnsetType | None = UNSET
    secret: bool | UnsetType | None = UNSET
    cover_pin_id: int | UnsetType | None = UNSET

    def fields(self) -> dict[str, Any]:
        """The changed fields, checked, by the record's field names. A board's name can't be
        cleared."""
        found: dict[str, Any] = {}
        if self.name is not UNSET:
            found["name"] = v.line(self.name or "", "name", NAME, least=1)
        if self.description is not UNSET:
            found["description"] = v.text(self.description or "", "description", DESCRIPTION)
        if self.secret is not UNSET:
            if self.secret is None:
                raise BadInput("secret can't be null: leave it out to keep it", "secret")
            found["secret"] = self.secret
        if self.cover_pin_id is not UNSET:
            found["cover_pin_id"] = self.cover_pin_id
        return found


class NewPin(Input, frozen=True, kw_only=True):
    board_id: int
    title: str = ""
    description: str = ""
    link: str | None = None
    image: Image | None = None
    interest_ids: tuple[int, ...] = ()
    section_id: int | UnsetType = UNSET  # left out of the JSON of a pin in no section

    def checked(self) -> "NewPin":
        return NewPin(
            board_id=self.board_id,
            title=v.text(self.title, "title", TITLE),
            description=v.text(self.description, "description", DESCRIPTION),
            link=v.link(self.link, "link"),
            image=v.image(self.image, "image"),
            interest_ids=v.interest_ids(self.interest_ids),
            section_id=self.section_id,
        )


class PinChange(Input, frozen=True, kw_only=True):
    title: str | UnsetType | None = UNSET
    description: str | UnsetType | None = UNSET
    link: str | UnsetType | None = UNSET
    image: Image | UnsetType | None = UNSET
    interest_ids: tuple[int, ...] | UnsetType | None = UNSET

    def fields(self) -> dict[str, Any]:
        """The changed fields, checked, by the record's field names."""
        found: dict[str, Any] = {}
        if self.title is not UNSET:
            found["title"] = v.text(self.title or "", "title", TITLE)
        if self.description is not UNSET:
            found["description"] = v.text(self.description or "", "description", DESCRIPTION)
        if self.link is not UNSET:
            found["link"] = v.link(self.link, "link")
        if self.image is not UNSET:
            found["image"] = v.image(self.image, "image")
        if self.interest_ids is not UNSET:
            found["interest_ids"] = v.interest_ids(self.interest_ids or ())
        return found


class Repin(Input, frozen=True, kw_only=True):
    pin_id: int
    board_id: int
    section_id: int | UnsetType = UNSET  # left out of the JSON of a pin in no section


class NewSection(Input, frozen=True, kw_only=True):
    board_id: int
    name: str

    def checked(self) -> "NewSection":
        return NewSection(board_id=self.board_id, name=v.line(self.name, "name", NAME, least=1))


class SectionName(Input, frozen=True, kw_only=True):
    """The new name of a section."""

    section_id: int
    name: str

    def checked(self) -> "SectionName":
        name = v.line(self.name, "name", NAME, least=1)
        return SectionName(section_id=self.section_id, name=name)


class NewComment(Input, frozen=True, kw_only=True):
    pin_id: int
    text: str

    def checked(self) -> "NewComment":
        return NewComment(pin_id=self.pin_id, text=v.text(self.text, "text", COMMENT, least=1))


class NewReport(Input, frozen=True, kw_only=True):
    """A report of an object. `reason` is the number of a ReportReason."""

    id: int
    reason: int
    text: str = ""

    def checked(self) -> "NewReport":
        return NewReport(id=self.id, reason=self.reason, text=v.text(self.text, "text", REPORT))


class Reorder(Input, frozen=True, kw_only=True):
    board_id: int
    pin_id: int
    before_pin_id: int | None = None
    after_pin_id: int | None = None


class Move(Input, frozen=True, kw_only=True):
    pin_id: int
    board_id: int
    before_pin_id: int | None = None
    after_pin_id: int | None = None


class ReorderSection(Input, frozen=True, kw_only=True):
    section_id: int
    before_section_id: int | None = None
    after_section_id: int | None = None


class MoveToSection(Input, frozen=True, kw_only=True):
    """A move of a pin into a section; None: out of its section."""

    pin_id: int
    section_id: int | None = None
    before_pin_id: int | None = None
    after_pin_id: int | None = None


class Arrange(Input, frozen=True, kw_only=True):
    board_id: int
    pin_ids: tuple[int, ...]
    before_pin_id: int | None = None
    after_pin_id: int | None = None


class Events(Input, frozen=True, kw_only=True):
    """Events of pins: (pin id, number of the kind)."""

    events: tuple[tuple[int, int], ...]


class Notifications(Input, frozen=True, kw_only=True):
    """The place up to which notifications are read; None: all."""

    up_to: int | None = None


class Member(Input, frozen=True, kw_only=True):
    """A user of a board."""

    board_id: int
    user_id: int


class Target(Input, frozen=True, kw_only=True):
    """The id of the object that is written and, for edits, the changes."""

    id: int
    change: Input | None = None
