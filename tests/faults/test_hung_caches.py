"""Caches whose servers are stopped (SIGSTOP) and continued: few reads wait, and no reader gets a
value that is older than an acknowledged write."""

import asyncio
import os
import random
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from datasources.cache_lists import address_of, first_list
from datasources.circuit import CircuitState, Mode
from datasources.errors import StoreError, StoreTimeout, StoreUnavailable
from datasources.mappings import Edge, ListKey, ListMove, Mapping, PageRequest
from datasources.memcached import MemcachedObjectCache
from datasources.memcached.placement import Placement
from datasources.protocols import Lease, Window
from datasources.redis import RedisMappingCache
from datasources.valkey import ValkeyServer
from tests.contract.circuits import until_modes, until_well
from tests.faults.memcached_server import memcached, until_it_answers
from tests.gateways import embedded_gateway
from tests.pinway_process import free_port
from tests.stopped_process import stop_process

pytestmark = pytest.mark.anyio
ID = 7
KEY = ListKey(Mapping.BOARD_HAS_PINS, ID)
DEADLINE = 0.2
BOTH = ["memcached", "redis"]


class Entry(NamedTuple):
    """One entry of a cache, whose values are versions, as one gateway uses it."""

    ask: Callable[[], Awaitable[int | Lease | None]]
    fill: Callable[[Lease, int], Awaitable[None]]
    drop: Callable[[], Awaitable[None]]
    circuits: Callable[[], list[CircuitState]]


class Site(NamedTuple):
    """A cache's server, and its entry as several gateways use it."""

    pid: int
    gateways: list[Entry]
    caches: list[Any]

    def stop(self) -> None:
        stop_process(self.pid)

    def go_on(self) -> None:
        os.kill(self.pid, signal.SIGCONT)


def of_memcached(cache: MemcachedObjectCache) -> Entry:
    async def ask() -> int | Lease | None:
        found = (await cache.get([ID])).get(ID)
        return int(found) if isinstance(found, bytes) else found

    async def fill(lease: Lease, version: int) -> None:
        await cache.fill([(lease, b"%d" % version)])

    return Entry(ask, fill, lambda: cache.drop([ID]), cache.circuits)


def of_redis(cache: RedisMappingCache) -> Entry:
    async def ask() -> int | Lease | None:
        (found,) = await cache.pages([PageRequest(KEY, 1)])
        return found[0].sequence if isinstance(found, list) else found

    async def fill(lease: Lease, version: int) -> None:
        await cache.fill_pages([(lease, Window([Edge(ID, 1, version, 0)], True))])

    return Entry(ask, fill, lambda: cache.drop([KEY]), cache.circuits)


@asynccontextmanager
async def site(kind: str, directory: Path, *, gateways: int = 2) -> AsyncIterator[Site]:
    async with AsyncExitStack() as opened:
        if kind == "memcached":
            port = free_port()
            pid = opened.enter_context(memcached(port))
            servers = [("127.0.0.1", port)]
            objects = [MemcachedObjectCache(servers, deadline=DEADLINE) for _ in range(gateways)]
            await until_it_answers(objects[0], port)
            entries = [of_memcached(cache) for cache in objects]
            caches: list[Any] = [*objects]
        else:
            server = ValkeyServer(directory)
            await server.start()
            opened.push_async_callback(server.stop)
            assert server.pid is not None
            pid = server.pid
            lists = [RedisMappingCache(server.url(), deadline=DEADLINE) for _ in range(gateways)]
            entries = [of_redis(cache) for cache in lists]
            caches = [*lists]
        for cache in caches:
            opened.push_async_callback(cache.close)
            await warmed(cache)
        found = Site(pid, entries, caches)
        opened.callback(found.go_on)
        yield found


async def warmed(cache: Any) -> None:
    """Connect, and teach the scripts, however long that takes on a busy machine."""
    while True:
        try:
            if isinstance(cache, RedisMappingCache):
                await cache.pages([PageRequest(ListKey(Mapping.BOARD_HAS_PINS, 1), 1)])
            await cache.ping()
            return
        except StoreError:
            await asyncio.sleep(0)  # a read that passes the server by fails without a turn


async def cached(entry: Entry, version: int) -> None:
    """Put a version in the cache."""
    while await answer(entry) != version:
        try:
            await entry.drop()
            lease = await entry.ask()
            if isinstance(lease, Lease):
                await entry.fill(lease, version)
        except StoreError:
            await asyncio.sleep(0)


