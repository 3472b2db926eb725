"""The right to write to a shard, over SQLite and MySQL."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import msgspec
import pytest

from datasources.errors import StaleTopology
from datasources.ids import Kind
from datasources.mappings import Edge, ListHead, ListKey, Mapping
from datasources.protocols import ShardTx, Visit
from datasources.sql.shards import SqlShards
from datasources.topology import ShardRange
from tests.contract.shards import Deployment, fresh_id, set_fence, with_epoch

pytestmark = pytest.mark.anyio
LIKES = Mapping.USER_LIKES_PINS


@pytest.fixture
async def fenced(deployment: Deployment) -> AsyncIterator[Callable[..., Awaitable[None]]]:
    """A function that sets the fence of a shard. All fences are set back afterwards."""
    mover = deployment.open(with_epoch(deployment.topology, 10**9))
    before: dict[int, Any] = {}

    async def set_to(shard: int, *, epoch: int, owner: str | None = None) -> None:
        async def read(session: Any) -> Any:
            return session.fence

        if shard not in before:
            before[shard] = await mover._router.write(shard, "fence", read)
        await set_fence(mover, shard, epoch=epoch, owner=owner)

    yield set_to
    for shard, fence in before.items():
        place = mover._router.place(shard)
        async with mover._router.engine.begin(place, "fence") as session:
            await session.run(
                "fence",
                "UPDATE {db}.fence SET epoch = ?, owner = ? WHERE id = 1",
                (fence.epoch, fence.owner.encode()),
            )
    await mover.close()


@pytest.mark.parametrize("fence", [{"epoch": 2}, {"epoch": 1, "owner": "Other"}])
async def test_a_shard_that_has_moved_refuses_every_write(
    deployment: Deployment, fenced: Callable[..., Awaitable[None]], fence: dict[str, Any]
) -> None:
    shards = deployment.open()
    shard = deployment.shard(6)
    user = fresh_id(Kind.USER, shard)
    key = ListKey(LIKES, user)

    async def prepare(tx: ShardTx) -> tuple[int, int]:
        await tx.put_edge(LIKES, Edge(user, 1, 1, 1))
        await tx.add_visit(Visit(user, 1, "visit", b"", False, 1))
        return await tx.insert(Kind.PIN, b"{}"), await tx.post("change", b"")

    pin, row = await shards.objects.transact(shard, prepare)
    await fenced(shard, **fence)
    newer = [(LIKES, Edge(user, 1, 1, 2, active=False))]
    ran: list[ShardTx] = []

    async def work(tx: ShardTx) -> None:
        ran.append(tx)

    for write in (
        shards.objects.transact(shard, work),
        shards.mappings.apply(newer),
        shards.mappings.load(newer),
        shards.outbox.advance(shard, row, b"cursor"),
        shards.outbox.finish(shard, row),
        shards.visits.mark_saved(user, 1),
    ):
        with pytest.raises(StaleTopology):
            await write
    assert not ran
    assert await shards.objects.get([pin]) == {pin: b"{}"}
    assert await shards.mappings.heads([key]) == {key: ListHead(1, 1)}
    [visit] = await shards.visits.recent(user, 1)
    assert not visit.saved
    found = await shards.outbox.load(shard, row)
    assert found is not None
    assert found.cursor is None
    await shards.close()


async def test_a_writer_with_the_later_topology_goes_on(
    deployment: Deployment, fenced: Callable[..., Awaitable[None]]
) -> None:
    shards = deployment.open()
    shard = deployment.shard(7)
    await fenced(shard, epoch=5)
    with pytest.raises(StaleTopology):
        await shards.objects.transact(shard, lambda tx: tx.insert(Kind.PIN, b"{}"))
    shards.use(with_epoch(deployment.topology, 4))
    with pytest.raises(StaleTopology):
        await shards.objects.transact(shard, lambda tx: tx.insert(Kind.PIN, b"{}"))
    shards.use(with_epoch(deployment.topology, 5))
    await shards.objects.transact(shard, lambda tx: tx.insert(Kind.PIN, b"{}"))
    shards.use(with_epoch(deployment.topology, 3))
    assert shards.objects.topology().epoch == 5
    await shards.close()


async def test_a_shard_without_a_fence_refuses(deployment: Deployment) -> None:
    shards = deployment.open()
    shard = deployment.shard(8)
    engine, place = shards._router.engine, shards._router.place(shard)
    async with engine.begin(place, "fence") as session:
        fence = session.fence
        await session.run("fence", "DELETE FROM {db}.fence")
    with pytest.raises(StaleTopology, match="no fence"):
        await shards.objects.transact(shard, lambda tx: tx.insert(Kind.PIN, b"{}"))
    async with engine.begin(place, "fence") as session:
        assert session.fence is None
        await session.run(
            "fence",
            "INSERT INTO {db}.fence (id, epoch, owner) VALUES (1, ?, ?)",
            (fence.epoch, fence.owner.encode()),
        )
    await shards.objects.transact(shard, lambda tx: tx.insert(Kind.PIN, b"{}"))
    await shards.close()


async def test_a_shard_that_is_not_open_refuses(shards: SqlShards) -> None:
    with pytest.raises(StaleTopology, match="not open"):
        await shards.objects.transact(7, lambda tx: tx.insert(Kind.PIN, b"{}"))
    with pytest.raises(StaleTopology, match="not open"):
        await shards.mappings.apply([(LIKES, Edge(fresh_id(Kind.USER, 7), 1, 1, 1))])


async def test_a_mod_shard_that_has_moved_refuses_claims(sqlite: Deployment) -> None:
    # On SQLite only: all tests share the real servers' mod shards.
    shards = sqlite.open()
    await shards.mod.claim("fences", "ann", 1)
    place = shards._router.mod_place(shards.objects.topology().mod_shard_of("ann"))
    for epoch in (2, 1):
        async with shards._router.engine.begin(place, "fence") as session:
            await session.run("fence", "UPDATE {db}.fence SET epoch = ?", (epoch,))
        if epoch == 2:
            with pytest.raises(StaleTopology):
                await shards.mod.claim("fences", "ann", 2)
            with pytest.raises(StaleTopology):
                await shards.mod.release("fences", "ann", 1)
    assert await shards.mod.find("fences", ["ann"]) == {"ann": 1}
    await shards.mod.release("fences", "ann", 1)
    assert await shards.mod.find("fences", ["ann"]) == {}
    await shards.close()


@pytest.mark.parametrize("write", ["transact", "apply"])
async def test_a_writer_that_is_refused_reads_the_topology_again_and_goes_on(
    deployment: Deployment, fenced: Callable[..., Awaitable[None]], write: str
) -> None:
    shards = deployment.open()
    shard = deployment.shard(9)
    user = fresh_id(Kind.USER, shard)
    reloads = 0

    async def reload() -> None:
        nonlocal reloads
        reloads += 1
        shards.use(with_epoch(deployment.topology, 4))

    async def attempt() -> object:
        if write == "transact":
            return await shards.objects.transact(shard, lambda tx: tx.insert(Kind.PIN, b"{}"))
        return await shards.mappings.apply([(LIKES, Edge(user, 1, 1, 1))])

    shards.reload_with(reload)
    await fenced(shard, epoch=4)
    await attempt()
    assert reloads == 1
    await fenced(shard, epoch=9)
    with pytest.raises(StaleTopology, match="moved in epoch 9"):
        await attempt()
    assert reloads == 2
    await shards.close()


@pytest.mark.parametrize("how", ["read", "write"])
async def test_a_server_that_leaves_between_look_up_and_query_is_stale_and_asked_for_again(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """The server's address is still in use under another name."""
    shards = deployment.open()
    shard = deployment.shard(10)
    pin = await shards.objects.transact(shard, lambda tx: tx.insert(Kind.PIN, b"{}"))
    first, second = (range.master for range in deployment.topology.shards)
    servers = {"Renamed": deployment.topology.servers[first]}
    servers[second] = deployment.topology.servers[second]
    moved, other = deployment.topology.shards
    later = msgspec.structs.replace(
        deployment.topology,
        epoch=2,
        servers=servers,
        shards=(ShardRange(moved.range, "Renamed"), other),
        mod=msgspec.structs.replace(deployment.topology.mod, ranges=(ShardRange((0, 15), second),)),
    )
    engine = shards._router.engine
    call = getattr(engine, "read" if how == "read" else "begin")
    asked: list[str] = []

    def leaving(*given: Any) -> Any:
        place = given[1][0].place if how == "read" else given[0]
        asked.append(place.server)
        shards.use(later)
        return call(*given)

    monkeypatch.setattr(engine, "read" if how == "read" else "begin", leaving)
    if how == "read":
        assert await shards.objects.get([pin]) == {pin: b"{}"}
    elif deployment.backend == "mysql":
        await shards.objects.transact(shard, lambda tx: tx.update(pin, b"{}"))
    else:  # the server is known by its name, which the fence has
        with pytest.raises(StaleTopology, match="owns it"):
            await shards.objects.transact(shard, lambda tx: tx.update(pin, b"{}"))
    assert asked == [first, "Renamed"]
    await shards.close()
