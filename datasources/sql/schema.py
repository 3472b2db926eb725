"""The tables of a shard, described once for all SQL backends. Each backend writes them as its own
DDL.

They follow Pinterest's sharded MySQL: objects are `(local_id, JSON, ts)`, mappings `(from, to,
sequence)`. Here a mapping row also has a version and an active flag, and is never deleted.
"""

from enum import Enum, auto
from typing import NamedTuple

from datasources.ids import Kind
from datasources.mappings import Mapping


class Type(Enum):
    """The type of a column's values."""

    LOCAL_ID = auto()  # the table's own numbers: ascending, never reused
    ID = auto()  # a 64-bit number
    SEQUENCE = auto()  # up to 38 digits
    FLAG = auto()
    SMALL = auto()  # a number up to 32,767
    JSON = auto()  # an object as JSON text
    KEY = auto()  # up to 191 bytes
    HASH = auto()  # 16 bytes
    NAME = auto()  # up to 64 bytes
    BYTES = auto()  # up to 16 MB
    STAMP = auto()  # when the row was last written; for people and backups


class Column(NamedTuple):
    name: str
    type: Type
    null: bool = False


class Index(NamedTuple):
    name: str
    columns: tuple[str, ...]


class Table(NamedTuple):
    name: str
    columns: tuple[Column, ...]
    primary: tuple[str, ...]
    unique: tuple[Index, ...] = ()
    indexes: tuple[Index, ...] = ()
    check: str = ""  # a condition that every row meets


PAGES = "pages"  # the index for reading lists
KEYS = "object_keys"

OBJECT_TABLES = {kind: f"{kind.name.lower()}s" for kind in Kind}


def _objects(name: str) -> Table:
    return Table(
        name,
        (
            Column("local_id", Type.LOCAL_ID),
            Column("data", Type.JSON),
            Column("ts", Type.STAMP),
            Column("object_key", Type.KEY, null=True),  # the object's key in an imported file
        ),
        primary=("local_id",),
        unique=(Index(KEYS, ("object_key",)),),
    )


def _mapping(mapping: Mapping) -> Table:
    return Table(
        mapping.value,
        (
            Column("from_id", Type.ID),
            Column("to_id", Type.ID),
            Column("sequence", Type.SEQUENCE),
            Column("version", Type.ID),
            Column("active", Type.FLAG),
        ),
        primary=("from_id", "to_id"),
        unique=(Index("sequences", ("from_id", "sequence")),) if mapping.ordered else (),
        indexes=(Index(PAGES, ("from_id", "active", "sequence", "to_id")),),
    )


# The fence. Only the server `owner` may write to the shard, and only for writers whose topology has
# this epoch or a later one. Each transaction reads the row under a shared lock; a move locks it
# exclusively.
FENCE = Table(
    "fence",
    (Column("id", Type.SMALL), Column("epoch", Type.ID), Column("owner", Type.NAME)),
    primary=("id",),
)

# The head of each list. Its row is the list's lock: a transaction that changes a list, or reads it
# to decide, locks this row first, so that two writers never wait for each other in the middle of a
# list.
LISTS = Table(
    "lists",
    (
        Column(
            "mapping", Type.SMALL
        ),  # Mapping.code; 0, -1, -2: the visits, events, notifications of a user
        Column("from_id", Type.ID),
        Column("size", Type.ID),
        Column("version", Type.ID),
    ),
    primary=("mapping", "from_id"),
)

# The respacings of an ordered list: they translate earlier places to present places. The list's era
# itself is the version in its row of `lists` under ERAS + Mapping.code; the size there is the
# number of writers that hold the list.
RESPACINGS = Table(
    "respacings",
    (
        Column("from_id", Type.ID),
        Column("mapping", Type.SMALL),
        Column("era", Type.ID),
        Column("moves", Type.BYTES),
        Column("created", Type.ID),
    ),
    primary=("from_id", "mapping", "era"),
)
ERAS = 1000

OUTBOX = Table(
    "outbox",
    (
        Column("id", Type.LOCAL_ID),
        Column("kind", Type.NAME),
        Column("payload", Type.BYTES),
        Column("progress", Type.BYTES, null=True),  # the cursor
        Column("created", Type.ID),
        Column("due", Type.ID),  # its creation or, for a parked row, the time of the next attempt
        Column("attempts", Type.SMALL),  # how often it was parked
        Column("reason", Type.KEY, null=True),  # why it was parked
    ),
    primary=("id",),
    indexes=(Index("due", ("due",)),),
)

ANSWERS = Table(
    "answers",
    (
        Column("viewer_id", Type.ID),
        Column("answer_key", Type.KEY),
        Column("fingerprint", Type.NAME),
        Column("answer", Type.BYTES),
        Column("outbox_id", Type.ID, null=True),
        Column("created", Type.ID),
    ),
    primary=("viewer_id", "answer_key"),
    indexes=(Index("age", ("created",)),),
)

