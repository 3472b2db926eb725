"""Builds the snapshot when there is none, or when it is old."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from datasources.clocks import now_ms
from datasources.errors import StoreConflict, StoreError
from datasources.protocols import Stores
from feed_engine.related.walks import OK, Walks
from feed_engine.times import HOUR

log = logging.getLogger("pinway.related")

LOOK = 30.0  # seconds between two looks
FIRST = 5.0  # seconds until the first look: a gateway that starts has other work


async def due(walks: Walks, hours: int, clock: Callable[[], int] = now_ms) -> str:
    """Why the snapshot must be built; "" if it need not be."""
    state = await walks.state()
    graph = walks.graph
    if state.state != OK or graph is None:
        return state.state
    if graph.header.built < clock() - hours * HOUR:
        return f"more than {hours} hours old"
    return "changes find no room" if graph.full else ""


async def keep_built(
    stores: Stores,
    walks: Walks,
    *,
    hours: int,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    clock: Callable[[], int] = now_ms,
) -> None:
    """Build the snapshot whenever it is due, until cancelled. Of the processes of a host that do
    this, one builds. Stores that fail are tried again."""
    await sleep(FIRST)
    while True:
        try:
            if why := await due(walks, hours, clock):
                from feed_engine.related.build import build

                header = await build(stores, walks.path, clock=clock)
                log.info(
                    "built the graph of related pins (it was %s): %s roots, %s boards, %s edges",
                    *(why, f"{header.roots:,}", f"{header.boards:,}", f"{header.edges:,}"),
                )
                walks.forget_file()
        except StoreConflict:
            pass  # another process of this host builds it
        except (StoreError, OSError, ValueError) as error:
            log.warning("the graph of related pins can't be built: %s", error)
        await sleep(LOOK)
