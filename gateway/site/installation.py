"""Creates databases, tables and the topology before stores are used. A second run changes
nothing."""

import asyncio
from collections.abc import Callable, Collection
from pathlib import Path

from datasources.errors import ConfigError, StoreConflict, StoreCorrupt
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
from datasources.waits import waiting_for
from gateway.operate.imports.report import Progress
from gateway.settings import Settings
from gateway.site import inventory
from gateway.site.embedded import embedded


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
        await seed(config, settings.topology_seed)
        switches = open_switches(config.topology)
        await inventory.accept_loss(switches, accept_loss)
        await inventory.missing_before_opening(config, switches)
        stores = await open_stores(config)
        try:
            await create(config, stores, switches, on_progress)
        finally:
            await switches.close()
            await close_stores(stores)


async def create(
    config: StoresConfig,
    stores: Stores,
    switches: Switches,
    on_progress: Callable[[Progress], None],
) -> None:
    """Create what the opened stores lack. Raises Damaged when created data is missing."""
    await inventory.check_lost(config, stores, switches)
    await together(
        [
            stores.shards.create(
                lambda done, total: on_progress(Progress("Shards", done, total, "shards"))
            ),
            *(
                _create(f"{name} at {address(getattr(config, name))}", side, tables)
                for name, side, tables in _sides(stores)
            ),
        ]
    )
    with waiting_for(f"queue at {address(config.queue)}"):
        await inventory.register(stores, switches)


def _sides(stores: Stores) -> list[tuple[str, WideColumnStore, list[Table]]]:
    """Each side of the feed stores, with its setting and its tables."""
    sides = (*stores.pools, *stores.feeds)
    return [
        (name, side, inventory.SIDES[name])
        for name, side in zip(inventory.SIDES, sides, strict=True)
    ]


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
            raise ConfigError(f"setting topology_seed: {file}: {error.strerror}") from None
        try:
            await source.save(topology, expected_epoch=None)
        except StoreConflict:
            return  # another process was quicker
    finally:
        await source.close()
