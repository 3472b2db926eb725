"""The import format: one JSON object on each line, with one of the types below. Lines refer to each
other by key.

`docs/import.md` has a table for each type. `canonical` is the one way to write a line: keys sorted,
no spaces, defaults left out, times in UTC in milliseconds. Exports consist of such lines.
"""

import hashlib
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from datasources.errors import BadInput
from datasources.mappings import SEQUENCE_STEP
from datasources.records import Image
from feed_engine.transactions import validation
from feed_engine.transactions.hidden_text import hidden

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_TEXTS = frozenset({"full_name", "about", "name", "title", "description", "text"})
"""The fields that people read. They are stored in Unicode's form NFC; keys are stored unchanged."""
_LINES = frozenset({"full_name", "name"})
"""The texts of one line: spaces replace their line breaks."""
LATEST_MS = 10**13 - 1  # sequences have room for 13 digits: the year 2286

# The pattern of a text, and its description. \Z, because $ also matches before a last newline.
_WEB = r"https?://[^\s/?#]"
_REST = r"[^\s\x00-\x20\x7f]*\Z"
_USERNAME = r"^[A-Za-z0-9_.]{3,30}\Z"
_SLUG = r"^[a-z0-9]+(-[a-z0-9]+)*\Z"
_LINK = rf"^{_WEB}{_REST}"
_IMAGE = rf"^({_WEB}|/images/(?!.*(\.\.|\\))){_REST}"
_COLOR = r"^#[0-9a-f]{6}\Z"
_SEQUENCE = r"^[1-9][0-9]{0,37}\Z"
_MEANINGS = {
    _USERNAME: "a user name of 3 to 30 letters a to z, digits, underscores and dots",
    _SLUG: "a slug of letters a to z and digits, with single hyphens between words",
    _LINK: "an http:// or https:// address",
    _IMAGE: "an http:// or https:// address, or a path under /images/",
    _COLOR: "a color as #rrggbb, in lower case",
    _SEQUENCE: "a whole number above 0 of up to 38 digits, as a string",
}

# The bounds equal the bounds of the mutations (feed_engine/writes), so that every imported object
# can be edited.
KEY_LENGTH = 200
Key = Annotated[str, Meta(min_length=1, max_length=KEY_LENGTH)]
Username = Annotated[str, Meta(pattern=_USERNAME)]
Slug = Annotated[str, Meta(pattern=_SLUG, max_length=100)]
Name = Annotated[str, Meta(min_length=1, max_length=180)]
Title = Annotated[str, Meta(max_length=500)]
About = Annotated[str, Meta(max_length=2000)]
Description = Annotated[str, Meta(max_length=5000)]
CommentText = Annotated[str, Meta(min_length=1, max_length=2000)]
Email = Annotated[str, Meta(max_length=254)]
Subject = Annotated[str, Meta(max_length=255)]
Link = Annotated[str, Meta(pattern=_LINK, max_length=2048)]
ImageUrl = Annotated[str, Meta(pattern=_IMAGE, max_length=2048)]
Pixels = Annotated[int, Meta(ge=1, le=100_000)]
Color = Annotated[str, Meta(pattern=_COLOR)]
Interests = Annotated[tuple[Key, ...], Meta(max_length=20)]
Sequence = Annotated[str, Meta(pattern=_SEQUENCE)]
Time = Annotated[datetime, Meta(tz=True)]


class Line(
    msgspec.Struct,
    frozen=True,
    omit_defaults=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="type",
):
    """The fields of all lines. A missing time (or the first instant of 1970) means that the time is
    unknown."""

    created: Time | None = None


