"""The workers of one supervisor send each other their metrics, so that each of them can serve all
metrics.

Each worker listens on a Unix socket in a folder of the supervisor, and writes its metrics to each
client that connects. A worker that gets a request for metrics reads the other workers' metrics
there.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

ANSWER_SECONDS = 1.0


class Siblings:
    """The workers 1 to `workers`. This process is worker `number`."""

    def __init__(
        self, folder: Path, number: int, workers: int, *, patience: float = ANSWER_SECONDS
    ) -> None:
        """A worker that does not answer within `patience` seconds counts as down."""
        self._folder, self._number, self._workers = folder, number, workers
        self._patience = patience

    @asynccontextmanager
    async def serving(self, metrics: Callable[[], Awaitable[bytes]]) -> AsyncIterator[None]:
        """Send this worker's metrics to other workers while the context is open."""

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(await metrics())
            with suppress(OSError):
                await writer.drain()
            writer.close()

        path = self._path(self._number)
        path.unlink(missing_ok=True)  # left by a worker with this number that died
        server = await asyncio.start_unix_server(answer, path)
        try:
            yield
        finally:
            server.close()

    async def metrics(self, own: bytes) -> dict[int, bytes | None]:
        """Each worker's metrics by its number; None for a worker that does not answer."""
        numbers = [number for number in range(1, self._workers + 1) if number != self._number]
        texts = await asyncio.gather(*map(self._ask, numbers))
        return {self._number: own, **dict(zip(numbers, texts, strict=True))}

    async def _ask(self, number: int) -> bytes | None:
        try:
            async with asyncio.timeout(self._patience):
                reader, writer = await asyncio.open_unix_connection(self._path(number))
                try:
                    return await reader.read()
                finally:
                    writer.close()
        except (OSError, TimeoutError):
            return None

    def _path(self, number: int) -> Path:
        return self._folder / f"{number}.sock"
