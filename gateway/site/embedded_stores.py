"""The embedded stores under `data_dir`, for settings with the value `embedded`."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

import msgspec

from datasources.errors import ConfigError, StoreCorrupt
from datasources.factory import StoresConfig
from datasources.topology import ModShards, ShardRange, Topology, dump, parse
from datasources.urls import mask
from datasources.valkey import ValkeyServer
from datasources.waits import waiting_for
from gateway.settings import EMBEDDED, Settings
from gateway.site.directory import check_directory, make_directory

SHARDS, MOD_SHARDS = 16, 4
DATA = ("topology", "pools_primary", "pools_standby", "feeds_primary", "feeds_standby")
"""The settings of the stores that hold data. All other stores are caches, and the queue."""
_TOPOLOGY = "topology.json"


@asynccontextmanager
async def embedded(settings: Settings) -> AsyncIterator[StoresConfig]:
    """The stores' URLs, including the embedded stores' URLs. Valkey runs inside the block."""
    data = settings.data_dir.resolve()
    valkey: ValkeyServer | None = None
    urls = {
        "topology": settings.stores.topology,
        "mapping_cache": settings.stores.mapping_cache,
        "queue": settings.stores.queue,
        "pools_primary": settings.stores.pools_primary,
        "pools_standby": settings.stores.pools_standby,
        "feeds_primary": settings.stores.feeds_primary,
        "feeds_standby": settings.stores.feeds_standby,
    }
    if EMBEDDED in urls.values():
        make_directory(data)
    if urls["topology"] == EMBEDDED:
        urls["topology"] = f"file://{quote(str(_topology_file(data)))}"
    for role, side in (("primary", "primary"), ("standby", "standby")):
        for store in ("pools", "feeds"):
            if urls[f"{store}_{role}"] == EMBEDDED:
                urls[f"{store}_{role}"] = f"rocksdb://{quote(str(data / 'feeds' / side))}"
    try:
        if EMBEDDED in (urls["mapping_cache"], urls["queue"]):
            valkey = ValkeyServer(data)
            with waiting_for("embedded Valkey", lambda: "it is starting"):
                await valkey.start()
            for database, name in enumerate(("mapping_cache", "queue")):
                if urls[name] == EMBEDDED:
                    urls[name] = valkey.url(database)
        yield StoresConfig(
            **urls,
            object_cache=settings.stores.object_cache,
            cache_refused_is_empty=settings.stores.cache_refused_is_empty,
            cache_generations=settings.stores.cache_generations,
            mysql_user=settings.mysql.user,
            mysql_password=settings.mysql.password,
            mysql_ca=settings.mysql.ca,
            mysql_connections=settings.mysql.connections,
            slave_reads=settings.stores.slave_reads,
            search=search_url(settings),
            pictures=_pictures_url(settings),
        )
    finally:
        if valkey is not None:
            await valkey.stop()


def search_url(settings: Settings) -> str:
    """The URL of the search index. The embedded index is under `data_dir`, in a folder for these
    shards; it is created when it is built."""
    url = settings.stores.search
    if url != EMBEDDED:
        return url
    return f"tantivy://{quote(str(file_of_shards(settings, 'search', 'index')))}"


def _pictures_url(settings: Settings) -> str:
    """The URL of the uploaded pictures. The embedded store is a folder under `data_dir`."""
    url = settings.stores.pictures
    if url != EMBEDDED:
        return url
    return f"folder://{quote(str(file_of_shards(settings, 'pictures', 'files')))}"


def file_of_shards(settings: Settings, folder: str, name: str) -> Path:
    """A file under `data_dir` that belongs to the shards of these settings."""
    if settings.stores.topology != EMBEDDED:
        name += f"-{hashlib.sha256(mask(settings.stores.topology).encode()).hexdigest()[:16]}"
    return settings.data_dir.resolve() / folder / name


def is_all_embedded(settings: Settings) -> bool:
    """Whether all data is in embedded stores."""
    return all(getattr(settings.stores, name) == EMBEDDED for name in DATA)


def check_made(settings: Settings) -> None:
    """Check that the embedded stores were created, for commands that only read. Raises ConfigError
    if they were not, or belong to another user."""
    if settings.stores.topology != EMBEDDED:
        return
    data = settings.data_dir.resolve()
    check_directory(data)
    if not (data / _TOPOLOGY).exists():
        raise ConfigError(
            f"there is no content in {data}: fill it with `pinway run` or "
            "`pinway import`, or name another directory with --data-dir"
        )


def topology_url(settings: Settings) -> str:
    """The URL of the topology. Creates none. Raises ConfigError if the embedded topology belongs to
    another user."""
    if settings.stores.topology != EMBEDDED:
        return settings.stores.topology
    data = settings.data_dir.resolve()
    check_directory(data)
    path = data / _TOPOLOGY
    return f"file://{quote(str(_topology_file(data) if path.exists() else path))}"


def _topology_file(data: Path) -> Path:
    """The embedded shards' topology, created at the first start. Its shards are in `data`, even if
    the directory was moved or copied."""
    path = data / _TOPOLOGY
    local, url = "local", f"sqlite://{quote(str(data / 'shards'))}"
    if path.exists():
        try:
            topology = parse(path.read_bytes())
        except StoreCorrupt:
            return path  # its reader reports the fault
        if topology.servers.get(local, url) != url:
            servers = topology.servers | {local: url}
            _write_whole(path, dump(msgspec.structs.replace(topology, servers=servers)))
    else:
        topology = Topology(
            epoch=1,
            servers={local: url},
            shards=(ShardRange((0, SHARDS - 1), local),),
            mod=ModShards(MOD_SHARDS, (ShardRange((0, MOD_SHARDS - 1), local),)),
        )
        _write_whole(path, dump(topology))
    return path


def _write_whole(path: Path, content: bytes) -> None:
    """Write a file in one step, so that it is never seen half written."""
    new = path.with_name(f"{path.name}.new")
    new.write_bytes(content)
    new.replace(path)
