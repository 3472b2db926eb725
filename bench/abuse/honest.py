"""The honest clients: the project's own operations at a fixed rate, without waiting for answers.
Each viewer has its own address, as people have. `SEED` draws the viewers: each window has others.

`python -m bench.abuse.honest FACTS RATE SECONDS SEED` prints {"took": [seconds, ...], "late":
[seconds, ...], "failed": [text, ...], "slowest": [operation, seconds]}. Each running request has
its own connection, so that a late answer delays no other request. `late` is by how much the process
began each request after the request was due, because another process had the core.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import uvloop

from bench.abuse.attacks.wire import PEER, Connection, post
from bench.abuse.site import Facts
from bench.execution.data import VIEWERS, body

SAMPLES = Path(__file__).parents[2] / "gateway" / "samples"
PATIENCE = 10.0 if PEER in os.environ else 30.0
IDLE_SECONDS = 2.0
"""Seconds that an unused connection is kept; the gateway closes it after five."""


class Asked(NamedTuple):
    """A request: the operation's name, its client's address, and its bytes."""

    name: str
    address: str
    request: bytes


def feeds(seed: int) -> Iterator[Asked]:
    """A page of ten pins of each viewer's home feed, for the peers, which answer nothing else."""
    rng = random.Random(seed)
    while True:
        number = rng.randrange(VIEWERS)
        request = post(body(10), {"authorization": f"Bearer {number}"})
        yield Asked("home-feed", _address(number), request)


def operations(facts: Facts, seed: int) -> Iterator[Asked]:
    """The sample operations as requests: two reads of each kind for each write, each by a random
    viewer."""
    texts = {path.stem[2:]: path.read_text() for path in SAMPLES.glob("*.graphql")}
    rng = random.Random(seed)
    while True:
        for name in ("home-feed", "board-with-pins") * 2 + (
            "reorder-pin",
            "follow-user",
            "create-pin",
        ):
            number = rng.randrange(len(facts.viewers))
            viewer = facts.viewers[number]
            variables = _variables(name, viewer, facts, rng)
            token = {"authorization": f"Bearer {viewer['token']}"}
            request = post({"query": texts[name], "variables": variables}, token)
            yield Asked(name, _address(number), request)


def _address(number: int) -> str:
    """A viewer's address. No attack uses it."""
    return f"127.1.{number // 250}.{number % 250 + 1}"


def _variables(
    name: str, viewer: dict[str, Any], facts: Facts, rng: random.Random
) -> dict[str, Any]:
    board = viewer["board"]
    if name == "home-feed":
        return {"first": 10}
    if name == "board-with-pins":
        return {"id": rng.choice(facts.boards), "first": 10}
    if name == "reorder-pin":
        pin, other = rng.sample(viewer["pins"], 2)
        return {"input": {"boardId": board, "pinId": pin, "beforePinId": other}}
    if name == "follow-user":
        others = [user for user in facts.users if user != viewer["id"]]
        return {"input": {"userId": rng.choice(others)}}
    return {"input": {"boardId": board, "title": "a pin", "link": "https://example.org/"}}


@dataclass
class Honest:
    """A pool of connections, and the outcomes of their requests."""

    port: int
    took: list[float] = field(default_factory=list)
    late: list[float] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    slowest: tuple[str, float] = ("", 0.0)
    _idle: dict[str, list[tuple[float, Connection]]] = field(default_factory=dict)

    async def send(self, name: str, address: str, request: bytes) -> None:
        """Send one request. Its time is measured from now until its answer has arrived."""
        began = time.perf_counter()
        try:
            async with asyncio.timeout(PATIENCE):
                connection = await self._connection(address)
                status, body = await connection.ask(request)
        except (OSError, TimeoutError, EOFError) as error:
            self.failed.append(f"{type(error).__name__} {error}")
            self._add(name, time.perf_counter() - began)
            return
        self._add(name, time.perf_counter() - began)
        if status != 200 or b'"errors":[{' in body.replace(b" ", b""):
            self.failed.append(f"{status} {body[:300].decode(errors='replace')}")
        self._idle.setdefault(address, []).append((time.perf_counter(), connection))

    def _add(self, name: str, took: float) -> None:
        self.took.append(took)
        self.slowest = max(self.slowest, (name, took), key=lambda each: each[1])

    async def _connection(self, address: str) -> Connection:
        idle = self._idle.get(address, [])
        while idle:
            since, connection = idle.pop()
            if time.perf_counter() - since < IDLE_SECONDS:
                return connection
            connection.close()
        return await Connection.open(self.port, address)


async def drive(requests: Iterator[Asked], port: int, rate: float, seconds: float) -> Honest:
    """Start requests at this rate for `seconds`, and wait for all answers."""
    honest = Honest(port)
    clock = asyncio.get_running_loop().time
    began, tasks = clock(), []
    for number in range(int(rate * seconds)):
        due = began + number / rate
        await asyncio.sleep(max(0.0, due - clock()))
        honest.late.append(clock() - due)
        tasks.append(asyncio.create_task(honest.send(*next(requests))))
    await asyncio.gather(*tasks)
    return honest


def main() -> None:
    path, rate, seconds, seed = sys.argv[1:5]
    facts = Facts.read(Path(path))
    gc.disable()  # a collection would delay it
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        requests = feeds(int(seed)) if PEER in os.environ else operations(facts, int(seed))
        found = runner.run(drive(requests, facts.port, float(rate), float(seconds)))
    names = ("took", "late", "failed", "slowest")
    print(json.dumps({name: getattr(found, name) for name in names}))


if __name__ == "__main__":
    main()
