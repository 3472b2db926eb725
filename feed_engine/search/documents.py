"""The searchable text of pins, boards and users, and the weight of quality and freshness."""

import math

from datasources.protocols import Document
from datasources.records import Board, Pin, User
from feed_engine.times import DAY

HALF_LIFE = 4 * 365 * DAY
"""A document that is older by this has half the weight. The weights of all documents fall alike, so
no document must be written again because time passes."""
_EPOCH = 1_577_836_800_000  # 2020-01-01: documents of that day have a freshness of 1
_OLDEST, _NEWEST = _EPOCH - 20 * 365 * DAY, _EPOCH + 60 * 365 * DAY  # for dates from imported files
_QUALITY = 0.25  # of the weight, for each doubling of saves and likes, or followers


def pin_document(pin: Pin, *, likes: int, saves: int) -> Document:
    return Document(
        id=pin.id,
        title=pin.title,
        body=pin.description,
        group=pin.root,
        board_id=pin.board_id,
        weight=weight(pin.created, likes + saves),
    )


def board_document(board: Board, *, followers: int) -> Document:
    return Document(
        id=board.id,
        title=board.name,
        body=board.description,
        group=board.id,
        board_id=board.id,
        weight=weight(board.created, followers),
    )


def user_document(user: User, *, followers: int) -> Document:
    return Document(
        id=user.id,
        title=f"{user.username} {user.full_name}".strip(),
        body=user.about,
        group=user.id,
        weight=weight(user.created, followers),
    )


def weight(created: int, liked: int) -> float:
    """The factor by which a text's score is multiplied. `liked` is how many people liked, saved or
    followed the object."""
    at = min(max(created, _OLDEST), _NEWEST)
    freshness: float = 2.0 ** ((at - _EPOCH) / HALF_LIFE)
    return freshness * (1 + _QUALITY * math.log2(1 + max(0, liked)))
