"""Pages of lists read from both ends: every list, hidden entries, respaced lists, arguments."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from datasources.mappings import Mapping
from feed_engine import writes
from feed_engine.ordering.respace_job import respace
from feed_engine.outbox.change import Respace
from gateway.documents.cache import PreparedOperation
from tests.gateways import Gateway, embedded_gateway
from tests.interests import create_interest
from tests.people import People

pytestmark = pytest.mark.anyio
COUNT = 7


class World:
    gateway: Gateway
    ids: dict[str, str]


@pytest.fixture(scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """A user, board, pin and interest whose lists have seven entries each, and lists that a
    stranger sees a part of."""
    async with embedded_gateway(tmp_path_factory.mktemp("data")) as gateway:
        found = World()
        found.gateway = gateway
        names = [f"user{n}" for n in range(COUNT)]
        await gateway.sign_up("ann", *names)
        interests = [
            str((await create_interest(gateway.stores, f"Topic {n}", f"topic-{n}")).id)
            for n in range(COUNT)
        ]
        boards = [await gateway.board("ann", f"Board {n}") for n in range(COUNT)]
        board = boards[0]
        pins = [
            await gateway.pin("ann", board, f"Pin {n}", interestIds=[interests[0]])
            for n in range(COUNT)
        ]
        hiding = await gateway.board("ann", "Plans", secret=True)
        for n in range(20):
            await gateway.pin("ann", hiding, f"hidden {n}")
        ann, pin = str(gateway.people["ann"]), pins[0]
        for n, name in enumerate(names):
            other = await gateway.board(name, "Board")
            await gateway.mutate(name, "followUser", "user { id }", userId=ann)
            await gateway.mutate(name, "followBoard", "board { id }", boardId=board)
            await gateway.mutate(name, "likePin", "pin { id }", pinId=pin)
            await gateway.mutate(
                name, "createComment", "comment { id }", pinId=pin, text=f"Comment {n}"
            )
            await gateway.mutate(
                "ann", "followUser", "user { id }", userId=str(gateway.people[name])
            )
            await gateway.mutate("ann", "followBoard", "board { id }", boardId=other)
            await gateway.mutate(
                "ann", "followInterest", "interest { id }", interestId=interests[n]
            )
            await gateway.mutate("ann", "likePin", "pin { id }", pinId=pins[n])
        await gateway.settle()
        found.ids = {"User": ann, "Board": board, "Pin": pin, "Interest": interests[0]}
        yield found


LISTS = {
    "User": [
        *("boards", "pins", "likedPins", "followers", "followingUsers", "followingBoards"),
        "followingInterests",
    ],
    "Board": ["pins", "followers"],
    "Pin": ["likedBy", "comments"],
    "Interest": ["pins"],
}
FIELDS = [(type_, field) for type_, fields in LISTS.items() for field in fields]
PAGE = """{{ node(id: "{id}") {{ ... on {type} {{ {field}{arguments} {{
  edges {{ cursor node {{ id }} }}
  pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }}
}} }} }} }}"""


async def page(
    world: World, type_: str, field: str, viewer: str | None = None, **given: Any
) -> dict[str, Any]:
    rendered = ", ".join(
        f'{name}: "{value}"' if isinstance(value, str) else f"{name}: {value}"
        for name, value in given.items()
    )
    query = PAGE.format(
        id=world.ids[type_], type=type_, field=field, arguments=f"({rendered})" if given else ""
    )
    found: dict[str, Any] = (await world.gateway.data(query, viewer))["node"][field]
    return found


def ids(connection: dict[str, Any]) -> list[str]:
    return [edge["node"]["id"] for edge in connection["edges"]]


async def forward(world: World, type_: str, field: str, size: int, **more: Any) -> list[str]:
    walked, after = list[str](), dict[str, str]()
    while True:
        found = await page(world, type_, field, **more, first=size, **after)
        walked += ids(found)
        assert found["pageInfo"]["hasPreviousPage"] == bool(after)
        if not found["pageInfo"]["hasNextPage"]:
            return walked
        after = {"after": found["pageInfo"]["endCursor"]}


async def backward(world: World, type_: str, field: str, size: int, **more: Any) -> list[str]:
    walked, before = list[str](), dict[str, str]()
    while True:
        found = await page(world, type_, field, **more, last=size, **before)
        walked = ids(found) + walked
        info = found["pageInfo"]
        assert info["hasNextPage"] == bool(before)
        if found["edges"]:
            assert info["endCursor"] == found["edges"][-1]["cursor"]
        if not info["hasPreviousPage"]:
            return walked
        before = {"before": info["startCursor"]}


@pytest.mark.parametrize(("type_", "field"), FIELDS)
@pytest.mark.parametrize("size", [1, 3, 7, 100])
async def test_a_list_read_from_its_end_is_the_list(
    world: World, type_: str, field: str, size: int
) -> None:
    whole = await forward(world, type_, field, size)
    assert len(set(whole)) == len(whole) == COUNT + (field == "likedBy")  # ann likes it, too
    assert await backward(world, type_, field, size) == whole


@pytest.mark.parametrize("size", [2, 5])
async def test_hidden_entries_are_left_out_in_both_directions(world: World, size: int) -> None:
    for viewer, count in (("user0", COUNT), ("ann", COUNT + 20)):
        whole = await forward(world, "User", "pins", size, viewer=viewer)
        assert len(whole) == count
        assert await backward(world, "User", "pins", size, viewer=viewer) == whole


async def test_a_page_can_be_left_in_both_directions(world: World) -> None:
    whole = ids(await page(world, "Board", "pins"))
    second = await page(world, "Board", "pins", first=2, after=(await cursor(world, 1)))
    assert ids(second) == whole[2:4]
    before = second["pageInfo"]["startCursor"]
    assert ids(await page(world, "Board", "pins", last=2, before=before)) == whole[:2]
    after = second["pageInfo"]["endCursor"]
    assert ids(await page(world, "Board", "pins", first=100, after=after)) == whole[4:]


async def cursor(world: World, at: int) -> str:
    found = await page(world, "Board", "pins")
    return str(found["edges"][at]["cursor"])


@pytest.mark.parametrize(
    ("arguments", "told", "argument"),
    [
        ("last: 0", "last is 0: ask for 1 to 100", "last"),
        ("last: 101", "last is 101: ask for 1 to 100", "last"),
        ("first: 5, last: 5", "give first or last, not both", "last"),
        ('before: "x"', "before goes with last, and after with first", "before"),
        ('first: 5, before: "x"', "before goes with last, and after with first", "before"),
        ('last: 5, after: "x"', "after goes with first, and before with last", "after"),
        (
            'last: 5, before: "x"',
            "before is 'x': not a cursor of this list; pass the startCursor of its last page",
            "before",
        ),
    ],
)
async def test_wrong_arguments_are_told(
    world: World, arguments: str, told: str, argument: str
) -> None:
    pins = f"pins({arguments}) {{ edges {{ cursor }} }}"
    query = f'{{ node(id: "{world.ids["Board"]}") {{ ... on Board {{ {pins} }} }} }}'
    [error] = (await world.gateway.ask(query))["errors"]
    assert error["message"] == told
    assert error["extensions"]["code"] == "BAD_USER_INPUT"
    assert argument in str(error["extensions"])


async def test_null_arguments_are_missing_arguments(world: World) -> None:
    """Relay sends variables of both directions, and null for the direction that it does not
    read."""
    query = """query ($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
      node(id: $id) { ... on Board {
        pins(first: $first, after: $after, last: $last, before: $before) { edges { cursor } }
      } }
    }"""
    both = {"id": world.ids["Board"], "first": None, "after": None, "last": None, "before": None}
    for given, count in (({"first": 3}, 3), ({"last": 2}, 2), ({}, COUNT)):
        found = await world.gateway.data(query, None, **{**both, **given})
        assert len(found["node"]["pins"]["edges"]) == count


async def test_feeds_and_the_lists_of_all_objects_refuse_it(world: World) -> None:
    for field in ("homeFeed", "followingFeed", "users", "boards", "pins", "interests"):
        [error] = (await world.gateway.ask(f"{{ {field}(last: 5) {{ edges {{ cursor }} }} }}"))[
            "errors"
        ]
        assert error["message"].startswith(f"Unknown argument 'last' on field 'Query.{field}'")


async def saved(cursor: bytes) -> None:
    """The job's progress, which this test does not need."""


