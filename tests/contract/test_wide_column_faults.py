"""A wide-column store when calls are cancelled, and when its server is gone or hangs."""

import asyncio
import random
import signal
import uuid
from collections.abc import AsyncIterator

import pytest

from datasources.errors import StoreTimeout, StoreUnavailable
from datasources.hbase import HBaseWideColumns
from datasources.protocols import Table
from datasources.rocksdb import RocksWideColumns
from deploy.stack import Stack
from tests.contract.wide_columns import Kit, Relay, drop_tables, hbase
from tests.servers import hbase_standby

pytestmark = pytest.mark.anyio
TABLE = Table(f"faults_{uuid.uuid4().hex}")
ROWS = [b"%03d" % number for number in range(100)]


@pytest.fixture(scope="module")
def url(clusters: Stack) -> str:
    return hbase_standby(clusters)


@pytest.fixture(scope="module")
async def hbase_table(url: str) -> AsyncIterator[Table]:
    store = hbase(url)
    await store.create([TABLE])
    yield TABLE
    await drop_tables(url, [TABLE])
    await store.close()


@pytest.fixture
async def relay(url: str) -> AsyncIterator[Relay]:
    """A relay in front of the cluster's Thrift server."""
    relay = Relay(url)
    await relay.start()
    yield relay
    relay.flow()
    await relay.stop()


def through(relay: Relay, pool_size: int = 4, deadline: float = 30.0) -> HBaseWideColumns:
    return hbase(f"hbase://127.0.0.1:{relay.port}", pool_size, deadline=deadline)


async def fill(kit: Kit) -> None:
    await kit.store.put(kit.table, {kit.row(name): {b"name": name} for name in ROWS}, 1)


async def check(kit: Kit, name: bytes) -> None:
    """Ask in one of three ways. Checks that the answer belongs to the question."""
    match random.randrange(3):
        case 0:
            cells = await kit.store.read(kit.table, kit.row(name), limit=5)
        case 1:
            cells = list((await kit.store.get(kit.table, kit.row(name), [b"name"])).values())
        case _:
            row, cells = await anext(kit.scan(name))
            assert row == name
    assert [cell.value for cell in cells] == [name]


async def check_cancelled_at_random(kit: Kit, longest: float, rounds: int) -> int:
    """Cancel calls at random times. Returns the number of cancelled calls. Checks that all other
    calls got the right answer."""

    async def impatient(number: int) -> bool:
        try:
            async with asyncio.timeout(random.uniform(0, longest)):
                await check(kit, ROWS[number % len(ROWS)])
        except TimeoutError:
            return True
        return False

    cancelled = 0
    for _ in range(rounds):
        cancelled += sum(await asyncio.gather(*map(impatient, range(100))))
        await asyncio.gather(*(check(kit, name) for name in random.sample(ROWS, 20)))
    return cancelled


async def test_after_calls_cancelled_at_random_every_answer_belongs_to_its_question(
    url: str, hbase_table: Table
) -> None:
    store = hbase(url, pool_size=8, deadline=120)
    kit = Kit(store, hbase_table)
    await fill(kit)
    cancelled = await check_cancelled_at_random(kit, longest=0.1, rounds=20)
    assert 0 < cancelled < 2_000
    await store.close()


async def test_a_cancelled_call_to_rocksdb_harms_no_other(tmp_path: object) -> None:
    store = RocksWideColumns(str(tmp_path))
    await store.create([TABLE])
    kit = Kit(store, TABLE)
    await fill(kit)
    await check_cancelled_at_random(kit, longest=0.002, rounds=20)
    await store.close()


async def test_a_write_cancelled_at_random_is_whole_or_not_there(
    url: str, hbase_table: Table
) -> None:
    store = hbase(url, pool_size=4, deadline=120)
    kit = Kit(store, hbase_table)

    async def write(name: bytes) -> None:
        async with asyncio.timeout(random.uniform(0, 0.05)):
            await store.put(hbase_table, {kit.row(name): {b"a": name, b"b": name}}, 1)

    results = await asyncio.gather(*map(write, ROWS), return_exceptions=True)
    for name, result in zip(ROWS, results, strict=True):
        values = [c.value for c in await store.read(hbase_table, kit.row(name), limit=5)]
        assert values in ([name, name], []) if result else values == [name, name]
    await store.close()


