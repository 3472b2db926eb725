"""The time from a save's acknowledgement to its events, between two gateway processes.

    python -m bench.live.latency [--quick]

Real servers (`pinway stack`), and two gateways. Ten users save pins on a board of each, through
one gateway, 100 a second together; sockets of the other gateway are subscribed to the boards.
Servers, gateways and clients share the machine. A time below zero, of an event that comes before
the acknowledgement, counts as zero.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from bench.rows import Row, table
from deploy.stack import Stack
from tests.live_gateways import PROTOCOL
from tests.pinway_process import ROOT, free_port

BOARDS = 10
SOCKETS = 20
"""Each board has two sockets."""
RATE = 100.0  # saves a second
SUBSCRIBE = "subscription($id: ID!) { boardChanged(boardId: $id) { kind pin { id title } } }"
SIGN_UP = "mutation($name: String!) { signUp(input: {username: $name}) { token } }"
BOARD = 'mutation { createBoard(input: {name: "live"}) { board { id } } }'
SAVE = """mutation($board: ID!, $title: String!) {
  createPin(input: {boardId: $board, title: $title}) { pin { id } errors { message } } }"""
UNBOUNDED = {
    "PINWAY_LIMITS__RATE_COST": "0",
    "PINWAY_LIMITS__WRITES_PER_DAY": "0",
    "PINWAY_LIMITS__SIGN_UPS_PER_HOUR": "0",
    "PINWAY_HTTP__MAX_STREAMS_PER_CLIENT": "0",
}


@dataclass
class Times:
    """When saves were acknowledged, and when their events came, by title."""

    acknowledged: dict[str, float] = field(default_factory=dict)
    heard: dict[str, list[float]] = field(default_factory=dict)

    def delays(self) -> list[float]:
        """Seconds from each acknowledgement to each event, in ascending order."""
        return sorted(
            max(0.0, at - self.acknowledged[title])
            for title, times in self.heard.items()
            for at in times
            if title in self.acknowledged
        )


@contextmanager
def gateway(config: Path, log: Path) -> Iterator[str]:
    """A process of the gateway. Yields its address."""
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "gateway",
        "serve",
        "--config",
        str(config),
        "--port",
        str(port),
    ]
    with log.open("wb") as file:
        process = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **UNBOUNDED}, stdout=file, stderr=file
        )
    url = f"http://127.0.0.1:{port}"
    try:
        while True:
            try:
                httpx.get(f"{url}/healthz", timeout=10).raise_for_status()
                break
            except httpx.HTTPError:
                assert process.poll() is None, log.read_text()[-3000:]
                time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait()


@dataclass(frozen=True)
class Saver:
    """A user with a board."""

    http: httpx.AsyncClient
    token: str
    board: str

    async def save(self, title: str, times: Times) -> None:
        await ask(self.http, SAVE, self.token, board=self.board, title=title)
        times.acknowledged[title] = time.perf_counter()


async def ask(http: httpx.AsyncClient, query: str, token: str, **variables: str) -> Any:
    """The value of the operation's field."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    body = {"query": query, "variables": variables}
    found = (await http.post("/graphql", json=body, headers=headers)).json()
    assert "errors" not in found, found
    (value,) = found["data"].values()
    return value


async def new_saver(http: httpx.AsyncClient, name: str) -> Saver:
    token = (await ask(http, SIGN_UP, "", name=name))["token"]
    return Saver(http, token, (await ask(http, BOARD, token))["board"]["id"])


async def subscribed(url: str, board: str) -> ClientConnection:
    socket = await connect(
        f"{url.replace('http', 'ws')}/graphql",
        subprotocols=[Subprotocol(PROTOCOL)],
        compression=None,
    )
    await socket.send('{"type":"connection_init"}')
    await socket.recv()
    payload = {"query": SUBSCRIBE, "variables": {"id": board}}
    await socket.send(json.dumps({"id": "1", "type": "subscribe", "payload": payload}))
    assert json.loads(await socket.recv())["type"] == "next"
    return socket


async def listen(socket: ClientConnection, times: Times) -> None:
    async for message in socket:
        at = time.perf_counter()
        told = json.loads(message)
        if told["type"] == "next" and (pin := told["payload"]["data"]["boardChanged"]["pin"]):
            times.heard.setdefault(pin["title"], []).append(at)


async def measure(writer: str, reader: str, seconds: int) -> tuple[Times, float]:
    """The times, and the saves a second that were acknowledged."""
    times, count = Times(), int(seconds * RATE)
    async with httpx.AsyncClient(base_url=writer, timeout=300) as http:
        savers = [await new_saver(http, f"saver_{n}") for n in range(BOARDS)]
        sockets = [await subscribed(reader, savers[n % BOARDS].board) for n in range(SOCKETS)]
        listening = [asyncio.create_task(listen(socket, times)) for socket in sockets]
        for number in range(20):
            await savers[number % BOARDS].save(f"warm {number}", Times())
        began, saving = time.perf_counter(), []
        for number in range(count):
            await asyncio.sleep(max(0.0, began + number / RATE - time.perf_counter()))
            one = savers[number % BOARDS].save(f"save {number}", times)
            saving.append(asyncio.create_task(one))
        await asyncio.gather(*saving)
        rate = count / (time.perf_counter() - began)
        await asyncio.sleep(2)
        for task, socket in zip(listening, sockets, strict=True):
            task.cancel()
            await socket.close()
    times.heard = {title: at for title, at in times.heard.items() if title.startswith("save")}
    return times, rate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="rough figures")
    seconds = 5 if parser.parse_args().quick else 30
    with ExitStack() as entered:
        folder = Path(entered.enter_context(tempfile.TemporaryDirectory(prefix="pinway-live-")))
        stack = Stack(folder / "stack", 64, 16)
        entered.callback(stack.down)
        stack.up(lambda line: print(line, file=sys.stderr))
        config = folder / "stack" / "pinway.toml"
        pinway = [sys.executable, "-m", "gateway"]
        subprocess.run([*pinway, "init", "--config", str(config)], cwd=ROOT, check=True)
        urls = [entered.enter_context(gateway(config, folder / f"{n}.log")) for n in range(2)]
        times, rate = asyncio.run(measure(urls[0], urls[1], seconds))
    delays = times.delays()
    expected = len(times.acknowledged) * SOCKETS // BOARDS
    told = f"{len(delays):,} of {expected:,} events; {rate:.0f} saves/s, two gateways, real servers"
    name, ms = "from a save's acknowledgement to its event", [1000 * delay for delay in delays]
    rows = [
        Row(f"{name}, p50", ms[len(ms) // 2], "ms"),
        Row(f"{name}, p99", ms[len(ms) * 99 // 100], "ms", "<= 100", told),
    ]
    print(table(rows))


if __name__ == "__main__":
    main()
