"""A queue's server that never answers: one error, and no lines of the driver."""

import logging
import socket

import pytest

from datasources.errors import StoreError
from datasources.streaq import StreaqQueue
from gateway.settings import Settings
from gateway.telemetry.logs import start_logging

pytestmark = pytest.mark.anyio


async def test_the_driver_logs_no_attempt_to_connect(caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        queue = StreaqQueue(f"redis://127.0.0.1:{port}/0", deadline=0.1)
        with pytest.raises(StoreError, match="no answer"):
            await queue.ping()
        await queue.close()
    assert caplog.messages == []


def test_the_log_of_a_gateway_leaves_the_driver_quiet() -> None:
    root = logging.getLogger()
    before = list(root.handlers), root.level
    try:
        start_logging(Settings())
        assert not logging.getLogger("coredis").isEnabledFor(logging.ERROR)
    finally:
        root.handlers[:], level = before
        root.setLevel(level)
