"""Muted users: the viewer's feeds do without their pins, and nothing tells the muted user."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from feed_engine.feeds import preferences
from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio
FEEDS = """{ homeFeed(first: 50) { edges { node { title } } }
  followingFeed(first: 50) { edges { node { title } } } }"""
SEEN = """query($id: ID!) { user(id: $id) { id viewerFollows viewerMutes followerCount
  followers { edges { node { username } } } followingUsers { edges { node { username } } } }
  mutedUsers { edges { node { username } } } }"""


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    """Ann follows Bob and Cat, who have boards."""
    async with embedded_gateway(tmp_path) as gateway:
        await gateway.sign_up("ann", "bob", "cat")
        for name in ("bob", "cat"):
            user = str(gateway.people[name])
            await gateway.mutate("ann", "followUser", "user { id }", userId=user)
            await gateway.board(name, f"board of {name}")
        await gateway.settle()
        yield gateway


async def pin(gateway: Gateway, name: str, title: str) -> str:
    query = "query($name: String!) { user(username: $name) { boards { edges { node { id } } } } }"
    found = await gateway.data(query, name, name=name)
    made = await gateway.pin(name, found["user"]["boards"]["edges"][0]["node"]["id"], title)
    await gateway.settle()
    return made


async def mute(gateway: Gateway, field: str, name: str) -> Any:
    selection = "user { viewerMutes viewerFollows } mutedUserId unmutedUserId"
    return await gateway.mutate("ann", field, selection, userId=str(gateway.people[name]))


async def titles(gateway: Gateway) -> list[set[str]]:
    """The titles in the home feed and in the following feed."""
    data = await gateway.data(FEEDS, "ann")
    return [{edge["node"]["title"] for edge in feed["edges"]} for feed in data.values()]


async def test_a_mute_acts_at_once_and_an_unmute_ends_it(gateway: Gateway) -> None:
    await pin(gateway, "bob", "old")
    await pin(gateway, "cat", "other")
    assert await titles(gateway) == [{"old", "other"}] * 2
    id = str(gateway.people["bob"])
    muted = {"user": {"viewerMutes": True, "viewerFollows": True}, "mutedUserId": id}
    assert await mute(gateway, "muteUser", "bob") == {**muted, "unmutedUserId": None, "errors": []}
    assert await titles(gateway) == [{"other"}] * 2
    await pin(gateway, "bob", "new")
    assert await titles(gateway) == [{"other"}] * 2
    ended = await mute(gateway, "unmuteUser", "bob")
    assert (ended["user"]["viewerMutes"], ended["unmutedUserId"]) == (False, id)
    assert await titles(gateway) == [{"old", "new", "other"}] * 2


async def test_the_muted_user_sees_no_difference(gateway: Gateway) -> None:
    id = str(gateway.people["ann"])
    before = await gateway.data(SEEN, "bob", id=id)
    await mute(gateway, "muteUser", "bob")
    await gateway.settle()
    assert await gateway.data(SEEN, "bob", id=id) == before
    mine = await gateway.data(SEEN, "ann", id=str(gateway.people["bob"]))
    assert mine["user"]["viewerMutes"] is True
    assert mine["mutedUsers"]["edges"] == [{"node": {"username": "bob"}}]


async def test_pins_of_a_muted_user_do_not_wait_for_the_home_feed(gateway: Gateway) -> None:
    await mute(gateway, "muteUser", "bob")
    async with gateway.subscribed("subscription { homeFeedUpdated { waiting } }", "ann") as stream:
        assert await stream.next() == {"waiting": 0}
        await pin(gateway, "bob", "silent")
        await pin(gateway, "cat", "heard")
        assert await stream.next() == {"waiting": 1}


async def test_mutes_are_bounded_and_only_of_users_who_are_there(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("feed_engine.writes.preferences.MUTED", 1)
    await mute(gateway, "muteUser", "bob")
    absent = str(gateway.people["bob"] + 999)
    for user, code in (
        (str(gateway.people["cat"]), "BAD_USER_INPUT"),
        (str(gateway.people["ann"]), "BAD_USER_INPUT"),
        (absent, "NOT_FOUND"),
    ):
        refused = await gateway.try_to("ann", "muteUser", "", userId=user)
        assert [error["code"] for error in refused["errors"]] == [code]
    await gateway.mutate("bob", "blockUser", "", userId=str(gateway.people["ann"]))
    assert (await mute(gateway, "unmuteUser", "bob"))["user"] is None
    assert preferences.MUTED == 1000
