"""The objects and edges that rows of a source become, and the objects that each of them needs."""

from typing import NamedTuple

from datasources.records import User
from feed_engine.transactions.key_kinds import KINDS
from gateway.operate.imports.jsonl import (
    AnyLine,
    BoardLine,
    ChoiceLine,
    CollaboratorLine,
    CommentLine,
    FollowLine,
    InterestLine,
    LikeLine,
    PinLine,
    UserLine,
)
from gateway.operate.imports.line_records import user_of
from gateway.operate.migration.fields import TARGETS

SLUG = "slug"
NAMES = {SLUG, *KINDS}
"""Kinds of references to names and to users' keys: at most one object has each."""


class Ref(NamedTuple):
    """An object by its kind and its old id; or a name or a key by one of NAMES."""

    kind: str
    key: str


class Item(NamedTuple):
    """A result of a row: an object (`b` is empty), or an edge between two objects."""

    kind: str
    a: str
    b: str = ""

    @property
    def ref(self) -> Ref:
        """The reference by which other rows may need it."""
        return Ref(self.kind, self.a)

    def __str__(self) -> str:
        return f"{self.kind} {self.a!r}" + (f" of {self.b!r}" if self.b else "")


def item_of(line: AnyLine) -> Item:
    """The object or the edge of a line."""
    if isinstance(line, ChoiceLine):
        raise TypeError(f"no migration makes {line!r}")
    match line:
        case LikeLine():
            return Item("like", line.user, line.pin)
        case CollaboratorLine():
            return Item("collaborator", line.board, line.user)
        case FollowLine():
            kind, key = target_of(line)
            return Item("follow", line.follower, f"{kind}:{key}")
        case UserLine():
            return Item("user", line.key)
        case InterestLine():
            return Item("interest", line.key)
        case BoardLine():
            return Item("board", line.key)
        case PinLine():
            return Item("pin", line.key)
    return Item("comment", line.key)


def target_of(line: FollowLine) -> Ref:
    """The object that is followed."""
    return next(
        Ref(kind, key) for kind in TARGETS if (key := getattr(line, kind, None)) is not None
    )


def keys_of(user: User) -> list[Ref]:
    """The names and keys that a user has, or that are kept for the user."""
    return [Ref(it.namespace, key) for it in KINDS.values() for key in it.all_of(user)]


def needs(line: AnyLine) -> list[Ref]:
    """The objects without which the line can't be stored."""
    match line:
        case BoardLine():
            return [Ref("user", line.owner)]
        case PinLine():
            source = [Ref("pin", line.source)] if line.source is not None else []
            interests = [Ref("interest", key) for key in dict.fromkeys(line.interests)]
            return [Ref("board", line.board), *source, *interests]
        case CommentLine():
            return [Ref("pin", line.pin), Ref("user", line.author)]
        case LikeLine():
            return [Ref("user", line.user), Ref("pin", line.pin)]
        case FollowLine():
            return [Ref("user", line.follower), target_of(line)]
    return []


def uses(line: AnyLine) -> list[Ref]:
    """The objects and names on which the line depends: what it needs, a board's cover, and the name
    that one object may have."""
    match line:
        case UserLine():
            return keys_of(user_of(line))
        case InterestLine():
            return [Ref(SLUG, line.slug)]
        case BoardLine() if line.cover is not None:
            return [*needs(line), Ref("pin", line.cover)]
    return needs(line)
