"""Opening all stores by their URLs: the text of each error, and that no store stays open after
one."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from datasources import topology
from datasources.errors import ConfigError, StoreCorrupt
from datasources.factory import StoresConfig, close_stores, open_search, open_stores
from datasources.mappings import ListKey, Mapping
from datasources.memory import MemoryObjectCache
from datasources.protocols import Job, Lease, Table
from datasources.rocksdb import RocksWideColumns
from datasources.topology import ModShards, ShardRange, Topology
from datasources.urls import mask
from datasources.valkey import ValkeyServer

pytestmark = pytest.mark.anyio


def make_topology(path: Path, *servers: str) -> None:
    names = {f"S{n}": url for n, url in enumerate(servers)}
    path.write_bytes(
        topology.dump(
            Topology(
                epoch=1,
                servers=names,
                shards=(ShardRange((0, 3), "S0"),),
                mod=ModShards(2, (ShardRange((0, 1), "S0"),)),
            )
        )
    )


@pytest.fixture
def config(tmp_path: Path) -> StoresConfig:
    """Embedded stores, except for the Valkey, which does not exist: opening does not connect."""
    make_topology(tmp_path / "topology.json", f"sqlite://{tmp_path}/shards")
    return StoresConfig(
        topology=f"file://{tmp_path}/topology.json",
        object_cache="memory://?max_bytes=1000000",
        mapping_cache=f"redis+unix://{tmp_path}/valkey.sock?db=0",
        queue=f"redis+unix://{tmp_path}/valkey.sock?db=1",
        pools_primary=f"rocksdb://{tmp_path}/primary",
        pools_standby=f"rocksdb://{tmp_path}/standby",
        feeds_primary=f"rocksdb://{tmp_path}/primary",
        feeds_standby=f"rocksdb://{tmp_path}/standby",
    )


async def test_stores_of_one_url_are_one_store(config: StoresConfig) -> None:
    stores = await open_stores(config)
    assert stores.pools.primary is stores.feeds.primary
    assert stores.pools.standby is stores.feeds.standby
    assert stores.pools.primary is not stores.pools.standby
    assert isinstance(stores.object_cache, MemoryObjectCache)
    await close_stores(stores)


async def test_every_embedded_store_works_and_can_be_opened_again(
    config: StoresConfig, tmp_path: Path
) -> None:
    async with ValkeyServer(tmp_path / "odd name, 100% ?#") as server:
        config = replace(config, mapping_cache=server.url(0), queue=server.url(1))
        for _ in range(2):
            stores = await open_stores(config)
            await stores.shards.create()
            await stores.pools.primary.create([Table("t")])
            for store in (stores.object_cache, stores.mapping_cache, stores.queue, *stores.pools):
                await store.ping()
            key = ListKey(Mapping.PIN_HAS_COMMENTS, 1)
            assert isinstance((await stores.mapping_cache.heads([key]))[key], Lease)
            await stores.mapping_cache.drop([key])
            await stores.queue.enqueue([Job(1, 1)])
            assert await stores.queue.depth() == 1
            assert list((await stores.shards.ping()).values()) == [None]
            await close_stores(stores)


@pytest.mark.parametrize(
    ("setting", "url", "told"),
    [
        ("object_cache", "redis://h:1/0", "memory://, memcached://"),
        ("object_cache", "memory://?max_bytes=lots", "number of bytes"),
        ("object_cache", "memory://?max_bytes=0", "number of bytes"),
        ("object_cache", "memcached://h", "'h' must be host:port"),
        ("object_cache", "memcached://h:1,:2", "':2' must be host:port"),
        ("mapping_cache", "valkey", "redis://"),
        ("mapping_cache", "redis:///0", "a host is missing"),
        ("mapping_cache", "redis://::1:6379/0", "an IPv6 address needs brackets"),
        ("queue", "redis://u:p@fe80::1/0", "an IPv6 address needs brackets"),
        ("object_cache", "memcached://::1:11211", "an IPv6 address needs brackets"),
        ("queue", "amqp://h:1", "redis://"),
        ("queue", "redis+unix://?db=1", "an absolute path is missing"),
        ("topology", "http://h/t", "file://, zookeeper://"),
        ("topology", "file://topology.json", "an absolute path is missing"),
        ("topology", "zookeeper://h:2181", "a path is missing"),
        ("feeds_standby", "sqlite:///x", "rocksdb://, hbase://"),
        ("pools_primary", "hbase://h:1,h:2", "one Thrift server"),
        ("pools_primary", "rocksdb://relative/path", "an absolute path is missing"),
        ("pools_primary", "rocksdb://[half", "not a URL"),
    ],
)
async def test_a_wrong_url_is_named_with_what_is_allowed(
    config: StoresConfig, setting: str, url: str, told: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        await open_stores(replace(config, **{setting: url}))
    message = str(caught.value)
    assert f"setting stores.{setting}" in message
    assert told in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("elastic://h:9200/p", "tantivy://, opensearch://, opensearch+tls://"),
        ("opensearch://h:9200", "it must end with the beginning of the indexes' names"),
        ("opensearch://h:9200/Pin-way", "small letters, digits and underscores"),
        ("opensearch://h:9200,:1/pinway", "':1' must be host:port"),
        ("opensearch://me:secret@h:9200/pinway", "write opensearch+tls://"),
        ("opensearch://h:9200/pinway?shards=0", "shards must be a number"),
        ("opensearch://h:9200/pinway?replicas=2", "it takes only shards"),
        ("opensearch+tls://h:9200/pinway?ssl_ca_certs=/nowhere", "/nowhere has no certificates"),
    ],
)
def test_a_wrong_url_of_a_search_index_is_named_with_what_is_allowed(url: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        open_search(url)
    message = str(caught.value)
    assert "setting stores.search" in message
    assert told in message
    assert "secret" not in message


async def test_passwords_are_not_shown(config: StoresConfig) -> None:
    url = "rediz://me:secret@host:6379/0"
    with pytest.raises(ConfigError) as caught:
        await open_stores(replace(config, mapping_cache=url))
    assert "secret" not in str(caught.value)
    assert mask(url) == "rediz://me:***@host:6379/0"
    assert "hush" not in repr(replace(config, mysql_password="hush"))


async def test_what_was_opened_is_closed_when_a_later_store_fails(
    config: StoresConfig, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError):
        await open_stores(replace(config, feeds_standby="nonsense"))
    again = RocksWideColumns(tmp_path / "primary")
    await again.close()


async def test_a_missing_driver_is_one_line_that_says_what_to_install(
    config: StoresConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in [name for name in sys.modules if name.startswith("datasources.zookeeper")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "kazoo.client", None)
    with pytest.raises(ConfigError, match="pip install"):
        await open_stores(replace(config, topology="zookeeper://h:2181/pinway/topology"))


async def test_a_missing_topology_says_where_it_was_looked_for(
    config: StoresConfig, tmp_path: Path
) -> None:
    (tmp_path / "topology.json").unlink()
    with pytest.raises(StoreCorrupt, match=r"topology\.json"):
        await open_stores(config)


@pytest.mark.parametrize("servers", [["ftp://h"], ["sqlite:///a", "mysql://h:1"]])
async def test_servers_that_no_one_backend_takes_are_refused(
    config: StoresConfig, tmp_path: Path, servers: list[str]
) -> None:
    make_topology(tmp_path / "topology.json", *servers)
    with pytest.raises(ConfigError, match="sqlite://, mysql://"):
        await open_stores(config)
