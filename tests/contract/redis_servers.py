"""The servers for suites of the mapping cache and the queue: the embedded Valkey, a real Redis."""

from collections.abc import AsyncIterator

import pytest

from datasources.valkey import ValkeyServer
from tests.servers import redis_url

BOTH = ["valkey", "redis"]
"""The parameters of a fixture that uses `server`."""


async def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, database: int
) -> AsyncIterator[str]:
    """The URL of a database on the server that the fixture's parameter names."""
    if request.param == "redis":
        yield redis_url(request.getfixturevalue("caches"), database)
        return
    async with ValkeyServer(tmp_path_factory.mktemp("valkey")) as valkey:
        yield valkey.url(database)
