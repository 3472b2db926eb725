"""Cache servers that restart: leases and entries of an earlier run must not be used."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from datasources.errors import Refused
from datasources.mappings import Edge, ListHead, ListKey, ListMove, Mapping, PageRequest
from datasources.memcached import MemcachedObjectCache
from datasources.protocols import Lease, Window
from datasources.redis import RedisMappingCache
from datasources.valkey import ValkeyServer
from tests.faults.memcached_server import memcached, until_it_answers
from tests.pinway_process import free_port
from tests.proxy import Proxy

pytestmark = pytest.mark.anyio
KEY = ListKey(Mapping.USER_HAS_BOARDS, 3 << 46 | 3 << 36 | 1)
PATIENT = 60.0


async def test_a_lease_of_memcacheds_earlier_run_fills_nothing() -> None:
    """Each run counts its writes from one, so the old and the new lease have equal numbers."""
    port = free_port()
    cache = MemcachedObjectCache([("127.0.0.1", port)], deadline=PATIENT)
    with memcached(port):
        await until_it_answers(cache, port)
        old = (await cache.get([1]))[1]
        assert isinstance(old, Lease)
    with memcached(port):
        await until_it_answers(cache, port)
        new = (await cache.get([1]))[1]
        assert isinstance(new, Lease)
        assert old.token.split(":")[1] == new.token.split(":")[1]
        await cache.fill([(old, b"old")])
        assert await cache.get([1]) == {}
        await cache.fill([(new, b"new")])
        assert await cache.get([1]) == {1: b"new"}
    await cache.close()


class Alike(Proxy):
    """A path to memcached on which all runs have the same process id and start, as runs in a
    container may have."""

    async def _pipe(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        note: Callable[[], Awaitable[None]],
    ) -> None:
        while data := await reader.read(65536):
            writer.write(re.sub(rb"(STAT (?:pid|uptime|time)) \d+", rb"\1 1", data))


async def test_a_run_with_the_same_process_id_and_start_is_another_run() -> None:
    port = free_port()
    path = Alike("127.0.0.1", port)
    await path.mend()
    cache = MemcachedObjectCache([("127.0.0.1", path.port)], deadline=PATIENT)
    tokens = []
    for _ in range(2):
        with memcached(port):
            await until_it_answers(cache, port)
            lease = (await cache.get([1]))[1]
            assert isinstance(lease, Lease)
            tokens.append(lease.token)
            await cache.fill([(Lease(1, tokens[0]), b"old")])
            assert len(tokens) == 1 or await cache.get([1]) == {}
    assert tokens[0] != tokens[1]
    assert [token.split(":")[1:] for token in tokens] == [tokens[0].split(":")[1:]] * 2
    await cache.close()
    await path.cut()


async def fill(cache: RedisMappingCache) -> None:
    (lease,) = await cache.pages([PageRequest(KEY, 5)])
    head = (await cache.heads([KEY]))[KEY]
    assert isinstance(lease, Lease)
    assert isinstance(head, Lease)
    await cache.fill_pages([(lease, Window([Edge(KEY.from_id, 9, 9, 0)], True))])
    await cache.fill_heads([(head, ListHead(1, 1))])


async def test_lists_of_a_valkeys_earlier_run_are_read_again_from_the_store(tmp_path: Path) -> None:
    """The Valkey still has its data, but may have lost a drop in its last second."""
    server = ValkeyServer(tmp_path)
    await server.start()
    here, there = (RedisMappingCache(server.url(), deadline=PATIENT) for _ in range(2))
    await fill(here)
    assert await there.pages([PageRequest(KEY, 5)]) == [[Edge(KEY.from_id, 9, 9, 0)]]
    await server.stop()
    await server.start()
    for cache in (here, there):
        await cache.drop([ListKey(Mapping.USER_HAS_BOARDS, 1)])
    assert isinstance((await here.pages([PageRequest(KEY, 5)]))[0], Lease)
    assert isinstance((await there.heads([KEY]))[KEY], Lease)
    await server.stop()
    for cache in (here, there):
        await cache.close()


async def test_a_lease_of_a_valkeys_earlier_run_fills_nothing(tmp_path: Path) -> None:
    server = ValkeyServer(tmp_path)
    await server.start()
    cache = RedisMappingCache(server.url(), deadline=PATIENT)
    (lease,) = await cache.pages([PageRequest(KEY, 5)])
    assert isinstance(lease, Lease)
    await server.stop()
    await server.start()
    await cache.fill_pages([(lease, Window([], True))])
    assert isinstance((await cache.pages([PageRequest(KEY, 5)]))[0], Lease)
    await cache.close()
    await server.stop()


@pytest.mark.parametrize("empty", [True, False])
async def test_a_cache_that_refuses_connections_is_empty_if_the_setting_says_so(
    empty: bool,
) -> None:
    port = free_port()
    objects = MemcachedObjectCache([("127.0.0.1", port)], refused_is_empty=empty)
    lists = RedisMappingCache(f"redis://127.0.0.1:{port}/0", refused_is_empty=empty)
    move = ListMove(KEY, 1, old=1, new=2, version=2)
    for drop in (objects.drop([1]), lists.drop([KEY]), lists.move([move])):
        if empty:
            await drop
        else:
            with pytest.raises(Refused):
                await drop
    with pytest.raises(Refused):
        await lists.heads([ListKey(Mapping.USER_HAS_BOARDS, 1)])
    await objects.close()
    await lists.close()