VISITS = Table(
    "visits",
    (
        Column("user_id", Type.ID),
        Column("generation", Type.ID),
        Column("visit", Type.KEY),
        Column("chunk", Type.BYTES),
        Column("saved", Type.FLAG),
        Column("created", Type.ID),
    ),
    primary=("user_id", "generation"),
    unique=(Index("names", ("user_id", "visit")),),
    indexes=(Index("unsaved", ("user_id", "saved")), Index("age", ("created",))),
)

# The events of viewers with pins: one a day for each pin and kind (EventKind).
EVENTS = Table(
    "events",
    (
        Column("user_id", Type.ID),
        Column("day", Type.ID),  # its first epoch ms, in UTC
        Column("pin_id", Type.ID),
        Column("kind", Type.SMALL),
        Column("at", Type.ID),
    ),
    primary=("user_id", "day", "pin_id", "kind"),
    indexes=(Index("age", ("day",)),),
)

# What viewers wrote on a day, by subject. The check refuses a transaction that would exceed a
# quota, so counting needs no read before the commit.
QUOTAS = Table(
    "quotas",
    (
        Column("viewer_id", Type.ID),
        Column("day", Type.ID),  # its first epoch ms, in UTC
        Column("subject", Type.ID),
        Column("used", Type.ID),
        Column("most", Type.ID),
    ),
    primary=("viewer_id", "day", "subject"),
    indexes=(Index("age", ("day",)),),
    check="used <= most",
)

CLAIMS = Table(
    "claims",
    (
        Column("namespace", Type.NAME),
        Column("key_hash", Type.HASH),  # md5, as in the choice of the mod shard
        Column("claim_key", Type.BYTES),
        Column("id", Type.ID),
    ),
    primary=("namespace", "key_hash"),
)

# The acts of other users on a user's profile, boards and pins (Notification). The table's row of
# `lists` has the last place that was given, and as its version the place up to which the user has
# read.
NOTIFICATIONS = Table(
    "notifications",
    (
        Column("user_id", Type.ID),
        Column("kind", Type.SMALL),
        Column("subject_id", Type.ID),
        Column("actor_id", Type.ID),
        Column("about_id", Type.ID),
        Column("version", Type.ID),
        Column("acted", Type.ID),
        Column("active", Type.FLAG),
        Column("place", Type.ID),
    ),
    primary=("user_id", "kind", "subject_id", "actor_id", "about_id"),
    indexes=(
        Index("places", ("user_id", "place")),
        Index("acts", ("actor_id",)),
        Index("age", ("place",)),
    ),
)

# The reports of a subject, one of each reporter (Report).
REPORTS = Table(
    "reports",
    (
        Column("subject_id", Type.ID),
        Column("reporter_id", Type.ID),
        Column("reason", Type.SMALL),
        Column("text", Type.BYTES),
        Column("at", Type.ID),
    ),
    primary=("subject_id", "reporter_id"),
    indexes=(
        Index("times", ("subject_id", "at", "reporter_id")),
        Index("reporters", ("reporter_id", "subject_id")),
    ),
)

# The reported subjects (Case). Its row locks the reports and the decisions of a subject.
REPORT_CASES = Table(
    "report_cases",
    (
        Column("subject_id", Type.ID),
        Column("kind", Type.SMALL),  # of the subject, for lists of one kind
        Column("status", Type.SMALL),
        Column("reports", Type.ID),
        Column("newest", Type.ID),
        Column("decided", Type.ID, null=True),
    ),
    primary=("subject_id",),
    indexes=(
        Index("newest", ("status", "kind", "newest", "subject_id")),
        Index("most", ("status", "kind", "reports", "subject_id")),
        Index("age", ("decided",)),
    ),
)

# The decisions of operators about subjects (Decision), numbered from 1.
REPORT_DECISIONS = Table(
    "report_decisions",
    (
        Column("subject_id", Type.ID),
        Column("number", Type.SMALL),
        Column("status", Type.SMALL),
        Column("operator", Type.NAME),
        Column("at", Type.ID),
    ),
    primary=("subject_id", "number"),
)

_OTHERS = (
    *(LISTS, OUTBOX, ANSWERS, VISITS, RESPACINGS, QUOTAS, EVENTS, NOTIFICATIONS),
    *(REPORTS, REPORT_CASES, REPORT_DECISIONS),
)
_GROUPS = (
    tuple(_objects(name) for name in OBJECT_TABLES.values()),
    tuple(_mapping(mapping) for mapping in Mapping),
    _OTHERS,
)
"""New tables come at the end of their group, and are created in this order."""
OBJECT_SHARD = (FENCE, *(table for group in _GROUPS for table in group))
NEWEST = tuple(group[-1].name for group in _GROUPS)
"""A shard with these tables has all tables. Shards of earlier versions lack one of them."""
MOD_SHARD = (FENCE, CLAIMS)
