"""The real servers as fixtures: one stack for a session, started when the first test needs it.

`PINWAY_TEST_STACK=DIR` uses the stack that runs in DIR instead, and leaves it running.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.stack import Stack

SHARDS = 64
MOD_SHARDS = 16


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """All servers, ready. A test that kills a server starts it again and waits until it is
    ready."""
    given = os.environ.get("PINWAY_TEST_STACK")
    if given:
        servers = Stack.open(Path(given))
        servers.up()
        yield servers
        return
    servers = Stack(tmp_path_factory.mktemp("stack"), SHARDS, MOD_SHARDS)
    try:
        servers.up()
        yield servers
    finally:
        servers.down()


def mysql_servers(stack: Stack) -> dict[str, str]:
    """Topology name → URL without credentials, including slaves: {"MySQL001A": "mysql://h:p"}.

    `stack.settings` has `mysql_user` and `mysql_password`.
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
