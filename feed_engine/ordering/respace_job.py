"""The job that respaces the neighbors of a narrow gap in a list, before its room is used up."""

from datasources.mappings import BY_CODE, ListKey
from datasources.protocols import Stores
from feed_engine.ordering import order
from feed_engine.ordering.respace import spread_some
from feed_engine.ordering.spacing import SPACING, Spacing, Window
from feed_engine.outbox.change import Advance, Respace


async def respace(
    stores: Stores,
    task: Respace,
    cursor: bytes | None,
    advance: Advance,
    *,
    spacing: Spacing = SPACING,
) -> None:
    """Respace the fewest rows around a place that give every gap there room, some rows in each
    transaction. The cursor is the window that is being respaced."""
    key = ListKey(BY_CODE[task.mapping], task.from_id)
    window = _decoded(cursor)
    while True:
        log = await stores.shards.mappings.respacings(key, task.era)
        center = order.translate(int(task.around), log)
        part = await spread_some(stores, key, center, window, spacing)
        if part.window is None or not part.more:
            return
        window = part.window
        await advance(" ".join(map(str, window)).encode())


def _decoded(cursor: bytes | None) -> Window | None:
    return None if cursor is None else Window(*map(int, cursor.split()))
