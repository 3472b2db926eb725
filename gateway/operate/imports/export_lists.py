"""The lines of users' lists in an export: likes, follows, blocks, mutes and preferences."""

from collections.abc import AsyncIterator

from datasources.ids import kind_of
from datasources.mappings import (
    SEQUENCE_STEP,
    Edge,
    ListKey,
    Mapping,
    PageRequest,
    next_pages,
)
from datasources.protocols import Stores
from gateway.operate.imports.choice_lists import LISTS
from gateway.operate.imports.jsonl import (
    AnyLine,
    BlockLine,
    FollowLine,
    HideLine,
    LikeLine,
    MuteLine,
    PreferenceLine,
    time_of,
)
from gateway.operate.imports.keys import Keys

_AT_ONCE, _PAGE = 250, 500
_LISTS = (
    Mapping.USER_LIKES_PINS,
    Mapping.USER_FOLLOWS_USERS,
    Mapping.USER_FOLLOWS_BOARDS,
    Mapping.USER_FOLLOWS_INTERESTS,
    *LISTS,
)


async def lines_of_lists(
    stores: Stores, keys: Keys, users: list[int]
) -> AsyncIterator[list[AnyLine]]:
    """The lines of some users' lists, without entries that are missing objects. The block by which
    an account that is deleted meanwhile blocks itself (`transactions.blocks`) is no line."""
    lists = [ListKey(mapping, user) for user in users for mapping in _LISTS]
    for start in range(0, len(lists), _AT_ONCE):
        requests = [PageRequest(key, _PAGE) for key in lists[start : start + _AT_ONCE]]
        while requests:
            pages = await stores.shards.mappings.pages(requests)
            known = keys.of([*users, *(edge.to_id for page in pages for edge in page)])
            yield [
                _line(request.key.mapping, edge, known)
                for request, page in zip(requests, pages, strict=True)
                for edge in page
                if edge.from_id in known and edge.to_id in known and edge.from_id != edge.to_id
            ]
            requests = next_pages(requests, pages)


def _line(mapping: Mapping, edge: Edge, known: dict[int, str]) -> AnyLine:
    user, target = known[edge.from_id], known[edge.to_id]
    created = time_of(edge.sequence // SEQUENCE_STEP)
    about = {kind_of(edge.to_id).name.lower(): target}
    match mapping:
        case Mapping.USER_LIKES_PINS:
            return LikeLine(user=user, pin=target, created=created)
        case Mapping.USER_BLOCKS_USERS:
            return BlockLine(viewer=user, user=target, created=created)
        case Mapping.USER_MUTES_USERS:
            return MuteLine(viewer=user, user=target, created=created)
        case Mapping.USER_HIDES_PINS:
            return HideLine(viewer=user, pin=target, created=created)
        case Mapping.USER_SEES_LESS:
            return PreferenceLine(viewer=user, see="less", created=created, **about)
        case Mapping.USER_SEES_MORE:
            return PreferenceLine(viewer=user, see="more", created=created, **about)
    return FollowLine(follower=user, created=created, **about)
