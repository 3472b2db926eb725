"""Creates databases, tables and the topology before stores are used. A second run changes
nothing."""

import asyncio
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from datasources.errors import (
    ConfigError,
    StoreConflict,
    StoreCorrupt,
    StoreTimeout,
    StoreUnavailable,
)
from datasources.factory import (
    StoresConfig,
    close_stores,
    open_stores,
    open_switches,
    open_topology,
)
from datasources.protocols import Stores, Switches, Table, WideColumnStore
from datasources.together import together
from datasources.topology import parse
from datasources.urls import address
from datasources.waits import collected, waiting_for
from feed_engine.writes import comment_index
from gateway.operate.imports.report import Progress
from gateway.settings import Settings
from gateway.site import inventory
from gateway.site.embedded_stores import embedded


async def install(
    settings: Settings,
    on_progress: Callable[[Progress], None],
    *,
    accept_loss: Collection[str] = (),
    prepare: Callable[[Path], None] = lambda data: None,
) -> None:
    """Create the topology if there is none, the shards' databases and the feeds' tables.

    `prepare` is called with the data directory, which is locked, before any store in it is opened.
    Raises Damaged when created data is missing. The stores in `accept_loss` (names of
    inventory.STORES) are created again instead.
    """
    async with embedded(settings) as config:
        await asyncio.to_thread(prepare, settings.data_dir.resolve())
        await seed(config, settings.stores.topology_seed)
        switches = open_switches(config.topology)
        await inventory.accept_loss(switches, accept_loss)
        await inventory.missing_before_opening(config, switches)
        stores = await open_stores(config)
        try:
            with _remedied():
                await create(config, stores, switches, on_progress)
        finally:
            await switches.close()
            await close_stores(stores)


@contextmanager
def _remedied() -> Iterator[None]:
    """Name all stores that do not answer, and say what to do about them."""
    with collected() as waits:
        try:
            yield
        except (StoreUnavailable, StoreTimeout) as error:
            if not (told := waits.failures()):
                raise
            raise StoreUnavailable(
                f"{told}: start each of them, or change its address: a shard server's in the "
                "topology, any other in the setting of its name"
            ) from error


async def create(
    config: StoresConfig,
    stores: Stores,
    switches: Switches,
    on_progress: Callable[[Progress], None],
) -> None:
    """Create what the opened stores lack. Raises Damaged when created data is missing."""
    new = await inventory.new_shards(stores, switches)  # before the check, which lists them
    await inventory.check_lost(config, stores, switches)
    await together(
        [
            stores.shards.create(
                lambda done, total: on_progress(Progress("Shards", done, total, "shards"))
            ),
            *(_create(name, side, tables) for name, side, tables in _sides(config, stores)),
        ]
    )
    await comment_index.mark_new(stores.shards, new)
    with waiting_for(f"queue at {address(config.queue)}"):
        await inventory.register(stores, switches)


def _sides(config: StoresConfig, stores: Stores) -> list[tuple[str, WideColumnStore, list[Table]]]:
    """Each store of feeds, with the settings that name it and the tables of these sides."""
    opened = dict(zip(inventory.SIDES, (*stores.pools, *stores.feeds), strict=True))
    found = []
    for store in {id(store): store for store in opened.values()}.values():
        sides = [side for side, other in opened.items() if other is store]
        tables = {table.name: table for side in sides for table in inventory.SIDES[side]}
        where = address(getattr(config, sides[0]))
        found.append((f"{' and '.join(sides)} at {where}", store, list(tables.values())))
    return found


async def _create(name: str, side: WideColumnStore, tables: list[Table]) -> None:
    with waiting_for(name):
        await side.create(tables)


async def seed(config: StoresConfig, file: str) -> None:
    """Create the topology from a file, if there is none."""
    source = open_topology(config.topology)
    try:
        try:
            await source.load()
            return
        except StoreCorrupt:
            if not file:
                raise
        try:
            topology = parse(Path(file).read_bytes())  # noqa: ASYNC240 (a small file, once)
        except OSError as error:
            raise ConfigError(f"setting stores.topology_seed: {file}: {error.strerror}") from None
        try:
            await source.save(topology, expected_epoch=None)
        except StoreConflict:
            return  # another process was quicker
    finally:
        await source.close()
