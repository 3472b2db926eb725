"""Embedded stores for tests, each in a directory of its own."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partialmethod
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
import redis.asyncio
from rocksdict import Options, Rdict

from datasources.factory import StoresConfig, close_stores, open_stores
from datasources.protocols import Job, Stores
from datasources.redis import RedisBroadcasts, RedisMappingCache
from datasources.rocksdb.directory import new_options, open_directory
from datasources.sqlite import SqliteShards
from datasources.streaq import StreaqQueue
from datasources.topology import ModShards, ShardRange, Topology
from datasources.valkey import ValkeyServer
from feed_engine.feeds.rows import TABLES_FEEDS, TABLES_POOLS
from feed_engine.outbox.completion import settle
from feed_engine.outbox.jobs import run_job

SHARDS, MOD_SHARDS = 6, 3
PATIENT = 60.0
"""Seconds for a call of a store: on a busy machine, Valkey may not answer in its usual time."""


def sqlite_topology(directory: Path, shards: int = 2) -> Topology:
    """Shards and one mod shard in SQLite files of one directory."""
    return Topology(
        1,
        {"local": f"sqlite://{quote(str(directory))}"},
        (ShardRange((0, shards - 1), "local"),),
        ModShards(1, (ShardRange((0, 0), "local"),)),
    )


_NEW_SHARDS: dict[str, bytes] = {}
"""The files of new shards. To write them takes a fifth of the time of creating their tables."""


def embedded_config(directory: Path, valkey: ValkeyServer) -> StoresConfig:
    """All stores are in `directory`, except the mapping cache and the queue, which are in
    `valkey`. The pools and the feeds of a side share a store, as in a gateway."""
    topology = directory / "topology.json"
    if not topology.exists():
        _write_new_shards(directory / "shards")
        topology.write_text(
            json.dumps(
                {
                    "epoch": 1,
                    "servers": {"local": f"sqlite://{directory}/shards"},
                    "shards": [{"range": [0, SHARDS - 1], "master": "local"}],
                    "mod": {
                        "count": MOD_SHARDS,
                        "ranges": [{"range": [0, MOD_SHARDS - 1], "master": "local"}],
                    },
                }
            )
        )
    return StoresConfig(
        topology=f"file://{topology}",
        object_cache="memory://?max_bytes=8388608",
        mapping_cache=valkey.url(0),
        queue=valkey.url(1),
        pools_primary=f"rocksdb://{directory}/primary",
        pools_standby=f"rocksdb://{directory}/standby",
        feeds_primary=f"rocksdb://{directory}/primary",
        feeds_standby=f"rocksdb://{directory}/standby",
    )


def _write_new_shards(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for name, content in _NEW_SHARDS.items():
        (folder / name).write_bytes(content)


def _keep_new_shards(folder: Path) -> None:
    if not any(folder.glob("*-wal")):  # otherwise a file does not have all of its content
        _NEW_SHARDS.update({path.name: path.read_bytes() for path in folder.glob("*.sqlite")})


@contextmanager
def patient_stores() -> Iterator[None]:
    """Stores that are opened meanwhile wait long for answers: the machine may be busy."""
    with pytest.MonkeyPatch.context() as patch:
        for store in (RedisMappingCache, RedisBroadcasts, StreaqQueue, SqliteShards):
            patient = partialmethod(store.__init__, deadline=PATIENT)  # type: ignore[misc]
            patch.setattr(store, "__init__", patient)
        yield


def _open_with_tables(path: Path, cache_bytes: int) -> tuple[Rdict, set[str], Options]:
    """`open_directory`, but a new directory gets all tables when it is opened. That takes a third
    of the processor time of creating them one by one."""
    if path.exists():
        return open_directory(path, cache_bytes)
    options = new_options(cache_bytes)
    options.create_missing_column_families(True)
    names = {table.name for table in (*TABLES_POOLS, *TABLES_FEEDS)}
    path.mkdir(parents=True)
    return Rdict(str(path), options, dict.fromkeys(names, options)), names, options


@asynccontextmanager
async def embedded_stores(config: StoresConfig) -> AsyncIterator[Stores]:
    """All stores, created if they are new. They are closed when the background work is done."""
    with patient_stores(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("datasources.rocksdb.store.open_directory", _open_with_tables)
        stores = await open_stores(config)
    try:
        if await stores.shards.absent():
            await stores.shards.create()
            _keep_new_shards(Path(urlsplit(config.topology).path).with_name("shards"))
        for sides, tables in ((stores.pools, TABLES_POOLS), (stores.feeds, TABLES_FEEDS)):
            for side in sides:
                await side.create(tables)
        yield stores
        await settle()
    finally:
        await close_stores(stores)


@pytest.fixture(scope="session")
async def valkey(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ValkeyServer]:
    """One server for all tests of a session. Ids differ from test to test, so the tests can share
    it."""
    async with ValkeyServer(tmp_path_factory.mktemp("valkey")) as server:
        yield server


@pytest.fixture(scope="module")
async def stores(
    valkey: ValkeyServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stores]:
    """Embedded stores for the tests of a module. Each test creates its own users."""
    await flush(valkey)
    async with embedded_stores(
        embedded_config(tmp_path_factory.mktemp("stores"), valkey)
    ) as opened:
        yield opened


async def flush(valkey: ValkeyServer) -> None:
    """Empty the cache and the queue: new stores use the same ids again."""
    client = redis.asyncio.Redis.from_url(valkey.url().replace("redis+unix:", "unix:"))
    await client.flushall()
    await client.aclose()


async def drain(stores: Stores) -> None:
    """Run jobs until none is left, as a worker and the relay would."""
    await settle()
    while rows := await stores.shards.outbox.pending(2**62, 1000):
        for row in rows:
            assert not row.attempts, await stores.shards.outbox.parked()
            await run_job(stores, Job(row.shard, row.id))
