"""The users who are hidden from a request's viewer by blocks.

A request reads the viewer's blocks once, from the object cache, at the same time as its first
objects; a page of the home feed has them from the read of the viewer's preferences. A request
without a viewer reads nothing.
"""

import asyncio
from collections.abc import Collection, Set
from contextlib import suppress

from datasources.errors import StoreError
from datasources.ids import Kind, decoy
from datasources.protocols import Stores
from feed_engine.feeds import preferences
from feed_engine.transactions import blocks
from feed_engine.transactions.blocks import Blocks
from resolvers.context import Context


def at_hand(context: Context) -> Blocks | None:
    """The viewer's blocks, as far as they are known without waiting."""
    viewer_id, known = context.viewer_id, context.blocks
    if viewer_id is None:
        return blocks.NONE
    local = context.stores.object_cache.local
    if known is None and local is not None:
        key = blocks.cache_key(viewer_id)
        if (data := local.held([key]).get(key)) is not None:
            known = context.know(blocks.decode(data))
    return known


async def load(context: Context) -> Blocks:
    """The viewer's blocks. While neither the cache nor the viewer's shard has them, as the home
    feed in this process last read them."""
    known = at_hand(context)
    if known is None:
        # Fields that need the blocks at the same time share one read.
        if context.reading is None:
            context.reading = asyncio.create_task(_read(context.stores, context.viewer_id or 0))
        known = await asyncio.shield(context.reading)
        if known is None:
            known = context.feeds.preferences.get(context.viewer_id or 0, preferences.NONE).blocks
        known = context.know(known)
    return known


async def are_closed(context: Context) -> bool:
    """Whether the request is of a deleted account, or its token is refused. Reads the blocks if
    nothing has yet."""
    await load(context)
    return context.closed


async def _read(stores: Stores, viewer_id: int) -> Blocks | None:
    """The blocks in the object cache, or from the viewer's shard; None if neither answers."""
    key, entry = blocks.cache_key(viewer_id), None
    with suppress(StoreError):
        entry = (await stores.object_cache.get([key])).get(key)
    if isinstance(entry, bytes):
        return blocks.decode(entry)
    try:
        found = await blocks.read(stores, viewer_id)
    except StoreError:
        return None
    if entry is not None:
        with suppress(StoreError):
            await stores.object_cache.fill([(entry, blocks.encode(found))])
    return found


async def hidden(context: Context, user_ids: Collection[int]) -> Set[int]:
    """The users among these whom the viewer does not see. Raises StoreError if the blocks are too
    many to be known, and the viewer's shard does not answer."""
    viewer_id = context.viewer_id
    if viewer_id is None:
        return frozenset()
    known = await load(context)
    if known.closes(viewer_id):
        return frozenset(user_ids)
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
