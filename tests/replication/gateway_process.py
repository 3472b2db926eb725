"""`pinway serve` as a separate process on the pairs, with memcached servers, a Redis and feeds that
belong to one test; and its clients."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from datasources.errors import StoreTimeout, StoreUnavailable
from gateway.http.auth import Tokens
from gateway.settings import read_settings
from gateway.site.installation import install
from gateway.site.inventory import SIDES
from tests.pinway_process import free_port
from tests.stopped_process import stop_process

ROOT = Path(__file__).parents[2]
SECONDS = 300.0
WRITE_SECONDS = 10.0
"""Seconds after which a client sends a write to another gateway."""
PIN = "query($id: ID!) { node(id: $id) { ... on Pin { title } } }"
MUTATION = "mutation($input: %s!) { %s(input: $input) { %s errors { message } } }"


@dataclass
class GatewayProcess:
    """A gateway that answers at `url`, and operators at `admin`. It is a gateway of `registers`."""

    process: Process
    url: str
    admin: str
    client: httpx.AsyncClient
    tokens: Tokens

    async def ask(self, query: str, viewer: int | None, **variables: Any) -> Any:
        """The response to an operation, which may have errors."""
        headers = {"authorization": f"Bearer {self.tokens.issue(viewer)}"} if viewer else {}
        body = {"query": query, "variables": variables}
        answered = await self.client.post(f"{self.url}/graphql", json=body, headers=headers)
        return answered.json()

    async def mutate(self, viewer: int | None, field: str, selection: str, **given: Any) -> Any:
        """The payload of a mutation, which must succeed."""
        type_ = f"{field[0].upper()}{field[1:]}Input"
        told = await self.ask(MUTATION % (type_, field, selection), viewer, input=given)
        assert "errors" not in told, told
        assert told["data"][field]["errors"] == [], told
        return told["data"][field]

    async def pins(self, name: str, count: int) -> tuple[int, list[int]]:
        """A new user with that name, and as many new pins of the user."""
        made = await self.mutate(None, "signUp", "user { id }", username=name)
        owner = int(made["user"]["id"])
        made = await self.mutate(owner, "createBoard", "board { id }", name="b")
        board, pins = made["board"]["id"], []
        for _ in range(count):
            new = {"boardId": board, "title": "0"}
            made = await self.mutate(owner, "createPin", "pin { id }", **new)
            pins.append(int(made["pin"]["id"]))
        return owner, pins

    async def write(self, owner: int, pin: int, title: str, key: str) -> None:
        change = {"pinId": str(pin), "title": title, "idempotencyKey": key}
        query = MUTATION % ("UpdatePinInput", "updatePin", "pin { id }")
        try:
            async with asyncio.timeout(WRITE_SECONDS):
                told = await self.ask(query, owner, input=change)
        except (TimeoutError, httpx.HTTPError) as error:
            raise StoreTimeout(f"{self.url}: {error!r}") from error
        if "errors" in told:
            raise StoreUnavailable(f"{self.url}: {told['errors']}")
        assert told["data"]["updatePin"]["errors"] == [], told

    async def read(self, pin: int) -> str:
        async with asyncio.timeout(SECONDS):
            while True:
                # A deadline of the request, or of its connection, may have passed while the gateway
                # was stopped.
                with contextlib.suppress(httpx.TransportError):
                    told = await self.ask(PIN, None, id=str(pin))
                    if "errors" not in told:
                        return str(told["data"]["node"]["title"])
                await asyncio.sleep(0.05)

    async def ready(self) -> dict[str, dict[str, str]]:
        """The states of the stores, as /readyz tells operators."""
        return dict((await self.client.get(f"{self.admin}/readyz")).json()["stores"])

    async def metric(self, name: str) -> float:
        """The value of a metric. `name`: with its labels."""
        text = (await self.client.get(f"{self.admin}/metrics")).text
        [line] = [line for line in text.splitlines() if line.startswith(f"{name} ")]
        return float(line.rpartition(" ")[2])

    def stop(self) -> None:
        stop_process(self.process.pid)

    def go_on(self) -> None:
        os.kill(self.process.pid, signal.SIGCONT)


async def made(config: Path, *, first: bool) -> None:
    """Make the feeds of a gateway. Only the first gateway's feeds are new to the topology."""
    settings = read_settings(config)
    await install(settings, lambda progress: None, accept_loss=() if first else tuple(SIDES))


@asynccontextmanager
async def gateway_process(config: Path) -> AsyncIterator[GatewayProcess]:
    """A gateway that is ready, killed at the end."""
    port, admin_port = free_port(), free_port()
    log = config.with_suffix(".log")
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gateway", "serve", "--config", str(config)),
            *("--port", str(port), "--admin-port", str(admin_port)),
            cwd=ROOT,
            stdout=output,
            stderr=output,
        )
    settings = read_settings(config)
    url, admin = (f"http://127.0.0.1:{it}" for it in (port, admin_port))
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(timeout=SECONDS, limits=limits) as client:
        try:
            found = GatewayProcess(process, url, admin, client, Tokens(settings.secret, 24))
            await _until_ready(found, log)
            yield found
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def _until_ready(gateway: GatewayProcess, log: Path) -> None:
    async with asyncio.timeout(SECONDS):
        while True:
            if gateway.process.returncode is not None:
                raise AssertionError(await asyncio.to_thread(log.read_text))
            with contextlib.suppress(httpx.HTTPError, json.JSONDecodeError):
                if all(it["state"] == "well" for it in (await gateway.ready()).values()):
                    return
            await asyncio.sleep(0.1)  # nobody tells
