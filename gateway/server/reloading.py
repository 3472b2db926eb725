"""Reads the trusted documents again when the process gets SIGHUP.

A single process reads its manifests itself. A supervisor of several workers reads the manifests
first: if it can't, it says so once, and sends no signal to the workers. Otherwise it passes the
signal to each worker (`gateway/server/supervisor.py`).
"""

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

from datasources.errors import ConfigError
from gateway.documents.trusted import TrustedDocuments

log = logging.getLogger("pinway")


@asynccontextmanager
async def reloading(
    trusted: TrustedDocuments, then: Callable[[], None] = lambda: None
) -> AsyncIterator[None]:
    """Read the documents again at each SIGHUP while the context is open, and call `then` if they
    could be read. The files are read beside the event loop, one reading at a time; a signal during
    a reading causes another reading."""
    asked = asyncio.Event()

    async def read() -> None:
        while True:
            await asked.wait()
            asked.clear()
            try:
                await asyncio.to_thread(trusted.read)
            except ConfigError as error:
                log.error("SIGHUP: %s; the trusted documents stay as they were", error)
            else:
                log.info("SIGHUP: read %d trusted documents", len(trusted))
                then()

    reading = asyncio.create_task(read())
    try:
        with _hang_ups(asked.set):
            yield
    finally:
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading


@contextmanager
def _hang_ups(act: Callable[[], None]) -> Iterator[None]:
    """Call `act` in the event loop at each SIGHUP while the context is open."""
    if not hasattr(signal, "SIGHUP"):  # Windows has none
        yield
        return
    loop = asyncio.get_running_loop()
    before = signal.signal(signal.SIGHUP, lambda *_: loop.call_soon_threadsafe(act))
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)
