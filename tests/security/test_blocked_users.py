"""A block keeps two users apart: neither sees the other, on any path."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.gateways import Gateway, embedded_gateway
from tests.security.test_related import start
from tests.security.test_secret_boards import index, make_interest, masked

pytestmark = pytest.mark.anyio


class World:
    """Ann blocks Bob. Both had boards and pins, followed each other and each other's boards, liked
    and commented, and have a common friend. The ids are by the owner's name."""

    gateway: Gateway
    interest: str
    shared: str
    """A pin of the friend, which both liked and commented on."""

    def __init__(self) -> None:
        self.board: dict[str, str] = {}
        self.pin: dict[str, str] = {}
        self.repin: dict[str, str] = {}
        """Repins by the friend."""
        self.section: dict[str, str] = {}
        self.comment: dict[str, str] = {}
        """Comments on the shared pin."""
        self.under_own: dict[str, str] = {}
        """Comments of the friend on the user's pin."""
        self.before: dict[tuple[str, str], str] = {}
        """The answers before the block, by path and viewer."""

    def user(self, name: str) -> str:
        return str(self.gateway.people[name])

    def given(self, of: str) -> dict[str, str]:
        """The variables of the paths."""
        return {
            "user": self.user(of),
            "name": of,
            "board": self.board[of],
            "pin": self.pin[of],
            "repin": self.repin[of],
            "section": self.section[of],
            "comment": self.comment[of],
            "under": self.under_own[of],
            "interest": self.interest,
            "shared": self.shared,
            "friend": self.user("friend"),
        }

    def traces(self, of: str) -> list[str]:
        """The ids and texts of which an answer may have none."""
        ids = [self.user(of), self.board[of], self.pin[of], self.comment[of], self.under_own[of]]
        ids.append(self.section[of])
        return [*ids, f"{of} plans", f"part of {of}", f"words by {of}", f"fame of {of}"]


OTHER = {"ann": "bob", "bob": "ann"}


