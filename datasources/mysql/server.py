"""One MySQL server: its pools and its health."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from aiomysql import Error

from datasources.errors import StoreError, StoreTimeout, StoreUnavailable
from datasources.mysql.errors import Lost, answered, translate
from datasources.mysql.link import Link, Login, connect
from datasources.mysql.pool import Pool
from datasources.places import PoolState
from datasources.sql.engine import Observe, Result

log = logging.getLogger("pinway.stores")
DRIVER_ERRORS = (Error, OSError, EOFError)
CONNECT_TIMEOUT = 2.0  # seconds, including the login; longer if the deadline is a long one
_TO_CONNECT = 0.4  # the part of the deadline that a connection may take
_SILENCE = 1.0  # seconds for which a server that gave no answer is not called; then it is probed
_PROBE = 1.0  # seconds that a probe waits


class Server:
    """A MySQL server. Reads have separate connections, so that transactions that wait for locks, or
    for reads by their own code, never occupy all connections."""

    def __init__(
        self, name: str, login: Login, *, pool_size: int, deadline: float, observe: Observe
    ) -> None:
        self.name, self.login, self.deadline, self._observe = name, login, deadline, observe
        self.readers = Pool(lambda: self._connect(autocommit=True), pool_size)
        self.writers = Pool(lambda: self._connect(autocommit=False), pool_size)
        self._heard = 0.0  # when the server last answered
        self._silent_until = 0.0
        self._tasks: set[asyncio.Task[None]] = set()
        self._committing: set[asyncio.Task[None]] = set()
        self._probe: asyncio.Task[None] | None = None

    async def query(self, operation: str, sql: str, args: Sequence[Any], where: str) -> Result:
        """Run a read. A dead connection from the pool is replaced once."""
        return (await self.query_all(operation, sql, args, where))[-1]

    async def query_all(
        self,
        operation: str,
        sql: str,
        args: Sequence[Any],
        where: str,
        *,
        check: str = "",
        within: float | None = None,
    ) -> list[Result]:
        """Run several statements as `query` does. `check` is an additional last statement, for
        servers that have the row `pinway.server`. `within`: seconds, if less than the deadline."""
        self.check()
        started = _now()
        seconds = min(self.deadline, within or self.deadline)
        asked = _Read(operation, sql, args, where, check)
        try:
            async with asyncio.timeout(seconds):
                try:
                    return await self._query(asked, fresh=False)
                except _Stale:
                    return await self._query(asked, fresh=True)
        except TimeoutError:
            self.silent_since(started)
            raise self.late(seconds) from None

    async def received(self) -> str:
        """The position up to which a slave has received its master's events. Raises
        StoreUnavailable for a server that is not an applying slave."""
        found = await self._status()
        if not found or found[0]["Slave_SQL_Running"] != "Yes":
            raise StoreUnavailable(f"{self.name}: it is no slave that applies events")
        position: str = found[0]["Gtid_IO_Pos"]
        return position

    async def master_id(self) -> int:
        """The server id of a slave's master. Raises StoreUnavailable for a server that receives
        no events of a master now: what it has may be old."""
        found = await self._status()
        if not found or found[0]["Slave_IO_Running"] != "Yes":
            raise StoreUnavailable(f"{self.name}: it is no slave that receives events")
        return int(found[0]["Master_Server_Id"])

    async def step(self, link: Link, operation: str, sql: str, args: Sequence[Any]) -> Result:
        """Run a statement on a taken link. Raises the driver's exceptions, and TimeoutError."""
        self._observe(self.name, operation)
        async with asyncio.timeout(self.deadline):
            result = await link.run(sql, args)
        self._heard = _now()
        return result

    def pools(self) -> list[PoolState]:
        """The pools' states."""
        return [
            self.readers.places.state(f"{self.name} reads"),
            self.writers.places.state(f"{self.name} transactions"),
        ]

    def commit(
        self, link: Link, operation: str, sql: str, args: Sequence[Any]
    ) -> "asyncio.Task[Result]":
        """Run a statement that commits, as `step` does but without a deadline: if the waiter is
        cancelled, the commit continues."""
        self._observe(self.name, operation)
        return asyncio.create_task(self._commit(link, sql, args))

    def leave_committing(self, link: Link, task: "asyncio.Task[Result]") -> None:
        """Keep the link and its place in the pool until the server answers.

        A KILL would make a commit visible that waits for a slave's receipt, although no slave has
        it. And without the place in the pool, a master without a slave would collect hanging
        connections.
        """

        async def end() -> None:
            try:
                await task
            except (*DRIVER_ERRORS, TimeoutError) as error:
                log.info("%s: a commit that nobody waits for failed: %r", self.name, error)
            finally:
                self.writers.discard(link)

        ending = asyncio.ensure_future(end())
        self._committing.add(ending)
        ending.add_done_callback(self._committing.discard)

    def check(self) -> None:
        """Raises StoreUnavailable during the pause after a call without an answer."""
        if _now() < self._silent_until:
            raise StoreUnavailable(f"{self.name}: it does not answer")

    def silent_since(self, started: float) -> None:
        """Record that a call which waits for no lock got no answer. If the server gave no other
        answer meanwhile, it is not called until a probe gets an answer, so that no caller waits for
        a dead server."""
        if self._heard < started:
            self._silent_until = _now() + _SILENCE
            if self._probe is None or self._probe.done():
                self._probe = asyncio.create_task(self._ask_until_it_answers())

    def late(self, seconds: float | None = None) -> StoreTimeout:
        return StoreTimeout(f"{self.name}: no answer in {seconds or self.deadline} s")

    def translate(self, error: BaseException, where: str) -> StoreError:
        if answered(error):
            self._heard = _now()
        return translate(error, f"{self.name} {where}".rstrip())

    def kill(self, link: Link) -> None:
        """Make the server drop an interrupted transaction at once. While the transaction waits for
        a lock, the server would not notice that its client has gone."""
        task = asyncio.ensure_future(self._kill(link.thread_id))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def keep(self, task: asyncio.Task[None]) -> None:
        """Let `close` wait for a clean-up task."""
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        if self._probe is not None:
            self._probe.cancel()
            await asyncio.wait([self._probe])
        for task in self._committing:
            task.cancel()
        if self._committing:
            await asyncio.wait(self._committing)
        while self._tasks:
            await asyncio.wait(self._tasks)
        self.readers.close()
        self.writers.close()

    async def _ask_until_it_answers(self) -> None:
        while True:
            await asyncio.sleep(_SILENCE / 2)
            self._silent_until = _now() + _SILENCE + _PROBE
            try:
                async with asyncio.timeout(_PROBE):
                    link = await connect(self.login, autocommit=True, deadline=self.deadline)
            except DRIVER_ERRORS:
                continue
            link.close()
            self._heard, self._silent_until = _now(), 0.0
            return

    async def _commit(self, link: Link, sql: str, args: Sequence[Any]) -> Result:
        result = await link.run(sql, args)
        self._heard = _now()
        return result

    async def _query(self, asked: "_Read", *, fresh: bool) -> list[Result]:
        async with self._reader(asked.where, fresh=fresh) as link:
            sql = f"{asked.sql}; {asked.check}" if asked.check and link.has_row else asked.sql
            self._observe(self.name, asked.operation)
            async with asyncio.timeout(self.deadline):
                results = await link.run_all(sql, asked.args)
            self._heard = _now()
            return results

    async def _status(self) -> list[dict[str, Any]]:
        self.check()
        try:
            async with asyncio.timeout(self.deadline), self._reader("", fresh=False) as link:
                self._observe(self.name, "slave")
                return await link.described("SHOW SLAVE STATUS")
        except _Stale as error:
            raise StoreUnavailable(f"{self.name}: its connection was lost") from error
        except TimeoutError:
            raise self.late() from None

    @asynccontextmanager
    async def _reader(self, where: str, *, fresh: bool) -> AsyncIterator[Link]:
        """A connection for reads. It is given back, unless the server closed it or may still
        answer."""
        link = await self.readers.take(fresh=fresh)
        try:
            yield link
        except BaseException as error:
            if answered(error):
                self.readers.give(link)
            else:
                self.readers.discard(link)
            if not isinstance(error, DRIVER_ERRORS) or isinstance(error, TimeoutError):
                raise
            fault = self.translate(error, where)
            if isinstance(fault, Lost) and link.used:
                raise _Stale from fault
            raise fault from error
        self.readers.give(link)

    async def _connect(self, *, autocommit: bool) -> Link:
        self.check()
        started, seconds = _now(), max(CONNECT_TIMEOUT, self.deadline * _TO_CONNECT)
        try:
            async with asyncio.timeout(seconds):
                return await connect(self.login, autocommit=autocommit, deadline=self.deadline)
        except TimeoutError:
            self.silent_since(started)
            raise StoreUnavailable(f"{self.name}: it took no connection in {seconds:g} s") from None
        except DRIVER_ERRORS as error:
            raise StoreUnavailable(str(self.translate(error, ""))) from error

    async def _kill(self, thread_id: int) -> None:
        try:
            await self.query("kill", f"KILL CONNECTION {thread_id:d}", (), "")
        except StoreError:
            return  # the connection, or the whole server, is gone


class _Read(NamedTuple):
    operation: str
    sql: str
    args: Sequence[Any]
    where: str
    check: str


class _Stale(Exception):
    """An idle connection turned out to be dead."""


def _now() -> float:
    return asyncio.get_running_loop().time()
