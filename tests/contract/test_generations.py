"""Generations of the caches' servers, in a real ZooKeeper."""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

import pytest

from datasources.errors import StoreTimeout, StoreUnavailable
from datasources.protocols import Reading
from datasources.zookeeper import ZooKeeperGenerations, generations
from deploy.stack import Stack
from tests.proxy import proxied
from tests.servers import zookeeper_hosts

pytestmark = pytest.mark.anyio
PATIENT = 60.0  # seconds: the machine may be busy
SERVER, OTHER = "object_cache-10.0.0.1:11211", "mapping_cache"


@pytest.fixture(autouse=True)
def short_leases(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same rule with shorter times."""
    monkeypatch.setattr(generations, "LEASE_SECONDS", 0.6)
    monkeypatch.setattr(generations, "MARGIN", 0.15)
    monkeypatch.setattr(generations, "RENEWAL_SECONDS", 0.1)


class Caches:
    """The caches' servers as the processes reach them, and the processes' generations."""

    def __init__(self, hosts: str) -> None:
        self.node, self._hosts = f"/tests/{uuid.uuid4().hex}/topology.caches", hosts
        self.reached = True
        self.opened: list[ZooKeeperGenerations] = []

    def process(self, hosts: str | None = None, deadline: float = PATIENT) -> ZooKeeperGenerations:
        made = ZooKeeperGenerations(hosts or self._hosts, self.node, deadline=deadline)
        made.follow(SERVER, lambda: self.reached)
        made.follow(OTHER, lambda: True)
        made.start()
        self.opened.append(made)
        return made


@pytest.fixture
async def caches(databases: Stack) -> AsyncIterator[Caches]:
    made = Caches(zookeeper_hosts(databases))
    yield made
    await asyncio.gather(*(process.close() for process in made.opened))


def now() -> float:
    return asyncio.get_running_loop().time()


async def shut(writer: ZooKeeperGenerations) -> None:
    """Shut the server, with as many calls as it takes: the machine may be busy, or the connection
    not there yet."""
    async with asyncio.timeout(PATIENT):
        while not writer.is_shut(SERVER):
            with suppress(StoreUnavailable, StoreTimeout):
                await writer.shut(SERVER)


async def until(holds: Callable[[], bool]) -> None:
    while not holds():  # noqa: ASYNC110 nobody tells
        await asyncio.sleep(0.01)


async def leased(process: ZooKeeperGenerations, server: str = SERVER) -> int:
    """The generation, as soon as the process has a lease."""
    await until(lambda: process.readable(server) is not None)
    found = process.readable(server)
    return await leased(process, server) if found is None else found


async def test_a_lease_ends_while_its_host_is_suspended(
    caches: Caches, monkeypatch: pytest.MonkeyPatch
) -> None:
    process, clock = caches.process(), time.clock_gettime
    first = await leased(process)
    monkeypatch.setattr(time, "clock_gettime", lambda id: clock(id) + 3600)
    assert process.readable(SERVER) is None
    assert await leased(process) == first  # renewed, with the server's consent


async def test_all_processes_read_under_one_generation_which_memcached_can_hold(
    caches: Caches,
) -> None:
    here, there = caches.process(), caches.process()
    assert here.readable(SERVER) is None  # before the first answer
    first = await leased(here)
    assert first == await leased(there)
    assert 0 < first < 2**30
    assert not here.is_shut(SERVER)


async def test_nobody_reads_a_server_that_is_shut_until_its_process_reaches_it_again(
    caches: Caches, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = caches.process(), caches.process()
    before, beside = await leased(there), await leased(there, OTHER)
    caches.reached = False
    await here.shut(SERVER)
    assert there.readable(SERVER) is None
    assert here.readable(SERVER) is None
    assert await leased(there, OTHER) == beside
    await until(lambda: here.is_shut(SERVER))
    with monkeypatch.context() as patch:
        patch.setattr(generations, "LEASE_SECONDS", 3600.0)
        async with asyncio.timeout(PATIENT):
            await here.shut(SERVER)  # a second write does not wait again
    assert not there.is_shut(SERVER)  # only its own node tells a process for how long
    [state, _] = here.states()
    assert (state.server, state.raised) == (SERVER, 1)
    assert state.unleased
    caches.reached = True
    assert await leased(there) > before
    assert not here.is_shut(SERVER)


async def test_the_writer_waits_for_a_reader_that_can_not_hear_of_it(caches: Caches) -> None:
    host, port = caches._hosts.split(":")
    async with proxied(host, int(port)) as proxy:
        there = caches.process(f"127.0.0.1:{proxy.port}")
        here = caches.process()
        await leased(there)
        proxy.stall()
        caches.reached = False
        await here.shut(SERVER)
        assert there.readable(SERVER) is None
        assert there.states()[0].reading is Reading.UNKNOWN
        await proxy.mend()
        await there.close()
        caches.opened.remove(there)


async def test_a_process_that_starts_or_comes_back_waits_for_writers_that_rely_on_a_shut_server(
    caches: Caches,
) -> None:
    """A writer relies on its node until its lease ends, also when the node is gone."""
    writer, reader = caches.process(), caches.process()
    await leased(reader)
    caches.reached = False
    await writer.shut(SERVER)
    await until(lambda: writer.is_shut(SERVER))
    caches.reached = True
    began = now()
    await until(lambda: reader.states()[0].reading is Reading.OPENING)
    late = caches.process()
    await until(lambda: late.states()[0].reading is not Reading.UNKNOWN)
    assert late.states()[0].reading is Reading.OPENING
    await leased(reader)
    assert now() - began >= generations.LEASE_SECONDS
    await leased(late)


async def test_a_node_that_goes_while_zookeeper_is_away_is_relied_on_for_the_lease_alone(
    caches: Caches,
) -> None:
    host, port = caches._hosts.split(":")
    async with proxied(host, int(port)) as proxy:
        writer = caches.process(f"127.0.0.1:{proxy.port}", deadline=1.0)
        await leased(writer)
        caches.reached = False
        await shut(writer)
        await proxy.cut()
        await until(lambda: not writer.is_shut(SERVER))
        with pytest.raises((StoreUnavailable, StoreTimeout)):
            await writer.shut(SERVER)
        assert not writer.is_shut(SERVER)
        await proxy.mend()
        await shut(writer)
        await writer.close()
        caches.opened.remove(writer)


async def test_two_writers_both_have_to_reach_the_server_before_it_is_read(caches: Caches) -> None:
    reader = caches.process()
    reached = [True, True]
    writers = []
    for number in range(2):
        writer = ZooKeeperGenerations(caches._hosts, caches.node, deadline=PATIENT)
        writer.follow(SERVER, lambda number=number: reached[number])  # type: ignore[misc]
        writer.start()
        caches.opened.append(writer)
        writers.append(writer)
    await leased(reader)
    reached[:] = [False, False]
    await asyncio.gather(*(writer.shut(SERVER) for writer in writers))
    reached[0] = True
    await until(lambda: not writers[0].is_shut(SERVER))
    await until(lambda: writers[1].is_shut(SERVER))
    await asyncio.sleep(2 * (generations.LEASE_SECONDS + generations.MARGIN))
    assert reader.readable(SERVER) is None
    reached[1] = True
    await leased(reader)


async def test_a_raise_of_all_generations_shuts_nothing(caches: Caches) -> None:
    here, there = caches.process(), caches.process()
    before = {server: await leased(there, server) for server in (SERVER, OTHER)}
    assert await here.servers() == {SERVER, OTHER}
    await here.raise_all()
    for server, generation in before.items():
        assert there.readable(server) != generation
        assert await leased(there, server) > generation


async def test_a_raise_where_no_process_has_followed_a_server_does_nothing(
    databases: Stack,
) -> None:
    alone = ZooKeeperGenerations(zookeeper_hosts(databases), f"/tests/{uuid.uuid4().hex}")
    assert await alone.servers() == set()
    await alone.raise_all()
    await alone.close()


async def test_no_process_reads_by_a_list_that_was_ended(caches: Caches) -> None:
    host, port = caches._hosts.split(":")
    async with proxied(host, int(port)) as proxy:
        here, there = caches.process(), caches.process(f"127.0.0.1:{proxy.port}")
        for process in (here, there):
            assert not process.reads_list(9)  # before the first answer, or without `follow_list`
            process.follow_list()
            await until(lambda process=process: process.reads_list(1))
        proxy.stall()  # this process gets no news
        await here.end_lists(2)
        assert not here.reads_list(1)
        assert not there.reads_list(1)
        assert not there.reads_list(2)  # without a lease it reads by no list
        await proxy.mend()
        for process in (here, there):
            await until(lambda process=process: process.reads_list(2))
            assert not process.reads_list(1)
        began = now()
        await here.end_lists(2)  # a repetition waits, too: the earlier call may have been killed
        assert now() - began >= generations.LEASE_SECONDS
        assert here.reads_list(2)
        await there.close()
        caches.opened.remove(there)


async def test_a_server_that_is_forgotten_while_it_is_shut_is_opened(caches: Caches) -> None:
    here, there = caches.process(), caches.process()
    before = await leased(there)
    caches.reached = False
    await here.shut(SERVER)
    here.forget(SERVER)
    assert await leased(there) > before
    await until(lambda: len(here.states()) == 1)
    here.follow(SERVER, lambda: True)
    await leased(here)


async def test_a_server_that_is_followed_again_at_once_stays_shut_until_it_is_reached(
    caches: Caches,
) -> None:
    here, there = caches.process(), caches.process()
    await leased(there)
    caches.reached = False
    await here.shut(SERVER)
    here.forget(SERVER)
    here.follow(SERVER, lambda: caches.reached)
    await asyncio.sleep(2 * (generations.LEASE_SECONDS + generations.MARGIN))
    assert there.readable(SERVER) is None
    caches.reached = True
    await leased(there)


async def test_a_server_is_opened_although_the_answer_of_its_shutting_was_lost(
    caches: Caches, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = caches.process(), caches.process()
    before, commit = await leased(there), here._commit

    async def lost(operations: Any) -> Any:
        await commit(operations)
        if operations[0][0] == "create":
            raise StoreUnavailable("caches: no answer")

    caches.reached = False
    with monkeypatch.context() as patch:
        patch.setattr(here, "_commit", lost)
        with pytest.raises(StoreUnavailable):
            await here.shut(SERVER)
    assert not here.is_shut(SERVER)
    await until(lambda: there.states()[0].reading is Reading.SHUT)
    caches.reached = True
    async with asyncio.timeout(30):
        assert await leased(there) > before
