"""What follow edges alone say about a feed: who is followed, and the cells that it brings."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from datasources.ids import Kind
from datasources.mappings import Edge, ListKey, Mapping, PageRequest, Position
from datasources.protocols import Stores
from feed_engine.content import PinLike
from feed_engine.rows import FollowingColumn, following_column

PINS_OF = {
    Kind.USER: Mapping.USER_HAS_PUBLIC_PINS,
    Kind.BOARD: Mapping.BOARD_HAS_PINS,
    Kind.INTEREST: Mapping.INTEREST_HAS_PINS,
}
FOLLOWS = {
    Kind.USER: Mapping.USER_FOLLOWS_USERS,
    Kind.BOARD: Mapping.USER_FOLLOWS_BOARDS,
    Kind.INTEREST: Mapping.USER_FOLLOWS_INTERESTS,
}
PAGE = 1000


class FollowingCell(NamedTuple):
    """A cell of a following feed, and the version of the edge that stamps it."""

    column: bytes
    version: int


async def followed(
    stores: Stores, mapping: Mapping, user_ids: Sequence[int]
) -> dict[int, list[Edge]]:
    """All active follow edges of one kind, by user."""
    found: dict[int, list[Edge]] = {user_id: [] for user_id in user_ids}
    after: dict[int, Position | None] = dict.fromkeys(user_ids)
    while after:
        requests = [PageRequest(ListKey(mapping, id), PAGE, at) for id, at in after.items()]
        pages = await stores.shards.mappings.pages(requests)
        for request, page in zip(requests, pages, strict=True):
            user_id = request.key.from_id
            found[user_id] += page
            if len(page) < PAGE:
                del after[user_id]
            else:
                after[user_id] = Position(page[-1].sequence, page[-1].to_id)
    return found


def following_cells(viewer_id: int, edge: Edge, pins: Iterable[PinLike]) -> list[FollowingCell]:
    """The cells of one followed user's or board's pins; the viewer's own are not among them."""
    return [
        FollowingCell(
            following_column(FollowingColumn(pin.created, pin.id, edge.to_id)), edge.version
        )
        for pin in pins
        if pin.owner_id != viewer_id
    ]
