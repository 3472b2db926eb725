"""A secret board and its pins exist for its owner and its collaborators only, on every path."""

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from datasources.protocols import SearchRequest
from feed_engine.search.upkeep import Upkeep
from tests.gateways import Gateway, embedded_gateway
from tests.interests import create_interest

pytestmark = pytest.mark.anyio
STRANGERS = ["stranger", "former", "removed", "invited", None]
"""Viewers who see nothing of it. Some collaborated on the board, and one is invited."""
MEMBERS = ["owner", "member"]


class World:
    """The owner's secret board. A friend liked and commented on its pins while it was still
    public."""

    gateway: Gateway
    secret: str
    pin: str
    comment: str
    section: str
    repin: str
    interest: str


@pytest.fixture(scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with embedded_gateway(tmp_path_factory.mktemp("data")) as gateway:
        await gateway.sign_up("owner", "member", "friend", *filter(None, STRANGERS))
        world = World()
        world.gateway = gateway
        interest = await make_interest(gateway)
        world.secret = await gateway.board("owner", "Plans")
        world.pin = await gateway.pin(
            "owner", world.secret, "surprise party", interestIds=[interest]
        )
        world.interest = interest
        for name in ("member", "former", "removed"):
            await join(gateway, world.secret, name)
            pin = await gateway.pin(name, world.secret, f"party of {name}", interestIds=[interest])
            await gateway.mutate(name, "likePin", "pin { id }", pinId=pin)
        for name in ("friend", "stranger", "former"):
            await gateway.mutate(
                name, "followUser", "user { id }", userId=str(gateway.people["owner"])
            )
            await gateway.mutate(name, "followBoard", "board { id }", boardId=world.secret)
            await gateway.mutate(name, "followInterest", "interest { id }", interestId=interest)
            await gateway.mutate(name, "likePin", "pin { id }", pinId=world.pin)
        comment = await gateway.mutate(
            "friend", "createComment", "comment { id }", pinId=world.pin, text="nice party"
        )
        world.comment = comment["comment"]["id"]
        world.section = await gateway.section("owner", world.secret, "candles")
        await gateway.mutate(
            "owner", "movePinToSection", "pin { id }", pinId=world.pin, sectionId=world.section
        )
        own = await gateway.board("friend", "Saved")
        repin = await gateway.mutate("friend", "repin", "pin { id }", pinId=world.pin, boardId=own)
        world.repin = repin["pin"]["id"]
        await gateway.settle()
        await index(gateway)  # the search index has it
        for name in STRANGERS:  # it is in feeds now, and shown
            await gateway.data("{ homeFeed { visitId } }", name)
        await gateway.settle()
        await gateway.mutate(
            "owner", "updateBoard", "board { secret }", boardId=world.secret, secret=True
        )
        await invite(gateway, world.secret, "invited")
        await gateway.mutate("former", "leaveBoard", "board { id }", boardId=world.secret)
        removed = str(gateway.people["removed"])
        await gateway.mutate(
            "owner", "removeCollaborator", "board { id }", boardId=world.secret, userId=removed
        )
        yield world


async def invite(gateway: Gateway, board: str, user: str) -> None:
    given = {"boardId": board, "userId": str(gateway.people[user])}
    await gateway.mutate("owner", "inviteCollaborator", "board { id }", **given)


async def join(gateway: Gateway, board: str, user: str) -> None:
    """Let a user become a collaborator of a board of the owner."""
    await invite(gateway, board, user)
    joined = await gateway.mutate(user, "acceptInvitation", "board { id }", boardId=board)
    assert joined["board"]["id"] == board


async def index(gateway: Gateway) -> None:
    """Bring the search index up to date."""
    search = gateway.runtime.search
    assert search is not None
    async with search.alone():
        await Upkeep(gateway.stores, search).catch_up()


async def make_interest(gateway: Gateway) -> str:
    interest = await create_interest(gateway.stores, "Parties", "parties")
    return str(interest.id)


PATHS = {
    "board": "query($secret: ID!) { board(id: $secret) { id name } }",
    "node of the board": "query($secret: ID!) { node(id: $secret) { id } }",
    "pin": "query($pin: ID!) { pin(id: $pin) { id title } }",
    "nodes": "query($secret: ID!, $pin: ID!, $comment: ID!) "
    "{ nodes(ids: [$secret, $pin, $comment]) { id } }",
    "node of the comment": "query($comment: ID!) "
    "{ node(id: $comment) { ... on Comment { text } } }",
    "the sections": "query($secret: ID!) { board(id: $secret) "
    "{ sections { edges { node { id name } } } last: sections(last: 5) { edges { cursor } } } }",
    "node of the section": "query($section: ID!) { nodes(ids: [$section]) { id } node(id: $section)"
    " { id ... on Section { name pinCount board { id } pins { edges { node { id } } } } } }",
    "sections of pins": "{ pins(first: 9) { edges { node { section { id name "
    "pins(first: 9) { edges { node { id } } } } } } } }",
    "all boards": "{ boards(first: 100) { edges { node { id name } } } }",
    "all pins": "{ pins(first: 100) { edges { node { id title } } } }",
    "the owner's lists": '{ user(username: "owner") { boards { edges { node { id name } } } '
    "pins { edges { node { id title } } } } }",
    "the owner's lists from their end": '{ user(username: "owner") '
    "{ boards(last: 100) { edges { node { id name } } } "
    "pins(last: 100) { edges { node { id title } } } } }",
    "the owner's boards by name": '{ user(username: "owner") '
    "{ boards(orderBy: NAME) { edges { node { id name } } } } }",
    "the owner's boards by pins": '{ user(username: "owner") '
    "{ boards(orderBy: PINS) { edges { node { id name } } } } }",
    "the owner's secret boards": '{ user(username: "owner") '
    "{ boards(secret: true) { edges { node { id name } } } "
    "byName: boards(secret: true, orderBy: NAME) { edges { node { id name } } } "
    "shown: boards(secret: false) { edges { node { id name } } } } }",
    "the secret board's pins by likes": "query($secret: ID!) { board(id: $secret) "
    "{ pins(orderBy: LIKES) { edges { node { id title } } } } }",
    "the pin's oldest comments": "query($pin: ID!) { pin(id: $pin) "
    "{ comments(orderBy: OLDEST) { edges { node { id text } } } } }",
    "a liker's list": '{ user(username: "friend") { likedPins { edges { node { id title } } } } }',
    "the lists of former collaborators": '{ former: user(username: "former") '
    "{ pinCount pins { edges { node { id title } } } likedPins { edges { node { title } } } "
    "collaboratingBoards { edges { node { id name } } } } "
    'removed: user(username: "removed") { pins { edges { node { id title } } } } }',
    "a collaborator's list": '{ user(username: "member") '
    "{ pins { edges { node { id title } } } likedPins { edges { node { title } } } "
    "collaboratingBoards { edges { node { id name } } } } }",
    "the secret board's collaborators": "query($secret: ID!) { board(id: $secret) { viewerRole "
    "collaborators { edges { node { username } } } invitedUsers { edges { node { id } } } } }",
    "a follower's list": '{ user(username: "friend") '
    "{ followingBoards { edges { node { id name } } } "
    "byName: followingBoards(orderBy: NAME) { edges { node { id name } } } "
    "byPins: followingBoards(orderBy: PINS) { edges { node { id name } } } } }",
    "a repin's source": "query($repin: ID!) { pin(id: $repin) { source { id title } } }",
    "an interest's pins": "query($interest: ID!) { node(id: $interest) "
    "{ ... on Interest { pins { edges { node { id board { name } } } } } } }",
    "a search for the board": '{ search(text: "plans") { edges { cursor highlights '
    "{ parts { text } } node { ... on Board { id name } } } pageInfo { hasNextPage } } }",
    "a search for the pin": '{ search(text: "surprise") { edges { cursor highlights '
    "{ parts { text } } node { ... on Pin { id board { name } } } } } }",
    "suggestions": '{ suggest(prefix: "pla") { text parts { text } node { ... on Board { id } } } '
    'pins: suggest(prefix: "surpr") { node { ... on Pin { id } } } }',
    "the home feed": "{ homeFeed(first: 50) { edges { node { id board { name } } } } }",
}


def variables(world: World) -> dict[str, Any]:
    return {
        name: getattr(world, name)
        for name in ("secret", "pin", "comment", "section", "repin", "interest")
    }


@pytest.mark.parametrize("viewer", STRANGERS)
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("settled", [False, True])
async def test_a_stranger_finds_nothing_of_it(
    world: World, path: str, viewer: str | None, settled: bool
) -> None:
    if settled:
        await world.gateway.settle()
    response = await world.gateway.ask(PATHS[path], viewer, **used(PATHS[path], world))
    assert "errors" not in response
    text = str(response["data"])
    ids = (world.secret, world.pin, world.comment, world.section)
    for hidden in (*ids, "Plans", "nice party", "party of", "candles"):
        assert hidden not in text


async def test_a_stranger_who_follows_it_does_not_see_it_in_the_following_feed(
    world: World,
) -> None:
    query = "{ followingFeed { edges { node { id title } } } }"
    assert world.pin not in str(await world.gateway.data(query, "stranger"))


async def test_the_owners_counts_do_not_tell_of_it_once_jobs_have_run(world: World) -> None:
    await world.gateway.settle()
    query = '{ user(username: "owner") { boardCount pinCount } }'
    for viewer in STRANGERS:
        counts = (await world.gateway.data(query, viewer))["user"]
        assert counts == {"boardCount": 0, "pinCount": 0}
    assert (await world.gateway.data(query, "owner"))["user"] == {"boardCount": 1, "pinCount": 1}


@pytest.mark.parametrize("viewer", ["stranger", "former", "invited"])
@pytest.mark.parametrize(
    ("mutation", "given"),
    [
        ("likePin", {"pinId": "pin"}),
        ("createComment", {"pinId": "pin", "text": "=hello"}),
        ("updatePin", {"pinId": "pin", "title": "=mine"}),
        ("deletePin", {"pinId": "pin"}),
        ("updateBoard", {"boardId": "secret", "name": "=mine"}),
        ("deleteBoard", {"boardId": "secret"}),
        ("createPin", {"boardId": "secret", "title": "=mine"}),
        ("reorderPin", {"boardId": "secret", "pinId": "pin", "beforePinId": "repin"}),
        ("movePin", {"pinId": "pin", "boardId": "secret"}),
        ("reorderPins", {"boardId": "secret", "pinIds": ["pin"], "beforePinId": "repin"}),
        ("createSection", {"boardId": "secret", "name": "=mine"}),
        ("renameSection", {"sectionId": "section", "name": "=mine"}),
        ("reorderSection", {"sectionId": "section", "afterSectionId": "section2"}),
        ("deleteSection", {"sectionId": "section"}),
        ("movePinToSection", {"pinId": "pin", "sectionId": "section"}),
        ("followBoard", {"boardId": "secret"}),
        ("deleteComment", {"commentId": "comment"}),
        ("removeCollaborator", {"boardId": "secret", "userId": "friend"}),
        ("inviteCollaborator", {"boardId": "secret", "userId": "friend"}),
        *(("report", {"id": id, "reason": "=SPAM"}) for id in ("pin", "secret", "comment")),
    ],
)
async def test_a_stranger_cannot_tell_it_from_what_never_was(
    world: World, mutation: str, given: dict[str, Any], viewer: str
) -> None:
    absent = {"pin": 999, "secret": 999, "comment": 999, "section": 999, "repin": 998}
    absent["section2"] = 998
    friend = world.gateway.people["friend"]

    def id_of(name: str, missing: bool) -> str:
        if name == "friend":
            return str(friend)
        real = int(getattr(world, name.rstrip("2"))) + name.count("2")
        # The same shard and type, another number.
        return str((real >> 36 << 36) + absent[name]) if missing else str(real)

    def fill(missing: bool) -> dict[str, Any]:
        filled: dict[str, Any] = {}
        for name, value in given.items():
            if isinstance(value, list):
                filled[name] = [id_of(one, missing) for one in value]
            else:
                filled[name] = value[1:] if value.startswith("=") else id_of(value, missing)
        return filled

    seen = await world.gateway.try_to(viewer, mutation, "", **fill(missing=False))
    never = await world.gateway.try_to(viewer, mutation, "", **fill(missing=True))
    assert [e["code"] for e in seen["errors"]] == ["NOT_FOUND"]
    assert masked(seen["errors"]) == masked(never["errors"])


def masked(errors: list[dict[str, str]]) -> list[dict[str, str]]:
    return [{k: re.sub(r"\d{6,}", "ID", v or "") for k, v in error.items()} for error in errors]


async def test_what_one_liked_or_followed_can_be_given_up_and_still_is_not_shown(
    world: World,
) -> None:
    mutate = world.gateway.mutate
    unliked = await mutate("friend", "unlikePin", "pin { id title }", pinId=world.pin)
    unfollowed = await mutate("friend", "unfollowBoard", "board { id name }", boardId=world.secret)
    assert (unliked["pin"], unfollowed["board"]) == (None, None)


@pytest.mark.parametrize("mutation", ["acceptInvitation", "declineInvitation", "leaveBoard"])
async def test_a_stranger_has_no_invitation_to_it(world: World, mutation: str) -> None:
    absent = str((int(world.secret) >> 36 << 36) + 999)
    seen, never = [
        await world.gateway.try_to("stranger", mutation, "", boardId=id)
        for id in (world.secret, absent)
    ]
    assert [e["code"] for e in seen["errors"]] == ["NOT_FOUND"]
    assert masked(seen["errors"]) == masked(never["errors"])


@pytest.mark.parametrize("viewer", MEMBERS)
async def test_the_members_find_all_of_it(world: World, viewer: str) -> None:
    paths = [
        "board",
        "node of the board",
        "pin",
        "node of the comment",
        "nodes",
        "a repin's source",
    ]
    paths += ["the secret board's pins by likes", "the pin's oldest comments"]
    paths += ["the secret board's collaborators"]
    paths += ["the owner's lists"] if viewer == "owner" else ["a collaborator's list"]
    for path in paths:
        response = await world.gateway.data(PATHS[path], viewer, **used(PATHS[path], world))
        found = (world.pin, world.secret, "nice party", "party of", "member")
        assert any(text in str(response) for text in found), path
    for path in ("the sections", "node of the section"):
        response = await world.gateway.data(PATHS[path], viewer, **used(PATHS[path], world))
        assert "candles" in str(response)


async def test_a_member_sees_the_pins_of_all_who_added_some(world: World) -> None:
    query = """query($secret: ID!) { board(id: $secret) {
      viewerRole pins { edges { node { title } } } } }"""
    board = (await world.gateway.data(query, "member", secret=world.secret))["board"]
    assert board["viewerRole"] == "COLLABORATOR"
    titles = {edge["node"]["title"] for edge in board["pins"]["edges"]}
    assert {"party of member", "party of former", "party of removed", "surprise party"} <= titles


async def test_an_invited_user_learns_the_name_and_the_owner_by_the_invitation_only(
    world: World,
) -> None:
    query = "{ boardInvitations { edges { node { boardId boardName owner { username } } } } }"
    for viewer in STRANGERS[:-1]:
        found = (await world.gateway.data(query, viewer))["boardInvitations"]["edges"]
        invitation = {"boardId": world.secret, "boardName": "Plans", "owner": {"username": "owner"}}
        assert found == ([{"node": invitation}] if viewer == "invited" else [])


def used(query: str, world: World) -> dict[str, Any]:
    return {name: value for name, value in variables(world).items() if f"${name}" in query}


async def test_what_is_moved_to_a_secret_board_is_gone_for_strangers_at_once(world: World) -> None:
    gateway = world.gateway
    shown = await gateway.board("owner", "Shown")
    pin = await gateway.pin("owner", shown, "so far", interestIds=[world.interest])
    await gateway.mutate("friend", "likePin", "pin { id }", pinId=pin)
    await gateway.settle()
    counts = '{ user(username: "owner") { pinCount } }'
    query = "query($pin: ID!) { pin(id: $pin) { title board { name } } }"
    paths = [
        (path, used(path, world))
        for name, path in PATHS.items()
        if name in ("all pins", "the owner's lists", "a liker's list", "an interest's pins")
    ]
    for to, seen in ((world.secret, False), (shown, True), (world.secret, False)):
        moved = await gateway.mutate("owner", "movePin", "pin { id }", pinId=pin, boardId=to)
        assert moved["pin"]["id"] == pin
        for viewer in STRANGERS:
            found = await gateway.data(query, viewer, pin=pin)
            assert found["pin"] == (
                {"title": "so far", "board": {"name": "Shown"}} if seen else None
            )
            for path, given in paths:
                assert (pin in str(await gateway.data(path, viewer, **given))) == seen
            assert (await gateway.data(counts, viewer))["user"]["pinCount"] == int(seen)
        await gateway.settle()
    # An own board does not reveal another user's secret board either.
    refused = await gateway.try_to(
        "stranger", "movePin", "pin { id }", pinId=world.repin, boardId=world.secret
    )
    assert [error["code"] for error in refused["errors"]] == ["NOT_FOUND"]


SEARCH = """query($text: String!, $first: Int) { search(text: $text, first: $first) {
  edges { node { ... on Pin { id } ... on Board { id } } } pageInfo { hasNextPage endCursor } } }"""


@pytest.mark.parametrize("viewer", ["owner", *STRANGERS])
async def test_a_search_does_not_tell_that_the_index_still_has_it(
    world: World, viewer: str | None
) -> None:
    search = world.gateway.runtime.search
    assert search is not None
    known = {hit.id for hit in await search.search(SearchRequest("surprise", 10))}
    assert int(world.pin) in known, "the moment after the board became secret"
    found = await world.gateway.data(SEARCH, viewer, text="plans")
    never = await world.gateway.data(SEARCH, viewer, text="neverwritten")
    assert found == never, "like a word that no object has"
    page = (await world.gateway.data(SEARCH, viewer, text="surprise", first=1))["search"]
    assert [edge["node"]["id"] for edge in page["edges"]] == [world.repin], "refilled"
    assert page["pageInfo"]["hasNextPage"] is False
