"""The HTTP server of a serving process."""

import gc
import socket
from collections.abc import Iterator

import pytest
from starlette.types import Receive, Scope, Send

from gateway.serving.process import Server

pytestmark = pytest.mark.anyio


@pytest.fixture
def thawed() -> Iterator[None]:
    gc.unfreeze()
    yield
    gc.unfreeze()


async def nothing(scope: Scope, receive: Receive, send: Send) -> None: ...


@pytest.mark.usefixtures("thawed")
async def test_the_collector_leaves_out_what_is_there_when_requests_are_answered() -> None:
    kept = [object.__new__(type("Kept", (), {}))]
    seen: list[bool] = []

    def ready() -> None:
        seen.append(any(each is kept for each in gc.get_objects()))
        server.should_exit = True

    server = Server(nothing, ready)
    assert any(each is kept for each in gc.get_objects())
    with socket.create_server(("127.0.0.1", 0)) as listener:
        await server.serve(sockets=[listener])
    assert seen == [False]
