"""Broadcasts through Redis or Valkey: pub/sub, with a short log of each topic beside it.

A message is published and added to its topic's log by one script. A process has one connection that
follows topics. Redis keeps nothing for a follower that is away, so whenever this connection breaks
(a restart, a network fault, a follower that is too slow), its listener is told that messages may be
missing. A connection that says nothing is asked with PING: a dead one is noticed within `QUIET`
seconds.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from redis.asyncio import ConnectionPool
from redis.exceptions import RedisError

from datasources.errors import StoreError, StoreTimeout
from datasources.outages import backoff
from datasources.protocols import Listener, Message
from datasources.redis.connection import DRIVER, Argument, Connection

log = logging.getLogger("pinway.stores")

LOG_ENTRIES = 256
"""Messages that a topic's log keeps, at most."""
KEPT_MS = 10 * 60 * 1000
"""Milliseconds for which a topic's log is kept after its newest message."""
QUIET = 5.0
"""Seconds of silence after which the connection is asked whether it still works, and in which it
must answer."""
CUT_OFF_AFTER = 10.0
"""Seconds without a connection after which followers no longer wait."""
LONGEST = 5.0
"""Seconds between two attempts to reach the server, at most."""
_EVERYONE = "*"
"""The topic of the message that everybody may have missed messages."""
_GONE = (OSError, RedisError, EOFError, TimeoutError, asyncio.IncompleteReadError)


