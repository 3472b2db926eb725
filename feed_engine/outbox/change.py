"""The work after a commit: the payload of an outbox row, which stays until all of the work is done.

First the rest of the write is completed: rows on other shards, then the invalidation of caches. The
mutation is acknowledged after that. Then jobs run the tasks. Every part may be repeated.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec

from datasources.mappings import BY_CODE, Edge, ListKey, ListMove, Mapping
from datasources.protocols import OutboxRow, Stores
from datasources.recording import current
from feed_engine.live.events import Event

KIND = "change"  # the outbox rows' kind


class Task(msgspec.Struct, frozen=True, tag=True):
    """Background work that a change requests. Times are epoch ms."""


class PinPublished(Task, frozen=True):
    """Add a new pin, or a pin that became public, to the feeds and pools of followers."""

    pin_id: int
    board_id: int
    owner_id: int
    interest_ids: tuple[int, ...]
    created: int
    at: int = 0  # when the pin became public or got an interest, if after its creation


class PinArrived(Task, frozen=True):
    """Add a public pin that moved to another public board to the feeds of that board's
    followers."""

    pin_id: int
    board_id: int
    at: int


class Followed(Task, frozen=True):
    """`viewer_id` has followed a user, board or interest since `at`; the edge has `version`."""

    viewer_id: int
    target_id: int
    version: int
    at: int


class Unfollowed(Task, frozen=True):
    viewer_id: int
    target_id: int
    version: int
    at: int


class Blocked(Task, frozen=True):
    """`viewer_id` has blocked a user since `at`: follows between the two, and of their boards, are
    removed."""

    viewer_id: int
    user_id: int
    at: int


class MembershipChanged(Task, frozen=True):
    """An invitation to a board, or a membership of it, began or ended: a block may have come at the
    same time, and the user and the owner are notified."""

    board_id: int
    user_id: int


class FeedShort(Task, frozen=True):
    """A reader came to the end of a following feed that had been cut, and the feed was too
    short."""

    viewer_id: int
    at: int


class InterestShort(Task, frozen=True):
    """A reader came to the end of an interest's pool that was never filled, or was cut."""

    interest_id: int
    at: int


class PoolShort(Task, frozen=True):
    """A viewer came to the end of their pool of followed users' and boards' pins, which had been
    cut."""

    viewer_id: int
    at: int


class PinLiked(Task, frozen=True):
    """A like or (`repin`) a repin: adds related pins to the viewer's pool, and popularity to the
    pin."""

    viewer_id: int
    pin_id: int
    at: int


class PinUnliked(Task, frozen=True):
    """`viewer_id` no longer likes a pin: the owner's notification ends."""

    viewer_id: int
    pin_id: int


class PinSaved(Task, frozen=True):
    """A pin was saved from another user's pin to a public board: the other user is notified."""

    pin_id: int


class CommentChanged(Task, frozen=True):
    """A comment was written or deleted: the pin's owner is notified, or the notification ends."""

    comment_id: int


class PinHidden(Task, frozen=True):
    """A pin was deleted, or moved to a secret board: walks don't use it any more."""

    pin_id: int


class TextChanged(Task, frozen=True):
    """Users, boards or pins were created, or their texts changed: the search index reads them
    again."""

    object_ids: tuple[int, ...]


class BoardSecrecy(Task, frozen=True):
    """A board became secret or public: its pins leave or enter the public lists."""

    board_id: int
    secret: bool
    at: int


class BoardDeleted(Task, frozen=True, omit_defaults=True):
    """A board was deleted: its pins are deleted, too. With `strip`, the pins' texts and pictures
    are removed from them."""

    board_id: int
    at: int
    strip: bool = False


class SectionDeleted(Task, frozen=True):
    """A section of a board was deleted: its pins stay on the board, in no section."""

    section_id: int


class AccountDeleted(Task, frozen=True):
    """An account was deleted: its boards, follows, likes, comments and feeds end."""

    user_id: int
    at: int


class AccountErased(Task, frozen=True):
    """An account was deleted long ago: all that is left of it is removed from the stores, and its
    user name is freed."""

    user_id: int
    at: int


class DataRequested(Task, frozen=True):
    """A user asked for their own data at an epoch ms: the file is made."""

    user_id: int
    at: int


class DataExpired(Task, frozen=True):
    """The time of a file with a user's data, which was requested at an epoch ms, is over: the file
    is removed."""

    user_id: int
    at: int


class KeyEnded(Task, frozen=True):
    """A key was kept for a user until an epoch ms: it is freed, unless the user has it, or it is
    kept for longer by now. `namespace` and `version` are the claim's."""

    user_id: int
    namespace: str
    key: str
    version: int
    until: int


class NameEnded(Task, frozen=True):
    """A KeyEnded of a user name, as earlier versions of Pinway posted it."""

    user_id: int
    name: str
    version: int
    until: int


class Respace(Task, frozen=True, omit_defaults=True):
    """A gap of an ordered list has few bisections left: respace the neighbors of the sequence
    `around` (decimal digits), a place in the list's `era`. `mapping` is the code of the list's
    mapping."""

    from_id: int = msgspec.field(name="board_id")  # stored as in the time when only boards had one
    around: str
    era: int
    mapping: int = Mapping.BOARD_HAS_PINS.code