async def test_answers_may_come_byte_by_byte(relay: Relay, hbase_table: Table) -> None:
    relay.piece = 1
    store = through(relay, deadline=120)
    kit = Kit(store, hbase_table)
    await fill(kit)
    await asyncio.gather(*(check(kit, name) for name in ROWS[:20]))
    await store.close()


async def test_a_server_that_is_gone_is_unavailable_and_found_again_when_it_is_back(
    relay: Relay, hbase_table: Table
) -> None:
    store = through(relay)
    kit = Kit(store, hbase_table)
    await fill(kit)
    await asyncio.gather(*(check(kit, name) for name in ROWS[:20]))
    for _ in range(3):
        await relay.stop()
        results = await asyncio.gather(
            *(check(kit, name) for name in ROWS[:20]), return_exceptions=True
        )
        assert {type(result) for result in results} == {StoreUnavailable}
        assert "HBase at 127.0.0.1" in str(results[0])
        await relay.start()
        await asyncio.gather(*(check(kit, name) for name in ROWS[:20]))
    await store.close()


async def test_a_server_that_was_restarted_between_two_calls_is_not_noticed(
    relay: Relay, hbase_table: Table
) -> None:
    store = through(relay)
    kit = Kit(store, hbase_table)
    await fill(kit)
    for _ in range(5):
        await asyncio.gather(*(check(kit, name) for name in ROWS[:8]))
        await relay.stop()
        await relay.start()
    await store.close()


async def test_a_server_that_hangs_times_out_and_its_late_answers_reach_nobody(
    relay: Relay, hbase_table: Table
) -> None:
    store = through(relay, pool_size=4, deadline=10)
    kit = Kit(store, hbase_table)
    await fill(kit)
    relay.stall()
    results = await asyncio.gather(
        *(check(kit, name) for name in ROWS[:12]), return_exceptions=True
    )
    assert {type(result) for result in results} == {StoreTimeout}
    relay.flow()
    for names in (ROWS[50:60], ROWS[:10]):
        await asyncio.gather(*(check(kit, name) for name in names))
    await store.close()


async def test_no_more_connections_are_opened_than_the_pool_has(
    relay: Relay, hbase_table: Table
) -> None:
    store = through(relay, pool_size=3, deadline=120)
    kit = Kit(store, hbase_table)
    await fill(kit)
    for _ in range(3):
        await asyncio.gather(*(check(kit, name) for name in ROWS))
    assert relay.opened <= 3
    await store.close()


async def test_an_address_where_nobody_listens_is_unavailable(relay: Relay) -> None:
    await relay.stop()
    store = through(relay)
    with pytest.raises(StoreUnavailable, match=str(relay.port)):
        await store.ping()
    await store.close()
    await relay.start()


async def test_a_killed_thrift_server_and_one_that_is_stopped_come_back(
    clusters: Stack, url: str, hbase_table: Table
) -> None:
    server = clusters.services["hbase-standby-thrift"]
    store = hbase(url, deadline=20)  # seconds: the machine may be busy
    kit = Kit(store, hbase_table)
    await fill(kit)
    try:
        server.kill(signal.SIGSTOP)
        with pytest.raises(StoreTimeout):
            await check(kit, ROWS[0])
        server.kill(signal.SIGCONT)
        await check(kit, ROWS[1])
        server.kill(signal.SIGKILL)
        with pytest.raises(StoreUnavailable):
            await check(kit, ROWS[2])
    finally:
        await asyncio.to_thread(server.start)
        await asyncio.to_thread(server.wait_ready)
    await check(kit, ROWS[3])
    await store.close()
