"""ObjectStore's contract over SQLite and MySQL."""

import asyncio
import json
import random

import pytest

from datasources.errors import StoreConflict
from datasources.ids import Kind, compose, split
from datasources.protocols import ShardTx
from datasources.sql.shards import SqlShards
from tests.contract.shards import Deployment, RoundTrips, fresh_id

pytestmark = pytest.mark.anyio

TEXTS = ["plain", "Grüße, 東京 🗼 👩‍👩‍👧", "quote ' \" \\ % %s ? {db} -- ; \0", "x" * 200_000]


@pytest.mark.parametrize("text", TEXTS, ids=["ascii", "emoji", "syntax", "long"])
@pytest.mark.parametrize("kind", list(Kind))
async def test_an_object_is_read_back_as_it_was_stored(
    deployment: Deployment, shards: SqlShards, kind: Kind, text: str
) -> None:
    data = json.dumps({"text": text}, ensure_ascii=False).encode()
    shard = deployment.shard(3)
    id = await shards.objects.transact(shard, lambda tx: tx.insert(kind, data))
    assert split(id)[:2] == (shard, kind)
    assert await shards.objects.get([id]) == {id: data}
    assert await shards.objects.transact(shard, lambda tx: tx.get(id)) == data


async def test_five_thousand_objects_on_24_shards_cost_one_round_trip_a_server(
    deployment: Deployment,
) -> None:
    trips = RoundTrips()
    shards = deployment.open(observe=trips)
    data = {n: [b'{"n":%d}' % (n * 1000 + i) for i in range(105)] for n in range(24)}
    stored: dict[int, bytes] = {}
    for n, values in data.items():
        for kind in (Kind.PIN, Kind.USER):

            async def insert(
                tx: ShardTx, kind: Kind = kind, values: list[bytes] = values
            ) -> list[int]:
                return await tx.insert_many(kind, values)

            ids = await shards.objects.transact(deployment.shard(n), insert)
            stored |= dict(zip(ids, values, strict=True))
    assert len(stored) == 24 * 2 * 105 > 5000
    asked = random.sample(list(stored), len(stored))
    for some in (asked[:5], asked[:50], asked):
        trips.clear()
        assert await shards.objects.get([*some, *some]) == {id: stored[id] for id in some}
        assert set(trips.by_server().values()) == {1}
        assert len(trips) <= 2
    await shards.close()


async def test_ids_that_nobody_has_are_left_out(deployment: Deployment, shards: SqlShards) -> None:
    shard = deployment.shard(0)
    id = await shards.objects.transact(shard, lambda tx: tx.insert(Kind.PIN, b"{}"))
    unknown = [
        fresh_id(Kind.PIN, shard),
        compose(7, Kind.PIN, 1),  # a shard that is not open
        shard << 46 | 9 << 36 | 1,  # a type that there is not
        0,
        -1,
        2**70,
    ]
    assert await shards.objects.get([*unknown, id]) == {id: b"{}"}
    assert await shards.objects.get(unknown) == {}
    assert await shards.objects.get([]) == {}


async def test_listing_walks_all_shards_in_the_order_of_ids(
    deployment: Deployment, shards: SqlShards
) -> None:
    before = [id for id, _ in await shards.objects.list(Kind.INTEREST, 0, 10_000)]
    added: dict[int, bytes] = {}
    for n in (0, 1, 5, 5, 17, 23):
        for i in range(7):
            data = b'{"n":%d,"i":%d}' % (n, i)

            async def insert(tx: ShardTx, data: bytes = data) -> int:
                return await tx.insert(Kind.INTEREST, data)

            added[await shards.objects.transact(deployment.shard(n), insert)] = data
    expected = sorted([*before, *added])
    listed = await shards.objects.list(Kind.INTEREST, 0, 10_000)
    assert [id for id, _ in listed] == expected
    assert {id: data for id, data in listed if id in added} == added
    for size in (1, 4, 25):
        walked: list[int] = []
        while page := await shards.objects.list(Kind.INTEREST, walked[-1] if walked else 0, size):
            assert len(page) <= size
            walked += [id for id, _ in page]
        assert walked == expected
    between = compose(deployment.shard(2), Kind.COMMENT, 5)
    after = await shards.objects.list(Kind.INTEREST, between, 10_000)
    assert [id for id, _ in after] == [id for id in expected if id > between]
    assert await shards.objects.list(Kind.INTEREST, expected[-1], 5) == []


