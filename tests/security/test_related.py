"""Related pins, suggested pins and suggested users: what they show, and what they never show."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from feed_engine.related.build import build
from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio

RELATED = "query($id: ID!, $first: Int) { pin(id: $id) { related(first: $first) { id title } } }"
PINS = "query($id: ID!) { board(id: $id) { suggestedPins { id title board { secret } } } }"
USERS = "query($name: String!) { user(username: $name) { suggestedUsers { username } } }"


class World:
    """Ann, Bob and Cat save the same four pictures; Dan saves others. Eve's board is secret."""

    gateway: Gateway
    boards: dict[str, str]
    pins: list[str]
    other: str

    async def change(self, name: str, board: str, *, secret: bool) -> None:
        await self.gateway.mutate(name, "updateBoard", "board { id }", boardId=board, secret=secret)

    async def repin(self, name: str, pin: str, board: str) -> str:
        made = await self.gateway.mutate(name, "repin", "pin { id }", pinId=pin, boardId=board)
        return str(made["pin"]["id"])

    async def ids(self, query: str, viewer: str | None = None, **variables: Any) -> list[str]:
        """The ids (or user names) of the list in the answer."""
        data = await self.gateway.data(query, viewer, **variables)
        ((_, parent),) = data.items()
        ((_, found),) = parent.items()
        return [it.get("id") or it["username"] for it in found]


@pytest.fixture
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with embedded_gateway(tmp_path_factory.mktemp("data")) as gateway:
        names = ("ann", "bob", "cat", "dan", "eve")
        await gateway.sign_up(*names)
        world = World()
        world.gateway = gateway
        world.boards = {
            name: await gateway.board(name, f"board of {name}", secret=name == "eve")
            for name in names
        }
        board = world.boards["ann"]
        world.pins = [await gateway.pin("ann", board, f"picture {n}") for n in range(4)]
        world.other = await gateway.pin("dan", world.boards["dan"], "another")
        for name in ("bob", "cat"):
            for pin in world.pins[:3]:
                await world.repin(name, pin, world.boards[name])
        await world.repin("eve", world.pins[0], world.boards["eve"])
        await gateway.pin("eve", world.boards["eve"], "eve's secret")
        await gateway.settle()
        await start(gateway)
        yield world


async def start(gateway: Gateway) -> None:
    """Build the graph, and look at the file and the log at each walk."""
    walks = gateway.runtime.walks
    assert walks is not None
    walks._every, walks._patience = 0.0, 60.0
    await build(gateway.stores, walks.path)


async def test_a_pin_has_the_pictures_that_are_saved_beside_it(world: World) -> None:
    first, second, third, fourth = world.pins
    for viewer in ("dan", None):
        found = await world.ids(RELATED, viewer, id=first)
        assert set(found) == {second, third, fourth}
        assert found[-1] == fourth, "it is on one board only"
        assert found == await world.ids(RELATED, viewer, id=first), "the same each time"
    assert await world.ids(RELATED, id=first, first=1) == found[:1]
    assert await world.ids(RELATED, id=world.other) == []


async def test_pins_that_become_secret_are_shown_to_nobody_at_once(world: World) -> None:
    first, second, *_ = world.pins
    await world.change("ann", world.boards["ann"], secret=True)
    assert not set(await world.ids(RELATED, "ann", id=first)) & set(world.pins)
    for viewer in ("dan", None):
        assert (await world.gateway.data(RELATED, viewer, id=first))["pin"] is None
    bobs = await world.gateway.data(
        '{ user(username: "bob") { pins { edges { node { id source { id } } } } } }'
    )
    repins = [edge["node"]["id"] for edge in bobs["user"]["pins"]["edges"]]
    for when in ("before its jobs", "after its jobs"):
        for viewer in ("dan", "ann", None):
            found = await world.ids(RELATED, viewer, id=repins[0])
            assert found, when
            assert not set(found) & {*world.pins, *repins[:1]}, when
        await world.gateway.settle()
    await world.change("ann", world.boards["ann"], secret=False)
    await world.gateway.settle()
    assert second in await world.ids(RELATED, id=first)


