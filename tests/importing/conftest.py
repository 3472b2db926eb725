"""Empty embedded stores for tests of complete imports."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
import redis.asyncio

from datasources.protocols import Stores
from datasources.valkey import ValkeyServer
from tests.embedded_stores import embedded_config, embedded_stores, valkey

__all__ = ["fresh", "stores", "valkey"]

Fresh = Callable[[], AbstractAsyncContextManager[Stores]]


@pytest.fixture
def fresh(valkey: ValkeyServer, tmp_path_factory: pytest.TempPathFactory) -> Fresh:
    """A function that opens empty stores; one at a time, because they share the cache of lists."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Stores]:
        await forget(valkey)
        directory: Path = tmp_path_factory.mktemp("stores")
        async with embedded_stores(embedded_config(directory, valkey)) as stores:
            yield stores

    return opened


@pytest.fixture
async def stores(fresh: Fresh) -> AsyncIterator[Stores]:
    async with fresh() as opened:
        yield opened


async def forget(valkey: ValkeyServer) -> None:
    """Empty the cache of lists and the queue."""
    client = redis.asyncio.Redis.from_url(valkey.url().replace("redis+unix:", "unix:"))
    await client.flushall()
    await client.aclose()
