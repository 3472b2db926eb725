"""kazoo on an event loop: passes on the answers and events of kazoo's threads, with a deadline for
each call."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import (
    ConnectionClosedError,
    ConnectionLoss,
    OperationTimeoutError,
    SessionExpiredError,
)
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.protocol.states import KazooState
from kazoo.retry import KazooRetry

from datasources.errors import StoreTimeout, StoreUnavailable
from datasources.waits import waiting_for

SESSION_SECONDS = 10.0
logging.getLogger("kazoo").setLevel(logging.ERROR)  # it warns at each attempt to connect again


class Client:
    """One session at `hosts` (host:port[,host:port]), which is renewed as needed. ZooKeeper ends it
    `session` seconds after the client's last message."""

    def __init__(self, hosts: str, deadline: float, session: float = SESSION_SECONDS) -> None:
        self._hosts, self._deadline, self._session = hosts, deadline, session
        self._client: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._connected = asyncio.Event()
        self._fault = _Fault()
        self._listeners: set[Callable[[], None]] = set()

    def listen(self, changed: Callable[[], None]) -> None:
        """Call `changed`, on the event loop, when the connection is lost or back."""
        self._listeners.add(changed)

    def unlisten(self, changed: Callable[[], None]) -> None:
        self._listeners.discard(changed)

    async def call(self, begin: Callable[[Any], Any]) -> Any:
        """The result of the operation that `begin` starts on the kazoo client. kazoo's errors about
        data (no node, a node's version) pass through; other errors become StoreTimeout or
        StoreUnavailable."""
        loop = self._start()
        answer: asyncio.Future[Any] = loop.create_future()
        with waiting_for(f"topology at {self._hosts}", self._why):
            return await self._answered(begin, answer)

    async def _answered(self, begin: Callable[[Any], Any], answer: "asyncio.Future[Any]") -> Any:
        try:
            async with asyncio.timeout(self._deadline):
                await self._connected.wait()
                begin(self._client).rawlink(
                    lambda result: self._on_loop(lambda: _settle(answer, result))
                )
                return await answer
        except TimeoutError as error:
            if not self._connected.is_set():
                raise StoreUnavailable(
                    f"topology: no ZooKeeper at {self._hosts} ({self._why()}): start it, or mend "
                    "the setting"
                ) from error
            raise StoreTimeout(f"topology: no answer within {self._deadline} s") from error
        except _UNAVAILABLE as error:
            raise StoreUnavailable(f"topology: ZooKeeper at {self._hosts}: {error!r}") from error

    def on_event(self, act: Callable[[], None]) -> Callable[[Any], None]:
        """A function for kazoo's thread that runs `act` on the event loop, for use as a watch."""
        return lambda event: self._on_loop(act)

    async def close(self) -> None:
        if self._client is not None:
            client, self._client = self._client, None
            await asyncio.to_thread(client.stop)
            await asyncio.to_thread(client.close)

    def _why(self) -> str:
        return self._fault.text or "no answer"

    def _start(self) -> asyncio.AbstractEventLoop:
        if self._client is None or self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._client = KazooClient(
                hosts=self._hosts,
                timeout=self._session,
                connection_retry=KazooRetry(max_tries=-1, delay=0.1, backoff=2, max_delay=2.0),
                logger=self._fault.logger(),
            )
            self._client.add_listener(lambda state: self._on_loop(lambda: self._turned(state)))
            self._client.start_async()
        return self._loop

    def _turned(self, state: str) -> None:
        if state == KazooState.CONNECTED:
            self._fault.text = ""
            self._connected.set()
        else:
            self._connected.clear()
        for changed in list(self._listeners):
            changed()

    def _on_loop(self, act: Callable[[], None]) -> None:
        """Run `act` on the event loop, from a thread of kazoo. Does nothing after the loop's
        end."""
        assert self._loop is not None
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(act)


class _Fault(logging.Filter):
    """The last fault of the connection. kazoo tells it in a warning only."""

    text = ""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep the innermost cause of a warning, and pass errors alone."""
        if record.levelno == logging.WARNING and ": " in record.getMessage():
            self.text = record.getMessage().rpartition(": ")[2]
        return record.levelno >= logging.ERROR

    def logger(self) -> logging.Logger:
        """A logger for one client of kazoo."""
        logger = logging.Logger("kazoo.client", logging.WARNING)
        logger.parent = logging.getLogger("kazoo")
        logger.addFilter(self)
        return logger


_UNAVAILABLE = (
    ConnectionClosedError,
    ConnectionLoss,
    OperationTimeoutError,
    SessionExpiredError,
    KazooTimeoutError,
    OSError,
)


def _settle(answer: asyncio.Future[Any], result: Any) -> None:
    if answer.done():
        return
    if result.successful():
        answer.set_result(result.value)
    else:
        answer.set_exception(result.exception)