async def test_a_secret_board_and_its_owner_suggest_nothing_and_are_suggested_to_nobody(
    world: World,
) -> None:
    secret = world.boards["eve"]
    for viewer in ("ann", "eve", None):
        for pin in world.pins:
            titles = await world.gateway.data(RELATED, viewer, id=pin)
            assert "secret" not in str(titles)
        assert "eve" not in await world.ids(USERS, viewer, name="ann")
        assert await world.ids(USERS, viewer, name="eve") == [], "by public pins alone"
    assert (await world.gateway.data(PINS, "ann", id=secret))["board"] is None
    found = await world.ids(PINS, "eve", id=secret)
    assert found, "her own board has suggestions for her"
    assert set(found) <= set(world.pins[1:])


async def test_a_board_gets_what_is_saved_with_its_pins_and_is_not_on_it(world: World) -> None:
    assert await world.ids(PINS, id=world.boards["bob"]) == [world.pins[3]]
    await world.repin("bob", world.pins[3], world.boards["bob"])
    await world.gateway.settle()
    assert await world.ids(PINS, id=world.boards["bob"]) == []
    assert await world.ids(PINS, id=world.boards["dan"]) == []


async def test_a_user_gets_users_with_the_same_taste_whom_they_do_not_follow(
    world: World,
) -> None:
    assert set(await world.ids(USERS, name="ann")) == {"bob", "cat"}
    await world.gateway.mutate(
        "ann", "followUser", "user { id }", userId=str(world.gateway.people["bob"])
    )
    assert await world.ids(USERS, name="ann") == ["cat"]
    await world.change("cat", world.boards["cat"], secret=True)
    assert await world.ids(USERS, "cat", name="ann") == []
    assert await world.ids(USERS, name="dan") == []


async def test_a_new_save_is_found_without_another_build(world: World) -> None:
    await world.repin("dan", world.pins[0], world.boards["dan"])
    await world.gateway.settle()
    assert world.other in await world.ids(RELATED, id=world.pins[0])
    await world.gateway.mutate("dan", "deletePin", "deletedPinId", pinId=world.other)
    await world.gateway.settle()
    assert world.other not in await world.ids(RELATED, id=world.pins[0])


async def test_a_home_feed_names_the_liked_pin(world: World) -> None:
    await world.gateway.mutate("dan", "likePin", "pin { id }", pinId=world.pins[0])
    await world.gateway.settle()
    query = """{ homeFeed { edges { reason node { id }
        causes { reason followed { id ... on Pin { title } } pin { id } } } } }"""
    edges = (await world.gateway.data(query, "dan"))["homeFeed"]["edges"]
    related = [edge for edge in edges if edge["reason"] == "RELATED"]
    assert {edge["node"]["id"] for edge in related} == set(world.pins[1:])
    for edge in related:
        assert edge["causes"] == [
            {
                "reason": "RELATED",
                "followed": {"id": world.pins[0], "title": "picture 0"},
                "pin": {"id": edge["node"]["id"]},
            }
        ]


async def test_a_liked_pin_that_became_secret_is_not_named(world: World) -> None:
    liked = await world.repin("cat", world.pins[3], world.boards["cat"])
    await world.gateway.settle()
    await world.gateway.mutate("dan", "likePin", "pin { id }", pinId=liked)
    await world.gateway.settle()
    await world.change("cat", world.boards["cat"], secret=True)
    query = "{ homeFeed { edges { reason causes { followed { id } } } } }"
    edges = (await world.gateway.data(query, "dan"))["homeFeed"]["edges"]
    related = [edge for edge in edges if edge["reason"] == "RELATED"]
    assert related
    assert all(edge["causes"] == [] for edge in related)


@pytest.mark.parametrize("first", [0, 101])
async def test_a_size_that_is_not_allowed_is_refused(world: World, first: int) -> None:
    response = await world.gateway.ask(RELATED, id=world.pins[0], first=first)
    assert response["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"


async def test_many_walks_in_one_operation_cost_more_than_a_client_may_spend(
    world: World,
) -> None:
    query = "{ pins(first: 40) { edges { node { related { related { id } } } } } }"
    response = await world.gateway.ask(query)
    assert response["errors"][0]["extensions"]["code"] == "COST_EXCEEDED"


async def test_without_a_graph_the_lists_are_empty(world: World) -> None:
    walks = world.gateway.runtime.walks
    assert walks is not None
    walks.path.unlink()
    assert await world.ids(RELATED, id=world.pins[0]) == []
    assert await world.ids(PINS, id=world.boards["bob"]) == []
    assert await world.ids(USERS, name="ann") == []
