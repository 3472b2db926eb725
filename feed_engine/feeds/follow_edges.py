"""The part of a feed that depends on follow edges alone: whom a user follows, and the cells that an
edge brings."""

from collections.abc import Iterable, Sequence

from datasources.ids import Kind
from datasources.mappings import Edge, ListKey, Mapping, PageRequest, next_pages
from datasources.protocols import Stores
from feed_engine.feeds.content import PinLike
from feed_engine.feeds.rows import FollowingColumn, following_column

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


async def followed(
    stores: Stores, mapping: Mapping, user_ids: Sequence[int]
) -> dict[int, list[Edge]]:
    """All active follow edges of one kind, by user."""
    found: dict[int, list[Edge]] = {user_id: [] for user_id in user_ids}
    requests = [PageRequest(ListKey(mapping, id), PAGE) for id in found]
    while requests:
        pages = await stores.shards.mappings.pages(requests)
        for request, page in zip(requests, pages, strict=True):
            found[request.key.from_id] += page
        requests = next_pages(requests, pages)
    return found


def following_columns(viewer_id: int, cause_id: int, pins: Iterable[PinLike]) -> list[bytes]:
    """The columns of the pins of one followed user or board. The viewer's own pins are left out."""
    return [
        following_column(FollowingColumn(pin.created, pin.id, cause_id))
        for pin in pins
        if pin.owner_id != viewer_id
    ]
