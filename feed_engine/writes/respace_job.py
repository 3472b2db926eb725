"""The job that spreads the neighbors of a narrow gap on a board, before there is no room at all."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from datasources.mappings import ListKey, Mapping
from datasources.protocols import Stores
from feed_engine import order
from feed_engine.change import Advance, Respace, Task
from feed_engine.spacing import SPACING, Spacing, Window
from feed_engine.writes.respace import spread_some

Handler = Callable[[Stores, Any, bytes | None, Advance], Awaitable[None]]


async def respace(
    stores: Stores,
    task: Respace,
    cursor: bytes | None,
    advance: Advance,
    spacing: Spacing = SPACING,
) -> None:
    """Spread the fewest rows around a place that give every gap there room, some of them a
    transaction. The cursor is the window that is being spread."""
    key = ListKey(Mapping.BOARD_HAS_PINS, task.board_id)
    window = _decoded(cursor)
    while True:
        log = await stores.shards.mappings.respacings(key, task.era)
        center = order.translate(int(task.around), log)
        part = await spread_some(stores, key, center, window, spacing)
        if part.window is None or not part.more:
            return
        window = part.window
        await advance(" ".join(map(str, window)).encode())


def handlers(spacing: Spacing) -> dict[type[Task], Handler]:
    return {Respace: partial(respace, spacing=spacing)}


def _decoded(cursor: bytes | None) -> Window | None:
    return None if cursor is None else Window(*map(int, cursor.split()))
