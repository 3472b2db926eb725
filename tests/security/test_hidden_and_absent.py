"""A stranger's request for a hidden object makes the calls of a request for an absent object."""

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import pytest

from bench.call_counts import _FILLING, Counts
from datasources.ids import Kind, compose, shard_of
from tests.gateways import Gateway, embedded_gateway
from tests.security.test_secret_boards import STRANGERS

pytestmark = pytest.mark.anyio
FIELDS = {
    Kind.BOARD: ("board(id: $id) { id }", "node(id: $id) { id }", "nodes(ids: [$id]) { id }"),
    Kind.PIN: ("pin(id: $id) { id }", "node(id: $id) { id }", "nodes(ids: [$id]) { id }"),
    Kind.COMMENT: ("node(id: $id) { id }", "nodes(ids: [$id]) { id }"),
}


@dataclass
class World:
    """A gateway whose calls are counted, and the hidden objects."""

    gateway: Gateway
    counts: Counts
    hidden: dict[Kind, str]

    def absent(self, kind: Kind) -> str:
        """The id of no object, on the hidden object's shard."""
        return str(compose(shard_of(int(self.hidden[kind])), kind, 77_777))

    async def forget(self) -> None:
        """Empty the cache of the hidden objects."""
        await self.gateway.stores.object_cache.drop([int(id) for id in self.hidden.values()])

    async def remember(self) -> None:
        """Let the owner read the hidden objects, so that they are in the cache."""
        for id in self.hidden.values():
            query = "query($id: ID!) { node(id: $id) { id } }"
            assert (await self.gateway.data(query, "owner", id=id))["node"]

    async def calls(self, field: str, viewer: str | None, *ids: str) -> Counter[str]:
        """The reads of stores by a request that finds nothing."""
        self.counts.clear()
        many = ", ".join(f"${name}: ID!" for name in ("id", "other")[: len(ids)])
        answer = await self.gateway.ask(
            f"query({many}) {{ {field} }}", viewer, **dict(zip(("id", "other"), ids, strict=False))
        )
        [value] = answer["data"].values()
        assert not any(value if isinstance(value, list) else [value]), answer
        return Counter(
            {
                name: count
                for name, count in self.counts.calls.items()
                if name.rpartition(".")[2] not in _FILLING
            }
        )


@pytest.fixture(scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with embedded_gateway(tmp_path_factory.mktemp("data")) as gateway:
        await gateway.sign_up("owner", "stranger", "friend")
        board = await gateway.board("owner", "Plans", secret=True)
        pin = await gateway.pin("owner", board, "surprise")
        made = await gateway.mutate(
            "owner", "createComment", "comment { id }", pinId=pin, text="shh"
        )
        counts = Counts()
        stores = counts.of(gateway.stores)
        gateway.runtime = replace(gateway.runtime, stores=stores)
        hidden = {Kind.BOARD: board, Kind.PIN: pin, Kind.COMMENT: made["comment"]["id"]}
        yield World(gateway, counts, hidden)


@pytest.mark.parametrize("viewer", STRANGERS)
@pytest.mark.parametrize("kind", FIELDS)
async def test_hidden_and_absent_ids_make_the_same_calls(
    world: World, kind: Kind, viewer: str | None
) -> None:
    for field in FIELDS[kind]:
        absent = await world.calls(field, viewer, world.absent(kind))
        assert absent == await world.calls(field, viewer, world.absent(kind))
        await world.forget()
        cold = await world.calls(field, viewer, world.hidden[kind])
        again = await world.calls(field, viewer, world.hidden[kind])
        await world.remember()
        warm = await world.calls(field, viewer, world.hidden[kind])
        assert cold == again == warm == absent, field


@pytest.mark.parametrize("kind", FIELDS)
async def test_an_absent_id_beside_does_not_tell_them_apart(world: World, kind: Kind) -> None:
    field, beside = "nodes(ids: [$id, $other]) { id }", world.absent(kind)
    absent = await world.calls(field, None, beside, str(int(beside) + 1))
    for prepare in (world.forget, world.remember):
        await prepare()
        assert await world.calls(field, None, beside, world.hidden[kind]) == absent


async def test_the_owner_and_public_objects_cost_no_further_call(world: World) -> None:
    await world.remember()
    world.counts.clear()
    query = "query($id: ID!) { node(id: $id) { id } }"
    assert (await world.gateway.data(query, "owner", id=world.hidden[Kind.PIN]))["node"]
    assert world.counts.reads == 0
