"""Tokens of writes, through the whole gateway: which payloads have one, and how feeds use it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from datasources.mappings import Edge
from feed_engine.feeds.own_writes import token_of
from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio

HOME = """query($seen: String) { homeFeed(first: 5, seen: $seen) {
  edges { node { id } } health { pools materialized mayBeStale staleSince } } }"""
FOLLOWING = """query($seen: String) { followingFeed(first: 5, seen: $seen) {
  edges { node { id } } health { store mayBeStale staleSince } } }"""


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path, {"feeds.deadline": 0.2}) as gateway:
        await gateway.sign_up("ann", "bob")
        yield gateway


async def test_a_follow_and_a_pin_give_tokens_that_both_feeds_take(gateway: Gateway) -> None:
    board = await gateway.board("bob", "things")
    made = await gateway.mutate(
        "bob", "createPin", "pin { id } feedToken", boardId=board, title="one"
    )
    bob = str(gateway.people["bob"])
    followed = await gateway.mutate("ann", "followUser", "feedToken", userId=bob)
    early = await gateway.data(FOLLOWING, "ann", seen=followed["feedToken"])
    assert early["followingFeed"]["health"]["mayBeStale"]
    await gateway.settle()
    for token in (made["feedToken"], followed["feedToken"]):
        for query, name in ((FOLLOWING, "followingFeed"), (HOME, "homeFeed")):
            feed = (await gateway.data(query, "ann", seen=token))[name]
            assert [edge["node"]["id"] for edge in feed["edges"]] == [made["pin"]["id"]]
            assert (feed["health"]["mayBeStale"], feed["health"]["staleSince"]) == (False, None)


async def test_every_write_that_feeds_follow_gives_a_token(gateway: Gateway) -> None:
    board, own = await gateway.board("bob", "things"), await gateway.board("ann", "mine")
    pin = await gateway.pin("bob", board, "one")
    tokens = [
        (await gateway.mutate("ann", field, "feedToken", **{f"{kind}Id": id}))["feedToken"]
        for kind, id in (("user", str(gateway.people["bob"])), ("board", board))
        for field in (f"follow{kind.title()}", f"unfollow{kind.title()}")
    ]
    again = await gateway.mutate("ann", "repin", "feedToken", pinId=pin, boardId=own)
    assert len({*tokens, again["feedToken"]}) == 5
    never = await gateway.mutate("bob", "unfollowBoard", "feedToken", boardId=own)
    assert never["feedToken"] is None


@pytest.mark.parametrize("query", [HOME, FOLLOWING])
async def test_a_token_that_a_client_made_up_is_refused(gateway: Gateway, query: str) -> None:
    ann, bob = gateway.people["ann"], gateway.people["bob"]
    forged = token_of(Edge(ann, bob, 1, 7, True))
    assert forged is not None
    followed = await gateway.mutate("ann", "followUser", "feedToken", userId=str(bob))
    _, _, tag = followed["feedToken"].partition(".")
    for token in (forged, f"{forged}.", f"{forged}.{tag}"):
        [error] = (await gateway.ask(query, "ann", seen=token))["errors"]
        assert error["extensions"] == {"code": "BAD_USER_INPUT", "field": "seen"}


@pytest.mark.parametrize("query", [HOME, FOLLOWING])
@pytest.mark.parametrize("token", ["", "?", "äöü", "QUFB", "QQ" * 17, "x" * 5000])
async def test_what_is_not_a_token_is_bad_input(gateway: Gateway, query: str, token: str) -> None:
    [error] = (await gateway.ask(query, "ann", seen=token))["errors"]
    assert error["extensions"] == {"code": "BAD_USER_INPUT", "field": "seen"}
    assert "feedToken" in error["message"]


@pytest.mark.parametrize(("query", "viewers"), [(HOME, ["bob", None]), (FOLLOWING, ["bob"])])
async def test_anothers_follow_can_not_be_waited_for(
    gateway: Gateway, query: str, viewers: list[str | None]
) -> None:
    bob = str(gateway.people["bob"])
    followed = await gateway.mutate("ann", "followUser", "feedToken", userId=bob)
    for viewer in viewers:
        [error] = (await gateway.ask(query, viewer, seen=followed["feedToken"]))["errors"]
        assert error["extensions"] == {"code": "BAD_USER_INPUT", "field": "seen"}
        assert "another user's" in error["message"]
