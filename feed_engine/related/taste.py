"""The pins from which a user's walks begin: recent likes and saves, the newest with the most
weight."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from datasources.mappings import SEQUENCE_STEP, Edge, ListKey, Mapping, PageRequest, Position
from datasources.protocols import Stores
from datasources.records import Pin
from feed_engine.feeds.content import load_pins

MOST = 30  # likes and saves, together
HALVED = 15  # likes and saves after which a weight is halved
KINDS = {Mapping.USER_HAS_PINS: 1.0, Mapping.USER_LIKES_PINS: 0.6}
"""The weight of each kind: a save is more work than a like."""
BOARDS = 200  # boards of the user whose pictures are left out, at most


class Liked(NamedTuple):
    """A pin that a user liked or saved, and its weight."""

    pin: Pin
    weight: float


class Taste(NamedTuple):
    """A user's pins, newest first, and the user's public boards."""

    pins: Sequence[Liked]
    board_ids: Sequence[int]


async def taste_of(stores: Stores, user_id: int, *, until: int, first: Iterable[Pin] = ()) -> Taste:
    """The user's likes and saves up to an epoch ms. `first`: pins that come before all others: a
    row that brings them may not be there yet."""
    after = Position((until + 1) * SEQUENCE_STEP, 0)
    requests = [PageRequest(ListKey(kind, user_id), MOST, after) for kind in KINDS]
    own = PageRequest(ListKey(Mapping.USER_HAS_PUBLIC_BOARDS, user_id), BOARDS)
    *pages, boards = await stores.shards.mappings.pages([*requests, own])
    rows: list[tuple[Edge, float]] = [
        (edge, weight) for page, weight in zip(pages, KINDS.values(), strict=True) for edge in page
    ]
    rows.sort(key=lambda row: (-row[0].sequence, row[0].to_id))
    found = {pin.id: (pin, max(KINDS.values())) for pin in first}
    pins = await load_pins(stores, (edge.to_id for edge, _ in rows[:MOST]))
    for edge, weight in rows[:MOST]:
        if edge.to_id in pins:
            found.setdefault(edge.to_id, (pins[edge.to_id], weight))
    liked = [
        Liked(pin, weight * 0.5 ** (place / HALVED))
        for place, (pin, weight) in enumerate(found.values())
    ]
    return Taste(liked[:MOST], [edge.to_id for edge in boards])
