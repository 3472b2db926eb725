"""`signOutEverywhere` and `refreshToken`: tokens of before are refused on every path at once, and
open streams end. The streams of a deleted account end, too."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.http.auth import CLOSED, Token, Tokens
from gateway.live import sign_outs
from tests.embedded_stores import patient_stores
from tests.live_gateways import LiveGateway, live_gateway

pytestmark = pytest.mark.anyio
OUT = "mutation { signOutEverywhere(input: {}) { errors { message } } }"
REFRESH = "mutation { refreshToken(input: {}) { token errors { code message } } }"
QUERIES = {
    "viewer": "{ viewer { username } }",
    "strangers": "{ __typename users { edges { node { id } } } }",
    "feed": "{ homeFeed(first: 5) { edges { node { id } } } }",
    "following": "{ followingFeed(first: 5) { edges { node { id } } } }",
    "write": 'mutation { createBoard(input: {name: "x"}) { board { id } errors { code } } }',
    "deletion": 'mutation { deleteAccount(input: {username: "ann"}) { errors { code } } }',
    "refresh": REFRESH,
    "again": OUT,
}


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[LiveGateway]:
    with patient_stores():
        async with live_gateway(tmp_path) as gateway:
            await gateway.sign_up("ann", "bob")
            yield gateway


async def post(gateway: LiveGateway, query: str, token: str) -> httpx.Response:
    async with httpx.AsyncClient(timeout=60) as client:
        headers = {"authorization": f"Bearer {token}"}
        return await client.post(gateway.url, json={"query": query}, headers=headers)


def token_of(gateway: LiveGateway, name: str, *, ago: float = 0) -> str:
    """A token that was issued some seconds ago."""
    assert gateway.settings is not None
    tokens = Tokens(gateway.settings.secret, 1, clock=lambda: time.time() - ago)
    return tokens.issue(gateway.people[name])


async def sign_out(gateway: LiveGateway, name: str) -> None:
    answer = await post(gateway, OUT, token_of(gateway, name))
    assert answer.json() == {"data": {"signOutEverywhere": {"errors": []}}}


@pytest.mark.parametrize("name", QUERIES)
async def test_every_token_of_before_is_refused(gateway: LiveGateway, name: str) -> None:
    first, second, bob = (token_of(gateway, n) for n in ("ann", "ann", "bob"))
    for query in (QUERIES["viewer"], QUERIES["feed"]):  # now the caches know the viewer
        assert (await post(gateway, query, second)).status_code == 200
    await sign_out(gateway, "ann")
    for token in (first, second):
        refused = await post(gateway, QUERIES[name], token)
        assert refused.status_code == 401
        assert refused.json() == {
            "errors": [{"message": CLOSED, "extensions": {"code": "UNAUTHENTICATED"}}]
        }
    assert (await post(gateway, QUERIES["write"], bob)).status_code == 200
    [account] = (await gateway.stores.shards.objects.get([gateway.people["ann"]])).values()
    assert b'"active":false' not in account


async def test_a_token_of_afterwards_is_valid(gateway: LiveGateway) -> None:
    await sign_out(gateway, "ann")
    new = token_of(gateway, "ann")
    for query in (QUERIES["viewer"], QUERIES["write"], OUT):
        answer = await post(gateway, query, new)
        assert answer.status_code == 200, answer.text
    assert (await post(gateway, QUERIES["viewer"], new)).status_code == 401


async def test_a_refused_token_opens_no_stream(gateway: LiveGateway) -> None:
    old = {"authorization": f"Bearer {token_of(gateway, 'ann')}"}
    await sign_out(gateway, "ann")
    async with gateway.socket(init=False) as socket:
        await socket.say(type="connection_init", payload=old)
        code, reason = await socket.closed()
        assert (code, reason) == (4403, f"Forbidden: {CLOSED}")
    async with httpx.AsyncClient(timeout=60) as client:
        headers = {"accept": "text/event-stream", **old}
        answer = await client.post(
            gateway.url, json={"query": "subscription { x }"}, headers=headers
        )
    assert answer.status_code == 401


async def test_open_streams_of_the_user_end_and_streams_of_others_stay(
    gateway: LiveGateway,
) -> None:
    board = await gateway.board("ann", "open")
    changes = "subscription($id: ID!) { boardChanged(boardId: $id) { kind } }"
    async with (
        gateway.socket("ann") as anns,
        gateway.socket("bob") as bobs,
        gateway.socket("ann") as idle,
        gateway.events(changes, "ann", id=board) as events,
    ):
        for socket in (anns, bobs):
            await socket.subscribe("s", changes, id=board)
            await socket.next("s")
        assert (await events.event())[0] == "next"
        await sign_out(gateway, "ann")
        for socket in (anns, idle):
            assert await socket.closed() == (4403, f"Forbidden: {CLOSED}")
        kind, told = await events.event()
        assert (kind, told["errors"][0]["message"]) == ("next", CLOSED)
        assert (await events.event())[0] == "complete"
        await gateway.pin("ann", board, "after")
        assert (await bobs.next("s"))["data"]["boardChanged"]["kind"] == "SAVED"


@pytest.mark.parametrize("stream", ["homeFeedUpdated { waiting }", "notified { unreadCount }"])
async def test_open_streams_of_a_deleted_account_end(gateway: LiveGateway, stream: str) -> None:
    document = f"subscription {{ {stream} }}"
    async with (
        gateway.socket("ann") as anns,
        gateway.socket("bob") as bobs,
        gateway.events(document, "ann") as events,
    ):
        for socket in (anns, bobs):
            await socket.subscribe("s", document)
            await socket.next("s")
        assert (await events.event())[0] == "next"
        done = await post(gateway, QUERIES["deletion"], token_of(gateway, "ann"))
        assert done.json() == {"data": {"deleteAccount": {"errors": []}}}
        assert await anns.closed() == (4403, f"Forbidden: {CLOSED}")
        kind, told = await events.event()
        assert (kind, told["errors"][0]["message"]) == ("next", CLOSED)
        assert (await events.event())[0] == "complete"
        await bobs.say(type="ping")
        assert await bobs.hear() == {"type": "pong"}
    again = await post(gateway, QUERIES["deletion"], token_of(gateway, "ann"))
    assert again.json() == done.json()


async def test_a_sign_out_while_no_messages_come_ends_streams_too(
    gateway: LiveGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The processes can't be told: the sign-out is read again."""
    live = gateway.runtime.live
    assert live is not None
    async with gateway.socket("ann") as socket:
        await socket.say(type="ping")
        await socket.hear()

        async def lost(*_: Any) -> None:
            pass

        monkeypatch.setattr(live.broadcasts, "publish", lost)
        await sign_out(gateway, "ann")
        await asyncio.sleep(0)
        await socket.say(type="ping")
        assert await socket.hear() == {"type": "pong"}
        live.missed()  # as after each break of the connection to Redis
        assert (await socket.closed())[0] == 4403


