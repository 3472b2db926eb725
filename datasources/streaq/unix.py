"""anyio's Unix sockets without false errors when a read is cancelled in the same turn in which its
socket becomes ready.

anyio 4.16 passes `future.set_result` itself to the event loop, which calls it when a socket is
ready. If the wait is cancelled in that turn, the loop logs an InvalidStateError, although nothing
is wrong.
"""

from asyncio import AbstractEventLoop, Future
from typing import Any

from anyio._backends._asyncio import UNIXSocketStream


def _wait_until_readable(stream: Any, loop: AbstractEventLoop) -> "Future[None]":
    """Wait as anyio's own method does, without a result for a cancelled future."""
    socket = stream._raw_socket

    def ready() -> None:
        if not future.done():
            future.set_result(None)

    def ended(_: object) -> None:
        del stream._receive_future
        loop.remove_reader(socket)

    future: Future[None] = loop.create_future()
    stream._receive_future = future
    loop.add_reader(socket, ready)
    future.add_done_callback(ended)
    return future


def mend() -> None:
    """Replace anyio's method in this process."""
    UNIXSocketStream._wait_until_readable = _wait_until_readable  # type: ignore[assignment]
