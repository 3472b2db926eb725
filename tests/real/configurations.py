"""Gateways on the real servers, and on embedded stores of the same shape."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from deploy.stack import Stack
from gateway.settings import Settings, read_settings
from tests.gateways import Gateway, gateway_on
from tests.servers import mysql_servers

SHARDS = 16
MOST = 64
"""The shards of a run, unless it asks for another number, and the most. A server makes twenty in a
second of processor time."""
FIRST, RUNS = 4096, 900
"""The first run's first shard, and the most runs. A run is one gateway of a test, or of a module of
tests, on the real servers. The stack has its own shards below, and tests/contract has shards
above."""
PATIENT: dict[str, Any] = {
    "feeds.profile": "fixed",  # these tests don't depend on which side answers
    "feeds.cutoff": 1.0,
    "feeds.deadline": 30.0,
    "feeds.chunk_seconds": 60.0,  # on a busy machine, a feed has all its candidates, too
}


def first_shard(stack: Stack) -> int:
    """The first of a run's own shards: no other run on these servers has had them, and no other
    gets them."""
    taken = stack.dir / "runs"
    taken.mkdir(exist_ok=True)
    for run in range(RUNS):
        with suppress(FileExistsError):
            (taken / f"{run}").mkdir()
            return FIRST + MOST * run
    raise AssertionError(f"{stack.dir} has had {RUNS} runs: delete the directory")


def topology(path: Path, first: int, servers: dict[str, str], shards: int = SHARDS) -> str:
    """Write a topology of shards and of 16 mod shards over two servers. Returns its URL."""
    one, two = servers
    middle, last = first + shards // 2, first + shards - 1
    ranges = [
        {"range": [first, middle - 1], "master": one},
        {"range": [middle, last], "master": two},
    ]
    mod = [{"range": [0, 7], "master": one}, {"range": [8, 15], "master": two}]
    content = {
        "epoch": 1,
        "servers": servers,
        "shards": ranges,
        "mod": {"count": 16, "ranges": mod},
    }
    path.write_text(json.dumps(content))
    return f"file://{path}"


def real_settings(stack: Stack, directory: Path, first: int, *, shards: int = SHARDS) -> Settings:
    """Settings with MySQL, memcached, Redis and HBase of the stack, and shards and tables for this
    run only."""
    masters = {
        name: url
        for name, url in mysql_servers(stack).items()
        if name in ("MySQL001A", "MySQL002A")
    }
    feeds = {
        name: f"{url}/t{first}"
        for name, url in stack.settings.items()
        if name.startswith(("stores.pools_", "stores.feeds_"))
    }
    return read_settings(
        stack.settings_file,
        {
            "data_dir": directory,
            "stores.topology": topology(directory / "real.json", first, masters, shards),
            "stores.search": "",
            "jobs.run": False,
            **PATIENT,
            **feeds,
        },
    )


def embedded_settings(directory: Path, first: int) -> Settings:
    """Settings with the same shards in SQLite, also on two servers."""
    servers = {name: f"sqlite://{directory}/{name}" for name in ("one", "two")}
    return read_settings(
        options={
            "data_dir": directory / "data",
            "stores.topology": topology(directory / "embedded.json", first, servers),
            "jobs.run": False,
            **PATIENT,
        },
    )


@asynccontextmanager
async def both(stack: Stack, directory: Path) -> AsyncIterator[tuple[Gateway, Gateway]]:
    """The embedded gateway and the real gateway, empty, with the same shards."""
    first = first_shard(stack)
    async with (
        gateway_on(embedded_settings(directory, first)) as embedded,
        gateway_on(real_settings(stack, directory, first)) as real,
    ):
        yield embedded, real