class RedisBroadcasts:
    """Broadcasts at `redis://host:port/db` or `redis+unix:///path?db=N`. `deadline`: seconds for a
    call."""

    def __init__(
        self,
        url: str,
        *,
        deadline: float = 0.25,
        quiet: float = QUIET,
        cut_off_after: float = CUT_OFF_AFTER,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._redis = Connection(url, deadline, 4)
        self._pool: Any = ConnectionPool.from_url(
            url.replace("redis+unix://", "unix://", 1),
            protocol=2,
            socket_connect_timeout=deadline,
            socket_timeout=None,
            driver_info=DRIVER,
        )
        self._quiet, self._cut_off_after, self._sleep = quiet, cut_off_after, sleep
        self._patience = 4 * deadline
        database = int(self._pool.connection_kwargs.get("db") or 0)
        self._prefix = f"pinway:{database}:live:"  # all databases of a server share its channels
        self._listener: Listener | None = None
        self._topics: dict[str, asyncio.Future[None]] = {}
        """The topics to follow. A future is done when its topic is followed."""
        self._commands: asyncio.Queue[tuple[str, ...]] | None = None
        """The commands to send on the present connection, in their order; None without one."""
        self._following: asyncio.Task[None] | None = None
        self._owing: asyncio.Task[None] | None = None

    @property
    def is_connected(self) -> bool:
        """Whether topics are followed at present."""
        return self._commands is not None

    def attach(self, listener: Listener) -> None:
        self._listener = listener

    async def publish(self, name: str, messages: Sequence[tuple[str, bytes]]) -> None:
        keys = [f"{self._prefix}done:{name}"]
        arguments: list[Argument] = [KEPT_MS, LOG_ENTRIES]
        for topic, payload in messages:
            keys.append(self._log(topic))
            arguments += (self._channel(topic), payload)
        try:
            await self._redis.script(lambda s: s.publish, keys, arguments)
        except StoreError as error:
            if self._owing is None:
                log.warning("a change could not be published, so followers read again: %s", error)
                self._owing = asyncio.create_task(self._make_good())

    async def follow(self, topic: str) -> None:
        known = self._topics.get(topic)
        if known is None:
            known = self._topics[topic] = asyncio.get_running_loop().create_future()
            known.add_done_callback(lambda future: future.cancelled() or future.exception())
            if self._following is None:
                self._following = asyncio.create_task(self._follow())
            self._say("SUBSCRIBE", self._channel(topic))
        try:
            async with asyncio.timeout(self._patience):
                await asyncio.shield(known)
        except TimeoutError:
            raise StoreTimeout(f"{self._redis.name}: can't follow changes at present") from None

    def unfollow(self, topic: str) -> None:
        if self._topics.pop(topic, None) is not None:
            self._say("UNSUBSCRIBE", self._channel(topic))

    async def place(self, topic: str) -> str:
        answer = await self._redis.script(lambda s: s.place, [self._log(topic)], [KEPT_MS])
        return str(answer.decode())

    async def since(self, topic: str, place: str) -> list[Message] | None:
        run, _, entry = place.partition(":")
        keys, arguments = [self._log(topic)], [run, entry]
        answer = await self._redis.script(lambda s: s.since, keys, arguments)
        if answer is None:
            return None
        run = answer[0].decode()
        pairs = zip(answer[1::2], answer[2::2], strict=True)
        return [Message(topic, f"{run}:{id.decode()}", payload) for id, payload in pairs if payload]

    async def close(self) -> None:
        for task in (self._following, self._owing):
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
        self._following = self._owing = None
        await self._redis.close()
        await self._pool.aclose()

    def _channel(self, topic: str) -> str:
        return f"{self._prefix}{topic}"

    def _log(self, topic: str) -> str:
        return f"{self._prefix}log:{topic}"

    async def _make_good(self) -> None:
        """Tell everybody, as soon as the server can be reached, that messages may be missing."""
        failures = 0
        while True:
            try:
                await self._redis.command("PUBLISH", self._channel(_EVERYONE), b"")
                break
            except StoreError:
                failures += 1
                await self._sleep(backoff(0.2, failures, LONGEST))
        self._owing = None

    # Following

    def _say(self, *words: str) -> None:
        """Send a command, if there is a connection. A new connection follows all topics."""
        if self._commands is not None:
            self._commands.put_nowait(words)

    async def _follow(self) -> None:
        """Follow the topics on one connection after another."""
        loop, failures, was_followed = asyncio.get_running_loop(), 0, False
        lost_at: float | None = None
        while True:
            connection = self._pool.make_connection()
            try:
                async with asyncio.timeout(self._patience):
                    await connection.connect()
                    channels = [self._channel(topic) for topic in (_EVERYONE, *self._topics)]
                    await connection.send_command("SUBSCRIBE", *channels)
                    left = len(channels)
                    while left:
                        left -= self._take(await self._read(connection))
                self._commands, failures, lost_at = asyncio.Queue(), 0, None
                late = [topic for topic in self._topics if not self._topics[topic].done()]
                if late:  # followed since the command above
                    self._say("SUBSCRIBE", *map(self._channel, late))
                if was_followed and self._listener is not None:
                    self._listener.missed()
                was_followed = True
                await self._listen(connection, self._commands)
            except _GONE as error:
                if failures == 0:
                    log.warning("%s: following changes broke: %s", self._redis.name, error)
                failures += 1
            finally:
                self._commands = None
                with contextlib.suppress(*_GONE):
                    await connection.disconnect(nowait=True)
            if lost_at is None:
                lost_at = loop.time()
                for topic in self._topics:
                    if self._topics[topic].done():
                        self._topics[topic] = loop.create_future()
            elif loop.time() - lost_at > self._cut_off_after and self._listener is not None:
                self._listener.cut_off()
            await self._sleep(backoff(0.05, failures, min(LONGEST, self._cut_off_after / 4)))

    async def _listen(self, connection: Any, commands: asyncio.Queue[tuple[str, ...]]) -> None:
        """Take messages, and send commands, until the connection breaks. Raises TimeoutError if it
        is silent."""
        heard = True

        async def read() -> None:
            nonlocal heard
            while True:
                answer = await self._read(connection)
                heard = True
                self._take(answer)

        async def send() -> None:
            while True:
                await connection.send_command(*await commands.get())

        both = [asyncio.create_task(read()), asyncio.create_task(send())]
        try:
            while True:
                done, _ = await asyncio.wait(
                    both, timeout=self._quiet, return_when=asyncio.FIRST_COMPLETED
                )
                for task in done:
                    await task
                if not heard:
                    raise TimeoutError(f"no answer within {self._quiet:g} s")
                heard = False
                commands.put_nowait(("PING",))
        finally:
            for task in both:
                task.cancel()
            await asyncio.gather(*both, return_exceptions=True)

    async def _read(self, connection: Any) -> Any:
        return await connection.read_response(disable_decoding=True, disconnect_on_error=False)

    def _take(self, answer: Any) -> bool:
        """Take what the server says. Returns whether it confirms that a topic is followed."""
        kind, name = bytes(answer[0]), bytes(answer[1]).decode()
        topic = name.removeprefix(self._prefix)
        if kind == b"subscribe":
            known = self._topics.get(topic)
            if known is not None and not known.done():
                known.set_result(None)
            return True
        if kind == b"message" and self._listener is not None:
            if topic == _EVERYONE:
                self._listener.missed()
            else:
                place, _, payload = bytes(answer[2]).partition(b" ")
                self._listener.heard(Message(topic, place.decode(), payload))
        return False
