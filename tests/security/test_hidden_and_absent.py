"""A stranger's request for a hidden object makes the calls of a request for an absent object, and
gets the same answer."""

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from bench.call_counts import _FILLING, Counts
from datasources.ids import Kind, compose, shard_of
from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio
FIELDS = {
    Kind.BOARD: ("board(id: $id) { id }", "node(id: $id) { id }", "nodes(ids: [$id]) { id }"),
    Kind.PIN: ("pin(id: $id) { id }", "node(id: $id) { id }", "nodes(ids: [$id]) { id }"),
    Kind.COMMENT: ("node(id: $id) { id }", "nodes(ids: [$id]) { id }"),
    Kind.SECTION: ("node(id: $id) { id }", "nodes(ids: [$id]) { id }"),
}
ID = "the id"
"""Stands for the id of a hidden or an absent object in the inputs of mutations."""
WRITES: tuple[tuple[Kind, str, str, dict[str, Any]], ...] = (
    (Kind.PIN, "likePin", "LikePin", {"pinId": ID}),
    (Kind.PIN, "unlikePin", "LikePin", {"pinId": ID}),
    (Kind.PIN, "createComment", "CreateComment", {"pinId": ID, "text": "hm"}),
    (Kind.PIN, "repin", "Repin", {"pinId": ID, "boardId": "own"}),
    (Kind.PIN, "updatePin", "UpdatePin", {"pinId": ID, "title": "hm"}),
    (Kind.PIN, "deletePin", "DeletePin", {"pinId": ID}),
    (Kind.PIN, "movePin", "MovePin", {"pinId": ID, "boardId": "own"}),
    (Kind.PIN, "reorderPin", "ReorderPin", {"boardId": "own", "pinId": ID, "afterPinId": "pin"}),
    (Kind.PIN, "reorderPin", "ReorderPin", {"boardId": "own", "pinId": "pin", "afterPinId": ID}),
    (Kind.PIN, "updateBoard", "UpdateBoard", {"boardId": "own", "coverPinId": ID}),
    (Kind.BOARD, "createPin", "CreatePin", {"boardId": ID}),
    (Kind.BOARD, "repin", "Repin", {"pinId": "pin", "boardId": ID}),
    (Kind.BOARD, "movePin", "MovePin", {"pinId": "pin", "boardId": ID}),
    (Kind.BOARD, "updateBoard", "UpdateBoard", {"boardId": ID, "name": "hm"}),
    (Kind.BOARD, "deleteBoard", "DeleteBoard", {"boardId": ID}),
    (Kind.BOARD, "followBoard", "FollowBoard", {"boardId": ID}),
    (Kind.BOARD, "unfollowBoard", "FollowBoard", {"boardId": ID}),
    (Kind.PIN, "movePinToSection", "MovePinToSection", {"pinId": ID, "sectionId": "section"}),
    (
        *(Kind.PIN, "movePinToSection", "MovePinToSection"),
        {"pinId": "pin", "sectionId": "section", "afterPinId": ID},
    ),
    (Kind.BOARD, "createSection", "CreateSection", {"boardId": ID, "name": "hm"}),
    (Kind.SECTION, "renameSection", "RenameSection", {"sectionId": ID, "name": "hm"}),
    (
        *(Kind.SECTION, "reorderSection", "ReorderSection"),
        {"sectionId": ID, "beforeSectionId": "section"},
    ),
    (
        *(Kind.SECTION, "reorderSection", "ReorderSection"),
        {"sectionId": "section", "beforeSectionId": ID},
    ),
    (Kind.SECTION, "deleteSection", "DeleteSection", {"sectionId": ID}),
    (Kind.SECTION, "movePinToSection", "MovePinToSection", {"pinId": "pin", "sectionId": ID}),
    (Kind.SECTION, "movePinToSection", "MovePinToSection", {"pinId": "placed", "sectionId": ID}),
    (Kind.COMMENT, "deleteComment", "DeleteComment", {"commentId": ID}),
    *(
        (kind, "report", "Report", {"id": ID, "reason": "SPAM"})
        for kind in (Kind.PIN, Kind.BOARD, Kind.COMMENT)
    ),
)


