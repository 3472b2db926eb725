"""The blocks of a viewer: the users whom the viewer blocks, and the users who block the viewer.

Neither of two such users sees the other. A user may be blocked by very many users, so a viewer's
blocks are read up to a bound; beyond it, single edges are looked up. Both lists are on the viewer's
shard. The object cache keeps them as one entry, which a write of a block drops for both users.

A deleted account blocks itself: so every request with one of its tokens learns of the deletion
together with the blocks, without a further read (`closes`). The entry also has the time of the
viewer's last `signOutEverywhere`: tokens that are not newer are refused (`refuses`).
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from datasources.ids import Kind, decoy
from datasources.mappings import SEQUENCE_STEP, Edge, EdgeKey, ListKey, Mapping, PageRequest
from datasources.protocols import ShardTx, Stores

MOST = 1000
"""Users whom a viewer blocks, at most."""
READ = 1000
"""Entries of each list that are read at once."""
LISTS = (Mapping.USER_BLOCKS_USERS, Mapping.USER_BLOCKED_BY_USERS)


class Blocks(NamedTuple):
    """The users of whom the viewer sees nothing. If not `whole`, there are more of them.
    `signed_out` is the epoch ms at which the viewer signed out everywhere; 0: never."""

    ids: frozenset[int] = frozenset()
    whole: bool = True
    signed_out: int = 0

    def closes(self, viewer_id: int | None) -> bool:
        """Whether the viewer's own account is deleted. It sees nothing any more."""
        return viewer_id in self.ids

    def refuses(self, issued: float) -> bool:
        """Whether a token that was issued at an epoch second is refused."""
        return bool(self.signed_out) and issued * 1000 <= self.signed_out


NONE = Blocks()
_DECODER = msgspec.json.Decoder(list[int | bool])


def requests(viewer_id: int) -> list[PageRequest]:
    """The lists of the viewer's blocks, and the time of the viewer's sign-out."""
    lists = [PageRequest(ListKey(mapping, viewer_id), READ) for mapping in LISTS]
    return [*lists, PageRequest(ListKey(Mapping.USER_SIGNED_OUT, viewer_id), 1)]


def of_pages(pages: Sequence[Sequence[Edge]]) -> Blocks:
    """The blocks that the lists of `requests` hold."""
    *lists, sign_outs = pages
    ids = frozenset(edge.to_id for page in lists for edge in page)
    at = sign_outs[0].sequence // SEQUENCE_STEP if sign_outs else 0
    return Blocks(ids, all(len(page) < READ for page in lists), at) if ids or at else NONE


def cache_key(viewer_id: int) -> int:
    """The key of a viewer's blocks in the object cache. It is the id of no object."""
    return -viewer_id


def encode(blocks: Blocks) -> bytes:
    """The blocks' form in the object cache. A sign-out is a negative number among the ids, so that
    earlier versions read the entry, too."""
    signed_out = (-blocks.signed_out,) if blocks.signed_out else ()
    return msgspec.json.encode((blocks.whole, *signed_out, *blocks.ids))


def decode(data: bytes) -> Blocks:
    whole, *ids = _DECODER.decode(data)
    signed_out = -ids.pop(0) if ids and ids[0] < 0 else 0
    return Blocks(frozenset(ids), bool(whole), signed_out)


def keys(viewer_id: int, user_id: int) -> list[EdgeKey]:
    """The edges that hide the user from the viewer."""
    return [EdgeKey(mapping, viewer_id, user_id) for mapping in LISTS]


async def read(stores: Stores, viewer_id: int) -> Blocks:
    """The viewer's blocks now, from the viewer's master shard."""
    return of_pages(await stores.shards.mappings.pages(requests(viewer_id)))


async def holds(stores: Stores, viewer_id: int, user_id: int | None, *further: int) -> bool:
    """Return whether a block keeps the viewer and the user, or a further user, apart. Without a
    user, a decoy is looked up, with the same calls of stores."""
    asked = keys(viewer_id, decoy(viewer_id, Kind.USER) if user_id is None else user_id)
    asked += [key for id in further for key in keys(viewer_id, id)]
    found = await stores.shards.mappings.edges(asked)
    return any(edge.active for edge in found.values())


async def hides(
    stores: Stores, viewer_id: int, known: Blocks, user_id: int | None, *further: int
) -> bool:
    """Whether the known blocks, or further ones, hide a user, or a further user. The calls of
    stores do not depend on the users; the first may be missing."""
    if known.closes(viewer_id):
        return True
    if known.whole:
        return not known.ids.isdisjoint((user_id, *further))
    return await holds(stores, viewer_id, user_id, *further)


async def hold_in(tx: ShardTx, viewer_id: int, user_id: int) -> bool:
    """Return whether a block keeps the viewer and the user apart, or the viewer's account is
    deleted, in a transaction on the viewer's shard. Locks the viewer's blocks."""
    for mapping in LISTS:
        await tx.head(ListKey(mapping, viewer_id))
    found = await tx.edges([*keys(viewer_id, user_id), own_key(viewer_id)])
    return any(edge.active for edge in found.values())


def own_key(viewer_id: int) -> EdgeKey:
    """The block that marks a deleted account."""
    return EdgeKey(Mapping.USER_BLOCKS_USERS, viewer_id, viewer_id)


async def closed_in(tx: ShardTx, viewer_id: int) -> bool:
    """Return whether the viewer's account is deleted, in a transaction on the viewer's shard. Locks
    the viewer's blocks."""
    row = await tx.edge(own_key(viewer_id))
    return row is not None and row.active
