"""No cursor of any connection in the schema shows an id or the name of a visit to its reader."""

from base64 import urlsafe_b64decode
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from graphql import GraphQLObjectType, build_schema, get_named_type

from feed_engine.feeds import cursors
from feed_engine.feeds.cursors import CursorKind
from feed_engine.search.upkeep import Upkeep
from resolvers.cursors import OF_THIS_PROCESS
from schema.snapshot import PATH
from tests.gateways import Gateway, embedded_gateway
from tests.interests import create_interest

pytestmark = pytest.mark.anyio
SCHEMA = build_schema(PATH.read_text())
PAGE = "pageInfo { startCursor endCursor } edges { cursor node { __typename } }"
VISIT = "named by its client"
ARGUMENTS = {"homeFeed": f'(visit: "{VISIT}")', "search": '(text: "Gyokuro")'}


@pytest.fixture(scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path_factory.mktemp("data")) as gateway:
        await gateway.sign_up("ann", "bob", "cat", "dan")
        yield gateway


def connections(name: str) -> list[str]:
    """The fields of a type that are connections."""
    type_ = SCHEMA.get_type(name)
    assert isinstance(type_, GraphQLObjectType)
    return [
        field
        for field, it in type_.fields.items()
        if get_named_type(it.type).name.endswith("Connection")
    ]


def cursors_of(value: Any) -> Iterator[str]:
    """Every cursor in a response."""
    if isinstance(value, list):
        for item in value:
            yield from cursors_of(item)
    elif isinstance(value, dict):
        for name, it in value.items():
            if name in ("cursor", "startCursor", "endCursor") and it is not None:
                yield it
            else:
                yield from cursors_of(it)


@pytest.fixture(scope="module")
async def objects(gateway: Gateway) -> dict[str, int]:
    """Objects of each type by the type's name; none of their lists is empty."""
    interest = await create_interest(gateway.stores, "Tea", "tea")
    board = await gateway.board("bob", "Teas")
    pin = await gateway.pin("bob", board, "Gyokuro", interestIds=[str(interest.id)])
    section = await gateway.section("bob", board, "Green")
    await gateway.mutate("bob", "movePinToSection", "", pinId=pin, sectionId=section)
    own = await gateway.board("ann", "Mine")
    await gateway.mutate("ann", "repin", "pin { id }", pinId=pin, boardId=own)
    await gateway.mutate("bob", "likePin", "pin { id }", pinId=pin)
    await gateway.mutate("ann", "createComment", "comment { id }", pinId=pin, text="good")
    both = {"userId": str(gateway.people["ann"])}, {"userId": str(gateway.people["bob"])}
    for viewer, followed in (("bob", both[0]), ("ann", both[1])):
        await gateway.mutate(viewer, "followUser", "user { id }", **followed)
        there = board if viewer == "ann" else own
        await gateway.mutate(viewer, "followBoard", "board { id }", boardId=there)
        tea = str(interest.id)
        await gateway.mutate(viewer, "followInterest", "interest { id }", interestId=tea)
    cat, dan = str(gateway.people["cat"]), str(gateway.people["dan"])
    await gateway.mutate("ann", "muteUser", "mutedUserId", userId=dan)
    other = await gateway.pin("bob", board, "Bancha")
    await gateway.mutate("ann", "hidePin", "hiddenPinId", pinId=other)
    await gateway.mutate("ann", "seeLess", "preference", id=board)
    await gateway.mutate("ann", "seeMore", "preference", id=str(interest.id))
    await gateway.mutate("ann", "blockUser", "blockedUser { id }", userId=cat)
    for owner, invited, on in (("ann", "bob", own), ("bob", "dan", board), ("bob", "ann", board)):
        user = str(gateway.people[invited])
        await gateway.mutate(owner, "inviteCollaborator", "user { id }", boardId=on, userId=user)
        if invited != "ann":
            await gateway.mutate(invited, "acceptInvitation", "board { id }", boardId=on)
    await gateway.settle()
    assert gateway.runtime.search is not None
    async with gateway.runtime.search.alone():
        await Upkeep(gateway.stores, gateway.runtime.search).catch_up()
    return {
        "User": gateway.people["bob"],
        "Board": int(board),
        "Pin": int(pin),
        "Interest": interest.id,
        "Section": int(section),
    }


async def test_no_cursor_can_be_read(gateway: Gateway, objects: dict[str, int]) -> None:
    found: dict[str, list[str]] = {}
    for field in connections("Query"):
        arguments = ARGUMENTS.get(field, "")
        for viewer in ("bob", "ann", None) if field == "homeFeed" else ("ann",):
            answer = await gateway.data(f"{{ {field}{arguments} {{ {PAGE} }} }}", viewer)
            found[f"{field} {viewer}"] = list(cursors_of(answer))
    for name, id in objects.items():
        for field in connections(name):
            query = f'{{ node(id: "{id}") {{ ... on {name} {{ {field} {{ {PAGE} }} }} }} }}'
            found[f"{name}.{field}"] = list(cursors_of(await gateway.data(query, "bob")))
    with_lists = [it for it in SCHEMA.type_map if it[:2] != "__" and _has_lists(it)]
    assert set(with_lists) == {"Query", *objects}
    assert [name for name, some in found.items() if not some] == []
    everyone = [*objects.values(), *gateway.people.values()]
    for name, some in found.items():
        for cursor in some:
            text = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
            for id in everyone:
                assert id.to_bytes(8) not in text, name
                assert str(id).encode() not in text, name
                assert f"{id:x}".encode() not in text, name
            assert VISIT.encode() not in text, name


