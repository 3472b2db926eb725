"""The mappings: their names, their reverse mappings, and their rows.

A row is `(from_id, to_id, sequence, version, active)` and is on the shard of its from id. It is
never deleted, only made inactive by a higher version. A write applies only if its version is newer
than the row's, so that repeated and reordered writes end in the same state.
"""

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple

from datasources.ids import Kind

SEQUENCE_STEP = 10**25  # one millisecond; a sequence is 13 digits of epoch ms, then 25 zeros
MAX_SEQUENCE = 10**38 - 1  # the column holds 38 digits


class Mapping(Enum):
    """A mapping. The value is its table's name; `code`, its number in lists, never changes."""

    BOARD_HAS_PINS = "board_has_pins"
    USER_HAS_BOARDS = "user_has_boards"
    USER_HAS_PUBLIC_BOARDS = "user_has_public_boards"
    USER_HAS_PINS = "user_has_pins"
    USER_HAS_PUBLIC_PINS = "user_has_public_pins"
    USER_LIKES_PINS = "user_likes_pins"
    PIN_LIKED_BY_USERS = "pin_liked_by_users"
    USER_FOLLOWS_USERS = "user_follows_users"
    USER_FOLLOWED_BY_USERS = "user_followed_by_users"
    USER_FOLLOWS_BOARDS = "user_follows_boards"
    BOARD_FOLLOWED_BY_USERS = "board_followed_by_users"
    USER_FOLLOWS_INTERESTS = "user_follows_interests"
    INTEREST_FOLLOWED_BY_USERS = "interest_followed_by_users"
    PIN_HAS_COMMENTS = "pin_has_comments"
    INTEREST_HAS_PINS = "interest_has_pins"
    USER_HIDES_PINS = "user_hides_pins"
    USER_SEES_LESS = "user_sees_less"
    USER_SEES_MORE = "user_sees_more"
    USER_HAS_AFFINITIES = "user_has_affinities"
    USER_BLOCKS_USERS = "user_blocks_users"
    USER_BLOCKED_BY_USERS = "user_blocked_by_users"
    USER_MUTES_USERS = "user_mutes_users"
    USER_SIGNED_OUT = "user_signed_out"  # one row, to the user: its sequence is the time
    BOARD_HAS_SECTIONS = "board_has_sections"
    SECTION_HAS_PINS = "section_has_pins"
    BOARD_HAS_COLLABORATORS = "board_has_collaborators"
    USER_COLLABORATES_ON_BOARDS = "user_collaborates_on_boards"
    BOARD_INVITES_USERS = "board_invites_users"
    USER_INVITED_TO_BOARDS = "user_invited_to_boards"
    USER_WROTE_COMMENTS = "user_wrote_comments"

    # Enum's own hash is a function in Python, and each key of a row or a list has a mapping in it.
    __hash__ = object.__hash__

    @property
    def code(self) -> int:
        return _CODES[self]

    @property
    def ordered(self) -> bool:
        """Whether people order the lists by hand. In such a mapping, (from_id, sequence) is
        unique."""
        return self in _ORDERED


_CODES = {mapping: code for code, mapping in enumerate(Mapping, 1)}
BY_CODE = {code: mapping for mapping, code in _CODES.items()}
_ORDERED = (Mapping.BOARD_HAS_PINS, Mapping.SECTION_HAS_PINS, Mapping.BOARD_HAS_SECTIONS)

REVERSE = {
    Mapping.USER_LIKES_PINS: Mapping.PIN_LIKED_BY_USERS,
    Mapping.USER_FOLLOWS_USERS: Mapping.USER_FOLLOWED_BY_USERS,
    Mapping.USER_FOLLOWS_BOARDS: Mapping.BOARD_FOLLOWED_BY_USERS,
    Mapping.USER_FOLLOWS_INTERESTS: Mapping.INTEREST_FOLLOWED_BY_USERS,
    Mapping.USER_BLOCKS_USERS: Mapping.USER_BLOCKED_BY_USERS,
    Mapping.BOARD_HAS_COLLABORATORS: Mapping.USER_COLLABORATES_ON_BOARDS,
    Mapping.BOARD_INVITES_USERS: Mapping.USER_INVITED_TO_BOARDS,
}


def lists_of_kind(kind: Kind) -> tuple[Mapping, ...]:
    """The mappings whose lists belong to objects of a kind."""
    return tuple(it for it in Mapping if it.value.startswith(f"{kind.name.lower()}_"))


class Edge(NamedTuple):
    """One mapping row. `sequence` has up to 38 digits; lists are read in descending order.

    `era` is the number of respacings of the row's list when a page of it was read. A place in a
    list is a sequence together with its era.
    """

    from_id: int
    to_id: int
    sequence: int
    version: int
    active: bool = True
    era: int = 0

    def reversed(self) -> "Edge":
        return Edge(self.to_id, self.from_id, self.sequence, self.version, self.active)


class ListKey(NamedTuple):
    """One list: all active rows of a mapping with the same from id."""

    mapping: Mapping
    from_id: int


class EdgeKey(NamedTuple):
    mapping: Mapping
    from_id: int
    to_id: int


class ListHead(NamedTuple):
    """The state of a list that its shard stores beside the rows: the number of active rows, a
    version that grows with each change (0: never written), and whether a writer holds the list
    (`ShardTx.hold`)."""

    size: int
    version: int
    held: bool = False


class Position(NamedTuple):
    """A place in a list. Rows with a lower (sequence, to_id) come after it."""

    sequence: int
    to_id: int


class PageRequest(NamedTuple):
    """A request for `limit` active rows of a list after a position, in descending order of
    (sequence, to_id). If `ascending`, the rows come in ascending order, and the rows after a
    position are the rows above it; without a position, the list's last row is the first."""

    key: ListKey
    limit: int
    after: Position | None = None
    ascending: bool = False

    def next(self, page: Sequence[Edge]) -> "PageRequest | None":
        """The request for the page after `page`; None if the list ends with it."""
        if len(page) < self.limit:
            return None
        return self._replace(after=Position(page[-1].sequence, page[-1].to_id))


def next_pages(
    requests: Iterable[PageRequest], pages: Iterable[Sequence[Edge]]
) -> list[PageRequest]:
    """The requests for the pages after `pages`, of the lists that do not end with them."""
    found = (request.next(page) for request, page in zip(requests, pages, strict=True))
    return [request for request in found if request is not None]


class ListMove(NamedTuple):
    """A move of one row in a list: its sequence changed from `old` to `new`, and nothing else
    changed. The list has `version` after the move, and `version` - 1 before it."""

    key: ListKey
    to_id: int
    old: int
    new: int
    version: int


class Respacing(NamedTuple):
    """The rows of an ordered list that got new sequences in one transaction, in unchanged order.
    `moves` are pairs (old, new), ascending. The respacing began the list's `era`."""

    era: int
    moves: tuple[tuple[int, int], ...]
