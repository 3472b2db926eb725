"""The part `caches`: reads and writes while memcached or Redis is stopped or killed."""

import asyncio
import itertools
import logging
import signal
import statistics
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, NamedTuple

from bench.rows import Row
from deploy.stack.service import Service
from tests.gateways import Gateway, embedded_gateway
from tests.pairs import Pairs

READS_A_SECOND = 20
EACH = 10  # reads for one write
FIRST = 1.0  # seconds in which reads may find out that the cache is away
RETURN = 3.0  # seconds in which reads may return to the cache
PINS = 10
PAGE = (
    "query($id: ID!) { node(id: $id) { ... on Board { name pinCount owner { username } "
    "pins(first: 10) { edges { node { id title board { name } owner { username } } } } } } }"
)
WRITE = (
    "mutation($input: CreatePinInput!) { createPin(input: $input) { pin { id } "
    "errors { message } } }"
)


class Done(NamedTuple):
    """One request: when it began, in seconds from the start, how long it took, and its errors."""

    at: float
    took: float
    failed: bool


class Seen(NamedTuple):
    reads: list[Done]
    writes: list[Done]
    waits: list[float]
    """When calls of the caches had waited for their whole deadline, in seconds from the start."""


async def hung_caches(pairs: Pairs, seconds: float, say: Callable[[str], None]) -> list[Row]:
    """Rows for each cache stopped (SIGSTOP) and killed for some seconds."""
    rows = []
    services = [pairs.stack.services[name] for name in ("memcached", "redis")]
    for service in services:
        service.start()
        service.wait_ready()
    logging.getLogger("pinway").setLevel(logging.CRITICAL)
    logging.getLogger("strawberry").setLevel(logging.CRITICAL)
    async with site(pairs) as (gateway, board):
        for service in services:
            for how in ("stopped", "killed"):
                say(f"{service.name} {how}")
                seen = await load(gateway, board, partial(fault, service, how, seconds), seconds)
                rows += told(f"{service.name} {how}", seen, seconds)
    return rows


@asynccontextmanager
async def site(pairs: Pairs) -> AsyncIterator[tuple[Gateway, str]]:
    """A gateway on the shards of the pairs, with a board of PINS pins."""
    folder = pairs.stack.dir / "gateway"
    folder.mkdir()
    ports = {name: pairs.stack.services[name].port for name in ("memcached", "redis")}
    async with embedded_gateway(
        folder,
        {
            "stores.topology": f"zookeeper://{pairs.zookeeper}/pinway/topology",
            "mysql.user": pairs.stack.settings["mysql.user"],
            "mysql.password": pairs.stack.settings["mysql.password"],
            "stores.object_cache": f"memcached://127.0.0.1:{ports['memcached']}",
            "stores.mapping_cache": f"redis://127.0.0.1:{ports['redis']}/0",
            "stores.queue": f"redis://127.0.0.1:{ports['redis']}/1",
        },
    ) as gateway:
        await gateway.sign_up("writer")
        board = await gateway.board("writer", "Tea")
        for number in range(PINS):
            await gateway.pin("writer", board, f"Pin {number}")
        yield gateway, board


async def fault(service: Service, how: str, seconds: float) -> None:
    """Stop or kill a server for some seconds."""
    await asyncio.to_thread(service.kill, signal.SIGSTOP if how == "stopped" else signal.SIGKILL)
    await asyncio.sleep(seconds)
    if how == "stopped":
        await asyncio.to_thread(service.kill, signal.SIGCONT)
    else:
        await asyncio.to_thread(service.start)


async def load(
    gateway: Gateway, board: str, act: Callable[[], Coroutine[Any, Any, None]], seconds: float
) -> Seen:
    """Reads, and one write after each EACH reads: for `seconds` before the fault, during it, and
    after it."""
    clock = asyncio.get_running_loop().time
    seen = Seen([], [], [])
    waited = timeouts(gateway)

    async def ask(into: list[Done], query: str, **variables: object) -> None:
        began = clock()
        answer = await gateway.ask(query, "writer", **variables)
        into.append(Done(began - start, clock() - began, "errors" in answer))
        nonlocal waited
        waited, before = timeouts(gateway), waited
        seen.waits.extend([clock() - start] * (waited - before))

    start, running = clock(), list[asyncio.Task[None]]()
    for _ in range(READS_A_SECOND):  # both caches are filled
        await ask([], PAGE, id=board)
    start = clock()
    acting: asyncio.Task[None] | None = None
    for number in itertools.count():
        if clock() - start > 3 * seconds + RETURN:
            break
        if acting is None and clock() - start > seconds:
            acting = asyncio.create_task(act())
        running.append(asyncio.create_task(ask(seen.reads, PAGE, id=board)))
        if number % EACH == 0:
            pin = {"boardId": board, "title": f"Pin {number}"}
            running.append(asyncio.create_task(ask(seen.writes, WRITE, input=pin)))
        await asyncio.sleep(max(0.0, start + number / READS_A_SECOND - clock()))
    await asyncio.gather(*running)
    if acting is not None:
        await acting
    return seen


def timeouts(gateway: Gateway) -> int:
    """The calls of the caches that waited for their whole deadline."""
    return sum(
        sum(latencies.counts)
        for called, latencies in gateway.runtime.calls.latencies.items()
        if called.store in ("object_cache", "mapping_cache") and called.outcome == "timeout"
    )


def told(name: str, seen: Seen, seconds: float) -> list[Row]:
    """The medians of each phase, as parts of the median before the fault."""
    spans = {
        "before": (0.0, seconds),
        "first": (seconds, seconds + FIRST),
        "during": (seconds + FIRST, 2 * seconds),
        "after": (2 * seconds + RETURN, 3 * seconds + RETURN),
    }

    def median(done: list[Done], phase: str) -> float:
        low, high = spans[phase]
        return statistics.median([one.took for one in done if low <= one.at < high])

    before = median(seen.reads, "before")
    ratios = {phase: median(seen.reads, phase) / before for phase in spans}
    failed = sum(one.failed for one in seen.reads)
    writes = median(seen.writes, "before")
    late = sum(seconds + FIRST <= at < 2 * seconds for at in seen.waits)
    refused = [one.failed for one in seen.writes if seconds + FIRST <= one.at < 2 * seconds]
    return [
        Row(
            f"{name}: median read during / before",
            ratios["during"],
            "",
            "<= 2",
            f"before {before * 1e3:.1f} ms; in the first {FIRST:g} s {ratios['first']:.2f}; "
            f"{failed} of {len(seen.reads)} failed; calls that waited for their deadline: "
            f"{len(seen.waits)}, of them {late} after the first {FIRST:g} s",
        ),
        Row(f"{name}: median read after / before", ratios["after"], "", "<= 1.3"),
        Row(
            f"{name}: median write during / before",
            median(seen.writes, "during") / writes,
            "",
            "",
            f"before {writes * 1e3:.1f} ms; {sum(refused)} of {len(refused)} answered UNAVAILABLE",
        ),
    ]
