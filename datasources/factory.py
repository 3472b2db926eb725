"""Opens every store that the settings name. The scheme of a store's URL selects its backend.

A backend's driver is imported only when a URL needs it, so the embedded stores need no driver of a
real server.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Protocol, TypeVar
from urllib.parse import SplitResult, urlsplit

from datasources import backends
from datasources.backends import CacheOptions
from datasources.errors import ConfigError, PinwayError
from datasources.protocols import (
    Broadcasts,
    Generations,
    JobQueue,
    MappingCache,
    ObjectCache,
    Operations,
    PictureStore,
    SearchStore,
    ShardStore,
    Sides,
    Stores,
    Switches,
    TopologySource,
    WideColumnStore,
)
from datasources.tls import BadCertificate
from datasources.topology import Topology
from datasources.topology_watch import Followed
from datasources.urls import BadUrl, mask, split
from datasources.waits import waiting_for

log = logging.getLogger("pinway.stores")


class _Closable(Protocol):
    async def close(self) -> None: ...


T = TypeVar("T")
C = TypeVar("C", bound=_Closable)

TOPOLOGIES: Mapping[str, Callable[[SplitResult], TopologySource]] = {
    "file": backends.file_topology,
    "zookeeper": backends.zookeeper_topology,
}
SWITCHES: Mapping[str, Callable[[SplitResult], Switches]] = {
    "file": backends.file_switches,
    "zookeeper": backends.zookeeper_switches,
}
OPERATIONS: Mapping[str, Callable[[SplitResult], Operations]] = {
    "zookeeper": backends.zookeeper_operations,
}
GENERATIONS: Mapping[str, Callable[[SplitResult], Generations]] = {
    "zookeeper": backends.zookeeper_generations,
}
"""Kept beside the topology. The gateway of a topology in a file is alone."""
OBJECT_CACHES: Mapping[str, Callable[[SplitResult, CacheOptions], ObjectCache]] = {
    "memory": backends.memory_cache,
    "memcached": backends.memcached_cache,
}
MAPPING_CACHES: Mapping[str, Callable[[SplitResult, CacheOptions], MappingCache]] = {
    "redis": backends.redis_lists,
    "rediss": backends.redis_lists,
    "redis+unix": backends.redis_lists,
}
BROADCASTS: Mapping[str, Callable[[SplitResult], Broadcasts]] = {
    "redis": backends.redis_broadcasts,
    "rediss": backends.redis_broadcasts,
    "redis+unix": backends.redis_broadcasts,
}
"""The server of the mapping cache carries the broadcasts, too."""
QUEUES: Mapping[str, Callable[[SplitResult], JobQueue]] = {
    "redis": backends.streaq_queue,
    "rediss": backends.streaq_queue,
    "redis+unix": backends.streaq_queue,
}
WIDE_COLUMNS: Mapping[str, Callable[[SplitResult], WideColumnStore]] = {
    "rocksdb": backends.rocksdb_columns,
    "hbase": backends.hbase_columns,
}
SEARCHES: Mapping[str, Callable[[SplitResult], SearchStore]] = {
    "tantivy": backends.tantivy_search,
    "opensearch": backends.opensearch_search,
    "opensearch+tls": backends.opensearch_search,
}
PICTURES: Mapping[str, Callable[[SplitResult], PictureStore]] = {
    "folder": backends.folder_pictures,
    "s3": backends.bucket_pictures,
}
SHARDS: Mapping[str, Callable[[Topology, "ShardsConfig"], ShardStore]] = {
    "sqlite": lambda topology, config: backends.sqlite_shards(topology),
    "mysql": lambda topology, config: backends.mysql_shards(
        topology,
        config.mysql_user,
        config.mysql_password,
        config.mysql_connections,
        config.slave_reads,
        config.mysql_ca,
    ),
}


@dataclass(frozen=True, kw_only=True)
class ShardsConfig:
    """The URL of the topology, which has the servers of the shards; `mysql_user` and
    `mysql_password` are used for all of them."""

    topology: str
    mysql_user: str = "pinway"
    mysql_password: str = field(default="", repr=False)
    mysql_connections: int = 32
    slave_reads: bool = True
    mysql_ca: str = ""


@dataclass(frozen=True, kw_only=True)
class StoresConfig(ShardsConfig):
    """The URLs of the stores, with the names of the settings in [stores]. Without `search`, there
    is no search index; without `pictures`, nothing is uploaded."""

    object_cache: str
    mapping_cache: str
    queue: str
    pools_primary: str
    pools_standby: str
    feeds_primary: str
    feeds_standby: str
    cache_refused_is_empty: bool = True
    cache_generations: bool = True
    search: str = ""
    pictures: str = ""


def open_topology(url: str) -> TopologySource:
    """Open the topology's source alone. Raises ConfigError."""
    return _open("topology", url, TOPOLOGIES)


def open_shards(topology: Topology, config: ShardsConfig) -> ShardStore:
    """Open the shards of a topology. Raises ConfigError."""
    schemes = {url.partition("://")[0] for url in topology.servers.values()}
    scheme = next(iter(schemes), "")
    if len(schemes) != 1 or scheme not in SHARDS:
        raise ConfigError(
            f"the topology at {mask(config.topology)!r}: its servers' addresses must all start "
            f"with one of {_schemes(SHARDS)}, not {', '.join(sorted(schemes)) or 'nothing'}"
        )
    try:
        with waiting_for("shards", lambda: "their driver is being loaded"):
            return SHARDS[scheme](topology, config)
    except BadCertificate as error:
        raise ConfigError(f"setting mysql.ca: {error}") from None
    except ImportError as error:
        raise _missing(f"the topology's {scheme}:// servers", error) from error


