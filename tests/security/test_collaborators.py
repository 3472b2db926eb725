"""Collaborators, invited users and former collaborators on all paths that depend on the user who
added a pin."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from datasources.ids import Kind
from resolvers import visibility
from resolvers.visibility import RULES as OF_KINDS
from tests.gateways import Gateway, embedded_gateway
from tests.security.test_live import BOARD, PIN

pytestmark = pytest.mark.anyio
RULES = {"pin": OF_KINDS[Kind.PIN].read, "comment": OF_KINDS[Kind.COMMENT].read}
PINS = "query($id: ID!) { board(id: $id) { viewerRole pins { edges { node { title } } } } }"
NOTIFIED = """{ notifications { edges { node { type actor { username } subject { __typename
  ... on Board { name } ... on BoardInvitation { boardId boardName } } } } } }"""


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path) as gateway:
        await gateway.sign_up("ann", "bob", "cat", "friend")
        yield gateway


async def invite(gateway: Gateway, board: str, *users: str) -> None:
    for user in users:
        given = {"boardId": board, "userId": str(gateway.people[user])}
        await gateway.mutate("ann", "inviteCollaborator", "board { id } user { id }", **given)


async def join(gateway: Gateway, board: str, *users: str) -> None:
    await invite(gateway, board, *users)
    for user in users:
        await gateway.mutate(user, "acceptInvitation", "board { id }", boardId=board)


async def block(gateway: Gateway, viewer: str, user: str) -> None:
    id = str(gateway.people[user])
    await gateway.mutate(viewer, "blockUser", "blockedUser { id }", userId=id)


async def titles(gateway: Gateway, viewer: str | None, board: str) -> set[str] | None:
    """The titles of a board's pins that a viewer sees; None if the viewer can't see the board."""
    found = (await gateway.data(PINS, viewer, id=board))["board"]
    return found and {edge["node"]["title"] for edge in found["pins"]["edges"]}


async def test_the_roles_and_lists_of_all_kinds_of_viewers(gateway: Gateway) -> None:
    query = """query($id: ID!) { board(id: $id) { viewerRole
      collaborators { edges { node { username } } }
      invitedUsers(orderBy: NAME) { edges { node { username } } } } }"""
    board = await gateway.board("ann", "open")
    await join(gateway, board, "bob")
    await invite(gateway, board, "cat")
    for viewer, role, invited in (
        ("ann", "OWNER", ["cat"]),
        ("bob", "COLLABORATOR", []),
        ("cat", "INVITED", []),
        ("friend", None, []),
        (None, None, []),
    ):
        found = (await gateway.data(query, viewer, id=board))["board"]
        assert found["viewerRole"] == role
        assert [it["node"]["username"] for it in found["collaborators"]["edges"]] == ["bob"]
        assert [it["node"]["username"] for it in found["invitedUsers"]["edges"]] == invited
    shared = "{ viewer { collaboratingBoards { edges { node { name } } } } }"
    assert "open" in str(await gateway.data(shared, "bob"))
    of_bob = '{ user(username: "bob") { collaboratingBoards(orderBy: PINS) { edges { cursor } } } }'
    for viewer in ("ann", None):
        found = await gateway.data(of_bob, viewer)
        assert found["user"]["collaboratingBoards"]["edges"] == []


@pytest.mark.parametrize("end", ["leave", "remove", "block", "blocked", "deleted board"])
async def test_everything_is_hidden_when_the_membership_ends(gateway: Gateway, end: str) -> None:
    board = await gateway.board("ann", "Plans", secret=True)
    await gateway.pin("ann", board, "of ann")
    await join(gateway, board, "bob")
    pin = await gateway.pin("bob", board, "of bob")
    assert await titles(gateway, "bob", board) == {"of ann", "of bob"}
    own = """{ viewer { pins { edges { node { title } } } likedPins { edges { node { title } } }
      collaboratingBoards { edges { node { name } } } } }"""
    await gateway.mutate("bob", "likePin", "pin { id }", pinId=pin)
    assert {"of bob", "Plans"} <= set(str(await gateway.data(own, "bob")).split("'"))
    async with (
        gateway.subscribed(BOARD, "bob", id=board) as of_board,
        gateway.subscribed(PIN, "bob", id=pin) as of_pin,
    ):
        assert (await of_board.next())["kind"] == (await of_pin.next())["kind"] == "STARTED"
        match end:
            case "leave":
                await gateway.mutate("bob", "leaveBoard", "viewer { id }", boardId=board)
            case "remove":
                await gateway.mutate(
                    *("ann", "removeCollaborator", "user { id }"),
                    boardId=board,
                    userId=str(gateway.people["bob"]),
                )
            case "block":
                await block(gateway, "bob", "ann")
            case "blocked":
                await block(gateway, "ann", "bob")
            case "deleted board":
                await gateway.mutate("ann", "deleteBoard", "deletedBoardId", boardId=board)
        assert await of_board.response() is None, "the stream of the board ends at once"
        if end != "deleted board":
            await gateway.mutate("ann", "likePin", "pin { id }", pinId=pin)
            assert await of_pin.response() is None
    for _ in range(2):
        assert await titles(gateway, "bob", board) is None
        found = str(await gateway.data(own, "bob"))
        assert "of bob" not in found
        assert "Plans" not in found
        refused = await gateway.try_to("bob", "createPin", "", boardId=board, title="again")
        assert [error["code"] for error in refused["errors"]] == ["NOT_FOUND"]
        await gateway.settle()


async def test_a_collaborator_of_a_secret_board_reads_it_again_after_a_break(
    gateway: Gateway,
) -> None:
    """The user may have been no collaborator in between."""
    query = BOARD.replace("kind pinId", "kind cursor pinId").replace(
        "($id: ID!) { boardChanged(boardId: $id)",
        "($id: ID!, $after: String) { boardChanged(boardId: $id, after: $after)",
    )
    board = await gateway.board("ann", "Plans", secret=True)
    await join(gateway, board, "bob")
    cursors = {}
    for viewer in ("ann", "bob"):
        async with gateway.subscribed(query, viewer, id=board) as stream:
            cursors[viewer] = (await stream.next())["cursor"]
    await gateway.mutate("bob", "leaveBoard", "", boardId=board)
    pin = await gateway.pin("ann", board, "away")
    await gateway.mutate("ann", "deletePin", "", pinId=pin)
    await join(gateway, board, "bob")
    for viewer, kind in (("ann", "BOARD_EDITED"), ("bob", "REFETCH")):
        async with gateway.subscribed(query, viewer, id=board, after=cursors[viewer]) as stream:
            assert (await stream.next())["kind"] == kind


@pytest.mark.parametrize("blocker", ["bob", "cat"])
async def test_a_block_between_two_collaborators_hides_their_pins_from_each_other(
    gateway: Gateway, blocker: str
) -> None:
    board = await gateway.board("ann", "open")
    await join(gateway, board, "bob", "cat")
    pins = {name: await gateway.pin(name, board, f"of {name}") for name in ("ann", "bob", "cat")}
    await block(gateway, blocker, "cat" if blocker == "bob" else "bob")
    everybody = {"of ann", "of bob", "of cat"}
    assert await titles(gateway, "bob", board) == {"of ann", "of bob"}
    assert await titles(gateway, "cat", board) == {"of ann", "of cat"}
    for viewer in ("ann", "friend", None):
        assert await titles(gateway, viewer, board) == everybody
    query = "query($id: ID!) { pin(id: $id) { title } node(id: $id) { id } }"
    assert await gateway.data(query, "bob", id=pins["cat"]) == {"pin": None, "node": None}
    for field in ("likePin", "deletePin"):
        refused = await gateway.try_to("bob", field, "", pinId=pins["cat"])
        assert [error["code"] for error in refused["errors"]] == ["NOT_FOUND"]


async def test_the_owner_sees_and_deletes_the_pins_of_a_former_collaborator_whom_a_block_hides(
    gateway: Gateway,
) -> None:
    board = await gateway.board("ann", "open")
    await join(gateway, board, "bob")
    pin = await gateway.pin("bob", board, "of bob")
    await block(gateway, "ann", "bob")
    query = "query($id: ID!) { pin(id: $id) { title owner { username } } }"
    assert (await gateway.data(query, "ann", id=pin))["pin"] == {"title": "of bob", "owner": None}
    await gateway.mutate("ann", "deletePin", "deletedPinId", pinId=pin)
    assert await titles(gateway, "ann", board) == set()


async def test_the_pins_of_a_deleted_collaborator_are_gone_at_once(gateway: Gateway) -> None:
    board = await gateway.board("ann", "open")
    await join(gateway, board, "bob")
    await gateway.pin("ann", board, "of ann")
    pin = await gateway.pin("bob", board, "surprise")
    await gateway.settle()
    await gateway.mutate("bob", "deleteAccount", "deletedUserId", username="bob")
    query = """query($id: ID!) { pin(id: $id) { title } pins { edges { node { title } } }
      homeFeed { edges { node { title } } } board: node(id: $board) { ... on Board {
        collaborators { edges { node { username } } } cover { title } } } }"""
    for _ in range(2):
        for viewer in ("ann", "cat", None):
            assert await titles(gateway, viewer, board) == {"of ann"}
            found = await gateway.data(
                query.replace("$id: ID!", "$id: ID!, $board: ID!"), viewer, id=pin, board=board
            )
            assert "surprise" not in str(found)
            assert "bob" not in str(found)
        refused = await gateway.try_to("ann", "likePin", "", pinId=pin)
        assert [error["code"] for error in refused["errors"]] == ["NOT_FOUND"]
        await gateway.settle()
    count = await gateway.data("query($id: ID!) { board(id: $id) { pinCount } }", id=board)
    assert count["board"] == {"pinCount": 1}


async def test_notifications_of_invitations_show_what_an_invited_user_may_know(
    gateway: Gateway,
) -> None:
    async def shown(viewer: str) -> list[Any]:
        found = await gateway.data(NOTIFIED, viewer)
        return [edge["node"] for edge in found["notifications"]["edges"]]

    board = await gateway.board("ann", "Plans", secret=True)
    await invite(gateway, board, "bob")
    await gateway.settle()
    invitation = {"__typename": "BoardInvitation", "boardId": board, "boardName": "Plans"}
    told = {"type": "INVITED", "actor": {"username": "ann"}, "subject": invitation}
    assert await shown("bob") == [told]
    await gateway.mutate("bob", "acceptInvitation", "board { name }", boardId=board)
    assert await shown("bob") == [], "before any job"
    await gateway.settle()
    subject = {"__typename": "Board", "name": "Plans"}
    joined = {"type": "JOINED_BOARD", "actor": {"username": "bob"}, "subject": subject}
    assert await shown("ann") == [joined]
    await gateway.mutate("bob", "leaveBoard", "", boardId=board)
    await gateway.settle()
    assert await shown("ann") == []


async def test_followers_of_the_board_and_of_the_user_get_what_a_collaborator_adds(
    gateway: Gateway,
) -> None:
    board = await gateway.board("ann", "open")
    await join(gateway, board, "bob")
    await gateway.mutate("cat", "followBoard", "", boardId=board)
    await gateway.mutate("friend", "followUser", "", userId=str(gateway.people["bob"]))
    await gateway.settle()
    secret = await gateway.board("ann", "Plans", secret=True)
    await join(gateway, secret, "bob")
    await gateway.pin("bob", board, "shown")
    await gateway.pin("bob", secret, "hidden")
    await gateway.settle()
    query = "{ followingFeed { edges { node { title } } } }"
    for viewer in ("cat", "friend"):
        edges = (await gateway.data(query, viewer))["followingFeed"]["edges"]
        assert [edge["node"]["title"] for edge in edges] == ["shown"]


@pytest.mark.parametrize("kind", ["pin", "comment"])
async def test_a_reader_who_joins_does_not_see_what_left_the_board_before(
    gateway: Gateway, kind: str
) -> None:
    """The reader has read the object before the membership, and its board after it."""
    board = await gateway.board("ann", "Plans", secret=True)
    elsewhere = await gateway.board("ann", "Other", secret=True)
    pin = await gateway.pin("ann", board, "away")
    said = await gateway.mutate("ann", "createComment", "comment { id }", pinId=pin, text="hm")
    id = int(pin if kind == "pin" else said["comment"]["id"])
    context = gateway._context("bob")
    loaders = context.loaders
    assert await loaders.comments.load(int(said["comment"]["id"])) is not None
    assert await loaders.pins.load(int(pin)) is not None
    await gateway.mutate("ann", "movePin", "pin { id }", pinId=pin, boardId=elsewhere)
    await join(gateway, board, "bob")
    assert await RULES[kind](context, [id]) == {}
    await gateway.mutate("ann", "movePin", "pin { id }", pinId=pin, boardId=board)
    context = gateway._context("bob")
    assert list(await RULES[kind](context, [id])) == [id]


async def test_a_reader_who_was_removed_does_not_see_what_came_to_the_board_since(
    gateway: Gateway,
) -> None:
    """The reader has read the board during the membership, and reads the pin after it."""
    board = await gateway.board("ann", "Plans", secret=True)
    await join(gateway, board, "bob")
    context = gateway._context("bob")
    assert await visibility.board(context, int(board)) is not None
    await gateway.mutate("bob", "leaveBoard", "", boardId=board)
    pin = await gateway.pin("ann", board, "later")
    assert await visibility.pins(context, [int(pin)]) == {}
