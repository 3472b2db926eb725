"""The real servers as fixtures: one stack for a session. Its parts start when tests need them.

`PINWAY_TEST_STACK=DIR` uses the stack in DIR instead, and leaves it running. `make test` runs
some of its lanes so.
"""

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from deploy.stack import Stack
from deploy.stack.service import Service, State

SHARDS = 64
MOD_SHARDS = 16
STACK = "PINWAY_TEST_STACK"
PARTS = {
    "databases": ("mysql", "zookeeper"),
    "caches": ("redis", "memcached"),
    "clusters": ("hbase",),
    "engines": ("opensearch",),
}
"""Each part of the stack, and how the names of its servers begin."""


@pytest.fixture(scope="session")
def empty_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The stack's directory, of which no server runs yet. Its servers are stopped at the end."""
    given = os.environ.get(STACK)
    if given:
        path = Path(given)
        servers = Stack.open(path) if (path / "stack.json").exists() else _new(path)
        servers.up(set_up_only=True)
        yield servers
        return
    servers = _new(tmp_path_factory.mktemp("stack"))
    try:
        servers.up(set_up_only=True)
        yield servers
    finally:
        _end(servers)


def stop(folder: Path) -> None:
    """Stop the servers of the stack in the folder, if there is one."""
    if (folder / "stack.json").exists():
        _end(Stack.open(folder))


def _end(servers: Stack) -> None:
    """Stop the servers at once: nobody needs their data any more."""
    for service in servers.services.values():
        service.stop_grace = 0.0
    servers.down()


def _new(folder: Path) -> Stack:
    return Stack(folder, SHARDS, MOD_SHARDS)


@pytest.fixture(scope="session")
def databases(empty_stack: Stack) -> Stack:
    """The stack, in which MariaDB and ZooKeeper are ready."""
    return start(empty_stack, "databases")


@pytest.fixture(scope="session")
def caches(empty_stack: Stack) -> Stack:
    """The stack, in which Redis and memcached are ready."""
    return start(empty_stack, "caches")


@pytest.fixture(scope="session")
def clusters(empty_stack: Stack) -> Stack:
    """The stack, in which both clusters of HBase are ready, with their Thrift servers."""
    return start(empty_stack, "clusters")


@pytest.fixture(scope="session")
def engines(empty_stack: Stack) -> Stack:
    """The stack, in which OpenSearch is ready."""
    return start(empty_stack, "engines")


@pytest.fixture(scope="session")
def stack(clusters: Stack, databases: Stack, caches: Stack) -> Stack:
    """All servers but the search engine, ready. A test that kills a server starts it again and
    waits until it is ready."""
    return clusters


def start(stack: Stack, part: str) -> Stack:
    """Start a part of the stack. Returns when all its servers are ready."""
    names = [name for name in stack.services if name.startswith(PARTS[part])]
    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(lambda name: _start(stack.services[name]), names))
    return stack


def _start(service: Service) -> None:
    if service.identity is None or service.health().state is not State.UP:
        service.start()
        service.wait_ready(600)


def mysql_servers(stack: Stack) -> dict[str, str]:
    """Topology name → URL without credentials, including slaves: {"MySQL001A": "mysql://h:p"}.

    `stack.settings` has `mysql.user` and `mysql.password`.
    """
    servers: dict[str, str] = json.loads(stack.topology_file.read_text())["servers"]
    return servers


def redis_url(stack: Stack, db: int = 0) -> str:
    return f"redis://127.0.0.1:{stack.services['redis'].port}/{db}"


def memcached_url(stack: Stack) -> str:
    return f"memcached://127.0.0.1:{stack.services['memcached'].port}"


def zookeeper_hosts(stack: Stack) -> str:
    """`host:port`, the form that kazoo takes."""
    return f"127.0.0.1:{stack.services['zookeeper'].port}"


def hbase_primary(stack: Stack) -> str:
    """The URL of the primary cluster's Thrift server."""
    return f"hbase://127.0.0.1:{stack.services['hbase-primary-thrift'].port}"


def hbase_standby(stack: Stack) -> str:
    """The URL of the standby cluster's Thrift server."""
    return f"hbase://127.0.0.1:{stack.services['hbase-standby-thrift'].port}"


def opensearch_url(stack: Stack, prefix: str) -> str:
    """The URL of the indexes whose names begin with the prefix."""
    return f"opensearch://127.0.0.1:{stack.services['opensearch'].port}/{prefix}"
