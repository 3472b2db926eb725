"""The users who are hidden from a request's viewer by blocks, and the list of a viewer's blocks.

A request reads the viewer's blocks once, at the same time as its first objects; a page of the home
feed has them from the read of the viewer's preferences. A request without a viewer reads nothing.
"""

from collections.abc import Collection, Sequence, Set

from datasources.errors import StoreError
from datasources.ids import Kind, decoy
from datasources.mappings import ListKey, Mapping
from datasources.records import User
from feed_engine.feeds import preferences
from feed_engine.transactions import blocks
from feed_engine.transactions.blocks import Blocks
from resolvers.context import Context
from resolvers.paging import FIRST, Connection, list_pages, span


async def blocked_users(
    context: Context,
    *,
    first: int = FIRST,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
) -> Connection[User]:
    """The users whom the viewer blocks, last blocked first."""
    lists = [ListKey(Mapping.USER_BLOCKS_USERS, context.require_viewer())]
    [page] = await list_pages(context, lists, span(first, after, last, before), _blocked)
    if isinstance(page, BaseException):
        raise page
    return page


async def _blocked(context: Context, ids: Sequence[int]) -> dict[int, User | BaseException]:
    users = await context.loaders.users.many(ids)
    return {id: user for id, user in zip(ids, users, strict=True) if user is not None}


async def load(context: Context) -> Blocks:
    """The viewer's blocks. While neither the cache nor the viewer's shard has them, as the home
    feed in this process last read them."""
    viewer_id, known = context.viewer_id, context.blocks
    if known is not None:
        return known
    if viewer_id is None:
        return blocks.NONE
    pages = await context.loaders.pages.many(blocks.requests(viewer_id))
    found = [page for page in pages if isinstance(page, list)]
    if len(found) == len(pages):
        known = blocks.of_pages(found)
    else:
        known = context.feeds.preferences.get(viewer_id, preferences.NONE).blocks
    context.blocks = known
    return known


async def hidden(context: Context, user_ids: Collection[int]) -> Set[int]:
    """The users among these whom the viewer does not see. Raises StoreError if the blocks are too
    many to be known, and the viewer's shard does not answer."""
    viewer_id = context.viewer_id
    if viewer_id is None:
        return frozenset()
    known = await load(context)
    if known.whole:
        return known.ids.intersection(user_ids) if known.ids else known.ids
    if not user_ids:
        return frozenset()
    context.looked_up = True
    keys = [key for id in dict.fromkeys(user_ids) for key in blocks.keys(viewer_id, id)]
    edges = await context.loaders.edges.many(keys)
    if errors := [edge for edge in edges if isinstance(edge, StoreError)]:
        raise errors[0]
    return {key.to_id for key, edge in zip(keys, edges, strict=True) if edge is not None}


async def even_out(context: Context) -> None:
    """Make the call that looking up a hidden user makes, if the viewer's blocks are too many to be
    known, and this request looked nobody up (`resolvers.hidden_objects`)."""
    viewer_id = context.viewer_id
    if viewer_id is not None and not (context.looked_up or (await load(context)).whole):
        await hidden(context, [decoy(viewer_id, Kind.USER)])
