"""A read of a Unix socket that is cancelled at the moment at which data arrives."""

import asyncio
import socket
from pathlib import Path
from typing import Any

import pytest
from anyio import connect_unix

from datasources.streaq import StreaqQueue

pytestmark = pytest.mark.anyio


async def test_a_cancelled_read_is_no_error_where_something_arrives(tmp_path: Path) -> None:
    assert StreaqQueue  # which mends anyio's sockets
    loop, errors = asyncio.get_running_loop(), []

    def note(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        errors.append(context["exception"])

    loop.set_exception_handler(note)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        server.listen()
        async with await connect_unix(tmp_path / "socket") as stream:
            peer, _ = server.accept()
            with peer:
                read = asyncio.create_task(stream.receive())
                for _ in range(5):
                    await asyncio.sleep(0)
                peer.send(b"first")
                # The next turn finds the socket readable, then cancels, then is told of the socket.
                loop.call_soon(read.cancel)
                with pytest.raises(asyncio.CancelledError):
                    await read
                assert await stream.receive() == b"first"
                read = asyncio.create_task(stream.receive())
                for _ in range(5):
                    await asyncio.sleep(0)
                peer.send(b"second")
                assert await read == b"second"
    assert errors == []