async def test_listing_shards_that_are_nearly_empty_takes_few_round_trips(
    deployment: Deployment,
) -> None:
    trips = RoundTrips()
    shards = deployment.open(observe=trips)
    await shards.objects.list(Kind.COMMENT, 0, 25)
    assert trips.total() <= 6  # 24 shards: 1, 4, 16 and the rest, on two servers
    await shards.close()


async def test_many_objects_get_their_ids_in_order(
    deployment: Deployment, shards: SqlShards
) -> None:
    data = [b'{"n":%d,"fill":"%s"}' % (n, b"x" * (n % 3 * 2000)) for n in range(1300)]
    shard = deployment.shard(4)
    ids = await shards.objects.transact(shard, lambda tx: tx.insert_many(Kind.PIN, data))
    assert ids == sorted(set(ids))
    assert await shards.objects.get(ids) == dict(zip(ids, data, strict=True))
    assert await shards.objects.transact(shard, lambda tx: tx.insert_many(Kind.PIN, [])) == []


async def test_an_import_repeated_with_its_keys_doubles_nothing(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard, run = deployment.shard(5), random.randrange(10**9)
    keys = [f"{run}:{n}" for n in range(700)]
    keys += [f"{run}:schlüssel 🔑", f"{run}:" + "é" * 300, f"{run}:" + "é" * 301]
    data = [b'{"n":%d}' % n for n in range(len(keys))]

    async def store(first: int, last: int) -> list[int]:
        return await shards.objects.transact(
            shard, lambda tx: tx.insert_many(Kind.PIN, data[first:last], keys[first:last])
        )

    half = await store(0, 400)
    ids = await store(0, len(keys))
    assert ids[:400] == half
    assert len(set(ids)) == len(keys)
    assert await store(0, len(keys)) == ids
    assert await shards.objects.get(ids) == dict(zip(ids, data, strict=True))
    changed = await shards.objects.transact(
        shard, lambda tx: tx.insert_many(Kind.PIN, [b'{"other":1}'], keys[:1])
    )
    assert changed == ids[:1]
    assert await shards.objects.get(changed) == {ids[0]: data[0]}


async def test_a_key_that_comes_twice_in_one_call_is_one_object(
    deployment: Deployment, shards: SqlShards
) -> None:
    key = f"twice:{random.randrange(10**9)}"
    first, second = await shards.objects.transact(
        deployment.shard(5), lambda tx: tx.insert_many(Kind.PIN, [b"1", b"2"], [key, key])
    )
    assert first == second
    assert await shards.objects.get([first]) == {first: b"1"}


async def test_imports_of_the_same_keys_at_the_same_time_agree(
    deployment: Deployment, shards: SqlShards
) -> None:
    run = random.randrange(10**9)
    keys = [f"{run}:{n}" for n in range(50)]

    async def store(seed: int) -> dict[str, int]:
        order = random.Random(seed).sample(keys, len(keys))
        ids = await shards.objects.transact(
            deployment.shard(6),
            lambda tx: tx.insert_many(Kind.BOARD, [key.encode() for key in order], order),
        )
        return dict(zip(order, ids, strict=True))

    answers = await asyncio.gather(*(store(seed) for seed in range(8)))
    assert all(answer == answers[0] for answer in answers)


async def test_keys_are_unique_per_kind_only(deployment: Deployment, shards: SqlShards) -> None:
    key = f"kind:{random.randrange(10**9)}"

    async def store(tx: ShardTx) -> list[int]:
        return [(await tx.insert_many(kind, [b"{}"], [key]))[0] for kind in Kind]

    assert len(set(await shards.objects.transact(deployment.shard(0), store))) == len(Kind)


async def test_an_update_replaces_the_json(deployment: Deployment, shards: SqlShards) -> None:
    shard = deployment.shard(1)
    id = await shards.objects.transact(shard, lambda tx: tx.insert(Kind.USER, b'{"a":1}'))
    await shards.objects.transact(shard, lambda tx: tx.update(id, '{"b":"☃"}'.encode()))
    await shards.objects.transact(shard, lambda tx: tx.update(id, '{"b":"☃"}'.encode()))
    assert await shards.objects.get([id]) == {id: '{"b":"☃"}'.encode()}
    missing = fresh_id(Kind.USER, shard)
    with pytest.raises(StoreConflict):
        await shards.objects.transact(shard, lambda tx: tx.update(missing, b"{}"))


async def test_what_was_committed_is_there_after_reopening(deployment: Deployment) -> None:
    first = deployment.open()
    id = await first.objects.transact(deployment.shard(9), lambda tx: tx.insert(Kind.PIN, b"{}"))
    await first.close()
    second = deployment.open()
    await second.create()
    assert await second.objects.get([id]) == {id: b"{}"}
    await second.close()