class VisitShown(Task, frozen=True):
    """A visit's chunk was stored: save it to the materialized feed, and remove its pins from the
    pools."""

    user_id: int
    generation: int


class EventsRecorded(Task, frozen=True):
    """`viewer_id` sent these events, (pin id, number of the kind), at an epoch ms. `era`: how often
    the viewer had deleted all events by then."""

    viewer_id: int
    events: tuple[tuple[int, int], ...]
    at: int
    era: int


class WholeRow(Task, frozen=True):
    """An outbox row with its own kind, which is one task as a whole."""

    row: OutboxRow


class FanOutBatch(Task, frozen=True):
    """Bring a pin to some followers of one cause: the followers after position `start` in the list
    of followers, up to and including `end`. A position is `sequence:follower`; "" is an end of the
    list."""

    pin_id: int
    cause_id: int
    at: int
    start: str
    end: str


AnyTask = (
    PinPublished
    | PinArrived
    | Followed
    | Unfollowed
    | Blocked
    | MembershipChanged
    | FeedShort
    | InterestShort
    | PoolShort
    | PinLiked
    | PinUnliked
    | PinSaved
    | CommentChanged
    | PinHidden
    | TextChanged
    | BoardSecrecy
    | BoardDeleted
    | SectionDeleted
    | AccountDeleted
    | AccountErased
    | DataRequested
    | DataExpired
    | KeyEnded
    | NameEnded
    | Respace
    | VisitShown
    | EventsRecorded
    | FanOutBatch
)


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    """The work after one commit: keys to claim, rows on other shards, entries to move in caches or
    to drop from them, tasks for jobs, events to publish. An object whose claim (namespace, key, id)
    is lost to another object becomes inactive. `claim_versions` are the keys' versions; rows of
    earlier versions of Pinway have none."""

    claims: tuple[tuple[str, str, int], ...] = ()
    claim_versions: tuple[int, ...] = ()
    edges: tuple[tuple[int, int, int, str, int, bool], ...] = ()
    objects: tuple[int, ...] = ()
    lists: tuple[tuple[int, int], ...] = ()
    moves: tuple[tuple[int, int, int, str, str, int], ...] = ()
    tasks: tuple[AnyTask, ...] = ()
    events: tuple[Event, ...] = ()
    traceparent: str = ""  # of the request that wrote, if its trace is recorded

    def remote_edges(self) -> list[tuple[Mapping, Edge]]:
        """Rows to write on other shards."""
        return [
            (BY_CODE[code], Edge(from_id, to_id, int(sequence), version, active))
            for code, from_id, to_id, sequence, version, active in self.edges
        ]

    def stale_lists(self) -> list[ListKey]:
        """Lists whose cached windows and heads must be dropped."""
        return [ListKey(BY_CODE[code], from_id) for code, from_id in self.lists]

    def list_moves(self) -> list[ListMove]:
        """The moves that cached windows and heads can apply."""
        return [
            ListMove(ListKey(BY_CODE[code], from_id), to_id, int(old), int(new), version)
            for code, from_id, to_id, old, new, version in self.moves
        ]


def change(
    *,
    edges: list[tuple[Mapping, Edge]] | None = None,
    objects: list[int] | None = None,
    lists: list[ListKey] | None = None,
    moves: list[ListMove] | None = None,
    tasks: list[AnyTask] | None = None,
    claims: list[tuple[str, str, int]] | None = None,
    claim_versions: Sequence[int] = (),
    events: Sequence[Event] = (),
) -> Change:
    """A Change. The lists of the remote edges are dropped from the caches, too."""
    stale = dict.fromkeys([*(lists or ()), *(ListKey(m, e.from_id) for m, e in edges or ())])
    return Change(
        claims=tuple(claims or ()),
        claim_versions=tuple(claim_versions),
        edges=tuple(
            (m.code, e.from_id, e.to_id, str(e.sequence), e.version, e.active)
            for m, e in edges or ()
        ),
        objects=tuple(objects or ()),
        lists=tuple((key.mapping.code, key.from_id) for key in stale),
        moves=tuple(
            (*(m.key.mapping.code, m.key.from_id), m.to_id, str(m.old), str(m.new), m.version)
            for m in moves or ()
        ),
        tasks=tuple(tasks or ()),
        events=tuple(events),
    )


_DECODER = msgspec.json.Decoder(Change)


def encode(change: Change) -> bytes:
    """The payload of an outbox row, with the trace of the current request if it is recorded."""
    if (span := current()) is not None and span.recording.sampled:
        change = msgspec.structs.replace(change, traceparent=span.recording.sampled)
    return msgspec.json.encode(change)


def decode(payload: bytes) -> Change:
    return _DECODER.decode(payload)


Advance = Callable[[bytes], Awaitable[None]]
"""Saves a task's own cursor, so that a killed job resumes there."""
Handler = Callable[[Stores, Any, bytes | None, Advance], Awaitable[None]]
"""Does a task from its cursor (None: from the start)."""
