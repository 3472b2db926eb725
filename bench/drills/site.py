"""A gateway for drills: `pinway serve` in a separate process, each role of the feed stores behind a
proxy, on real servers with tables, shards and databases for this run only."""

import asyncio
import json
import os
import secrets
import signal
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import redis.asyncio

from bench.drills.client import Client
from bench.drills.world import World, load
from datasources.errors import StoreError
from datasources.ids import Kind
from datasources.protocols import Job, OutboxRow, Sides, Stores
from deploy.stack import Stack
from deploy.stack.layout import to_toml
from feed_engine.feeds.row_cap import CUT
from feed_engine.feeds.rows import TABLES_FEEDS, TABLES_POOLS
from feed_engine.outbox.jobs import run_job
from gateway.http.auth import Tokens
from gateway.settings import Settings, changed, read_settings
from gateway.site.installation import install
from gateway.site.runtime import running
from tests.pinway_process import free_port
from tests.proxy import Proxy

ROLES = ("pools_primary", "pools_standby", "feeds_primary", "feeds_standby")
ROOT = Path(__file__).parents[2]
CACHE_DB, QUEUE_DB = 14, 15
START_SECONDS = 120
SHARDS = 64
AT_A_TIME = 8  # jobs


@dataclass
class Site:
    """The servers, the proxies by role, and what is needed to run a gateway on both."""

    stack: Stack
    proxies: dict[str, Proxy]
    client: Client
    tokens: Tokens
    world: World
    settings: Settings  # without proxies
    config: Path  # the gateway's settings
    log: Path  # the gateway's log

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Run a gateway inside the block. A second gateway begins without the first one's
        measurements."""
        with self.log.open("ab") as output:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "gateway", "serve", "--config", str(self.config)),
                cwd=ROOT,
                stdout=output,
                stderr=output,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
        try:
            await _until_ready(self.client)
            yield
        finally:
            self.client.close()
            if process.returncode is None:
                process.send_signal(signal.SIGINT)
                try:
                    await asyncio.wait_for(process.wait(), 30)
                except TimeoutError:
                    process.kill()
                    await process.wait()

    def of(self, side: str) -> list[Proxy]:
        """The proxies in front of one side of both stores."""
        return [proxy for role, proxy in self.proxies.items() if role.endswith(side)]


@asynccontextmanager
async def open_site(
    stack: Stack, directory: Path, *, log: Path | None = None
) -> AsyncIterator[Site]:
    """Load the demo's people. `log`: the folder for the gateway's log, if not `directory`."""
    for database in (CACHE_DB, QUEUE_DB):  # before a queue is created there
        server = redis.asyncio.Redis(port=stack.services["redis"].port, db=database)
        await server.flushdb()
        await server.aclose()
    direct = await _unused(stack, directory)
    async with running(direct, jobs=False) as runtime:
        world = await load(runtime.stores, directory, f"r{secrets.token_hex(2)}")
    async with AsyncExitStack() as opened:
        proxies: dict[str, Proxy] = {}
        for role in ROLES:
            target = urlsplit(getattr(direct.stores, role))
            assert target.hostname is not None
            assert target.port is not None
            proxies[role] = Proxy(target.hostname, target.port)
            await proxies[role].mend()
            opened.push_async_callback(proxies[role].cut)
        port, config = free_port(), directory / "drills.toml"
        config.write_text(to_toml(_values(direct, proxies, port)))
        tokens, output = Tokens(direct.secret, 24), (log or directory) / "gateway.log"
        yield Site(stack, proxies, Client(port), tokens, world, direct, config, output)


async def settle(settings: Settings) -> tuple[int, int]:
    """Run the remaining jobs. Returns, for both pairs of feed stores together, the number of rows
    and the number of rows that differ between primary and standby."""
    async with running(settings, jobs=False) as runtime:
        await _drain(runtime.stores)
        rows = differing = 0
        for sides, tables in (
            (runtime.stores.pools, TABLES_POOLS),
            (runtime.stores.feeds, TABLES_FEEDS),
        ):
            for table in tables:
                found = [await _rows(sides, side, table.name) for side in range(2)]
                rows += len(found[0].keys() | found[1].keys())
                keys = found[0].keys() | found[1].keys()
                differing += sum(found[0].get(key) != found[1].get(key) for key in keys)
        return rows, differing


async def _rows(sides: Sides, side: int, name: str) -> dict[bytes, int]:
    """A hash of each row's cells. The mark of a feed that was cut has the time of the cut on its
    own side, so the stamps of the two sides differ by milliseconds."""
    table = next(t for t in TABLES_POOLS + TABLES_FEEDS if t.name == name)
    return {
        row: hash(
            tuple((cell.column, cell.value) if cell.column == CUT else cell for cell in cells)
        )
        async for row, cells in sides[side].scan(table)
    }


async def _drain(stores: Stores) -> None:
    for _ in range(100):
        rows = await stores.shards.outbox.pending(2**62, 1000)
        if not rows:
            return
        left = iter(rows)
        await asyncio.gather(*(_work(stores, left) for _ in range(AT_A_TIME)))
    raise RuntimeError("jobs are left that can't be done")


async def _work(stores: Stores, rows: Iterator[OutboxRow]) -> None:
    for row in rows:
        try:
            await run_job(stores, Job(row.shard, row.id))
        except StoreError:
            await asyncio.sleep(0.1)


async def _unused(stack: Stack, directory: Path) -> Settings:
    """Settings whose stores are created, and have no data of an earlier run."""
    while True:
        settings = _settings(stack, directory)
        await install(settings, lambda progress: None)
        async with running(settings, jobs=False) as runtime:
            if not await runtime.stores.shards.objects.list(Kind.USER, 0, 1):
                return settings


def _settings(stack: Stack, directory: Path) -> Settings:
    """The stack's settings, with shards, tables and databases that nobody else uses. The feeds'
    policy, cutoff and deadlines are the defaults."""
    servers = json.loads(stack.topology_file.read_text())["servers"]
    masters = {name: url for name, url in servers.items() if name.endswith("A")}
    one, two = masters
    first = 4096 + SHARDS * secrets.randbelow(900)
    ranges = [
        {"range": [first, first + SHARDS // 2 - 1], "master": one},
        {"range": [first + SHARDS // 2, first + SHARDS - 1], "master": two},
    ]
    mod = [{"range": [0, 7], "master": one}, {"range": [8, 15], "master": two}]
    topology = directory / "topology.json"
    content = {"epoch": 1, "servers": masters, "shards": ranges}
    topology.write_text(json.dumps(content | {"mod": {"count": 16, "ranges": mod}}))
    at = f"redis://127.0.0.1:{stack.services['redis'].port}"
    return read_settings(
        stack.settings_file,
        {
            "data_dir": directory,
            "stores.topology": f"file://{topology}",
            "stores.mapping_cache": f"{at}/{CACHE_DB}",
            "stores.queue": f"{at}/{QUEUE_DB}",
            **{name: f"{stack.settings[name]}/d{first}" for name in map("stores.{}".format, ROLES)},
        },
    )


def _values(direct: Settings, proxies: dict[str, Proxy], port: int) -> dict[str, str]:
    """The settings file of the gateway: like `direct`, through the proxies."""
    chosen = replace_roles(direct, proxies)
    stores = ("topology", "object_cache", "mapping_cache", "queue", *ROLES)
    return {
        "data_dir": str(chosen.data_dir),
        "http.port": str(port),
        "auth.secret": direct.secret,
        "mysql.user": chosen.mysql.user,
        "mysql.password": chosen.mysql.password,
        **{f"stores.{name}": getattr(chosen.stores, name) for name in stores},
        "limits.rate_cost": "0",  # one viewer sends the whole load
        "limits.writes_per_day": "0",
        "limits.max_running": "0",
        "telemetry.log_level": "error",
    }


def replace_roles(direct: Settings, proxies: dict[str, Proxy]) -> Settings:
    """The settings with each role's URL replaced by its proxy."""
    urls = {}
    for role, proxy in proxies.items():
        parts = urlsplit(getattr(direct.stores, role))
        urls[f"stores.{role}"] = parts._replace(netloc=f"127.0.0.1:{proxy.port}").geturl()
    return changed(direct, urls)


async def _until_ready(client: Client) -> None:
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            if '"ok"' in await client.get("/readyz"):
                return
        except OSError:
            pass
        if time.monotonic() > until:
            raise RuntimeError("the gateway does not become ready")
        await asyncio.sleep(0.1)
