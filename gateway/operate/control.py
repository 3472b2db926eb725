"""Commands to the process that has the embedded stores open, over a Unix socket in their directory.

Only one process at a time may open the embedded stores. A command that needs them while a gateway
runs asks that gateway: it sends a line of JSON with the request, and gets lines with progress and
the answer.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from datasources.errors import BadInput, ConfigError, PinwayError, StoreUnavailable
from gateway.operate.imports.report import Progress

Answer = Mapping[str, Any]
Handler = Callable[[Mapping[str, Any], Callable[[Progress], None]], Awaitable[Answer]]
_NAME = "control.sock"
_LONGEST_PATH = 100  # bytes of a Unix socket's name
_LONGEST_LINE = 64 << 20
"""Bytes of a request and of an answer, at most: more than a command line and a list have."""


@asynccontextmanager
async def answering(data: Path, perform: Handler) -> AsyncIterator[None]:
    """Answer the requests of the directory's owner while the context is open."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        def send(message: Mapping[str, Any]) -> None:
            writer.write(msgspec.json.encode(message) + b"\n")

        def on_progress(progress: Progress) -> None:
            send({"progress": progress._asdict()})

        try:
            request = msgspec.json.decode(await reader.readline())
            send({"answer": await perform(request, on_progress)})
        except PinwayError as error:
            send({"error": str(error)})
        except (msgspec.MsgspecError, KeyError, TypeError) as error:
            send({"error": f"this gateway does not know the command ({error})"})
        finally:
            with suppress(OSError):
                await writer.drain()
            writer.close()

    with _Short(data) as path:
        (data / _NAME).unlink(missing_ok=True)  # left by a process that was killed
        before = os.umask(0o177)
        try:
            server = await asyncio.start_unix_server(answer, path, limit=_LONGEST_LINE)
        finally:
            os.umask(before)
        try:
            yield
        finally:
            server.close()
            (data / _NAME).unlink(missing_ok=True)


async def ask(
    data: Path, request: Mapping[str, Any], on_progress: Callable[[Progress], None]
) -> Answer | None:
    """The answer of the process that has the directory open; None if there is no such process.
    Raises ConfigError with that process' error, and BadInput for a request that can't be sent."""
    try:
        line = msgspec.json.encode(request) + b"\n"
    except UnicodeEncodeError as error:
        raise BadInput(f"{error.object!r} is not UTF-8: write it in UTF-8") from None
    with _Short(data) as path:
        try:
            reader, writer = await asyncio.open_unix_connection(path, limit=_LONGEST_LINE)
        except OSError:
            return None
    try:
        writer.write(line)
        await writer.drain()
        async for line in reader:
            message = msgspec.json.decode(line)
            if "progress" in message:
                on_progress(Progress(**message["progress"]))
            elif "error" in message:
                raise ConfigError(message["error"])
            else:
                return dict(message["answer"])
    finally:
        writer.close()
    raise StoreUnavailable(f"the gateway on {data} ended before it answered")


class _Short:
    """A short form of the socket's path, which fits into a socket's name, however long the
    directory's path."""

    def __init__(self, data: Path) -> None:
        self._data = data.resolve()
        self._descriptor: int | None = None

    def __enter__(self) -> str:
        path = self._data / _NAME
        if len(os.fsencode(path)) <= _LONGEST_PATH or not Path("/proc/self/fd").is_dir():
            return str(path)
        self._descriptor = os.open(self._data, os.O_RDONLY | os.O_DIRECTORY)
        return f"/proc/self/fd/{self._descriptor}/{_NAME}"

    def __exit__(self, *_: object) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
