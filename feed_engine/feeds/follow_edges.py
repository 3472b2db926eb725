"""The part of a feed that depends on follow edges alone: whom a user follows, and the cells that an
edge brings."""

from collections.abc import Iterable, Sequence

from datasources.ids import Kind
from datasources.mappings import Edge, ListKey, Mapping, PageRequest, Position
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


def following_columns(viewer_id: int, cause_id: int, pins: Iterable[PinLike]) -> list[bytes]:
    """The columns of the pins of one followed user or board. The viewer's own pins are left out."""
    return [
        following_column(FollowingColumn(pin.created, pin.id, cause_id))
        for pin in pins
        if pin.owner_id != viewer_id
    ]
