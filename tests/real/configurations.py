"""Gateways on the real servers, and on embedded stores of the same shape."""

import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from deploy.stack import Stack
from gateway.settings import Settings, read_settings
from tests.gateways import Gateway, gateway_on
from tests.servers import mysql_servers

SHARDS = 64


def first_shard() -> int:
    """Where a run's own 64 shards begin: the servers may have others', of earlier runs."""
    return 4096 + SHARDS * secrets.randbelow(900)


def topology(path: Path, first: int, servers: dict[str, str]) -> str:
    """Writes a topology of 64 shards and 16 mod shards over two servers; its URL."""
    one, two = servers
    middle, last = first + SHARDS // 2, first + SHARDS - 1
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


def real_settings(stack: Stack, directory: Path, first: int) -> Settings:
    """MySQL, memcached, Redis and HBase of the stack; shards and tables of this run's own."""
    masters = {
        name: url
        for name, url in mysql_servers(stack).items()
        if name in ("MySQL001A", "MySQL002A")
    }
    feeds = {
        setting: f"{stack.settings[setting]}/t{first}"
        for setting in ("pools_primary", "pools_standby", "feeds_primary", "feeds_standby")
    }
    return read_settings(
        stack.settings_file,
        data_dir=directory,
        topology=topology(directory / "real.json", first, masters),
        run_jobs=False,
        feed_policy="fixed",  # which side answers is not what these tests are about
        feed_cutoff=1.0,
        **feeds,
    )


def embedded_settings(directory: Path, first: int) -> Settings:
    """The same shards in SQLite, on two servers as well."""
    servers = {name: f"sqlite://{directory}/{name}" for name in ("one", "two")}
    return read_settings(
        data_dir=directory / "data",
        topology=topology(directory / "embedded.json", first, servers),
        run_jobs=False,
        feed_policy="fixed",
        feed_cutoff=1.0,
    )


@asynccontextmanager
async def both(stack: Stack, directory: Path) -> AsyncIterator[tuple[Gateway, Gateway]]:
    """The embedded gateway and the real one, empty, with the same shards."""
    first = first_shard()
    async with (
        gateway_on(embedded_settings(directory, first)) as embedded,
        gateway_on(real_settings(stack, directory, first)) as real,
    ):
        yield embedded, real