@dataclass
class World:
    """A gateway whose calls are counted, and the hidden objects."""

    gateway: Gateway
    counts: Counts
    hidden: dict[Kind, str]
    own: dict[str, str]
    """The stranger's board, its section, a pin on it, and a pin in the section."""

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
        head = f"query({many})" if ids else "query"
        answer = await self.gateway.ask(
            f"{head} {{ {field} }}", viewer, **dict(zip(("id", "other"), ids, strict=False))
        )
        [value] = answer["data"].values()
        assert not any(value if isinstance(value, list) else [value]), answer
        return self._reads()

    async def refusal(
        self, field: str, type_: str, given: dict[str, Any], id: str
    ) -> tuple[str, Counter[str]]:
        """The errors of a stranger's mutation, without its id, and the calls of stores."""
        self.counts.clear()
        query = (
            f"mutation($input: {type_}Input!) "
            f"{{ {field}(input: $input) {{ errors {{ code field message }} }} }}"
        )
        ids = {ID: id, **self.own}
        answer = await self.gateway.data(
            query, "stranger", input={name: ids.get(value, value) for name, value in given.items()}
        )
        assert answer[field]["errors"], answer
        return str(answer).replace(id, ID), self._reads()

    async def refusals(
        self, kind: Kind, field: str, type_: str, given: dict[str, Any]
    ) -> list[tuple[str, Counter[str]]]:
        """The refusals of a mutation of an absent object, and of a hidden one with cold and with
        warm caches."""
        write = field, type_, given
        await self.refusal(*write, self.absent(kind))  # the viewer is in the cache from here on
        absent = await self.refusal(*write, self.absent(kind))
        await self.forget()
        cold = await self.refusal(*write, self.hidden[kind])
        await self.remember()
        return [absent, cold, await self.refusal(*write, self.hidden[kind])]

    def _reads(self) -> Counter[str]:
        return Counter(
            {
                name: count
                for name, count in self.counts.calls.items()
                if name.rpartition(".")[2] not in _FILLING
            }
        )


async def own_board(gateway: Gateway) -> dict[str, str]:
    """A board of the stranger."""
    own = await gateway.board("stranger", "Mine")
    pin, placed = [await gateway.pin("stranger", own, title) for title in ("mine", "placed")]
    section = await gateway.section("stranger", own, "part")
    await gateway.mutate(
        "stranger", "movePinToSection", "pin { id }", pinId=placed, sectionId=section
    )
    return {"own": own, "pin": pin, "placed": placed, "section": section}


@pytest.fixture(scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with embedded_gateway(tmp_path_factory.mktemp("data")) as gateway:
        await gateway.sign_up("owner", "stranger", "friend")
        board = await gateway.board("owner", "Plans", secret=True)
        pin = await gateway.pin("owner", board, "surprise")
        made = await gateway.mutate(
            "owner", "createComment", "comment { id }", pinId=pin, text="shh"
        )
        section = await gateway.section("owner", board, "cakes")
        mine = await own_board(gateway)
        counts = Counts()
        stores = counts.of(gateway.stores)
        gateway.runtime = replace(gateway.runtime, stores=stores)
        hidden = {
            Kind.BOARD: board,
            Kind.PIN: pin,
            Kind.COMMENT: made["comment"]["id"],
            Kind.SECTION: section,
        }
        yield World(gateway, counts, hidden, mine)


@pytest.mark.parametrize("viewer", ["stranger", None])
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


@pytest.mark.parametrize(("kind", "field", "type_", "given"), WRITES)
async def test_writes_to_hidden_and_to_absent_ids_are_refused_alike(
    world: World, kind: Kind, field: str, type_: str, given: dict[str, Any]
) -> None:
    absent, cold, warm = await world.refusals(kind, field, type_, given)
    assert cold == warm == absent


@pytest.mark.parametrize("kind", FIELDS)
async def test_an_absent_id_beside_does_not_tell_them_apart(world: World, kind: Kind) -> None:
    field, beside = "nodes(ids: [$id, $other]) { id }", world.absent(kind)
    absent = await world.calls(field, None, beside, str(int(beside) + 1))
    for prepare in (world.forget, world.remember):
        await prepare()
        assert await world.calls(field, None, beside, world.hidden[kind]) == absent


async def test_the_owner_and_public_objects_cost_no_further_call(world: World) -> None:
    await world.remember()
    query = "query($id: ID!) { node(id: $id) { id } }"
    for viewer, id in (("owner", world.hidden[Kind.PIN]), (None, world.own["pin"])):
        await world.gateway.data(query, viewer, id=id)
        world.counts.clear()
        assert (await world.gateway.data(query, viewer, id=id))["node"]
        assert world.counts.reads == 0