@pytest.mark.parametrize("gone", ["", "deleted", "moved"])
async def test_pins_that_were_respaced_between_two_pages_are_shown_once(
    world: World, gone: str
) -> None:
    """If `gone`, the pin before which the next page ends is deleted, or moved up."""
    stores = world.gateway.stores
    people = People(stores, "pager")
    board, pins = await people.board_with_pins(12)
    base = await people.pack(board, pins, 3)
    own = World()
    own.gateway, own.ids = world.gateway, {"Board": str(board.id)}
    whole = [int(id) for id in ids(await page(own, "Board", "pins"))]
    found = await page(own, "Board", "pins", last=4)
    assert [int(id) for id in ids(found)] == whole[-4:]
    if gone == "deleted":
        await writes.delete_pin(stores, board.owner_id, whole[-4])
    elif gone:
        await writes.reorder_pin(stores, board.owner_id, board.id, whole[-4], whole[2])
    await writes.reorder_pin(stores, board.owner_id, board.id, whole[0], whole[5])
    await respace(stores, Respace(board.id, str(base + 15), 0), None, saved)
    assert (await people.rows(Mapping.BOARD_HAS_PINS, board.id))[0].era > 0
    rest = list[int]()
    while found["pageInfo"]["hasPreviousPage"]:
        before = found["pageInfo"]["startCursor"]
        found = await page(own, "Board", "pins", last=3, before=before)
        rest = [int(id) for id in ids(found)] + rest
    now = [int(id) for id in ids(await page(own, "Board", "pins"))]
    below = whole[-3:] if gone else whole[-4:]
    assert now[-len(below) :] == below
    assert rest == now[: -len(below)]


async def test_the_cost_counts_the_longer_of_both_sizes(world: World) -> None:
    text = """query ($first: Int, $last: Int) {
      board(id: "1") { pins(first: $first, last: $last) { edges { cursor } } }
    }"""
    operation = world.gateway.executor.documents.get(text).operation(None)
    assert isinstance(operation, PreparedOperation)
    cost = operation.estimate.cost
    assert cost({"last": 80}) == cost({"first": 80})
    assert cost({"first": 80, "last": 90}) == cost({"first": 90})
    assert cost({"first": 80, "last": 1}) == cost({"first": 80})
    assert cost({"last": "x"}) == cost({"first": 100})
    assert cost({"first": 25, "last": None}) == cost({})
    document = world.gateway.executor.documents.get(
        '{ board(id: "1") { pins(last: 80) { edges { cursor } } } }'
    )
    literal = document.operation(None)
    assert isinstance(literal, PreparedOperation)
    assert literal.estimate.cost({}) == cost({"first": 80})
