"""anyio's Unix sockets without false errors when a read is cancelled in the turn in which its
socket becomes ready.

anyio 4.16 gives the loop `future.set_result` itself to call when a socket is ready. Where its wait
is cancelled in that very turn, the loop reports an InvalidStateError, though nothing is amiss.
"""

from asyncio import AbstractEventLoop, Future
from typing import Any

from anyio._backends._asyncio import UNIXSocketStream


def _wait_until_readable(stream: Any, loop: AbstractEventLoop) -> "Future[None]":
    """Wait as anyio's own method does; that method keeps the future in the stream, too."""
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
    """Make reads wait in this way, in this process."""
    UNIXSocketStream._wait_until_readable = _wait_until_readable  # type: ignore[assignment]
