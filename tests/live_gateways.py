"""A gateway with its real server inside a test's process, and clients of its streams."""

import asyncio
import json
import socket as sockets
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import websockets
from websockets.asyncio.client import ClientConnection, connect

from gateway.app import create_site
from gateway.http.auth import Tokens
from gateway.server.fairness.shares import Shares
from gateway.server.process import Server
from gateway.settings import Settings, read_settings
from gateway.site.executors import new_executor
from tests.gateways import PATIENT, Gateway, create_embedded, patient

PROTOCOL = "graphql-transport-ws"
SECONDS = 60.0
LASTS = (1.2, 6.0, 30.0, 150.0)
"""The seconds of a token that expires during a test: more, if a busy machine needs more until a
stream has begun."""


@dataclass
class LiveGateway(Gateway):
    """A gateway that answers at `port`."""

    port: int = 0
    server: Server | None = None
    settings: Settings | None = None
    metrics: Any = None
    shares: Shares | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/graphql"

    def token(self, name: str, *, hours: int = 1, seconds: float = 0) -> str:
        """A token of a user, for some hours or, if given, `seconds`."""
        assert self.settings is not None
        clock = (lambda: time.time() - hours * 3600 + seconds) if seconds else time.time
        return Tokens(self.settings.secret, hours, clock=clock).issue(self.people[name])

    def bearer(self, name: str | None) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token(name)}"} if name else {}

    @asynccontextmanager
    async def socket(
        self, viewer: str | None = None, *, protocol: str = PROTOCOL, init: Any = None, **other: Any
    ) -> AsyncIterator["Socket"]:
        """An acknowledged socket. With `init` False, the client has sent nothing yet."""
        protocols = [websockets.Subprotocol(protocol)] if protocol else None
        url = self.url.replace("http", "ws", 1)
        async with connect(
            url, subprotocols=protocols, compression=None, open_timeout=SECONDS, **other
        ) as it:
            socket = Socket(it)
            if init is not False:
                await socket.say(type="connection_init", payload=init or self.bearer(viewer))
                assert await socket.hear() == {"type": "connection_ack"}
            yield socket

    @asynccontextmanager
    async def events(
        self, query: str, viewer: str | None = None, **variables: Any
    ) -> AsyncIterator["Events"]:
        """A response of server-sent events."""
        async with (
            httpx.AsyncClient(timeout=SECONDS) as client,
            client.stream(
                "POST",
                self.url,
                json={"query": query, "variables": variables},
                headers={"accept": "text/event-stream", **self.bearer(viewer)},
            ) as response,
        ):
            yield Events(response)


@dataclass
class Socket:
    """A client's end of a socket."""

    connection: ClientConnection

    async def say(self, **message: Any) -> None:
        await self.connection.send(json.dumps(message))

    async def hear(self) -> Any:
        async with asyncio.timeout(SECONDS):
            return json.loads(await self.connection.recv())

    async def subscribe(self, name: str, query: str, **variables: Any) -> None:
        payload = {"query": query, "variables": variables}
        await self.say(id=name, type="subscribe", payload=payload)

    async def next(self, id: str) -> Any:
        """The payload of the operation's next result."""
        message = await self.hear()
        assert (message.get("id"), message["type"]) == (id, "next"), message
        return message["payload"]

    async def closed(self) -> tuple[int, str]:
        """The code and the reason with which the server closes. Other messages are dropped."""
        async with asyncio.timeout(SECONDS):
            try:
                while True:
                    await self.connection.recv()
            except websockets.ConnectionClosed as closed:
                frame = closed.rcvd
                return (frame.code, frame.reason) if frame else (1006, "")


class Events:
    """The events of a response."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = response.aiter_lines()

    async def next(self) -> tuple[str, Any]:
        """The next event: its name and its data; ("", None) for a comment, ("end", None) at the
        end."""
        name, data = "", None
        async with asyncio.timeout(SECONDS):
            async for line in self._lines:
                if not line:
                    return name, data
                field, _, value = line.partition(":")
                if field == "event":
                    name = value.strip()
                elif field == "data" and value.strip():
                    data = json.loads(value)
        return "end", None

    async def event(self) -> tuple[str, Any]:
        """The next event that is not a comment."""
        while True:
            found = await self.next()
            if found[0]:
                return found


@asynccontextmanager
async def live_gateway(
    directory: Path, values: Mapping[str, Any] | None = None
) -> AsyncIterator[LiveGateway]:
    """A gateway on new embedded stores, with its server."""
    options = {"data_dir": directory, "jobs.run": False, **PATIENT, **(values or {})}
    settings = read_settings(options=options)
    create_embedded(settings)
    async with live_gateway_on(settings) as gateway:
        yield gateway


@asynccontextmanager
async def live_gateway_on(settings: Settings) -> AsyncIterator[LiveGateway]:
    """A gateway on the stores that the settings name, with its server."""
    async with patient(settings) as runtime:
        executor = new_executor(settings)
        shares = Shares(settings.limits.numbers.client_share)
        site = create_site(settings, runtime, executor, shares=shares)
        with sockets.create_server(("127.0.0.1", 0)) as listener:
            server = Server(site.public, settings, shares=shares)
            task = asyncio.create_task(server.serve(sockets=[listener]))
            try:
                yield LiveGateway(
                    runtime,
                    executor,
                    port=listener.getsockname()[1],
                    server=server,
                    settings=settings,
                    metrics=site.metrics,
                    shares=shares,
                )
            finally:
                server.should_exit = True
                await task
