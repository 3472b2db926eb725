"""A memcached server is reached before it comes into the list of servers."""

import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from datasources.cache_lists import address_of, begun, first_list, turned
from datasources.errors import ConfigError, StoreUnavailable
from datasources.memcached import MemcachedObjectCache
from datasources.memcached.reach import addresses_at, reach
from datasources.topology import ModShards, ShardRange, Topology
from tests.faults.memcached_server import memcached, until_listening
from tests.pinway_process import free_port

pytestmark = pytest.mark.anyio
ONE = (ShardRange((0, 0), "one"),)
TOPOLOGY = Topology(1, {"one": "sqlite:///one"}, ONE, ModShards(1, ONE))


@dataclass
class Name:
    """A name that stands for these addresses."""

    addresses: Sequence[str]

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        return self.addresses


async def test_a_name_of_two_servers_is_refused_and_two_addresses_of_one_are_not() -> None:
    port = free_port()
    both = Name(["127.0.0.1", "127.0.0.2"])
    with ExitStack() as running:
        running.enter_context(memcached(port))
        await until_listening("127.0.0.1", port)
        await reach(f"name:{port}", resolve=both)  # nothing listens at the second address
        assert await reach(f"localhost:{port}") == await reach(f"127.0.0.1:{port}")
        running.enter_context(memcached(port, host="127.0.0.2"))
        await until_listening("127.0.0.2", port)
        told = f"object cache name:{port}: different servers answer at its addresses 127.0.0.1, 127"
        with pytest.raises(ConfigError, match=re.escape(told)):
            await reach(f"name:{port}", resolve=both)
    with ExitStack() as running:
        running.enter_context(memcached(port, host="0.0.0.0"))
        await until_listening("127.0.0.1", port)
        await reach(f"name:{port}", resolve=both)


async def test_only_servers_that_are_read_count_for_the_state_of_the_cache() -> None:
    """A dead server that a change brings, or that leaves, is no fault of a cache's reads."""
    port, dead = free_port(), free_port()
    alive_list = first_list([address_of("127.0.0.1", port)])
    with memcached(port):
        await until_listening("127.0.0.1", port)
        cache = MemcachedObjectCache([("127.0.0.1", port)])
        try:
            lists = begun(alive_list, [address_of("127.0.0.1", dead)])
            cache.use(replace(TOPOLOGY, epoch=2, caches=lists))
            await cache.ping()
            cache.use(replace(TOPOLOGY, epoch=3, caches=turned(lists)))
            with pytest.raises(StoreUnavailable, match=str(dead)):
                await cache.ping()
        finally:
            await cache.close()


async def test_a_server_that_refuses_connections_and_an_unknown_name_are_told() -> None:
    port = free_port()
    with pytest.raises(StoreUnavailable, match=rf"object cache 127.0.0.1:{port}: .*refused|failed"):
        await reach(f"127.0.0.1:{port}")
    with pytest.raises(StoreUnavailable, match=r"object cache nowhere.invalid:1: "):
        await reach("nowhere.invalid:1")
    assert "127.0.0.1" in await addresses_at("localhost", port)