async def test_a_cursor_is_accepted_by_its_own_list_alone(
    gateway: Gateway, objects: dict[str, int]
) -> None:
    fields = [(None, field) for field in connections("Query")]
    fields += [(name, field) for name in objects for field in connections(name)]

    def query(name: str | None, asked: str) -> str:
        node = f'node(id: "{objects[name]}") {{ ... on {name} {{ {asked} }} }}' if name else asked
        return f"query {{ {node} }}"

    async def answer(name: str | None, field: str, alias: str, after: str | None) -> Any:
        given = ARGUMENTS.get(field, "()")[1:-1]
        given += "" if after is None else f' after: "{after}"'
        arguments = f"({given})" if given.strip() else ""
        asked = f"{alias}: {field}{arguments} {{ pageInfo {{ endCursor }} }}"
        return await gateway.ask(query(name, asked), "bob" if name else "ann")

    ends: dict[tuple[str | None, str], str] = {}
    for name, field in fields:
        data = (await answer(name, field, "it", None))["data"]
        ends[name, field] = (data["node"] if name else data)["it"]["pageInfo"]["endCursor"]
    accepted = set()
    for target in fields:
        for source, cursor in ends.items():
            found = await answer(*target, "it", cursor)
            if "errors" not in found:
                accepted.add((source, target))
                continue
            [error] = found["errors"]
            assert error["extensions"]["code"] == "BAD_USER_INPUT", (source, target)
            assert "cursor of" in error["message"], (source, target)
    assert accepted == {(field, field) for field in fields}


PARTS = """query($board: ID!, $pin: ID!, $pins: String, $sections: String, $comments: String) {
  board(id: $board) { pins(first: 1, after: $pins, orderBy: %s) { pageInfo { endCursor } }
    sections(first: 1, after: $sections) { pageInfo { endCursor } } }
  pin(id: $pin) { comments(first: 1, after: $comments) { pageInfo { endCursor } } } }"""


@pytest.mark.parametrize("order", ["MANUAL", "NEWEST", "LIKES"])
@pytest.mark.usefixtures("objects")
async def test_cursors_of_one_board_and_pin_are_refused_by_others(
    gateway: Gateway, order: str
) -> None:
    query, places = PARTS % order, []
    for name in ("one", "other"):
        board = await gateway.board("bob", name)
        await gateway.section("bob", board, name)
        pin = await gateway.pin("bob", board, name)
        await gateway.mutate("bob", "createComment", "pin { id }", pinId=pin, text=name)
        places.append({"board": board, "pin": pin})
    found = await gateway.data(query, **places[0])
    cursors = {
        name: found[kind][name]["pageInfo"]["endCursor"]
        for kind, name in (("board", "pins"), ("board", "sections"), ("pin", "comments"))
    }
    assert await gateway.data(query, **places[0], **cursors)
    refused = await gateway.ask(query, **places[1], **cursors)
    assert sorted(error["path"] for error in refused["errors"]) == [
        ["board", "pins"],
        ["board", "sections"],
        ["pin", "comments"],
    ]
    for error in refused["errors"]:
        assert error["extensions"]["code"] == "BAD_USER_INPUT"
        assert "not a cursor of this list; pass the endCursor of its last page" in error["message"]


def _has_lists(name: str) -> bool:
    return isinstance(SCHEMA.get_type(name), GraphQLObjectType) and bool(connections(name))


@pytest.mark.usefixtures("objects")
async def test_a_readable_cursor_of_an_earlier_version_is_still_read(gateway: Gateway) -> None:
    board = await gateway.board("bob", "More")
    pins = [await gateway.pin("bob", board, title) for title in "abc"]
    await gateway.settle()
    query = """query($after: String, $visit: ID) {
      homeFeed(first: 1, after: $after, visit: $visit) { visitId edges { cursor node { id } } } }"""
    first = (await gateway.data(query, "ann"))["homeFeed"]
    cursor, visit = first["edges"][0]["cursor"], first["visitId"]
    old = OF_THIS_PROCESS.unseal(cursor)
    assert old is not None
    assert old != cursor
    assert cursors.decode(CursorKind.HOME_1, old, least=19, most=90).endswith(visit.encode())
    later = [await gateway.data(query, "ann", after=after) for after in (cursor, old)]
    assert later[0] == later[1]
    assert later[0]["homeFeed"]["edges"][0]["node"]["id"] in pins


@pytest.mark.usefixtures("objects")
async def test_a_cursor_that_was_changed_is_refused(gateway: Gateway) -> None:
    query = "query($after: String) { homeFeed(after: $after) { edges { cursor } } }"
    cursor = (await gateway.data(query, "ann"))["homeFeed"]["edges"][0]["cursor"]
    changed = ("B" if cursor[0] == "A" else "A") + cursor[1:]
    answer = await gateway.ask(query, "ann", after=changed)
    assert answer["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"
    assert "is not a cursor of this feed" in answer["errors"][0]["message"]


@pytest.mark.usefixtures("objects")
async def test_the_error_of_another_feed_does_not_show_the_place(gateway: Gateway) -> None:
    feeds = {"homeFeed": f'(visit: "{VISIT}")', "followingFeed": ""}
    asked = " ".join(f"{name}{given} {{ {PAGE} }}" for name, given in feeds.items())
    mine = await gateway.data(f"{{ {asked} }}", "ann")
    everyone = (await gateway.data(f"{{ homeFeed {{ {PAGE} }} }}"))["homeFeed"]
    found = {*cursors_of(mine), *cursors_of(everyone)}
    assert found
    for cursor in found:
        place = OF_THIS_PROCESS.unseal(cursor)
        assert place != cursor
        for feed in feeds:
            for viewer in ("ann", None):
                query = f"query($after: String) {{ {feed}(after: $after) {{ {PAGE} }} }}"
                answer = await gateway.ask(query, viewer, after=cursor)
                assert str(place) not in str(answer), (feed, viewer)
