"""Subscriptions: events delivered to many subscribers of one board, and the memory of a quiet one.

    make bench NAME=live [QUICK=1]
    python -m bench.live --sockets 5000  # of Pinway alone, on one core

Each contender is a process that serves the same subscription over WebSocket, and runs in turn. All
subscribers have a socket each. A save makes one event for each subscriber. Rates are by the
processor time of the contender's process, so that the client, on the same machine, takes nothing
from them.
Pinway stores each save, publishes it through its Valkey, and reads and checks the board and the pin
for each subscriber. The peers store nothing, and send the values of the save.
"""

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from bench.execution.environment import MERCURIUS, node
from bench.processes import TICKS, processor_seconds, resident
from bench.rows import Row, replace, table

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FIELDS = "kind orderVersion pin { id title board { id name } }"
SUBSCRIBE = f"subscription($id: ID!) {{ boardChanged(boardId: $id) {{ {FIELDS} }} }}"
EDIT = """mutation($pin: ID!, $title: String!) {
  updatePin(input: {pinId: $pin, title: $title}) { errors { message } } }"""
SAVE = "mutation($title: String!) { save(title: $title) }"
MANY_SAVES = 10


@dataclass
class Served:
    """A contender that is ready."""

    name: str
    pid: int
    port: int
    board: str
    pin: str
    token: str

    def seconds(self) -> float:
        """The processor time of the process so far."""
        return processor_seconds(self.pid)

    def kilobytes(self) -> int:
        """The resident memory of the process."""
        return resident(self.pid) // 1024


@contextmanager
def serving(name: str, folder: str) -> Iterator[Served]:
    environment = dict(os.environ)
    if name == "Mercurius":
        script = shutil.copy(HERE / "mercurius_server.js", MERCURIUS / "live.js")
        command = [str(node()), script]
    elif name == "Pinway":
        command = [sys.executable, "-m", "bench.live.pinway_server", folder]
    else:
        command = [sys.executable, "-m", "bench.live.strawberry_server"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, env=environment)
    try:
        assert process.stdout is not None
        yield Served(name, process.pid, **json.loads(process.stdout.readline()))
    finally:
        process.terminate()
        process.wait()
        if name == "Mercurius":
            Path(script).unlink()


async def subscribe(served: Served, number: int) -> ClientConnection:
    """Open a socket. Each subscriber has an address of its own, as clients on the Internet do."""
    address = f"127.1.{number // 250}.{number % 250 + 1}"
    url = f"ws://127.0.0.1:{served.port}/graphql"
    protocols = [Subprotocol("graphql-transport-ws")]
    connection = await connect(
        url,
        subprotocols=protocols,
        compression=None,
        ping_interval=None,
        open_timeout=60,
        local_addr=(address, 0),
    )
    await connection.send('{"type":"connection_init"}')
    await connection.recv()
    payload = {"query": SUBSCRIBE, "variables": {"id": served.board}}
    await connection.send(json.dumps({"id": "1", "type": "subscribe", "payload": payload}))
    first = json.loads(await connection.recv())
    assert first["type"] == "next", first
    return connection


async def save(http: httpx.AsyncClient, served: Served, title: str) -> None:
    query = EDIT if served.token else SAVE
    variables = {"pin": served.pin, "title": title} if served.token else {"title": title}
    headers = {"authorization": f"Bearer {served.token}"} if served.token else {}
    answer = await http.post(
        f"http://127.0.0.1:{served.port}/graphql",
        json={"query": query, "variables": variables},
        headers=headers,
    )
    assert "errors" not in answer.json(), answer.text


@dataclass
class Figures:
    """The figures of a contender: events a second, KiB a subscription, and the seconds until the
    last subscriber had an event."""

    rate: float
    memory: float
    last: float


async def measure(served: Served, subscribers: int, saves: int) -> Figures:
    before = served.kilobytes()
    connections: list[ClientConnection] = []
    for start in range(0, subscribers, 10):
        numbers = range(start, min(start + 10, subscribers))
        connections += await asyncio.gather(*(subscribe(served, number) for number in numbers))
    memory = (served.kilobytes() - before) / subscribers
    delays = []
    async with httpx.AsyncClient(timeout=300) as http:
        rates = []
        for number in range(saves + 2):
            began, spent = time.perf_counter(), served.seconds()
            await save(http, served, f"title {number}")
            heard = await asyncio.gather(*(connection.recv() for connection in connections))
            taken = served.seconds() - spent
            assert f"title {number}" in str(heard[0]), heard[0]
            if number >= 2:
                rates.append(taken)
                delays.append(time.perf_counter() - began)
    for connection in connections:
        connection.transport.abort()
    rate = subscribers * saves / max(sum(rates), 1 / TICKS)
    return Figures(rate, memory, statistics.median(delays))


def on_one_core(sockets: int) -> list[Row]:
    """Many sockets of one gateway process, which has a core for itself. A socket that ends fails
    the run."""
    own, *others = sorted(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder, serving("Pinway", folder) as served:
        for thread in os.listdir(f"/proc/{served.pid}/task"):
            os.sched_setaffinity(int(thread), {own})
        os.sched_setaffinity(0, others or {own})
        found = asyncio.run(measure(served, sockets, MANY_SAVES))
    name = f"{sockets:,} sockets on one core"
    return [
        Row(f"{name}: events a processor second", found.rate, "events"),
        Row(f"{name}: memory of each", found.memory, "KiB"),
        Row(f"{name}: until the last has an event", found.last * 1000, "ms"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.live", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few subscribers; keeps no results")
    parser.add_argument("--sockets", type=int, help="many sockets of Pinway alone, on one core")
    chosen = parser.parse_args()
    if chosen.sockets is not None:
        rows = on_one_core(chosen.sockets)
        if not chosen.quick:
            replace("live", tuple(row.measure for row in rows), rows)
    else:
        rows = compared(chosen.quick)
    print(table(rows))


def compared(quick: bool) -> list[Row]:
    """Pinway beside its peers."""
    subscribers, saves = (200, 5) if quick else (1_000, 20)
    figures = {}
    for name in ("Pinway", "Mercurius", "strawberry"):
        with tempfile.TemporaryDirectory() as folder, serving(name, folder) as served:
            figures[name] = asyncio.run(measure(served, subscribers, saves))
            print(name, figures[name], file=sys.stderr)
    own = figures["Pinway"]
    rows = [
        Row(f"events a processor second, {subscribers} subscribers", own.rate, "events"),
        Row("of Mercurius' rate", own.rate / figures["Mercurius"].rate, "×", ">= 1", "Mercurius"),
        Row(
            "of strawberry's rate", own.rate / figures["strawberry"].rate, "×", ">= 5", "strawberry"
        ),
        Row("memory of a quiet subscription", own.memory, "KiB", "<= 20"),
        Row("memory, Mercurius", figures["Mercurius"].memory, "KiB"),
        Row("memory, strawberry", figures["strawberry"].memory, "KiB"),
        Row("until the last subscriber has an event", own.last * 1000, "ms"),
    ]
    if not quick:
        replace("live", tuple(row.measure for row in rows), rows)
    return rows


if __name__ == "__main__":
    main()
