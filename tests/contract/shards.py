"""The sharded database of the contract suites: 24 object shards on two servers, and 16 mod
shards."""

import asyncio
import json
import os
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from datasources.ids import MAX_LOCAL, Kind, compose
from datasources.mysql import MySqlShards
from datasources.mysql.link import Login, connect
from datasources.sql.shards import SqlShards
from datasources.sqlite import SqliteShards
from datasources.topology import ModShards, ShardRange, Topology
from deploy.stack import Stack
from tests.servers import mysql_servers

ON_EACH = 12
PATIENT = 120.0
"""Seconds for a call, unless a test is about its deadline: the machine may be busy."""
# Numbers of this process only, so that two runs may share one stack. They are above the numbers
# that the tests of whole gateways use (tests/real/configurations.py), since these shards are
# dropped.
FIRST = 62_000 + os.getpid() % 147 * 2 * ON_EACH


@dataclass(frozen=True)
class Deployment:
    """Created and empty shards. All stores that are opened on them see the same data."""

    backend: str
    topology: Topology
    opener: Callable[..., Any]

    def open(self, topology: Topology | None = None, **options: Any) -> SqlShards:
        """Open a store on the shards (SqliteShards or MySqlShards)."""
        store: SqlShards = self.opener(topology or self.topology, **options)
        return store

    def shard(self, number: int) -> int:
        """The shard with this number, from 0. Even numbers are on the first server, odd numbers on
        the second."""
        half, server = divmod(number, 2)
        return FIRST + server * ON_EACH + half % ON_EACH


def fresh_id(kind: Kind, shard: int) -> int:
    """An id that no object has, for a test's own lists."""
    # Not `random`, which hypothesis seeds for each example.
    return compose(shard, kind, MAX_LOCAL // 2 + secrets.randbelow(MAX_LOCAL // 2))


class RoundTrips(Counter[tuple[str, str]]):
    """Counts a store's round trips. Pass it as `observe`."""

    def __call__(self, server: str, operation: str) -> None:
        self[server, operation] += 1

    def by_server(self) -> dict[str, int]:
        totals: Counter[str] = Counter()
        for (server, _), count in self.items():
            totals[server] += count
        return dict(totals)


def make_topology(servers: dict[str, str], first: str, second: str) -> Topology:
    return Topology(
        epoch=1,
        servers=servers,
        shards=(
            ShardRange((FIRST, FIRST + ON_EACH - 1), first),
            ShardRange((FIRST + ON_EACH, FIRST + 2 * ON_EACH - 1), second),
        ),
        mod=ModShards(16, (ShardRange((0, 7), first), ShardRange((8, 15), second))),
    )


def with_epoch(topology: Topology, epoch: int) -> Topology:
    return msgspec.structs.replace(topology, epoch=epoch)


async def set_fence(store: SqlShards, shard: int, *, epoch: int, owner: str | None = None) -> None:
    """Set the fence as a move does. Without `owner` the shard keeps its owner. Needs a store with a
    recent topology."""
    router = store._router

    async def write(session: Any) -> None:
        await session.run(
            "fence",
            "UPDATE {db}.fence SET epoch = ?, owner = ? WHERE id = 1",
            (epoch, (owner or session.fence.owner).encode()),
        )

    await router.write(shard, "fence", write)


@pytest.fixture(scope="session")
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    return make_sqlite(tmp_path_factory.mktemp("shards"))


def make_sqlite(directory: Path) -> Deployment:
    servers = {name: f"sqlite://{directory / name}" for name in ("First", "Second")}
    topology = make_topology(servers, "First", "Second")

    def opener(topology: Topology, **options: Any) -> SqliteShards:
        return SqliteShards(topology, "OFF", **{"deadline": PATIENT, **options})

    deployment = Deployment("sqlite", topology, opener)
    asyncio.run(_create(deployment))
    return deployment


@pytest.fixture(scope="session")
def mysql(databases: Stack) -> Iterator[Deployment]:
    user, password = databases.settings["mysql.user"], databases.settings["mysql.password"]
    seed = json.loads(databases.topology_file.read_text())
    first, second = (r["master"] for r in seed["mod"]["ranges"])
    topology = make_topology(mysql_servers(databases), first, second)

    def opener(topology: Topology, **options: Any) -> MySqlShards:
        return MySqlShards(
            topology, user=user, password=password, **{"deadline": PATIENT, **options}
        )

    deployment = Deployment("mysql", topology, opener)
    asyncio.run(_create(deployment))
    yield deployment
    asyncio.run(_drop(topology, user, password))


@pytest.fixture(params=["sqlite", "mysql"])
def deployment(request: pytest.FixtureRequest) -> Deployment:
    """A deployment on each backend in turn."""
    made: Deployment = request.getfixturevalue(request.param)
    return made


@pytest.fixture
async def shards(deployment: Deployment) -> AsyncIterator[SqlShards]:
    store = deployment.open()
    yield store
    await store.close()


async def _create(deployment: Deployment) -> None:
    store = deployment.open()
    try:
        await store.create()
    finally:
        await store.close()


async def _drop(topology: Topology, user: str, password: str) -> None:
    """Drop the object shards. The mod shards belong to the stack."""
    for shards in topology.shards:
        login = Login.of(topology.servers[shards.master], user, password)
        link = await connect(login, autocommit=True, deadline=60)
        for shard in range(shards.range[0], shards.range[1] + 1):
            await link.run(f"DROP DATABASE IF EXISTS db{shard:05d}")
        link.close()
