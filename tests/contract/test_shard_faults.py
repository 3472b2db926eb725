"""Both shard stores when calls are cancelled, contend, fail, or come too late."""

import asyncio
import random
from collections.abc import Awaitable
from typing import Any

import msgspec
import pytest

from datasources.errors import StoreConflict, StoreUnavailable
from datasources.ids import MAX_LOCAL, Kind, compose, shard_of
from datasources.mappings import Edge, EdgeKey, ListHead, ListKey, Mapping, PageRequest
from datasources.protocols import ShardTx
from datasources.sql.shards import SqlShards
from datasources.topology import Topology
from tests.contract.shards import Deployment, RoundTrips, fresh_id

pytestmark = pytest.mark.anyio
PINS, LIKES = Mapping.BOARD_HAS_PINS, Mapping.USER_LIKES_PINS


async def cancel_at_random(work: Awaitable[Any], longest: int) -> Any:
    """Cancel the work after some turns of the event loop. Returns the result if it was finished
    earlier."""
    task = asyncio.ensure_future(work)
    for _ in range(random.randrange(longest)):
        await asyncio.sleep(0)
        if task.done():
            break
    task.cancel()
    try:
        return await task
    except asyncio.CancelledError:
        return None


async def test_cancelled_reads_never_give_another_question_their_answer(
    deployment: Deployment,
) -> None:
    shards = deployment.open()
    objects: dict[int, bytes] = {}
    lists: dict[ListKey, list[Edge]] = {}
    for n in range(12):
        shard = deployment.shard(n)

        async def fill(tx: ShardTx, n: int = n) -> list[int]:
            return await tx.insert_many(Kind.PIN, [b'{"n":%d,"i":%d}' % (n, i) for i in range(40)])

        ids = await shards.objects.transact(shard, fill)
        objects |= {id: b'{"n":%d,"i":%d}' % (n, i) for i, id in enumerate(ids)}
        key = ListKey(LIKES, fresh_id(Kind.USER, shard))
        lists[key] = [Edge(key.from_id, id, id, 1) for id in reversed(ids)]
    await shards.mappings.load([(LIKES, edge) for edges in lists.values() for edge in edges])

    async def ask(rng: random.Random) -> None:
        ids = rng.sample(list(objects), rng.randrange(1, 30))
        keys = rng.sample(list(lists), rng.randrange(1, 6))
        got = await cancel_at_random(shards.objects.get(ids), 60)
        assert got is None or got == {id: objects[id] for id in ids}
        requests = [PageRequest(key, 9) for key in keys]
        pages = await cancel_at_random(shards.mappings.pages(requests), 60)
        assert pages is None or pages == [lists[key][:9] for key in keys]
        if rng.random() < 0.3:
            assert await shards.objects.get(ids) == {id: objects[id] for id in ids}

    rngs = [random.Random(n) for n in range(8)]
    for _ in range(50):
        await asyncio.gather(*(ask(rng) for rng in rngs))
    assert await shards.objects.get(list(objects)) == objects
    await shards.close()


async def test_cancelled_transactions_leave_all_or_nothing_and_no_lock(
    deployment: Deployment,
) -> None:
    shards = deployment.open()
    shard = deployment.shard(0)
    keys = [ListKey(PINS, fresh_id(Kind.BOARD, shard)) for _ in range(3)]
    counter = await shards.objects.transact(shard, lambda tx: tx.insert(Kind.USER, b"0"))
    finished = 0

    async def write(tx: ShardTx, pin: int) -> int:
        data = await tx.get(counter)
        assert data is not None
        for key in random.sample(keys, len(keys)):
            await tx.put_edge(PINS, Edge(key.from_id, pin, pin, 1))
        await tx.update(counter, b"%d" % (int(data) + 1))
        return pin

    async def attempt(pin: int) -> None:
        nonlocal finished
        work = shards.objects.transact(shard, lambda tx: write(tx, pin))
        if await cancel_at_random(work, random.choice((5, 50, 400, 4000))) is not None:
            finished += 1

    for first in range(1, 401, 8):
        await asyncio.gather(*(attempt(pin) for pin in range(first, first + 8)))
    # Nothing is locked: a transaction on all rows succeeds.
    last = await shards.objects.transact(shard, lambda tx: write(tx, 10_000))
    pages = await shards.mappings.pages([PageRequest(key, 1000) for key in keys])
    seen = [{edge.to_id for edge in page} for page in pages]
    assert seen[0] == seen[1] == seen[2] >= {last}
    assert await shards.objects.get([counter]) == {counter: b"%d" % len(seen[0])}
    assert len(seen[0]) >= finished + 1
    size = len(seen[0])
    assert await shards.mappings.heads(keys) == dict.fromkeys(keys, ListHead(size, size))
    await shards.close()