async def answer(entry: Entry) -> int | Lease | None:
    """The cache's answer; None if it fails."""
    try:
        return await entry.ask()
    except StoreError:
        return None


@pytest.mark.parametrize("kind", BOTH)
async def test_three_reads_wait_for_a_stopped_cache_and_no_more(kind: str, tmp_path: Path) -> None:
    async with site(kind, tmp_path, gateways=1) as here:
        [entry] = here.gateways
        here.stop()
        failures = []
        for _ in range(60):
            with pytest.raises(StoreError) as failure:
                await entry.ask()
            failures.append(failure.type)
        assert failures.count(StoreTimeout) <= 3
        assert failures[3:] == [StoreUnavailable] * 57


@pytest.mark.parametrize("kind", BOTH)
async def test_no_write_is_confirmed_while_the_cache_is_stopped(kind: str, tmp_path: Path) -> None:
    async with site(kind, tmp_path, gateways=1) as here:
        [entry] = here.gateways
        here.stop()
        failures = []
        for _ in range(30):
            with pytest.raises(StoreError) as failure:
                await entry.drop()
            failures.append(failure.type)
        refused = entry.circuits()[0].refused
        assert refused == failures.count(StoreUnavailable)
        assert refused >= 20  # three fail before the circuit opens, then one a second is tried


@pytest.mark.parametrize("kind", BOTH)
async def test_a_cache_that_goes_on_does_not_show_what_was_overwritten_meanwhile(
    kind: str, tmp_path: Path
) -> None:
    """The gateway that wrote never shows the older value, although its write failed; the other
    gateways don't after the write was sent again, and acknowledged."""
    async with site(kind, tmp_path) as here:
        writer, other = here.gateways
        await cached(writer, 1)
        here.stop()
        while writer.circuits()[0].mode is not Mode.AVOIDED:
            with pytest.raises(StoreError):
                await writer.drop()
        here.go_on()
        seen = []
        while (state := writer.circuits()[0]).owed or state.mode is not Mode.WELL:
            seen.append(await answer(writer))
            await asyncio.sleep(0)
        seen.append(await answer(writer))
        assert 1 not in seen
        await writer.drop()
        assert await answer(other) != 1


@pytest.mark.parametrize("kind", BOTH)
async def test_a_write_that_waits_for_the_stopped_cache_is_owed_when_it_is_given_up(
    kind: str, tmp_path: Path
) -> None:
    async with site(kind, tmp_path, gateways=1) as here:
        [entry] = here.gateways
        await cached(entry, 1)
        here.stop()
        write = asyncio.ensure_future(entry.drop())
        await asyncio.sleep(0)
        write.cancel()
        await asyncio.gather(write, return_exceptions=True)
        here.go_on()
        assert await answer(entry) != 1


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("seed", range(3))
async def test_readers_and_writers_while_the_cache_stops_and_goes_on(
    kind: str, seed: int, tmp_path: Path
) -> None:
    """Each read gets at least the version of the last acknowledged write, and of the last write of
    its own gateway that has ended, acknowledged or not."""
    dice = random.Random(seed)
    async with site(kind, tmp_path) as here:
        stored = acknowledged = shown = failed = 0
        ended = [0 for _ in here.gateways]
        done = False

        async def read(number: int) -> None:
            nonlocal shown
            entry = here.gateways[number]
            while not done:
                least = max(acknowledged, ended[number])
                found = await answer(entry)
                if isinstance(found, int):
                    assert found >= least
                    shown += 1
                elif isinstance(found, Lease):
                    version = stored
                    await asyncio.sleep(dice.random() * 0.01)
                    try:
                        await entry.fill(found, version)
                    except StoreError:
                        continue
                await asyncio.sleep(dice.random() * 0.01)

        async def write(number: int) -> None:
            nonlocal stored, acknowledged, failed
            while not done:
                stored += 1
                mine = stored
                try:
                    await here.gateways[number].drop()
                    acknowledged = max(acknowledged, mine)
                except StoreError:
                    failed += 1
                ended[number] = max(ended[number], mine)
                await asyncio.sleep(dice.random() * 0.05)

        async def stop_and_go_on() -> None:
            nonlocal done
            for _ in range(3):
                before = shown
                while shown < before + 20:  # noqa: ASYNC110 nobody tells
                    await asyncio.sleep(0.01)
                here.stop()
                before = failed
                while failed < before + 20:  # noqa: ASYNC110 nobody tells
                    await asyncio.sleep(0.01)
                here.go_on()
            done = True

        async with asyncio.TaskGroup() as group:
            for number in range(len(here.gateways)):
                group.create_task(write(number))
                for _ in range(3):
                    group.create_task(read(number))
            group.create_task(stop_and_go_on())


