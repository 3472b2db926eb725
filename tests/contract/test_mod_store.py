"""ModStore's contract over SQLite and MySQL."""

import asyncio
import hashlib
import uuid

import pytest

from datasources.protocols import Claim
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


async def test_a_freed_key_has_its_next_version_and_old_claims_of_it_are_refused(
    shards: SqlShards, namespace: str
) -> None:
    mod = shards.mod
    assert await mod.look(namespace, ["ann", "bob"]) == {
        "ann": Claim(None, 0),
        "bob": Claim(None, 0),
    }
    assert await mod.claim_at(namespace, "ann", 1, 0) == 1
    assert await mod.claim_at(namespace, "ann", 2, 0) == 1
    assert await mod.look(namespace, ["ann"]) == {"ann": Claim(1, 0)}
    for _ in range(2):  # the second time does nothing
        await mod.release(namespace, "ann", 1, 0)
        assert await mod.look(namespace, ["ann"]) == {"ann": Claim(None, 1)}
    for late in (1, 2):
        assert await mod.claim_at(namespace, "ann", late, 0) is None
    assert await mod.find(namespace, ["ann"]) == {}
    assert await mod.claim_at(namespace, "ann", 1, 1) == 1
    await mod.release(namespace, "ann", 1, 0)  # of the first claim
    assert await mod.claim_at(namespace, "ann", 1, 0) is None
    assert await mod.look(namespace, ["ann"]) == {"ann": Claim(1, 1)}
    assert await mod.look(f"{namespace}!", ["ann"]) == {"ann": Claim(None, 0)}


async def test_a_claim_that_never_came_is_ended_by_its_release(
    shards: SqlShards, namespace: str
) -> None:
    mod = shards.mod
    await mod.release(namespace, "ann", 1, 0)
    assert await mod.look(namespace, ["ann"]) == {"ann": Claim(None, 1)}
    assert await mod.claim_at(namespace, "ann", 1, 0) is None
    assert await mod.claim_at(namespace, "ann", 2, 1) == 2
    await mod.release(namespace, "ann", 1, 1)  # held by somebody else
    await mod.release(namespace, "ann", 1)
    assert await mod.look(namespace, ["ann"]) == {"ann": Claim(2, 1)}


async def test_of_claims_and_releases_at_once_none_waits_for_another_in_a_circle(
    shards: SqlShards, namespace: str
) -> None:
    """In the end, nobody holds the key."""
    mod, held = shards.mod, set[int | None]()

    async def use(id: int) -> None:
        for _ in range(4):
            version = (await mod.look(namespace, ["ann"]))["ann"].version
            held.add(await mod.claim_at(namespace, "ann", id, version))
            await mod.release(namespace, "ann", id, version)

    await asyncio.gather(*(use(id) for id in range(1, 7)))
    found = (await mod.look(namespace, ["ann"]))["ann"]
    assert found.id is None
    assert 1 <= found.version <= 24
    assert held <= {None, *range(1, 7)}


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
