"""Lists in other orders than their own: by an index from its end, or sorted within a bound."""

import random
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.documents.cache import PreparedOperation
from resolvers import orders
from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio
NAMES = ["tea", "Apples", "äpfel", "bread", "Zebra", "apples", "a very long name, the first"]
NAMES += ["a very long name, the second", "bread"]


class World:
    gateway: Gateway
    ann: str
    boards: dict[str, int]
    board: str
    likes: dict[str, int]
    pin: str
    plans: list[str]


@pytest.fixture(scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with embedded_gateway(tmp_path_factory.mktemp("data")) as gateway:
        found = World()
        found.gateway = gateway
        people = [f"user{n}" for n in range(4)]
        await gateway.sign_up("ann", *people)
        found.ann = str(gateway.people["ann"])
        found.boards, made = {}, list[str]()
        for n, name in enumerate(NAMES):
            board = await gateway.board("ann", name)
            made.append(board)
            found.boards[board] = (n * 5) % 4
            for m in range((n * 5) % 4):
                await gateway.pin("ann", board, f"Pin {m}")
        found.board, found.likes = await gateway.board("user0", "Liked"), {}
        for n in range(9):
            pin = await gateway.pin("user0", found.board, f"Pin {n}")
            found.likes[pin] = (n * 3) % 5
            for name in people[: (n * 3) % 5]:
                await gateway.mutate(name, "likePin", "pin { id }", pinId=pin)
        found.pin = pin
        for n in range(7):
            await gateway.mutate(
                "ann", "createComment", "comment { id }", pinId=pin, text=f"Comment {n}"
            )
        await gateway.mutate(
            "user0",
            "reorderPins",
            "board { id }",
            boardId=found.board,
            pinIds=random.Random(3).sample(list(found.likes), len(found.likes)),
        )
        await gateway.sign_up(*NAMED)
        found.likes[pin] += len(NAMED)
        for name in NAMED:
            await gateway.mutate(name, "followUser", "user { id }", userId=found.ann)
            await gateway.mutate(name, "followBoard", "board { id }", boardId=found.board)
            await gateway.mutate(name, "likePin", "pin { id }", pinId=pin)
            user = str(gateway.people[name])
            await gateway.mutate("ann", "followUser", "user { id }", userId=user)
            await gateway.mutate("user3", "muteUser", "user { id }", userId=user)
        for board in FOLLOWED:
            await gateway.mutate("user3", "followBoard", "board { id }", boardId=made[board])
        await gateway.sign_up("judge", *BLOCKED)
        for name in BLOCKED:
            user = str(gateway.people[name])
            await gateway.mutate("judge", "blockUser", "blockedUserEdge { cursor }", userId=user)
        found.plans = []
        for n in (2, 0, 3):
            plans = await gateway.board("judge", f"Plans {n}", secret=True)
            found.plans.append(plans)
            await gateway.board("judge", f"Shown {n}")
            for m in range(n):
                await gateway.pin("judge", plans, f"Pin {m}")
        await gateway.settle()
        yield found


QUERY = """query ($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
  node(id: $id) { ... on %s { list: %s(
    first: $first, after: $after, last: $last, before: $before, %s
  ) {
    edges { cursor node { id } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  } } }
}"""
FIELDS = {"User": "boards", "Board": "pins", "Pin": "comments"}
NAMED = ["Zoe", "adam", "Bob", "bobby", "yve"]
BLOCKED = ["troll", "Abe", "spam"]
FOLLOWED = [4, 0, 6, 2]
"""Places in NAMES, in the order of the follows."""


async def asked(world: World, type_: str, order: str, viewer: str | None, **given: Any) -> Any:
    id_ = {"User": world.ann, "Board": world.board, "Pin": world.pin}[type_]
    query = QUERY % (type_, FIELDS[type_], f"orderBy: {order}")
    return await world.gateway.ask(query, viewer, id=id_, **given)


async def page(
    world: World, type_: str, order: str, viewer: str | None = None, **given: Any
) -> dict[str, Any]:
    response = await asked(world, type_, order, viewer, **given)
    assert "errors" not in response, response["errors"]
    found: dict[str, Any] = response["data"]["node"]["list"]
    return found


def ids(connection: dict[str, Any]) -> list[str]:
    return [edge["node"]["id"] for edge in connection["edges"]]


def by_age(found: list[str]) -> list[str]:
    return sorted(found, key=int)


EXPECTED = {
    ("User", "NEWEST"): lambda world: list(world.boards)[::-1],
    ("User", "OLDEST"): lambda world: list(world.boards),
    ("User", "PINS"): lambda world: sorted(
        world.boards, key=lambda board: (-world.boards[board], int(board))
    ),
    ("Board", "LIKES"): lambda world: sorted(
        world.likes, key=lambda pin: (-world.likes[pin], int(pin))
    ),
}


@pytest.mark.parametrize(("type_", "order"), EXPECTED)
async def test_a_list_is_in_its_order(world: World, type_: str, order: str) -> None:
    expected = EXPECTED[type_, order](world)
    assert ids(await page(world, type_, order, first=100)) == expected


async def test_boards_are_sorted_by_name_whatever_its_case(world: World) -> None:
    found = ids(await page(world, "User", "NAME", first=100))
    names = dict(zip(world.boards, NAMES, strict=True))
    assert [names[id] for id in found] == [
        "a very long name, the first",
        "a very long name, the second",
        *("Apples", "apples", "bread", "bread", "tea", "Zebra", "äpfel"),
    ]


async def test_newest_pins_are_first_however_the_owner_ordered_them(world: World) -> None:
    manual = ids(await page(world, "Board", "MANUAL", first=100))
    newest = ids(await page(world, "Board", "NEWEST", first=100))
    made = {
        row["id"]: row["createdAt"]
        for row in (
            await world.gateway.data(
                "query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Pin { id createdAt } } }",
                ids=newest,
            )
        )["nodes"]
    }
    assert manual != newest
    assert sorted(manual) == sorted(newest)
    assert [made[id] for id in newest] == sorted(made.values(), reverse=True)


async def test_the_oldest_comments_are_first_by_the_index(world: World) -> None:
    newest = ids(await page(world, "Pin", "NEWEST", first=100))
    assert ids(await page(world, "Pin", "OLDEST", first=100)) == newest[::-1]
    assert len(newest) == 7


@pytest.mark.parametrize(
    ("type_", "field"),
    [
        *(("User", "followers"), ("User", "followingUsers")),
        *(("Board", "followers"), ("Pin", "likedBy")),
    ],
)
async def test_users_are_sorted_by_name_or_read_from_the_first(
    world: World, type_: str, field: str
) -> None:
    id_ = {"User": world.ann, "Board": world.board, "Pin": world.pin}[type_]

    async def names(arguments: str) -> list[str]:
        users = f"{field}({arguments}) {{ edges {{ node {{ username }} }} }}"
        query = f'{{ node(id: "{id_}") {{ ... on {type_} {{ {users} }} }} }}'
        found = (await world.gateway.data(query))["node"][field]
        return [
            edge["node"]["username"]
            for edge in found["edges"]
            if "user" not in str(edge["node"]["username"])
        ]

    made = [name.lower() for name in NAMED]
    assert await names("orderBy: OLDEST") == made
    assert await names("orderBy: NEWEST") == made[::-1]
    assert await names("orderBy: NAME") == sorted(made)
    assert await names("orderBy: NAME, first: 1, after: null") == sorted(made)[:1]


@pytest.mark.parametrize(("viewer", "field"), [("user3", "mutedUsers"), ("judge", "blockedUsers")])
async def test_the_viewers_lists_of_users_have_their_orders_from_both_ends(
    world: World, viewer: str, field: str
) -> None:
    async def names(arguments: str) -> list[str]:
        query = f"{{ {field}({arguments}) {{ edges {{ node {{ username }} }} }} }}"
        found = (await world.gateway.data(query, viewer))[field]
        return [edge["node"]["username"] for edge in found["edges"]]

    made = [name.lower() for name in (NAMED if field == "mutedUsers" else BLOCKED)]
    assert await names("orderBy: OLDEST") == made
    assert await names("orderBy: NEWEST") == await names("first: 9") == made[::-1]
    assert await names("orderBy: NAME") == sorted(made)
    assert await names("orderBy: NAME, last: 2") == sorted(made)[-2:]


async def walked(
    world: World, viewer: str | None, user: str, field: str, given: str, *, backward: bool
) -> list[str]:
    """The ids of a user's boards, read in pages of two."""
    name, query = (
        ("last", "before") if backward else ("first", "after"),
        """query ($at: String) {
      user(id: "%s") { list: %s(%s: 2, %s: $at%s) { edges { node { id } }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }""",
    )
    at, found = None, list[str]()
    while True:
        data = await world.gateway.data(query % (user, field, *name, given), viewer, at=at)
        page, info = ids(data["user"]["list"]), data["user"]["list"]["pageInfo"]
        found = page + found if backward else found + page
        if not info["hasPreviousPage" if backward else "hasNextPage"]:
            return found
        at = info["startCursor" if backward else "endCursor"]


@pytest.mark.parametrize("backward", [False, True])
async def test_followed_boards_have_the_orders_of_boards(world: World, backward: bool) -> None:
    made, user = list(world.boards), str(world.gateway.people["user3"])
    followed = [made[n] for n in FOLLOWED]
    names = dict(zip(made, NAMES, strict=True))
    for order, expected in {
        "OLDEST": followed,
        "NEWEST": followed[::-1],
        "NAME": sorted(followed, key=lambda board: names[board].casefold()),
        "PINS": sorted(followed, key=lambda board: (-world.boards[board], int(board))),
    }.items():
        found = await walked(
            world, "ann", user, "followingBoards", f", orderBy: {order}", backward=backward
        )
        assert found == expected


@pytest.mark.parametrize("backward", [False, True])
async def test_secret_and_public_boards_are_listed_apart(world: World, backward: bool) -> None:
    judge = str(world.gateway.people["judge"])

    async def boards(viewer: str | None, given: str) -> list[str]:
        return await walked(world, viewer, judge, "boards", given, backward=backward)

    whole, plans = await boards("judge", ""), world.plans[::-1]
    shown = [board for board in whole if board not in plans]
    assert len(shown) == len(plans) == 3
    assert await boards("judge", ", secret: true") == plans
    assert await boards("judge", ", secret: false") == shown
    by_name = [world.plans[1], world.plans[0], world.plans[2]]
    assert await boards("judge", ", secret: true, orderBy: NAME") == by_name
    assert await boards("judge", ", secret: true, orderBy: PINS") == by_name[::-1]
    assert await boards("judge", ", secret: true, orderBy: OLDEST") == world.plans
    for viewer in ("ann", None):
        for order in ("", ", orderBy: NAME"):
            assert await boards(viewer, f", secret: true{order}") == []
        assert await boards(viewer, ", secret: false") == shown


async def test_a_board_that_becomes_secret_changes_the_list_at_once(world: World) -> None:
    gateway = world.gateway
    ann, board = str(gateway.people["user1"]), await gateway.board("user1", "Turning")
    for secret in (True, False):
        await gateway.mutate("user1", "updateBoard", "board { id }", boardId=board, secret=secret)
        for asked in (True, False):
            for viewer in ("user1", "ann"):
                found = await walked(
                    world, viewer, ann, "boards", f", secret: {str(asked).lower()}", backward=False
                )
                seen = asked is secret and (viewer == "user1" or not secret)
                assert (board in found) is seen


ALL = [
    *[("User", order) for order in ("NEWEST", "OLDEST", "NAME", "PINS")],
    *[("Board", order) for order in ("MANUAL", "NEWEST", "LIKES")],
    *[("Pin", order) for order in ("NEWEST", "OLDEST")],
]


@pytest.mark.parametrize(("type_", "order"), ALL)
async def test_pages_of_an_order_are_its_list_from_both_ends(
    world: World, type_: str, order: str
) -> None:
    whole = ids(await page(world, type_, order, first=100))
    for size in (1, 4):
        walked, given = list[str](), dict[str, Any]()
        while True:
            found = await page(world, type_, order, first=size, **given)
            walked += ids(found)
            assert found["pageInfo"]["hasPreviousPage"] == bool(given)
            if not found["pageInfo"]["hasNextPage"]:
                break
            given = {"after": found["pageInfo"]["endCursor"]}
        assert walked == whole
        walked, given = [], {}
        while True:
            found = await page(world, type_, order, last=size, **given)
            walked = ids(found) + walked
            assert found["pageInfo"]["hasNextPage"] == bool(given)
            if not found["pageInfo"]["hasPreviousPage"]:
                break
            given = {"before": found["pageInfo"]["startCursor"]}
        assert walked == whole


async def test_a_page_continues_after_an_entry_that_has_left_the_list(world: World) -> None:
    gateway = world.gateway
    board = await gateway.board("user1", "Passing")
    pins = [await gateway.pin("user1", board, f"Pin {n}") for n in range(6)]
    for n, pin in enumerate(pins):
        for name in ("user0", "user1", "user2")[: n // 2 + 1]:
            await gateway.mutate(name, "likePin", "pin { id }", pinId=pin)
    own = World()
    own.gateway, own.board = gateway, board
    own.ann, own.pin = world.ann, world.pin
    whole = ids(await page(own, "Board", "LIKES", first=100))
    first = await page(own, "Board", "LIKES", first=3)
    await gateway.mutate("user1", "deletePin", "deletedPinId", pinId=whole[2])
    after = first["pageInfo"]["endCursor"]
    assert ids(await page(own, "Board", "LIKES", first=100, after=after)) == whole[3:]
    assert ids(await page(own, "Board", "LIKES", last=100, before=after)) == whole[:2]


NEIGHBORS = {
    "short": ["tea", "tea", "tea", "tea"],
    "of 16 bytes": [
        "sixteen bytes it",
        "sixteen bytes it",
        "sixteen bytes it has",
        "sixteen bytes ix",
    ],
    "long": [
        "recipes of summer 1",
        "recipes of summer 2",
        "recipes of summer 3",
        "recipes of summer 4",
    ],
}


async def world_of(owner: str, world: World) -> World:
    """The world with a new user, who has no board, in Ann's place."""
    own = World()
    await world.gateway.sign_up(owner)
    own.gateway, own.ann = world.gateway, str(world.gateway.people[owner])
    own.board, own.pin = world.board, world.pin
    return own


@pytest.mark.parametrize("names", NEIGHBORS)
@pytest.mark.parametrize("gone", range(4))
async def test_no_page_skips_a_name_like_the_name_that_has_left_the_list(
    world: World, names: str, gone: int
) -> None:
    gateway, owner = world.gateway, f"{names.split()[-1]}{gone}"
    own = await world_of(owner, world)
    for name in NEIGHBORS[names]:
        await gateway.board(owner, name)
    whole = ids(await page(own, "User", "NAME", owner))
    cursor = (await page(own, "User", "NAME", owner, first=gone + 1))["pageInfo"]["endCursor"]
    await gateway.mutate(owner, "deleteBoard", "deletedBoardId", boardId=whole[gone])
    behind = ids(await page(own, "User", "NAME", owner, first=4, after=cursor))
    above = ids(await page(own, "User", "NAME", owner, last=4, before=cursor))
    earlier, later = whole[:gone], whole[gone + 1 :]
    assert [id for id in above if id in earlier] == earlier
    assert [id for id in behind if id in later] == later
    if names == "short":  # the cursor has the whole name: nothing is shown again
        assert (above, behind) == (earlier, later)


@pytest.mark.parametrize("name", ["a first name", "zz"])
async def test_no_page_skips_or_repeats_others_when_the_entry_of_its_cursor_moves(
    world: World, name: str
) -> None:
    gateway, owner = world.gateway, f"mover.{name[0]}"
    own = await world_of(owner, world)
    for made in ("bread", "cake", "jam", "pie", "tea"):
        await gateway.board(owner, made)
    whole = ids(await page(own, "User", "NAME", owner))
    cursor = (await page(own, "User", "NAME", owner, first=3))["pageInfo"]["endCursor"]
    await gateway.mutate(owner, "updateBoard", "board { id }", boardId=whole[2], name=name)
    behind = ids(await page(own, "User", "NAME", owner, first=9, after=cursor))
    above = ids(await page(own, "User", "NAME", owner, last=9, before=cursor))
    assert [id for id in behind if id != whole[2]] == whole[3:]
    assert [id for id in above if id != whole[2]] == whole[:2]


async def test_no_page_skips_or_repeats_others_when_the_pin_of_its_cursor_is_liked(
    world: World,
) -> None:
    gateway, own = world.gateway, World()
    board = await gateway.board("user1", "Liking")
    pins = [await gateway.pin("user1", board, f"Pin {n}") for n in range(4)]
    for pin in pins[:3]:
        await gateway.mutate("user0", "likePin", "pin { id }", pinId=pin)
    own.gateway, own.board = gateway, board
    own.ann, own.pin = world.ann, world.pin
    whole = ids(await page(own, "Board", "LIKES", first=100))
    after = (await page(own, "Board", "LIKES", first=3))["pageInfo"]["endCursor"]
    await gateway.mutate("user2", "likePin", "pin { id }", pinId=whole[2])
    assert ids(await page(own, "Board", "LIKES", first=100, after=after)) == whole[3:]
    above = ids(await page(own, "Board", "LIKES", last=100, before=after))
    assert [id for id in above if id != whole[2]] == whole[:2]


async def test_a_list_beyond_the_bound_is_refused_and_told(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(orders, "MOST_SORTED", 8)
    for type_, order in (("User", "NAME"), ("Board", "LIKES")):
        response = await asked(world, type_, order, None, first=2)
        [error] = response["errors"]
        assert error["message"].startswith("orderBy sorts lists of 8 entries at most")
        assert error["extensions"]["code"] == "BAD_USER_INPUT"
    monkeypatch.setattr(orders, "MOST_SORTED", 9)
    assert len(ids(await page(world, "Board", "LIKES"))) == 9


async def test_a_cursor_of_another_order_is_refused(world: World) -> None:
    by_name = (await page(world, "User", "NAME", first=2))["pageInfo"]["endCursor"]
    by_row = (await page(world, "User", "NEWEST", first=2))["pageInfo"]["endCursor"]
    for order, cursor in (("PINS", by_name), ("NEWEST", by_name), ("NAME", by_row)):
        for given in ({"first": 2, "after": cursor}, {"last": 2, "before": cursor}):
            response = await asked(world, "User", order, None, **given)
            [error] = response["errors"]
            assert error["extensions"]["code"] == "BAD_USER_INPUT"
            assert "cursor" in error["message"]


@pytest.mark.parametrize("order", ["NEWEST", "OLDEST", "NAME", "PINS"])
async def test_a_strangers_sorted_list_has_nothing_secret(world: World, order: str) -> None:
    secret = await world.gateway.board("user2", f"Plans {order}", secret=True)
    await world.gateway.pin("user2", secret, "party")
    own = World()
    own.gateway, own.ann = world.gateway, str(world.gateway.people["user2"])
    own.board, own.pin = secret, world.pin
    assert secret in ids(await page(own, "User", order, "user2", first=100))
    for viewer in ("ann", None):
        assert secret not in ids(await page(own, "User", order, viewer, first=100))


async def test_sorting_costs_the_whole_list_in_a_document_and_in_a_variable(
    world: World,
) -> None:
    def cost(order: str | None, by: str = "") -> int:
        head = "query ($order: PinOrder)" if not by else ""
        pins = f"pins(orderBy: {by or '$order'}) {{ edges {{ cursor }} }}"
        text = f'{head} {{ board(id: "1") {{ {pins} }} }}'
        operation = world.gateway.executor.documents.get(text).operation(None)
        assert isinstance(operation, PreparedOperation)
        return operation.estimate.cost({"order": order})

    plain = cost(None)
    assert cost("MANUAL") == cost(None, "MANUAL") == plain
    assert cost("LIKES") == cost(None, "LIKES") == plain + 7 * orders.MOST_SORTED + 6
