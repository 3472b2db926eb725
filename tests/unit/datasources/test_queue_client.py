"""A queue's server that never answers: one error, and no lines of the driver."""

import socket

import pytest

from datasources.errors import StoreError
from datasources.streaq import StreaqQueue

pytestmark = pytest.mark.anyio


async def test_the_driver_logs_no_attempt_to_connect(caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        queue = StreaqQueue(f"redis://127.0.0.1:{port}/0", deadline=0.1)
        with pytest.raises(StoreError, match="no answer"):
            await queue.ping()
        await queue.close()
    assert caplog.messages == []