def open_operations(url: str) -> Operations:
    """Open the lock and the records of operators' work on this topology. Raises ConfigError."""
    return _open("topology", url, OPERATIONS)


def open_generations(topology: str) -> Generations | None:
    """Open the generations of the caches' servers, which are kept beside the topology of this URL;
    None for a topology in a file. Call it in the event loop. Raises ConfigError."""
    if urlsplit(topology).scheme not in GENERATIONS:
        return None
    return _open("topology", topology, GENERATIONS)


def open_search(url: str) -> SearchStore | None:
    """Open the search index; None without a URL. Raises ConfigError."""
    return _open("search", url, SEARCHES) if url else None


def open_dump_bucket(url: str, pictures: str) -> PictureStore:
    """Open a bucket for a dump. `pictures` is the URL of the pictures' store. Raises
    ConfigError."""
    try:
        return backends.bucket_dump(split(url), split(pictures))
    except BadUrl as error:
        raise ConfigError(f"can't write a dump to {mask(url)}: {error}") from None


def open_switches(url: str) -> Switches:
    """Open the switches that are kept beside the topology of this URL. Raises ConfigError."""
    return _open("topology", url, SWITCHES)


async def open_stores(config: StoresConfig) -> Stores:
    """Open all stores; settings with the same URL share one store.

    Raises ConfigError for a URL that no backend takes, and the StoreError of the topology's
    source. Stores that were opened before an error are closed again.
    """
    async with AsyncExitStack() as opened:

        def keep(store: C) -> C:
            opened.push_async_callback(store.close)
            return store

        source = keep(open_topology(config.topology))
        topology = await source.load()
        generations = open_generations(config.topology) if config.cache_generations else None
        if generations is not None:
            keep(generations)
        options = CacheOptions(config.cache_refused_is_empty, generations)
        objects = keep(_open("object_cache", config.object_cache, _bind(OBJECT_CACHES, options)))
        objects.use(topology)
        lists = keep(_open("mapping_cache", config.mapping_cache, _bind(MAPPING_CACHES, options)))
        broadcasts = keep(_open("mapping_cache", config.mapping_cache, BROADCASTS))
        queue = keep(_open("queue", config.queue, QUEUES))
        columns: dict[str, WideColumnStore] = {}
        for setting in ("pools_primary", "pools_standby", "feeds_primary", "feeds_standby"):
            url: str = getattr(config, setting)
            if url not in columns:
                columns[url] = keep(_open(setting, url, WIDE_COLUMNS))
        shards = keep(open_shards(topology, config))
        pictures = keep(_open("pictures", config.pictures, PICTURES)) if config.pictures else None
        opened.pop_all()
    return Stores(
        shards=shards,
        object_cache=objects,
        mapping_cache=lists,
        queue=queue,
        topology=Followed(source, shards, object_cache=objects),
        pools=Sides(columns[config.pools_primary], columns[config.pools_standby]),
        feeds=Sides(columns[config.feeds_primary], columns[config.feeds_standby]),
        broadcasts=broadcasts,
        pictures=pictures,
        generations=generations,
    )


async def close_stores(stores: Stores) -> None:
    """Close every store, the queue first. If a store can't be closed, all other stores are
    closed."""
    found: list[_Closable] = [
        stores.queue,
        *stores.pools,
        *stores.feeds,
        stores.broadcasts,
        stores.mapping_cache,
        stores.object_cache,
        *((stores.generations,) if stores.generations is not None else ()),
        stores.shards,
        stores.topology,
    ]
    for store in {id(store): store for store in found}.values():
        try:
            await asyncio.shield(store.close())
        except Exception:
            log.exception("closing %s failed", type(store).__name__)


def _bind(
    table: Mapping[str, Callable[[SplitResult, CacheOptions], T]], options: CacheOptions
) -> dict[str, Callable[[SplitResult], T]]:
    """The caches' openers, bound to the options that all of them take."""

    def bound(make: Callable[[SplitResult, CacheOptions], T]) -> Callable[[SplitResult], T]:
        return lambda url: make(url, options)

    return {scheme: bound(make) for scheme, make in table.items()}


def _open(setting: str, url: str, table: Mapping[str, Callable[[SplitResult], T]]) -> T:
    try:
        parts = split(url)
    except BadUrl as error:
        raise ConfigError(f"setting stores.{setting}: {mask(url)!r}: {error}") from None
    if parts.scheme not in table:
        raise ConfigError(
            f"setting stores.{setting}: {mask(url)!r} starts with none of {_schemes(table)}"
        )
    try:
        with waiting_for(setting, lambda: "its driver is being loaded"):
            return table[parts.scheme](parts)
    except BadUrl as error:
        raise ConfigError(f"setting stores.{setting}: {mask(url)!r}: {error}") from None
    except ImportError as error:
        raise _missing(f"setting stores.{setting}: {parts.scheme}://", error) from error


def _schemes(table: Mapping[str, object]) -> str:
    return ", ".join(f"{scheme}://" for scheme in table)


def _missing(what: str, error: ImportError) -> PinwayError:
    return ConfigError(
        f"{what} needs the package {error.name}, which is not installed: add it to this "
        f"environment (pip install {error.name}), or install Pinway with its extra `servers`"
    )