async def test_each_server_of_several_has_a_circuit_of_its_own() -> None:
    ports = [free_port() for _ in range(2)]
    with memcached(ports[0]) as first, memcached(ports[1]):
        cache = MemcachedObjectCache([("127.0.0.1", port) for port in ports], deadline=DEADLINE)
        for port in ports:
            await until_it_answers(MemcachedObjectCache([("127.0.0.1", port)]), port)
        first_address, second_address = (address_of("127.0.0.1", port) for port in ports)
        placement = Placement(first_list([first_address, second_address]))
        on_first, on_second = (
            [id for id in range(40) if placement.place(id)[0] == address]
            for address in (first_address, second_address)
        )
        found = await cache.get(range(40))
        leases = [(lease, b"v") for lease in found.values() if isinstance(lease, Lease)]
        await cache.fill(leases)
        assert len(await cache.get(range(40))) == 40
        stop_process(first)
        try:
            for _ in range(5):
                assert (await cache.get(range(40))).keys() == set(on_second)
            await until_modes(cache, {Mode.AVOIDED, Mode.WELL})
            assert [state.mode for state in cache.circuits()] == [Mode.AVOIDED, Mode.WELL]
            with pytest.raises(StoreError):
                await cache.get(on_first)
            await cache.drop(on_second)
            with pytest.raises(StoreError):
                await cache.drop(range(40))
        finally:
            os.kill(first, signal.SIGCONT)
        await until_well(cache)
        assert all(isinstance(found, Lease) for found in (await cache.get(range(40))).values())
        await cache.close()


async def test_a_move_is_not_confirmed_by_a_stopped_cache_and_is_not_undone_by_it(
    tmp_path: Path,
) -> None:
    async with site("redis", tmp_path, gateways=1) as here:
        [entry], [cache] = here.gateways, here.caches
        await cached(entry, 1)
        here.stop()
        with pytest.raises(StoreError):
            await cache.move([ListMove(KEY, 1, old=1, new=2, version=1)])
        assert await cache.pages([PageRequest(KEY, 1)]) == [None]
        here.go_on()
        await until_well(cache)
        (found,) = await cache.pages([PageRequest(KEY, 1)])
        assert isinstance(found, Lease)


BOARD = "query($id: ID!) { node(id: $id) { ... on Board { name } } }"
RENAME = (
    "mutation($input: UpdateBoardInput!) { updateBoard(input: $input) { board { name } "
    "errors { message } } }"
)


async def test_a_board_renamed_while_memcached_is_stopped_keeps_its_new_name(
    tmp_path: Path,
) -> None:
    """The rename answers UNAVAILABLE, is kept, and is acknowledged when it is sent again after
    memcached went on; no answer in between has the old name."""
    port = free_port()
    with memcached(port) as pid:
        async with embedded_gateway(
            tmp_path, {"stores.object_cache": f"memcached://127.0.0.1:{port}"}
        ) as gateway:
            cache: Any = gateway.stores.object_cache
            await until_it_answers(cache, port)
            await gateway.sign_up("ann")
            board = await gateway.board("ann", "Tea")

            async def name() -> str:
                data = await gateway.data(BOARD, "ann", id=board)
                return str(data["node"]["name"])

            assert [await name() for _ in range(3)] == ["Tea"] * 3
            stop_process(pid)
            try:
                renaming = {"boardId": board, "name": "Green tea", "idempotencyKey": "a" * 20}
                for _ in range(6):
                    answered = await gateway.ask(RENAME, "ann", input=renaming)
                    [error] = answered["errors"]
                    assert error["extensions"]["code"] == "UNAVAILABLE"
                    assert "The write is kept" in error["message"]
                    assert await name() == "Green tea"
                assert cache.circuits()[0].mode is Mode.AVOIDED
            finally:
                os.kill(pid, signal.SIGCONT)
            while cache.circuits()[0].mode is not Mode.WELL:
                assert await name() == "Green tea"
            while "errors" in (answered := await gateway.ask(RENAME, "ann", input=renaming)):
                assert await name() == "Green tea"
            assert answered["data"]["updateBoard"]["board"]["name"] == "Green tea"
            assert [await name() for _ in range(5)] == ["Green tea"] * 5
