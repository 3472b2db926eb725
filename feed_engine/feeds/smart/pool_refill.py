"""Refills the pool of pins that a viewer's followed users and boards brought.

A follow brings only the newest pins, and a trim keeps only the best. A viewer who comes to the end
of such a pool posts one job. It writes the newest pins that the viewer was not shown, on each side
separately.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection

from datasources.ids import Kind
from datasources.protocols import Stores, WideColumnStore
from datasources.together import together
from feed_engine.feeds.follow_edges import FOLLOWS, followed
from feed_engine.feeds.lanes import on_side
from feed_engine.feeds.newest import Newest, newest_followed
from feed_engine.feeds.refill_requests import ask
from feed_engine.feeds.rows import POOLS_APPLIED, Source, pool_row
from feed_engine.feeds.settings import DEFAULTS, FeedSettings
from feed_engine.feeds.smart import cuts, materialized, pools
from feed_engine.outbox.change import Advance, PoolShort

DEEPEST = 8
"""The newest pins of what is followed, in caps of a pool, among which a refill searches for pins
that the viewer was not shown."""


async def pool_short(
    stores: Stores,
    task: PoolShort,
    cursor: bytes | None,
    advance: Advance,
    *,
    settings: FeedSettings = DEFAULTS,
) -> None:
    """Refill the viewer's pool of followed users' and boards' pins."""
    await refill_pool(stores, task.viewer_id, task.at, settings)


async def ask_refill_pool(stores: Stores, store: WideColumnStore, viewer_id: int, now: int) -> bool:
    """Post the job for a pool that is short on one side, if it may lack pins. Raises StoreError.
    Returns whether a job was posted."""
    if not await cuts.may_lack(store, viewer_id, now=now):
        return False
    task = PoolShort(viewer_id=viewer_id, at=now)
    await ask(stores, store, POOLS_APPLIED, viewer_id, task, now)
    return True


async def refill_pool(
    stores: Stores, viewer_id: int, at: int, settings: FeedSettings = DEFAULTS
) -> None:
    """Write the newest pins that the viewer follows, and was not shown, to the viewer's pool, on
    both sides. What the viewer unfollowed in the meantime is removed again. `at`: epoch ms of the
    request, so that a repeated job gives the cells of both sides the same stamps."""
    seen = await asyncio.gather(
        *(cuts.cut_seen(store, viewer_id) for store in stores.pools), return_exceptions=True
    )
    edges = await _followed(stores, viewer_id)
    newest, complete = await _unseen(stores, viewer_id, edges, settings.pool_cap)
    row = pool_row(viewer_id, Source.FOLLOWED)
    cells = dict(pools.followed_cell(n.pin, cause) for n in newest for cause in n.causes)

    def fill(before: int | BaseException) -> Callable[[WideColumnStore], Awaitable[None]]:
        async def run(store: WideColumnStore) -> None:
            if isinstance(before, BaseException):
                raise before
            there = {cell.column for cell in await pools.remove_dead(stores, store, row)}
            # Cells that the trim below would cut are not written.
            best = sorted(there | cells.keys())[: settings.pool_cap]
            missing = {column: cells[column] for column in best if column not in there}
            await pools.bring(store, row, missing, at)
            all_there = complete and cells.keys() <= there.union(best)
            await cuts.mark_filled(store, viewer_id, before, complete=all_there)
            await cuts.cut(store, row, viewer_id, settings.pool_cap)
            for ended in edges.difference(await _followed(stores, viewer_id)):
                await pools.forget_cause(store, viewer_id, ended)

        return run

    pairs = zip(stores.pools, seen, strict=True)
    await together([on_side(store, fill(before)) for store, before in pairs])


async def _unseen(
    stores: Stores, viewer_id: int, edges: Collection[int], count: int
) -> tuple[list[Newest], bool]:
    """Up to about `count` of the newest pins that the viewer was not shown, and whether there are
    no others."""
    searched = count
    while True:
        newest = await newest_followed(stores, viewer_id, edges, searched)
        ids = list({id for found in newest for id in (found.pin.id, found.pin.root)})
        shown = await materialized.shown_to(stores.feeds, viewer_id, ids)
        unseen = [n for n in newest if shown.isdisjoint((n.pin.id, n.pin.root))]
        if len(newest) < searched or searched >= DEEPEST * count:
            return unseen[:count], len(unseen) <= count
        if len(unseen) >= count:
            return unseen[:count], False
        searched *= 2


async def _followed(stores: Stores, viewer_id: int) -> set[int]:
    """The followed users and boards."""
    users, boards = await asyncio.gather(
        *(followed(stores, FOLLOWS[kind], [viewer_id]) for kind in (Kind.USER, Kind.BOARD))
    )
    return {edge.to_id for edge in (*users[viewer_id], *boards[viewer_id])}