async def test_without_broadcasts_the_sign_out_is_read_again_and_again(
    gateway: LiveGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = asyncio.Queue[None]()
    refused = False

    async def refuses(_: Any) -> bool:
        asked.put_nowait(None)
        return refused

    monkeypatch.setattr(sign_outs, "PAUSE", 0)
    waiting = asyncio.create_task(sign_outs.SignOuts(None, refuses).until(Token(7, 0, 0)))
    await asked.get()
    await asked.get()
    refused = True
    async with asyncio.timeout(60):
        await waiting


async def test_a_token_in_the_second_half_of_its_life_is_renewed(gateway: LiveGateway) -> None:
    aging = token_of(gateway, "ann", ago=1801)
    answer = (await post(gateway, REFRESH, aging)).json()["data"]["refreshToken"]
    assert answer["errors"] == []
    new = answer["token"]
    assert gateway.settings is not None
    read = Tokens(gateway.settings.secret, 1).read(f"Bearer {new}")
    assert (read.viewer_id, read.issued > time.time() - 60) == (gateway.people["ann"], True)
    for token in (aging, new):
        assert (await post(gateway, QUERIES["viewer"], token)).status_code == 200
    await sign_out(gateway, "ann")
    for token in (aging, new):
        assert (await post(gateway, QUERIES["viewer"], token)).status_code == 401


async def test_a_young_token_is_not_renewed(gateway: LiveGateway) -> None:
    answer = (await post(gateway, REFRESH, token_of(gateway, "ann", ago=1700))).json()
    payload = answer["data"]["refreshToken"]
    assert payload["token"] is None
    assert [error["code"] for error in payload["errors"]] == ["BAD_USER_INPUT"]


async def test_a_sign_up_that_is_sent_again_after_a_sign_out_gets_no_token(
    gateway: LiveGateway,
) -> None:
    query = (
        'mutation { signUp(input: {username: "cleo", idempotencyKey: "the first sign-up"}) '
        "{ user { id } token } }"
    )
    first = (await gateway.data(query))["signUp"]
    assert first["token"] is not None
    gateway.people["cleo"] = int(first["user"]["id"])
    assert (await gateway.data(query))["signUp"]["token"] is not None
    await sign_out(gateway, "cleo")
    assert (await gateway.data(query))["signUp"] == {"user": first["user"], "token": None}