async def test_a_transaction_cancelled_while_it_waits_for_a_lock_gives_up_its_own(
    deployment: Deployment,
) -> None:
    shards = deployment.open()
    shard = deployment.shard(1)
    ids = await shards.objects.transact(
        shard, lambda tx: tx.insert_many(Kind.USER, [b"first", b"second"])
    )
    held, release = asyncio.Event(), asyncio.Event()

    async def hold(tx: ShardTx) -> None:
        await tx.get(ids[0])
        held.set()
        await release.wait()

    async def wait(tx: ShardTx) -> None:
        await tx.get(ids[1])
        await tx.get(ids[0])

    holder = asyncio.ensure_future(shards.objects.transact(shard, hold))
    await held.wait()
    for _ in range(5):
        await cancel_at_random(shards.objects.transact(shard, wait), 300)
    release.set()
    await holder
    await shards.objects.transact(shard, wait)
    await shards.close()


async def test_a_statement_that_work_gave_up_on_is_never_committed_around(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(2)
    board = fresh_id(Kind.BOARD, shard)

    async def work(tx: ShardTx) -> None:
        await tx.put_edge(PINS, Edge(board, 1, 1, 1))
        # With this number of values, SQLite's statement runs in a thread and can be interrupted.
        statement = asyncio.ensure_future(tx.insert_many(Kind.PIN, [b"{}"] * 150))
        while not statement.done():
            await asyncio.sleep(0)
            statement.cancel()

    with pytest.raises(StoreUnavailable, match="interrupted"):
        await shards.objects.transact(shard, work)
    assert await shards.mappings.edges([EdgeKey(PINS, board, 1)]) == {}


async def test_work_runs_again_after_a_deadlock(mysql: Deployment) -> None:
    shards = mysql.open()
    shard = mysql.shard(3)
    ids = await shards.objects.transact(shard, lambda tx: tx.insert_many(Kind.USER, [b"0", b"0"]))
    holding = [asyncio.Event(), asyncio.Event()]
    runs = 0

    async def add_to_both(tx: ShardTx, first: int) -> None:
        nonlocal runs
        runs += 1
        for n in (first, 1 - first):
            data = await tx.get(ids[n])
            assert data is not None
            await tx.update(ids[n], b"%d" % (int(data) + 1))
            holding[n].set()
            # Wait until each has a connection; from the second run on, each has one at once.
            await holding[1 - n].wait()

    await asyncio.gather(
        *(shards.objects.transact(shard, lambda tx, n=n: add_to_both(tx, n)) for n in (0, 1))
    )
    assert runs == 3
    assert await shards.objects.get(ids) == dict.fromkeys(ids, b"2")
    await shards.close()


async def test_a_lock_that_is_never_given_up_is_a_conflict_in_the_end(
    deployment: Deployment,
) -> None:
    shards = deployment.open(deadline=3.0)
    shard = deployment.shard(4)
    id = await shards.objects.transact(shard, lambda tx: tx.insert(Kind.USER, b"0"))
    held, release = asyncio.Event(), asyncio.Event()

    async def hold(tx: ShardTx) -> None:
        await tx.get(id)
        held.set()
        await release.wait()
        await tx.update(id, b"held")

    holder = asyncio.ensure_future(shards.objects.transact(shard, hold))
    await held.wait()
    with pytest.raises(StoreConflict):
        await shards.objects.transact(shard, lambda tx: tx.update(id, b"late"))
    assert await shards.objects.get([id]) == {id: b"0"}  # readers don't wait
    release.set()
    await holder
    assert await shards.objects.get([id]) == {id: b"held"}
    await shards.close()


async def test_one_shards_conflict_does_not_undo_what_others_wrote(
    deployment: Deployment, shards: SqlShards
) -> None:
    boards = [fresh_id(Kind.BOARD, deployment.shard(n)) for n in range(6)]
    await shards.mappings.apply([(PINS, Edge(boards[2], 1, 5, 1))])
    with pytest.raises(StoreConflict):
        await shards.mappings.apply([(PINS, Edge(board, 2, 5, 1)) for board in boards])
    found = await shards.mappings.edges([EdgeKey(PINS, board, 2) for board in boards])
    assert {key.from_id for key in found} == set(boards) - {boards[2]}


def without(deployment: Deployment, server: str) -> Topology:
    """The deployment's topology with a later epoch, and a server that does not answer."""
    dead = "mysql://127.0.0.1:1" if deployment.backend == "mysql" else "sqlite:///nowhere/at/all"
    servers = {**deployment.topology.servers, server: dead}
    return msgspec.structs.replace(deployment.topology, epoch=2, servers=servers)


async def test_a_dead_server_fails_its_own_shards_and_no_others(deployment: Deployment) -> None:
    first, second = (r.master for r in deployment.topology.shards)
    shards = deployment.open()
    ids = [
        await shards.objects.transact(deployment.shard(n), lambda tx: tx.insert(Kind.PIN, b"{}"))
        for n in (0, 1)
    ]
    assert await shards.ping() == {first: None, second: None}
    shards.use(without(deployment, second))
    assert await shards.objects.get(ids[:1]) == {ids[0]: b"{}"}
    with pytest.raises(StoreUnavailable):
        await shards.objects.get(ids)
    with pytest.raises(StoreUnavailable):
        await shards.objects.transact(deployment.shard(1), lambda tx: tx.get(ids[1]))
    faults = await shards.ping()
    assert faults[first] is None
    assert faults[second]
    await shards.objects.transact(deployment.shard(0), lambda tx: tx.get(ids[0]))
    await shards.close()


@pytest.mark.parametrize("dead", [0, 1])
async def test_a_listing_of_what_can_be_reached_holds_one_error_for_a_dead_server(
    deployment: Deployment, dead: int
) -> None:
    trips = RoundTrips()
    shards = deployment.open(observe=trips)
    for n in range(24):
        await shards.objects.transact(
            deployment.shard(n), lambda tx: tx.insert_many(Kind.BOARD, [b"{}"] * 3)
        )
    place = deployment.topology.shards[dead]
    expected = [
        id
        for id, _ in await shards.objects.list(Kind.BOARD, 0, 10_000)
        if not place.range[0] <= shard_of(id) <= place.range[1]
    ]
    gap = compose(place.range[1], Kind.BOARD, MAX_LOCAL)
    expected.insert(0 if dead == 0 else len(expected), gap)
    shards.use(without(deployment, place.master))
    with pytest.raises(StoreUnavailable):
        await shards.objects.list(Kind.BOARD, 0, 10_000)
    trips.clear()
    listed = await shards.objects.list_reachable(Kind.BOARD, 0, 10_000)
    assert [id for id, _ in listed] == expected
    assert {id for id, data in listed if isinstance(data, StoreUnavailable)} == {gap}
    assert trips[place.master, "objects.list"] <= 1
    for size in (1, 4, 25):
        walked: list[int] = []
        while page := await shards.objects.list_reachable(
            Kind.BOARD, walked[-1] if walked else 0, size
        ):
            assert len(page) <= size
            walked += [id for id, _ in page]
        assert walked == expected
    await shards.close()


async def test_every_round_trip_is_observed_with_its_server(deployment: Deployment) -> None:
    trips = RoundTrips()
    shards = deployment.open(observe=trips)
    await shards.objects.transact(deployment.shard(0), lambda tx: tx.insert(Kind.PIN, b"{}"))
    server = shards.objects.topology().master_of(deployment.shard(0))
    assert trips == {(server, "tx.begin"): 1, (server, "tx.insert"): 1, (server, "tx.commit"): 1}
    await shards.close()
