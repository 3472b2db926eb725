"""The embedded stores under `data_dir`, for settings with the value `embedded`."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

import msgspec

from datasources.errors import ConfigError, StoreCorrupt
from datasources.factory import StoresConfig
from datasources.topology import ModShards, ShardRange, Topology, dump, parse
from datasources.valkey import ValkeyServer
from gateway.settings import EMBEDDED, Settings

SHARDS, MOD_SHARDS = 16, 4
_TOPOLOGY = "topology.json"


@asynccontextmanager
async def embedded(settings: Settings) -> AsyncIterator[StoresConfig]:
    """The stores' URLs, including the embedded stores' URLs. Valkey runs inside the block."""
    data = settings.data_dir.resolve()
    valkey: ValkeyServer | None = None
    urls = {
        "topology": settings.topology,
        "mapping_cache": settings.mapping_cache,
        "queue": settings.queue,
        "pools_primary": settings.pools_primary,
        "pools_standby": settings.pools_standby,
        "feeds_primary": settings.feeds_primary,
        "feeds_standby": settings.feeds_standby,
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
            await valkey.start()
            for database, name in enumerate(("mapping_cache", "queue")):
                if urls[name] == EMBEDDED:
                    urls[name] = valkey.url(database)
        yield StoresConfig(
            **urls,
            object_cache=settings.object_cache,
            cache_refused_is_empty=settings.cache_refused_is_empty,
            mysql_user=settings.mysql_user,
            mysql_password=settings.mysql_password,
            mysql_connections=settings.mysql_connections,
            slave_reads=settings.slave_reads,
        )
    finally:
        if valkey is not None:
            await valkey.stop()


def check_made(settings: Settings) -> None:
    """Check that the embedded stores were created, for commands that only read. Raises ConfigError
    if they were not."""
    if settings.topology == EMBEDDED and not (settings.data_dir / _TOPOLOGY).exists():
        raise ConfigError(
            f"there is no content in {settings.data_dir.resolve()}: fill it with `pinway run` or "
            "`pinway import`, or name another directory with --data-dir"
        )


def topology_url(settings: Settings) -> str:
    """The URL of the topology. Creates nothing."""
    if settings.topology != EMBEDDED:
        return settings.topology
    return f"file://{quote(str(settings.data_dir.resolve() / 'topology.json'))}"


def make_directory(data: Path) -> None:
    """Create the data directory if it is missing, for its owner alone: the files have what is on
    secret boards. Raises ConfigError if it can't be used."""
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"can't make the data directory {data}: {error.strerror}; set data_dir to another"
        ) from None
    if not os.access(data, os.R_OK | os.W_OK | os.X_OK):
        raise ConfigError(
            f"the data directory {data} belongs to another user and can't be written: run `sudo "
            f"chown -R $USER {data}`, remove it as that user, or set data_dir to another"
        )


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
