"""Likes and follows as a client with a cache of its own needs them: both ends, and the entries that
go on top of connections, or the id that comes out of one."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.gateways import Gateway, embedded_gateway
from tests.interests import create_interest

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Case:
    """The names of one kind of edge, in the mutations and in the lists of its two ends."""

    set: str
    clear: str
    name: str
    entry: str
    taken_back: str
    list: str
    mirror: str | None = None
    mirror_list: str | None = None

    @property
    def input(self) -> str:
        return f"{self.name}Id"

    @property
    def selection(self) -> str:
        mirror = f"{self.mirror} {{ cursor node {{ id }} }}" if self.mirror else ""
        return (
            f"{self.name} {{ id }} viewer {{ id }} {self.entry} {{ cursor node {{ id }} }} "
            f"{mirror} {self.taken_back}"
        )


FOLLOWER = {"mirror": "followerEdge", "mirror_list": "followers"}
CASES = [
    Case(
        "likePin",
        "unlikePin",
        "pin",
        "likedPinEdge",
        "unlikedPinId",
        "likedPins",
        "likerEdge",
        "likedBy",
    ),
    Case(
        "followUser",
        "unfollowUser",
        "user",
        "followedUserEdge",
        "unfollowedUserId",
        "followingUsers",
        **FOLLOWER,
    ),
    Case(
        "followBoard",
        "unfollowBoard",
        "board",
        "followedBoardEdge",
        "unfollowedBoardId",
        "followingBoards",
        **FOLLOWER,
    ),
    Case(
        "followInterest",
        "unfollowInterest",
        "interest",
        "followedInterestEdge",
        "unfollowedInterestId",
        "followingInterests",
    ),
]


@dataclass
class World:
    gateway: Gateway
    objects: dict[str, list[str]]

    async def list(self, id: str, name: str, after: str | None = None) -> Any:
        """The edges of an object's list, as the viewer sees them."""
        page = f"{name}(after: $after) {{ edges {{ cursor node {{ id }} }} }}"
        types = ("User", "Pin") if name in ("likedPins", "likedBy") else ("User", "Board")
        parts = [f"... on {type_} {{ {page} }}" for type_ in types if _has(type_, name)]
        query = f"query($id: ID!, $after: String) {{ node(id: $id) {{ {' '.join(parts)} }} }}"
        data = await self.gateway.data(query, "ann", id=id, after=after)
        return data["node"][name]["edges"]


def _has(type_: str, name: str) -> bool:
    lists = {"Pin": {"likedBy"}, "Board": {"followers"}}
    return name in lists[type_] if type_ in lists else name != "likedBy"


@pytest.fixture(scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with embedded_gateway(tmp_path_factory.mktemp("data")) as gateway:
        await gateway.sign_up("ann", "bob", "cleo")
        boards = [await gateway.board("bob", name) for name in ("one", "two")]
        pins = [await gateway.pin("bob", board, "pin") for board in boards]
        interests = [
            await create_interest(gateway.stores, name, name) for name in ("birds", "bees")
        ]
        yield World(
            gateway,
            {
                "pin": pins,
                "board": boards,
                "user": [str(gateway.people[name]) for name in ("bob", "cleo")],
                "interest": [str(interest.id) for interest in interests],
            },
        )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_an_edge_set_comes_with_the_entries_that_the_lists_of_both_ends_then_begin_with(
    world: World, case: Case
) -> None:
    ann = str(world.gateway.people["ann"])
    older, newer = world.objects[case.name]
    for id in (older, newer):
        payload = await world.gateway.mutate("ann", case.set, case.selection, **{case.input: id})
        again = await world.gateway.mutate("ann", case.set, case.selection, **{case.input: id})
        assert again == payload
        assert payload[case.name] == {"id": id}
        assert payload["viewer"] == {"id": ann}
        assert payload[case.taken_back] is None
        assert payload[case.entry] == (await world.list(ann, case.list))[0]
        assert payload[case.entry]["node"] == {"id": id}
        if case.mirror and case.mirror_list:
            assert payload[case.mirror] == (await world.list(id, case.mirror_list))[0]
            assert payload[case.mirror]["node"] == {"id": ann}
    behind = await world.list(ann, case.list, after=payload[case.entry]["cursor"])
    assert [edge["node"]["id"] for edge in behind] == [older]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_an_edge_taken_back_comes_with_the_id_to_take_out_and_no_entries(
    world: World, case: Case
) -> None:
    ann = str(world.gateway.people["ann"])
    id = world.objects[case.name][0]
    await world.gateway.mutate("ann", case.set, "__typename", **{case.input: id})
    for _ in range(2):
        payload = await world.gateway.mutate("ann", case.clear, case.selection, **{case.input: id})
        assert payload[case.taken_back] == id
        assert payload[case.name] == {"id": id}
        assert payload["viewer"] == {"id": ann}
        assert payload[case.entry] is None
        assert case.mirror is None or payload[case.mirror] is None
        assert id not in [edge["node"]["id"] for edge in await world.list(ann, case.list)]


async def test_a_like_of_what_became_secret_can_be_taken_back_by_its_id_alone(world: World) -> None:
    board = await world.gateway.board("bob", "Soon secret")
    pin = await world.gateway.pin("bob", board, "pin")
    [case] = (case for case in CASES if case.name == "pin")
    await world.gateway.mutate("ann", "likePin", "pin { id }", pinId=pin)
    await world.gateway.mutate("bob", "updateBoard", "board { id }", boardId=board, secret=True)
    payload = await world.gateway.mutate("ann", "unlikePin", case.selection, pinId=pin)
    assert (payload["pin"], payload["unlikedPinId"]) == (None, pin)


async def test_who_may_not_see_what_is_meant_gets_no_edge_when_the_answer_is_given_again(
    world: World,
) -> None:
    board = await world.gateway.board("bob", "Soon secret")
    pin = await world.gateway.pin("bob", board, "pin")
    [case] = (case for case in CASES if case.name == "pin")
    given = {"pinId": pin, "idempotencyKey": "once"}
    first = await world.gateway.mutate("ann", "likePin", case.selection, **given)
    assert first["likedPinEdge"]["node"] == {"id": pin}
    await world.gateway.mutate("bob", "updateBoard", "board { id }", boardId=board, secret=True)
    again = await world.gateway.mutate("ann", "likePin", case.selection, **given)
    assert (again["pin"], again["likedPinEdge"], again["likerEdge"]) == (None, None, None)
