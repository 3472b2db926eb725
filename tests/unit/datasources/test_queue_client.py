"""A queue's server that never answers: one error, and no lines of the driver."""

import asyncio
import socket

import pytest

from datasources.errors import StoreError
from datasources.streaq import StreaqQueue
from datasources.streaq.worker import PromptWorker

pytestmark = pytest.mark.anyio


async def test_the_driver_logs_no_attempt_to_connect(caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        queue = StreaqQueue(f"redis://127.0.0.1:{port}/0", deadline=0.1)
        with pytest.raises(StoreError, match="no answer"):
            await queue.ping()
        await queue.close()
    assert caplog.messages == []


async def test_calls_that_nobody_waits_for_do_not_pile_up() -> None:
    """Each call of a queue that hangs ends at its deadline, and costs no attempt to connect of its
    own afterwards."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        queue = StreaqQueue(f"redis://127.0.0.1:{listener.getsockname()[1]}/0", deadline=0.1)
        connect, attempts = queue._client._connect, 0

        def counted() -> PromptWorker:
            nonlocal attempts
            attempts += 1
            return connect()

        queue._client._connect = counted
        found = await asyncio.gather(*(queue.ping() for _ in range(50)), return_exceptions=True)
        assert all(isinstance(error, StoreError) for error in found)
        while queue._client._calls.qsize() > 1:  # the first attempt takes longer than the calls
            with pytest.raises(StoreError):
                await queue.ping()
        assert attempts <= 10
        await queue.close()
