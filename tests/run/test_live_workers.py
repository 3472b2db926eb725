"""Subscriptions over several processes and a real Redis: an event reaches the sockets of all
processes, also when a connection is cut, and when the writer dies."""

import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import redis.asyncio
import websockets
from websockets.asyncio.client import connect

from datasources.ids import shard_of
from feed_engine.live.events import PinChange, PinEvent
from feed_engine.outbox.change import KIND, Change, encode
from gateway.settings import Settings
from tests.live_gateways import PROTOCOL, Socket
from tests.run.test_workers import Workers, config, relaying, serving, settings, shards_of

__all__ = ["config", "relaying", "settings"]
pytestmark = pytest.mark.anyio
SOCKETS = 12
BOARD = "subscription($id: ID!) { boardChanged(boardId: $id) { kind pin { title } } }"
PIN = "subscription($id: ID!) { pinChanged(pinId: $id) { kind } }"
NOTIFIED = "subscription { notified { kind: unreadCount } }"


class Writer:
    """A user who writes by HTTP."""

    def __init__(self, http: httpx.AsyncClient, url: str) -> None:
        self._http, self._url, self._token = http, f"{url}/graphql", ""

    async def send(self, field: str, type_: str, selection: str, **input: Any) -> Any:
        query = f"mutation($input: {type_}!) {{ {field}(input: $input) {{ {selection} }} }}"
        answer = await self._http.post(
            self._url, json={"query": query, "variables": {"input": input}}, headers=self.bearer
        )
        found = answer.json()
        assert "errors" not in found, found
        return found["data"][field]

    @property
    def bearer(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self._token}"} if self._token else {}

    async def sign_up(self) -> None:
        name = f"ann_{secrets.token_hex(4)}"
        made = await self.send("signUp", "SignUpInput", "token", username=name)
        self._token = made["token"]

    async def board(self) -> str:
        made = await self.send("createBoard", "CreateBoardInput", "board { id }", name="live")
        return str(made["board"]["id"])

    async def pin(self, board: str, title: str) -> str:
        made = await self.send(
            "createPin", "CreatePinInput", "pin { id }", boardId=board, title=title
        )
        return str(made["pin"]["id"])


@asynccontextmanager
async def watching(
    served: Workers,
    query: str,
    id: str | None = None,
    viewer: Writer | None = None,
    first: Any = "STARTED",
) -> AsyncIterator[list[Socket]]:
    """Sockets on all workers, which have got the `first` event."""
    payload = viewer.bearer if viewer else None
    url = served.url.replace("http", "ws", 1) + "/graphql"
    async with AsyncExitStack() as opened:
        sockets = []
        for _ in range(SOCKETS):
            connection = await opened.enter_async_context(
                connect(url, subprotocols=[websockets.Subprotocol(PROTOCOL)], open_timeout=300)
            )
            socket = Socket(connection)
            await socket.say(type="connection_init", payload=payload)
            await socket.hear()
            while "errors" in (began := await first_of(socket, query, id)):  # a busy machine
                assert [error["extensions"]["code"] for error in began["errors"]] == ["TIMEOUT"]
            (value,) = began["data"].values()
            assert value["kind"] == first
            sockets.append(socket)
        yield sockets


async def first_of(socket: Socket, query: str, id: str | None) -> Any:
    """The first payload of a new subscription, or its errors."""
    await socket.subscribe("s", query, **({"id": id} if id else {}))
    message = await socket.hear()
    return {"errors": message["payload"]} if message["type"] == "error" else message["payload"]


async def all_next(sockets: list[Socket]) -> list[Any]:
    """The kinds of the sockets' next events."""
    found = []
    for socket in sockets:
        payload = await socket.next("s")
        (value,) = payload["data"].values()
        found.append(value["kind"])
    return found


async def workers_with_streams(served: Workers, http: httpx.AsyncClient) -> int:
    text = (await http.get(f"{served.url}/metrics")).text
    lines = [
        line
        for line in text.splitlines()
        if line.startswith("pinway_streams_open") and 'kind="socket"' in line
    ]
    return sum(float(line.rsplit(" ", 1)[1]) > 0 for line in lines)


async def test_events_reach_the_sockets_of_all_processes_and_a_cut_connection_is_told(
    config: Path, settings: Settings
) -> None:
    with serving(config, 2) as served:
        async with httpx.AsyncClient(timeout=300) as http:
            ann = Writer(http, served.url)
            await ann.sign_up()
            board = await ann.board()
            async with watching(served, BOARD, board) as sockets:
                assert await workers_with_streams(served, http) == 2
                for number in range(5):
                    await ann.pin(board, str(number))
                for _ in range(5):
                    assert await all_next(sockets) == ["SAVED"] * SOCKETS

                url = settings.stores.mapping_cache
                raw = redis.asyncio.Redis.from_url(url)
                await raw.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
                await raw.aclose()
                assert urlsplit(url).scheme == "redis"
                assert await all_next(sockets) == ["REFETCH"] * SOCKETS
                await ann.pin(board, "after")
                assert await all_next(sockets) == ["SAVED"] * SOCKETS


async def test_notifications_and_a_sign_out_reach_the_sockets_of_all_processes(
    relaying: Path,
) -> None:
    with serving(relaying, 2) as served:
        async with httpx.AsyncClient(timeout=300) as http:
            ann, bob = Writer(http, served.url), Writer(http, served.url)
            await ann.sign_up()
            await bob.sign_up()
            pin = await ann.pin(await ann.board(), "a")
            async with (
                watching(served, NOTIFIED, viewer=ann, first=0) as anns,
                watching(served, NOTIFIED, viewer=bob, first=0) as bobs,
            ):
                assert await workers_with_streams(served, http) == 2
                await bob.send("likePin", "LikePinInput", "pin { id }", pinId=pin)
                assert await all_next(anns) == [1] * SOCKETS
                await ann.send("signOutEverywhere", "SignOutEverywhereInput", "errors { code }")
                assert [(await socket.closed())[0] for socket in anns] == [4403] * SOCKETS
                for socket in bobs:
                    await socket.say(type="ping")
                    assert await socket.hear() == {"type": "pong"}
                answer = await http.post(
                    f"{served.url}/graphql", json={"query": "{ __typename }"}, headers=ann.bearer
                )
                assert answer.status_code == 401


async def test_a_change_whose_writer_died_before_it_was_published_is_published_later(
    relaying: Path, settings: Settings
) -> None:
    with serving(relaying, 2) as served:
        async with httpx.AsyncClient(timeout=300) as http:
            ann = Writer(http, served.url)
            await ann.sign_up()
            pin = await ann.pin(await ann.board(), "a")
            async with watching(served, PIN, pin) as sockets:
                event = PinEvent(pin_id=int(pin), change=PinChange.EDITED)
                payload = encode(Change(events=(event,)))
                async with shards_of(settings) as shards:
                    await shards.objects.transact(
                        shard_of(int(pin)), lambda tx: tx.post(KIND, payload)
                    )
                assert await all_next(sockets) == ["EDITED"] * SOCKETS
