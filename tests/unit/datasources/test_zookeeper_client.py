"""A ZooKeeper that is away: one error, and no lines of the driver."""

import asyncio

import pytest

from datasources.errors import StoreUnavailable
from datasources.waits import collected
from datasources.zookeeper.client import Client
from tests.pinway_process import free_port

pytestmark = pytest.mark.anyio


async def test_the_driver_logs_no_line_for_each_attempt_to_connect(
    caplog: pytest.LogCaptureFixture,
) -> None:
    port = free_port()
    client = Client(f"127.0.0.1:{port}", 0.5)
    fault = rf"no ZooKeeper at 127.0.0.1:{port} \(Connection refused\)"
    with collected() as waits:
        with pytest.raises(StoreUnavailable, match=fault):
            await client.call(lambda kazoo: kazoo.get_async("/"))
        call = asyncio.ensure_future(client.call(lambda kazoo: kazoo.get_async("/")))
        await asyncio.sleep(0)
        assert waits.told() == f"topology at 127.0.0.1:{port}: Connection refused"
        call.cancel()
    await client.close()
    assert caplog.messages == []
