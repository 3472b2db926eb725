"""Notifications show nothing that is secret, deleted, blocked or muted at the time of the read."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio
LIST = """{ notifications(first: 50) { edges { node { type otherCount actor { username }
  subject { __typename } savedPin { id } } } } unreadNotificationCount }"""
Hide = Callable[[Gateway], Awaitable[object]]


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    """Bob and Cat follow Ann and her board, save her pin, like it and comment on it."""
    async with embedded_gateway(tmp_path) as gateway:
        await gateway.sign_up("ann", "bob", "cat")
        board = await gateway.board("ann", "Board")
        pin = await gateway.pin("ann", board, "Pin")
        for name in ("bob", "cat"):
            to = await gateway.board(name, f"of {name}")
            await gateway.mutate(name, "followUser", "", userId=str(gateway.people["ann"]))
            await gateway.mutate(name, "followBoard", "", boardId=board)
            await gateway.mutate(name, "repin", "", pinId=pin, boardId=to)
            await gateway.mutate(name, "likePin", "", pinId=pin)
            await gateway.mutate(name, "createComment", "", pinId=pin, text=f"by {name}")
        await gateway.settle()
        yield gateway


async def shown(gateway: Gateway) -> set[tuple[str, str, int]]:
    """The kind, the actor, and the number of others of each notification of Ann."""
    data = await gateway.data(LIST, "ann")
    nodes = [edge["node"] for edge in data["notifications"]["edges"]]
    assert data["unreadNotificationCount"] == len(nodes)
    return {(it["type"], it["actor"]["username"], it["otherCount"]) for it in nodes}


def acts(name: str) -> set[tuple[str, str, int]]:
    kinds = ("FOLLOWED_USER", "FOLLOWED_BOARD", "SAVED", "LIKED", "COMMENTED")
    return {(kind, name, 0) for kind in kinds}


async def to_ann(gateway: Gateway, viewer: str, field: str, user: str) -> object:
    return await gateway.mutate(viewer, field, "", userId=str(gateway.people[user]))


async def delete(gateway: Gateway, name: str) -> object:
    return await gateway.mutate(name, "deleteAccount", "", username=name)


@pytest.mark.parametrize(
    "hide",
    [
        lambda gateway: to_ann(gateway, "ann", "blockUser", "bob"),
        lambda gateway: to_ann(gateway, "bob", "blockUser", "ann"),
        lambda gateway: to_ann(gateway, "ann", "muteUser", "bob"),
        lambda gateway: delete(gateway, "bob"),
    ],
    ids=["blocked", "blocks", "muted", "deleted"],
)
@pytest.mark.parametrize("settled", [True, False])
async def test_a_hidden_users_acts_are_hidden_at_once(
    gateway: Gateway, hide: Hide, settled: bool
) -> None:
    both = acts("cat") | acts("bob") - {("LIKED", "bob", 0), ("LIKED", "cat", 0)}
    assert {(kind, name) for kind, name, _ in await shown(gateway)} == {
        (kind, name) for kind, name, _ in both
    }
    await hide(gateway)
    if settled:
        await gateway.settle()
    assert await shown(gateway) == acts("cat")


async def of(gateway: Gateway, name: str) -> tuple[str, str]:
    """The board of a user, and the pin on it."""
    query = """query($name: String!) { user(username: $name) { boards { edges { node { id
      pins { edges { node { id } } } } } } } }"""
    found = await gateway.data(query, name, name=name)
    [board] = [edge["node"] for edge in found["user"]["boards"]["edges"]]
    return board["id"], board["pins"]["edges"][0]["node"]["id"]


async def test_a_save_to_a_board_that_became_secret_is_hidden_at_once(gateway: Gateway) -> None:
    board, _ = await of(gateway, "bob")
    before = await shown(gateway)
    await gateway.mutate("bob", "updateBoard", "", boardId=board, secret=True)
    assert await shown(gateway) == before - {("SAVED", "bob", 0)}
    await gateway.mutate("bob", "updateBoard", "", boardId=board, secret=False)
    await gateway.settle()
    assert await shown(gateway) == before


async def test_deleted_objects_are_hidden_at_once(gateway: Gateway) -> None:
    before = await shown(gateway)
    _, saved = await of(gateway, "bob")
    await gateway.mutate("bob", "deletePin", "", pinId=saved)
    assert await shown(gateway) == before - {("SAVED", "bob", 0)}
    board, pin = await of(gateway, "ann")
    query = "query($id: ID!) { pin(id: $id) { comments { edges { node { id text } } } } }"
    comments = (await gateway.data(query, "ann", id=pin))["pin"]["comments"]["edges"]
    [said] = [edge["node"]["id"] for edge in comments if edge["node"]["text"] == "by bob"]
    await gateway.mutate("bob", "deleteComment", "", commentId=said)
    assert ("COMMENTED", "bob", 0) not in await shown(gateway)
    await gateway.mutate("ann", "deletePin", "", pinId=pin)
    follows = {(f"FOLLOWED_{what}", name, 0) for what in ("USER", "BOARD") for name in PEOPLE}
    assert await shown(gateway) == follows
    await gateway.mutate("ann", "deleteBoard", "", boardId=board)
    assert await shown(gateway) == {("FOLLOWED_USER", name, 0) for name in PEOPLE}


PEOPLE = ("bob", "cat")


async def test_nobody_reads_the_notifications_of_others(gateway: Gateway) -> None:
    data = await gateway.data(LIST, "bob")
    assert data == {"notifications": {"edges": []}, "unreadNotificationCount": 0}
    await gateway.mutate("bob", "markNotificationsRead", "unreadNotificationCount")
    assert (await gateway.data(LIST, "ann"))["unreadNotificationCount"] == 9


async def test_a_deleted_account_reads_nothing(gateway: Gateway) -> None:
    await delete(gateway, "ann")
    data = await gateway.data(LIST, "ann")
    assert data == {"notifications": {"edges": []}, "unreadNotificationCount": 0}
