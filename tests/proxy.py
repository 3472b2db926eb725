"""A TCP proxy in front of a server that other tests use, too: outages without stopping the
server."""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager


class Proxy:
    """Forwards 127.0.0.1:`port` to a server, and counts round trips. The connection can be cut,
    stalled and restored."""

    def __init__(self, host: str, port: int, at: int = 0) -> None:
        self._target = host, port
        self._server: asyncio.Server | None = None
        self._turn = asyncio.Lock()
        self._links: set[asyncio.Task[None]] = set()
        self._flows = asyncio.Event()
        self._flows.set()
        self.port = at
        self._late, self._late_by = 0.0, 0.0
        self.trips = 0  # requests that were sent when nothing, or an answer, had come before

    async def mend(self) -> None:
        """Accept connections, and let bytes through."""
        self._flows.set()
        async with self._turn:
            if self._server is None:
                self._server = await asyncio.start_server(self._link, "127.0.0.1", self.port)
                self.port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        """End every connection and refuse new ones."""
        if self._server is not None:
            self._server.close()
            self._server = None
        await self.lose()

    async def lose(self) -> None:
        """End every connection, and the answers on their way. New ones are accepted."""
        for link in self._links:
            link.cancel()
        if self._links:
            await asyncio.wait(self._links)

    def stall(self) -> None:
        """Keep connections, and accept new ones, but forward nothing."""
        self._flows.clear()

    def delay(self, share: float, seconds: float) -> None:
        """Delay this share of the requests; 0: none."""
        self._late, self._late_by = share, seconds

    async def _link(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._links.add(task)
        far: asyncio.StreamWriter | None = None
        try:
            far_reader, far = await asyncio.open_connection(*self._target)
            asking = False

            async def asked() -> None:
                nonlocal asking
                self.trips += not asking
                if not asking and random.random() < self._late:
                    await asyncio.sleep(self._late_by)
                asking = True

            async def answered() -> None:
                nonlocal asking
                asking = False

            pipes = [
                asyncio.create_task(self._pipe(reader, far, asked)),
                asyncio.create_task(self._pipe(far_reader, writer, answered)),
            ]
            try:
                await asyncio.wait(pipes, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for pipe in pipes:
                    pipe.cancel()
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self._links.discard(task)
            for end in filter(None, (writer, far)):
                end.transport.abort()

    async def _pipe(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        note: Callable[[], Awaitable[None]],
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                await note()
                await self._flows.wait()
                if writer.is_closing():  # uvloop's transports refuse to write then
                    break
                writer.write(data)
                await writer.drain()


@asynccontextmanager
async def proxied(host: str, port: int, *, at: int = 0) -> AsyncIterator[Proxy]:
    """A proxy that forwards everything until it is told otherwise. `at`: its port; 0: any. A port
    of the range for outgoing connections may be taken while the proxy is cut."""
    proxy = Proxy(host, port, at)
    await proxy.mend()
    try:
        yield proxy
    finally:
        await proxy.cut()
