"""Related pins after an import: the graph with the imported pins, and walks from imported likes and
saves."""

import asyncio
from functools import partial

from datasources.clocks import now_ms
from datasources.errors import ConfigError, StoreConflict
from feed_engine.related.pool import fill
from feed_engine.related.walks import Walks
from gateway.operate.imports.load import Load, batches, patiently

_USERS = """SELECT u.id FROM users u WHERE u.id IS NOT NULL AND (
    EXISTS (SELECT 1 FROM likes WHERE user = u.key)
    OR EXISTS (SELECT 1 FROM boards b JOIN pins p ON p.board = b.key WHERE b.owner = u.key)
    OR EXISTS (SELECT 1 FROM pins WHERE owner = u.key)
) ORDER BY u.id"""
_AT_ONCE = 8  # users whose pins are read while others walk
_PAUSE = 5.0  # seconds between two attempts while another process builds the graph


async def build_related(load: Load, walks: Walks) -> None:
    """Build the graph, and fill the users' pools of related pins. Both may be repeated. Raises
    ConfigError when the graph's file can't be written."""
    from feed_engine.related.build import build

    def on_pins(pins: int) -> None:
        load.step("related pins", pins, None, "pins")

    while True:
        try:
            await patiently(partial(build, load.stores, walks.path, on_pins=on_pins))
            break
        except StoreConflict:  # its graph may lack some imported pins
            await asyncio.sleep(_PAUSE)
        except OSError as error:
            raise ConfigError(f"can't write {walks.path}: {error.strerror or error}") from None
    walks.forget_file()
    now, done = now_ms(), 0
    for rows in batches(load.spool.rows(_USERS), _AT_ONCE):
        fills = (partial(fill, load.stores, walks, id, at=now) for (id,) in rows)
        await asyncio.gather(*(patiently(each) for each in fills))
        done += len(rows)
        load.step("walks", done, None, "users")
