"""`_entities` for strangers: nothing secret, objects of one type, a bounded number and cost, one
batch for each type."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from bench.call_counts import Counts
from feed_engine.feeds.settings import Feeds
from gateway.site.runtime import Runtime
from resolvers.entities import MOST
from tests.gateways import Gateway, embedded_gateway
from tests.interests import create_interest

pytestmark = pytest.mark.anyio
ENTITIES = """query ($of: [_Any!]!) { _entities(representations: $of) {
  __typename
  ... on User { id username }
  ... on Board { id name pins { edges { node { title } } } }
  ... on Section { id name pins { edges { node { title } } } }
  ... on Pin { id title }
  ... on Interest { id name }
} }"""


class World:
    gateway: Gateway
    counts: Counts
    public: str
    pins: list[str]
    sections: list[str]
    secret: str
    hidden: str
    hidden_section: str
    interest: str

    def named(self, type_: str, *ids: str) -> list[dict[str, str]]:
        return [{"__typename": type_, "id": id_} for id_ in ids]


@pytest.fixture(scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    directory = tmp_path_factory.mktemp("data")
    async with embedded_gateway(directory, {"http.federation": True}) as gateway:
        found = World()
        found.gateway, found.counts = gateway, Counts()
        await gateway.sign_up("ann", "bob")
        found.public = await gateway.board("ann", "Open")
        found.pins = [await gateway.pin("ann", found.public, f"pin {n}") for n in range(5)]
        found.secret = await gateway.board("ann", "Plans", secret=True)
        found.hidden = await gateway.pin("ann", found.secret, "surprise party")
        found.sections = [await gateway.section("ann", found.public, f"part {n}") for n in range(5)]
        found.hidden_section = await gateway.section("ann", found.secret, "surprise guests")
        await gateway.mutate(
            *("ann", "movePinToSection", "pin { id }"),
            pinId=found.pins[0],
            sectionId=found.sections[0],
        )
        found.interest = str((await create_interest(gateway.stores, "Tea", "tea")).id)
        await gateway.settle()
        stores, feeds = found.counts.of(gateway.stores), gateway.runtime.feeds
        gateway.runtime = Runtime(stores, Feeds(stores, feeds.pools_race, feeds.feeds_race))
        yield found


async def entities(world: World, of: Any, viewer: str | None = None) -> Any:
    return (await world.gateway.data(ENTITIES, viewer, of=of))["_entities"]


async def test_objects_come_in_the_order_of_their_representations(world: World) -> None:
    ann = str(world.gateway.people["ann"])
    of = [
        *world.named("Pin", world.pins[3], world.pins[0], world.pins[3]),
        *world.named("User", ann),
        *world.named("Interest", world.interest),
        *world.named("Section", world.sections[0], world.sections[4]),
        *world.named("Board", world.public),
    ]
    found = await entities(world, of)
    assert [each["id"] for each in found] == [each["id"] for each in of]
    assert [each["__typename"] for each in found] == [each["__typename"] for each in of]
    assert found[0] == {"__typename": "Pin", "id": world.pins[3], "title": "pin 3"}
    assert [each.get("name") for each in found[-3:]] == ["part 0", "part 4", "Open"]
    assert [len(each["pins"]["edges"]) for each in found[-3:]] == [1, 0, 5]


@pytest.mark.parametrize("viewer", ["bob", None])
async def test_secret_objects_are_null_like_absent_objects(
    world: World, viewer: str | None
) -> None:
    of = [
        *world.named("Board", world.secret, str(int(world.secret) + 1), world.public),
        *world.named("Pin", world.hidden, str(int(world.hidden) + 1), world.pins[0]),
        *world.named("Section", world.hidden_section, str(int(world.hidden_section) + 1)),
        *world.named("Section", world.sections[1]),
    ]
    hidden, absent, _, hidden_pin, absent_pin, pin, *of_sections = await entities(world, of, viewer)
    assert (hidden, absent, hidden_pin, absent_pin) == (None, None, None, None)
    assert pin["title"] == "pin 0"
    assert [each and each["name"] for each in of_sections] == [None, None, "part 1"]
    own = await entities(world, of, "ann")
    assert own[0]["name"] == "Plans"
    assert own[3]["title"] == "surprise party"
    assert own[6]["name"] == "surprise guests"


async def test_an_id_of_another_type_is_null(world: World) -> None:
    ann = str(world.gateway.people["ann"])
    of = [
        *world.named("Pin", ann, world.public, "", "x", "-1", "9" * 40),
        *world.named("User", world.pins[0]),
        *world.named("Section", world.public),
    ]
    assert await entities(world, of, "ann") == [None] * 8


@pytest.mark.parametrize(
    "representation",
    [
        5,
        None,
        [],
        "Pin",
        {},
        {"__typename": "Comment", "id": "1"},
        {"__typename": "Query"},
        {"__typename": ["Pin"], "id": "1"},
        {"__typename": "Pin"},
        {"__typename": "Pin", "id": 1},
        {"__typename": "Pin", "id": {"a": 1}},
        {"__typename": "Pin", "title": "pin 0"},
    ],
)
async def test_a_representation_without_a_type_and_a_key_is_an_error_of_the_client(
    world: World, representation: Any
) -> None:
    response = await world.gateway.ask(ENTITIES, of=[representation])
    [error] = response["errors"]
    assert error["extensions"]["code"] == "BAD_USER_INPUT"
    assert response.get("data") is None


async def test_each_type_is_one_batch_however_many_objects(world: World) -> None:
    query = """query ($of: [_Any!]!) {
      _entities(representations: $of) {
        ... on Pin { title } ... on Section { name } ... on User { username }
      }
    }"""
    ann = str(world.gateway.people["ann"])

    async def reads(count: int) -> int:
        world.counts.clear()
        of = [
            *world.named("Pin", *world.pins[:count]),
            *world.named("Section", *world.sections[:count]),
            *world.named("User", ann),
        ]
        found = await world.gateway.data(query, None, of=of)
        assert len(found["_entities"]) == 2 * count + 1
        return world.counts.reads

    await reads(5)  # fills the caches
    assert await reads(5) == await reads(1)


async def test_the_number_and_the_cost_of_objects_are_bounded(world: World) -> None:
    many = world.named("User", *(["1"] * (MOST + 1)))
    response = await world.gateway.ask(
        "query ($of: [_Any!]!) { _entities(representations: $of) { __typename } }", of=many
    )
    [error] = response["errors"]
    assert error["message"].startswith(f"representations has {MOST + 1} entries: at most {MOST}")

    dear = """query ($of: [_Any!]!) { _entities(representations: $of) { ... on User {
      pins(first: 10) { edges { node { likedBy(first: 100) { edges { cursor } } } } }
    } } }"""
    one, some = world.named("User", "1"), world.named("User", *(["1"] * 20))
    assert "errors" not in await world.gateway.ask(dear, of=one)
    [error] = (await world.gateway.ask(dear, of=some))["errors"]
    assert error["extensions"]["code"] == "COST_EXCEEDED"


async def test_the_cost_counts_representations_in_the_document_too(world: World) -> None:
    def literal(count: int) -> str:
        names = ", ".join('{__typename: "User", id: "1"}' for _ in range(count))
        return f"{{ _entities(representations: [{names}]) {{ ... on User {{ username }} }} }}"

    documents = world.gateway.executor.documents

    def cost(count: int) -> int:
        operation = documents.get(literal(count)).operation(None)
        return operation.estimate.cost(None)  # type: ignore[union-attr]

    assert cost(100) - cost(50) == pytest.approx(50 * (cost(11) - cost(1)) / 10, rel=0.05)
    assert cost(100) > 100 * 8