class ImageField(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A picture: its address, its size in pixels, and its color as #rrggbb."""

    url: ImageUrl
    width: Pixels | None = None
    height: Pixels | None = None
    color: Color | None = None

    def stored(self) -> Image:
        return Image(self.url, self.width, self.height, self.color)


class UserLine(Line, frozen=True, kw_only=True, tag="user"):
    key: Key
    username: Username
    full_name: Annotated[str, Meta(max_length=180)] = ""
    about: About = ""
    avatar: ImageField | None = None
    email: Email = ""
    issuer: Subject = ""
    subject: Subject = ""


class InterestLine(Line, frozen=True, kw_only=True, tag="interest"):
    key: Key
    name: Name
    slug: Slug
    description: Description = ""


class BoardLine(Line, frozen=True, kw_only=True, tag="board"):
    """A board. `owner` is a user's key; `cover` is the key of a pin on this board."""

    key: Key
    owner: Key
    name: Name
    description: Description = ""
    secret: bool = False
    cover: Key | None = None


class SectionLine(Line, frozen=True, kw_only=True, tag="section"):
    """A section of a board. `sequence` is its place on the board, as a pin's is."""

    key: Key
    board: Key
    name: Name
    sequence: Sequence | None = None


class CollaboratorLine(Line, frozen=True, kw_only=True, tag="collaborator"):
    """A user who collaborates on another user's board or, if `invited`, is invited to it."""

    board: Key
    user: Key
    invited: bool = False


class PinLine(Line, frozen=True, kw_only=True, tag="pin"):
    """A pin. `owner` is the user who added it; without it, the board's owner. `source` is the pin
    that it repins. `sequence` is the pin's place on its board, in
    descending order; without it the place follows from `created` (see `sequence_of`). `section` is
    the key of a section of the board, and `section_sequence` the place in it."""

    key: Key
    board: Key
    owner: Key | None = None
    title: Title = ""
    description: Description = ""
    link: Link | None = None
    image: ImageField | None = None
    source: Key | None = None
    interests: Interests = ()
    sequence: Sequence | None = None
    section: Key | None = None
    section_sequence: Sequence | None = None


class CommentLine(Line, frozen=True, kw_only=True, tag="comment"):
    key: Key
    pin: Key
    author: Key
    text: CommentText


class LikeLine(Line, frozen=True, kw_only=True, tag="like"):
    user: Key
    pin: Key


class FollowLine(Line, frozen=True, kw_only=True, tag="follow"):
    """A follow. `follower` follows exactly one user, board or interest."""

    follower: Key
    user: Key | None = None
    board: Key | None = None
    interest: Key | None = None


class BlockLine(Line, frozen=True, kw_only=True, tag="block"):
    """A block. `viewer` blocks `user`."""

    viewer: Key
    user: Key


class MuteLine(Line, frozen=True, kw_only=True, tag="mute"):
    """A mute. `viewer` mutes `user`."""

    viewer: Key
    user: Key


class HideLine(Line, frozen=True, kw_only=True, tag="hide"):
    """A picture that `viewer` hides in the home feed: `pin` and its repins."""

    viewer: Key
    pin: Key


class PreferenceLine(Line, frozen=True, kw_only=True, tag="preference"):
    """A user, a board or an interest (exactly one) of which `viewer` sees less or more."""

    viewer: Key
    see: Literal["less", "more"]
    user: Key | None = None
    board: Key | None = None
    interest: Key | None = None


ChoiceLine = BlockLine | MuteLine | HideLine | PreferenceLine
"""A viewer's choice about a user, a pin, a board or an interest."""
AnyLine = (
    UserLine
    | InterestLine
    | BoardLine
    | SectionLine
    | CollaboratorLine
    | PinLine
    | CommentLine
    | LikeLine
    | FollowLine
    | ChoiceLine
)


class BadLine(ValueError):
    """The line is not in the format; the message says why."""


_DECODER = msgspec.json.Decoder(AnyLine)
_ENCODER = msgspec.json.Encoder(order="sorted")


def decode(line: bytes) -> AnyLine:
    """The object of a line. Raises BadLine."""
    try:
        found: AnyLine = _DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadLine(_readable(str(error))) from error
    if problem := _problem(found):
        raise BadLine(problem)
    if _is_plain(line):
        return found
    changes: dict[str, str] = {}
    for field in found.__struct_fields__:
        value = getattr(found, field)
        if not isinstance(value, str):
            continue
        if unseen := validation.UNSEEN.search(value):
            raise BadLine(f"Expected text without {validation.unseen(unseen[0])} - at `$.{field}`")
        if field in _TEXTS and value.strip() and not validation.is_visible(value):
            raise BadLine(_blank(field))
        if field in _TEXTS and (behind := hidden(value)):
            raise BadLine(_row_of(behind, field))
        if field in _LINES and validation.LINE_BREAKS.search(value):
            value = changes[field] = validation.LINE_BREAKS.sub(" ", value)
        if field in _TEXTS and not unicodedata.is_normalized("NFC", value):
            changes[field] = unicodedata.normalize("NFC", value)
    return msgspec.structs.replace(found, **changes) if changes else found


def decode_again(line: bytes) -> AnyLine:
    """The object of a line that `decode` has accepted."""
    if not _is_plain(line):
        return decode(line)
    found: AnyLine = _DECODER.decode(line)
    return found


def canonical(line: AnyLine) -> bytes:
    """The line as an export writes it, without its newline."""
    changes: dict[str, object] = {"created": time_of(created_ms(line))}
    if isinstance(line, UserLine):
        changes["username"] = line.username.lower()
        changes["email"] = validation.email(line.email) if line.email else ""
    elif isinstance(line, PinLine):
        changes["interests"] = tuple(dict.fromkeys(line.interests))
    if isinstance(line, PinLine | SectionLine):
        default = str(sequence_of(line.key, created_ms(line)))
        places = (field for field in line.__struct_fields__ if field.endswith("sequence"))
        changes |= {field: None for field in places if getattr(line, field) == default}
    return _ENCODER.encode(msgspec.structs.replace(line, **changes))


def target_of(line: FollowLine | ChoiceLine) -> tuple[str, str]:
    """The kind and the key of the one object that the line is about."""
    fields = ("user", "board", "interest", "pin")
    return next((kind, key) for kind in fields if (key := getattr(line, kind, None)) is not None)


def created_ms(line: AnyLine) -> int:
    """Epoch milliseconds; 0 if the line has no time."""
    return (line.created - EPOCH) // _MILLISECOND if line.created is not None else 0


def time_of(ms: int) -> datetime | None:
    """The `created` value for an epoch ms; None for 0."""
    return EPOCH + ms * _MILLISECOND if ms else None


def sequence_of(key: str, created: int) -> int:
    """The default place of a pin or a section in an ordered list: by time, and within a millisecond
    by a hash of its key, so that no two share a place, whatever the order of the file's lines."""
    digest = hashlib.blake2b(key.encode(), digest_size=12).digest()
    return created * SEQUENCE_STEP + int.from_bytes(digest, "big") % (SEQUENCE_STEP - 1) + 1


def _is_plain(line: bytes) -> bool:
    """Whether no text of a line can have characters that `decode` refuses or changes: these are
    escaped in JSON, or take more than one byte."""
    return line.isascii() and b"\\" not in line and b"\x7f" not in line


def _readable(message: str) -> str:
    """msgspec's message, with a pattern replaced by its meaning."""
    for pattern, meaning in _MEANINGS.items():
        message = message.replace(f"`str` matching regex {pattern!r}", meaning)
    return message


def _addresses(line: AnyLine) -> Iterator[tuple[str, str]]:
    """The web addresses of a line, with the fields that hold them."""
    image = None
    if isinstance(line, PinLine):
        image = "image", line.image
        if line.link is not None:
            yield "link", line.link
    elif isinstance(line, UserLine):
        image = "avatar", line.avatar
    if image is not None and image[1] is not None and not image[1].url.startswith("/"):
        yield f"{image[0]}.url", image[1].url


def _problem(line: AnyLine) -> str | None:
    """A fault of a line that the types above can't express; None if there is none."""
    if line.created is not None and not 0 <= created_ms(line) <= LATEST_MS:
        return f"Expected a time from 1970 to 2286, got {line.created.isoformat()} - at `$.created`"
    for field, address in _addresses(line):
        try:
            validation.link(address, field)
        except BadInput as error:
            return f"{error.message} - at `$.{field}`"
    if isinstance(line, UserLine):
        if bool(line.issuer) != bool(line.subject):
            return "Expected both or none of `issuer` and `subject`"
        try:
            validation.email(line.email or "none@example.org")
        except BadInput as error:
            return f"{error.message} - at `$.email`"
    if isinstance(line, PinLine) and line.section_sequence and line.section is None:
        return "Expected `section` beside `section_sequence`"
    if isinstance(line, BoardLine | InterestLine | SectionLine) and not line.name.strip():
        return _blank("name")
    if isinstance(line, CommentLine) and not line.text.strip():
        return _blank("text")
    if isinstance(line, FollowLine | PreferenceLine):
        targets = [t for t in (line.user, line.board, line.interest) if t is not None]
        if len(targets) != 1:
            return f"Expected one of `user`, `board` and `interest`, got {len(targets)}"
    if isinstance(line, FollowLine) and line.user == line.follower:
        return f"user {line.user!r} can't follow themselves"
    if isinstance(line, BlockLine | MuteLine) and line.user == line.viewer:
        does = "block" if isinstance(line, BlockLine) else "mute"
        return f"user {line.user!r} can't {does} themselves"
    return None


def _row_of(character: str, field: str) -> str:
    shown = validation.unseen(character)
    return f"Expected text without characters that nobody can see, as {shown} - at `$.{field}`"


def _blank(field: str) -> str:
    return f"Expected text that is more than characters that nobody can see - at `$.{field}`"