@pytest.fixture(scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    directory = tmp_path_factory.mktemp("data")
    async with embedded_gateway(directory, {"http.federation": True}) as gateway:
        world = World()
        world.gateway = gateway
        await gateway.sign_up("ann", "bob", "friend", "stranger")
        world.interest = await make_interest(gateway)
        for name in OTHER:
            world.board[name] = board = await gateway.board(name, f"{name} plans")
            world.pin[name] = await gateway.pin(
                name, board, f"{name} surprise", interestIds=[world.interest]
            )
            world.section[name] = section = await gateway.section(name, board, f"part of {name}")
            await gateway.mutate(
                name, "movePinToSection", "", pinId=world.pin[name], sectionId=section
            )
            await gateway.mutate(name, "updateProfile", "user { id }", about=f"fame of {name}")
        saved = await gateway.board("friend", "saved")
        world.shared = await gateway.pin("friend", saved, "shared")
        for name, other in OTHER.items():
            mutate = gateway.mutate
            for viewer in (name, "friend"):
                await mutate(viewer, "followUser", "user { id }", userId=world.user(other))
                await mutate(viewer, "followBoard", "board { id }", boardId=world.board[other])
                await mutate(viewer, "likePin", "pin { id }", pinId=world.pin[other])
            await mutate(name, "followUser", "user { id }", userId=world.user("friend"))
            await mutate(name, "followInterest", "interest { id }", interestId=world.interest)
            await mutate(name, "likePin", "pin { id }", pinId=world.shared)
            said = await mutate(
                name,
                "createComment",
                "comment { id }",
                pinId=world.shared,
                text=f"words by {name}",
            )
            world.comment[name] = said["comment"]["id"]
            said = await mutate(
                "friend", "createComment", "comment { id }", pinId=world.pin[name], text="fine"
            )
            world.under_own[name] = said["comment"]["id"]
            made = await mutate(
                "friend", "repin", "pin { id }", pinId=world.pin[name], boardId=saved
            )
            world.repin[name] = made["pin"]["id"]
        await gateway.settle()
        await index(gateway)
        await start(gateway)  # the graph of related pins, too
        for name in OTHER:  # each other's pins are in the feeds now, and shown
            shown = await gateway.data("{ homeFeed { edges { node { id } } } }", name)
            assert world.pin[OTHER[name]] in str(shown)
        await gateway.settle()
        for path, query in PATHS.items():
            for name, other in OTHER.items():
                found = await gateway.data(query, name, **used(query, world, other))
                world.before[path, name] = str(found)
        await gateway.mutate("ann", "blockUser", "blockedUser { id }", userId=world.user("bob"))
        yield world


USER = "id username fullName about"
PATHS = {
    "user": f"query($user: ID!) {{ user(id: $user) {{ {USER} }} }}",
    "user by name": f"query($name: String!) {{ user(username: $name) {{ {USER} }} }}",
    "node": "query($user: ID!) { node(id: $user) { id } }",
    "nodes": "query($user: ID!, $board: ID!, $pin: ID!, $comment: ID!, $under: ID!) "
    "{ nodes(ids: [$user, $board, $pin, $comment, $under]) { id } }",
    "section": "query($section: ID!, $board: ID!) { node(id: $section) { ... on Section { id name "
    "pins { edges { node { id } } } } } board(id: $board) { sections { edges { node { id } } } } }",
    "board": "query($board: ID!) { board(id: $board) { id name } }",
    "pin": "query($pin: ID!) { pin(id: $pin) { id title } }",
    "all users": f"{{ users(first: 100) {{ edges {{ node {{ {USER} }} }} }} }}",
    "all boards": "{ boards(first: 100) { edges { node { id name } } } }",
    "all pins": "{ pins(first: 100) { edges { node { id title source { id } } } } }",
    "a follower's lists": "query($friend: ID!) { user(id: $friend) { "
    "followers { edges { node { id username } } } "
    "byName: followers(orderBy: NAME) { edges { node { id username } } } "
    "followingUsers { edges { node { id username } } } "
    "followingBoards { edges { node { id name } } } "
    "boardsByName: followingBoards(orderBy: NAME) { edges { node { id name } } } "
    "likedPins { edges { node { id title owner { id } } } } "
    "suggestedUsers { id } } }",
    "a repin's source": "query($repin: ID!) { pin(id: $repin) { source { id owner { id } } } }",
    "a pin's likes and comments": "query($shared: ID!) { pin(id: $shared) { "
    "likedBy { edges { node { id username } } } "
    "comments { edges { node { id text author { id } } } } "
    "oldest: comments(orderBy: OLDEST) { edges { node { id text } } } } }",
    "an interest's pins": "query($interest: ID!) { node(id: $interest) "
    "{ ... on Interest { pins { edges { node { id title owner { id } } } } } } }",
    "searches": "query($name: String!) { search(text: $name) { edges { highlights "
    "{ parts { text } } node { ... on User { id } ... on Board { id } ... on Pin { id } } } } "
    'other: search(text: "surprise") { edges { node { ... on Pin { id } } } } }',
    "suggestions": "query($name: String!) { suggest(prefix: $name) { text "
    "node { ... on User { id } ... on Board { id } ... on Pin { id } } } }",
    "related pins": "query($shared: ID!) { pin(id: $shared) { related { id } "
    "board { suggestedPins { id } } } }",
    "the home feed": "{ homeFeed(first: 50) { edges { node { id title } "
    "causes { pin { id } followed { ... on User { id } } } } } }",
    "the following feed": "{ followingFeed { edges { node { id title } } } }",
    "the viewer's lists": "{ viewer { followers { edges { node { id } } } "
    "followingUsers { edges { node { id } } } followingBoards { edges { node { id } } } "
    "likedPins { edges { node { id } } } suggestedUsers { id } } }",
    "likes of the viewer's pins": "{ viewer { pins { edges { node { "
    "likedBy { edges { node { id } } } } } } } }",
    "entities": "query($user: ID!, $board: ID!, $pin: ID!) { _entities(representations: ["
    '{__typename: "User", id: $user}, {__typename: "Board", id: $board}, '
    '{__typename: "Pin", id: $pin}]) '
    "{ ... on User { id } ... on Board { id } ... on Pin { id } } }",
}


def used(query: str, world: World, of: str) -> dict[str, Any]:
    return {name: it for name, it in world.given(of).items() if f"${name}" in query}


@pytest.mark.parametrize("viewer", OTHER)
@pytest.mark.parametrize("path", PATHS)
async def test_without_the_block_each_finds_the_other(world: World, path: str, viewer: str) -> None:
    assert any(trace in world.before[path, viewer] for trace in world.traces(OTHER[viewer]))


@pytest.mark.parametrize("settled", [False, True])
@pytest.mark.parametrize("viewer", OTHER)
@pytest.mark.parametrize("path", PATHS)
async def test_neither_finds_the_other(world: World, path: str, viewer: str, settled: bool) -> None:
    if settled:
        await world.gateway.settle()
    response = await world.gateway.ask(
        PATHS[path], viewer, **used(PATHS[path], world, OTHER[viewer])
    )
    assert "errors" not in response
    text = str(response["data"])
    for trace in world.traces(OTHER[viewer]):
        assert trace not in text


@pytest.mark.parametrize("viewer", ["friend", None])
async def test_all_others_still_see_both(world: World, viewer: str | None) -> None:
    for name in OTHER:
        for path in ("user", "user by name", "board", "pin", "nodes", "all users", "entities"):
            found = await world.gateway.data(PATHS[path], viewer, **used(PATHS[path], world, name))
            assert (
                world.user(name) in str(found)
                or world.board[name] in str(found)
                or (world.pin[name] in str(found))
            )


WRITES: tuple[tuple[str, dict[str, str]], ...] = (
    ("followUser", {"userId": "user"}),
    ("unfollowUser", {"userId": "user"}),
    ("seeLess", {"id": "user"}),
    ("seeLess", {"id": "board"}),
    ("likePin", {"pinId": "pin"}),
    ("createComment", {"pinId": "pin", "text": "=hello"}),
    ("hidePin", {"pinId": "pin"}),
    ("updatePin", {"pinId": "pin", "title": "=mine"}),
    ("deletePin", {"pinId": "pin"}),
    ("updateBoard", {"boardId": "board", "name": "=mine"}),
    ("deleteBoard", {"boardId": "board"}),
    ("createPin", {"boardId": "board", "title": "=mine"}),
    ("repin", {"pinId": "pin", "boardId": "own"}),
    ("repin", {"pinId": "shared", "boardId": "board"}),
    ("movePin", {"pinId": "pin", "boardId": "own"}),
    ("reorderPin", {"boardId": "board", "pinId": "pin", "beforePinId": "shared"}),
    ("followBoard", {"boardId": "board"}),
    ("deleteComment", {"commentId": "comment"}),
    ("deleteComment", {"commentId": "under"}),
    ("report", {"id": "user", "reason": "=SPAM"}),
    ("report", {"id": "board", "reason": "=SPAM"}),
    ("report", {"id": "pin", "reason": "=SPAM"}),
    ("report", {"id": "comment", "reason": "=SPAM"}),
    ("report", {"id": "under", "reason": "=SPAM"}),
)


@pytest.mark.parametrize(("mutation", "given"), WRITES)
@pytest.mark.parametrize("viewer", OTHER)
async def test_a_write_cannot_tell_a_hidden_object_from_an_absent_one(
    world: World, mutation: str, given: dict[str, str], viewer: str
) -> None:
    await world.gateway.settle()
    ids = {**world.given(OTHER[viewer]), "own": world.board[viewer]}

    def fill(missing: bool) -> dict[str, str]:
        def value(name: str) -> str:
            if name.startswith("="):
                return name[1:]
            if missing and name not in ("own", "shared"):
                return str((int(ids[name]) >> 36 << 36) + 999)
            return ids[name]

        return {argument: value(name) for argument, name in given.items()}

    seen = await world.gateway.try_to(viewer, mutation, "", **fill(missing=False))
    never = await world.gateway.try_to(viewer, mutation, "", **fill(missing=True))
    assert [e["code"] for e in seen["errors"]] == ["NOT_FOUND"]
    assert masked(seen["errors"]) == masked(never["errors"])


async def test_the_blocked_user_cannot_block_back_as_if_nobody_were_there(world: World) -> None:
    absent = str((int(world.user("ann")) >> 36 << 36) + 999)
    refused = [
        await world.gateway.try_to("bob", field, "", userId=id)
        for id in (world.user("ann"), absent)
        for field in ("blockUser", "unblockUser")
    ]
    assert {str(masked(it["errors"])) for it in refused[:2]} == {
        str(masked(it["errors"])) for it in refused[2:]
    }
    assert refused[0]["errors"][0]["code"] == "NOT_FOUND"


BLOCKED = "{ blockedUsers { edges { cursor node { id username fullName } } } }"


async def test_the_viewers_list_has_the_blocked_user_and_nobody_elses_has(world: World) -> None:
    def names(data: Any) -> list[str]:
        return [edge["node"]["username"] for edge in data["blockedUsers"]["edges"]]

    assert names(await world.gateway.data(BLOCKED, "ann")) == ["bob"]
    assert names(await world.gateway.data(BLOCKED, "bob")) == []
    refused = await world.gateway.ask(BLOCKED)
    assert refused["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"
