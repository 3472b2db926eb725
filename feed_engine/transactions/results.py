"""The results of the writes: objects and edges as stored after the write."""

from dataclasses import dataclass

from datasources.errors import Conflict
from datasources.mappings import Edge
from datasources.records import Board, Comment, Pin, Section


@dataclass(frozen=True, slots=True)
class BoardWritten:
    """`edge` is the board's row in its owner's list of boards."""

    board: Board
    edge: Edge


@dataclass(frozen=True, slots=True)
class PinWritten:
    """`edge` is the pin's row on its board, `section_edge` its row in its section (None: it is in
    no section)."""

    pin: Pin
    edge: Edge
    section_edge: Edge | None = None


@dataclass(frozen=True, slots=True)
class CommentWritten:
    """`edge` is the comment's row under its pin."""

    comment: Comment
    edge: Edge


@dataclass(frozen=True, slots=True)
class Reordered:
    """The new place of an entry of an ordered list, such as a pin on its board: its row, the list's
    version (a board's order version), and the neighbors in the list (None at an end)."""

    edge: Edge
    version: int
    above_id: int | None
    below_id: int | None


@dataclass(frozen=True, slots=True)
class PinMoved:
    """A pin that moved from the board `from_id` to its present board, where it was `placed`.
    `from_version` is the order version of the former board."""

    pin: Pin
    from_id: int
    from_version: int
    placed: Reordered


@dataclass(frozen=True, slots=True)
class SectionWritten:
    """`edge` is the section's row on its board."""

    section: Section
    edge: Edge


@dataclass(frozen=True, slots=True)
class SectionReordered:
    """A section that was `placed` on its board."""

    section: Section
    placed: Reordered


@dataclass(frozen=True, slots=True)
class PinInSection:
    """A pin that moved from the section `from_id` (None: no section) to its present section, where
    it was `placed` (None: it is in no section)."""

    pin: Pin
    from_id: int | None
    placed: Reordered | None


class Crossed(Conflict):
    """The anchors of a move are in the opposite order now: nothing was changed. The error has the
    pin's present neighbors and the board's order version."""

    def __init__(
        self, message: str, field: str, *, above_id: int | None, below_id: int | None, version: int
    ) -> None:
        super().__init__(message, field)
        self.above_id, self.below_id, self.version = above_id, below_id, version
