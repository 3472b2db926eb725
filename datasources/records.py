"""The stored objects as frozen records, and their JSON form.

A record's JSON omits its id (the id is the object's address) and every field with its default
value, so a new field needs no migration. Times are epoch milliseconds.
"""

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from datasources.errors import StoreCorrupt
from datasources.ids import Kind


class Record(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """The fields of all objects. `active` is False for a deleted object; `key` is the key of the
    object in an imported file.

    No record refers to an object that could refer back to it, so the garbage collector skips
    records.
    """

    id: int = 0
    created: int = 0
    active: bool = True
    key: str | None = None


class Image(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A picture. `url` is absolute, or a path on the gateway; the size is in pixels; the color is
    #rrggbb."""

    url: str
    width: int | None = None
    height: int | None = None
    color: str | None = None


class KeptKey(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A user name, e-mail address or subject that is kept for a user who has another one now.
    `version` is the claim's version, `until` the epoch ms at which the key becomes free. `ending`:
    it is being freed."""

    key: str = msgspec.field(name="name")  # stored as in the time when only names were kept
    version: int
    until: int
    ending: bool = False


class DataExport(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A user's request for a copy of their own data. `ready` is the epoch ms at which the file was
    complete (0: not yet), and `size` the file's bytes."""

    requested: int
    ready: int = 0
    size: int = 0


class User(Record, frozen=True, omit_defaults=True, kw_only=True):
    """A user. `deleted` is when the account was deleted. `claimed` is the version of the user
    name's claim, `kept_names` are earlier names.

    The e-mail address, and the subject by whose tokens the user signs in, are private; "" for none.
    They have claims and earlier values as the user name has. `feed_engine.transactions.key_kinds`
    names the fields of each kind. `data_export` is the user's last request for their data."""

    username: str
    full_name: str = ""
    about: str = ""
    avatar: Image | None = None
    deleted: int = 0
    claimed: int = 0
    kept_names: tuple[KeptKey, ...] = ()
    email: str = ""
    email_claimed: int = 0
    kept_emails: tuple[KeptKey, ...] = ()
    subject: str = ""
    subject_claimed: int = 0
    kept_subjects: tuple[KeptKey, ...] = ()
    data_export: DataExport | None = None

    def is_named(self, name: str) -> bool:
        """Whether links by this name lead to the user."""
        return name == self.username or any(
            kept.key == name and not kept.ending for kept in self.kept_names
        )


class Board(Record, frozen=True, omit_defaults=True, kw_only=True):
    """A board. `flips` grows whenever the board becomes secret or public, or is deleted. It is a
    part of the version of every mapping row that depends on the board's state.

    `collaborators` are users who may see the board, and may add and order its pins; `invited` are
    users who were asked to become collaborators. Both are in the board itself, so each reader of
    the board knows them without a further read. Their rows are for lists only."""

    name: str
    owner_id: int
    description: str = ""
    secret: bool = False
    cover_pin_id: int | None = None
    flips: int = 0
    collaborators: tuple[int, ...] = ()
    invited: tuple[int, ...] = ()

    def has_member(self, user_id: int | None) -> bool:
        """Whether a user owns the board or collaborates on it."""
        return user_id == self.owner_id or user_id in self.collaborators


class Pin(Record, frozen=True, omit_defaults=True, kw_only=True):
    """A pin. `flips` is its board's value when the pin was last written. `source_id` is the pin
    that this pin repins; `root_id` is the first pin of a chain of repins, if that is another pin.
    `section_id` is the section of the board that the pin is in. The section may have been deleted:
    a job then takes its pins out of it."""

    board_id: int
    owner_id: int
    title: str = ""
    description: str = ""
    link: str | None = None
    image: Image | None = None
    source_id: int | None = None
    interest_ids: tuple[int, ...] = ()
    flips: int = 0
    root_id: int | None = None
    section_id: int | None = None

    @property
    def root(self) -> int:
        """The first pin of the chain of repins that ends with this pin, as far as the pin says."""
        return self.root_id or self.source_id or self.id

    @property
    def root_of_repins(self) -> int | None:
        """The `root_id` of a repin of this pin."""
        return self.root if self.root != self.id else None


class Section(Record, frozen=True, omit_defaults=True, kw_only=True):
    """A part of a board, with pins of the board. `flips` is the board's value when the section was
    last written."""

    board_id: int
    name: str
    flips: int = 0


class Comment(Record, frozen=True, omit_defaults=True, kw_only=True):
    """A comment. `flips` is the value of the pin's board when the comment was made."""

    pin_id: int
    author_id: int
    text: str
    flips: int = 0


class Interest(Record, frozen=True, omit_defaults=True, kw_only=True):
    name: str
    slug: str
    description: str = ""


RECORDS: dict[Kind, type[Record]] = {
    Kind.PIN: Pin,
    Kind.BOARD: Board,
    Kind.USER: User,
    Kind.COMMENT: Comment,
    Kind.INTEREST: Interest,
    Kind.SECTION: Section,
}
KINDS: dict[type[Record], Kind] = {record: kind for kind, record in RECORDS.items()}
_DECODERS = {kind: msgspec.json.Decoder(record) for kind, record in RECORDS.items()}
_ENCODER = msgspec.json.Encoder()

R = TypeVar("R", bound=Record)
OnBoard = TypeVar("OnBoard", bound=Pin | Section)
"""An object on a board: the board decides who may see and change it."""


def encode(record: Record) -> bytes:
    """The JSON that is stored: all fields except the id."""
    return _ENCODER.encode(msgspec.structs.replace(record, id=0) if record.id else record)


def decode(kind: Kind, id: int, data: bytes | str) -> Record:
    """The record of object `id` from its stored JSON. Raises StoreCorrupt."""
    record = decode_each(kind, {id: data})[id]
    if isinstance(record, StoreCorrupt):
        raise record
    return record


def decode_each(kind: Kind, stored: Mapping[int, bytes | str]) -> dict[int, Record | StoreCorrupt]:
    """Each object's record, or the fault in its JSON."""
    decode, set_field = _DECODERS[kind].decode, msgspec.structs.force_setattr
    found: dict[int, Record | StoreCorrupt] = {}
    for id, data in stored.items():
        try:
            record = found[id] = decode(data)
            # The record is new and not shared yet, so its id may be set.
            set_field(record, "id", id)
        except msgspec.MsgspecError as error:
            found[id] = corrupt = StoreCorrupt(f"{kind.name.lower()} {id}: {error}")
            corrupt.__cause__ = error
    return found
