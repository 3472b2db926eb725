"""ModStore's contract over SQLite and MySQL."""

import asyncio
import hashlib
import uuid

import pytest

from datasources.sql.shards import SqlShards
from tests.contract.shards import Deployment, RoundTrips

pytestmark = pytest.mark.anyio

# Two texts with one MD5, found by Marc Stevens (2024).
COLLISION = "TEXTCOLLBYfGiJUETHQ4h{}cKSMd5zYpgqf1YRDhkmxHkhPWptrkoyz28wnI9V0aHeAuaKnak"


@pytest.fixture
def namespace() -> str:
    """A namespace that no other test uses: all tests share the mod shards."""
    return f"test {uuid.uuid4()}"


async def test_the_first_to_claim_a_key_holds_it(shards: SqlShards, namespace: str) -> None:
    for key in ("ann", "Ann", "änn 🗼", "x" * 5000, ""):
        assert await shards.mod.find(namespace, [key]) == {}
        assert await shards.mod.claim(namespace, key, 1) == 1
        assert await shards.mod.claim(namespace, key, 2) == 1
        assert await shards.mod.claim(namespace, key, 1) == 1
        assert await shards.mod.find(namespace, [key]) == {key: 1}
    assert await shards.mod.find(f"{namespace}!", ["ann"]) == {}
    assert await shards.mod.claim(f"{namespace}!", "ann", 3) == 3


async def test_of_many_claimants_at_once_one_wins(shards: SqlShards, namespace: str) -> None:
    holders = await asyncio.gather(*(shards.mod.claim(namespace, "ann", n) for n in range(1, 25)))
    assert len(set(holders)) == 1
    assert await shards.mod.find(namespace, ["ann"]) == {"ann": holders[0]}


async def test_many_keys_are_claimed_together_by_claimants_at_once(
    shards: SqlShards, namespace: str
) -> None:
    keys = [f"key {n}" for n in range(1200)]
    first, second = await asyncio.gather(
        shards.mod.claim_many(namespace, dict.fromkeys(keys[:800], 1)),
        shards.mod.claim_many(namespace, dict.fromkeys(keys[400:], 2)),
    )
    found = await shards.mod.find(namespace, keys)
    assert found == first | second == second | first
    assert {found[key] for key in keys[:400]} == {1}
    assert {found[key] for key in keys[800:]} == {2}
    assert await shards.mod.claim_many(namespace, {}) == {}


async def test_only_the_holder_can_release_a_key(shards: SqlShards, namespace: str) -> None:
    await shards.mod.claim(namespace, "ann", 1)
    await shards.mod.release(namespace, "ann", 2)
    assert await shards.mod.find(namespace, ["ann"]) == {"ann": 1}
    for _ in range(2):
        await shards.mod.release(namespace, "ann", 1)
        assert await shards.mod.find(namespace, ["ann"]) == {}
    assert await shards.mod.claim(namespace, "ann", 2) == 2


async def test_a_key_with_the_digest_of_another_is_taken_but_not_found(
    shards: SqlShards, namespace: str
) -> None:
    one, other = (COLLISION.format(letter) for letter in "AE")
    assert hashlib.md5(one.encode()).digest() == hashlib.md5(other.encode()).digest()
    await shards.mod.claim(namespace, one, 1)
    assert await shards.mod.find(namespace, [one, other]) == {one: 1}
    assert await shards.mod.claim(namespace, other, 2) == 1


async def test_many_keys_are_found_in_one_round_trip_a_server(
    deployment: Deployment, namespace: str
) -> None:
    trips = RoundTrips()
    shards = deployment.open(observe=trips)
    ids = {f"user {n}": n for n in range(1, 501)}
    assert await shards.mod.claim_many(namespace, ids) == ids
    for keys in (list(ids)[:40], list(ids)):
        trips.clear()
        assert await shards.mod.find(namespace, [*keys, "nobody"]) == {k: ids[k] for k in keys}
        assert set(trips.by_server().values()) == {1}
    await shards.close()
