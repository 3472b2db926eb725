"""One MySQL server: its pools and its health."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from aiomysql import Error

from datasources.errors import StoreError, StoreTimeout, StoreUnavailable
from datasources.mysql.errors import Lost, answered, translate
from datasources.mysql.link import Link, Login, connect
from datasources.mysql.pool import Pool
from datasources.places import PoolState
from datasources.sql.engine import Observe, Result

log = logging.getLogger("pinway.stores")
DRIVER_ERRORS = (Error, OSError, EOFError)
CONNECT_TIMEOUT = 2.0  # seconds, the login included
_SILENCE = 1.0  # seconds for which a server that said nothing is left alone


class Server:
    """Reads have connections of their own, so that transactions that wait for locks, or for what
    their own code reads, never keep all of them."""

    def __init__(
        self, name: str, login: Login, *, pool_size: int, deadline: float, observe: Observe
    ) -> None:
        self.name, self.login, self.deadline, self._observe = name, login, deadline, observe
        self.readers = Pool(lambda: self._connect(autocommit=True), pool_size)
        self.writers = Pool(lambda: self._connect(autocommit=False), pool_size)
        self._heard = 0.0  # when the server last said anything
        self._silent_until = 0.0
        self._tasks: set[asyncio.Task[None]] = set()
        self._committing: set[asyncio.Task[None]] = set()

    async def query(self, operation: str, sql: str, args: Sequence[Any], where: str) -> Result:
        """Run a read. A connection that had gone stale in the pool is replaced once."""
        self.check()
        started = _now()
        try:
            async with asyncio.timeout(self.deadline):
                try:
                    return await self._query(operation, sql, args, where, fresh=False)
                except _Stale:
                    return await self._query(operation, sql, args, where, fresh=True)
        except TimeoutError:
            self.silent_since(started)
            raise self.late() from None

    async def step(self, link: Link, operation: str, sql: str, args: Sequence[Any]) -> Result:
        """Run a statement on a taken link. Raises what the driver raises, and TimeoutError."""
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
        """`step` for what commits, without a deadline: its waiter may go, the commit goes on."""
        self._observe(self.name, operation)
        return asyncio.create_task(self._commit(link, sql, args))

    def leave_committing(self, link: Link, task: "asyncio.Task[Result]") -> None:
        """Keep the link and its place in the pool until the server answers.

        A KILL would make a commit visible that waits for a slave's receipt, although no slave has
        it. And a master without a slave would else collect hanging connections.
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
        """Raises StoreUnavailable while the server is left alone after a silence."""
        if _now() < self._silent_until:
            raise StoreUnavailable(f"{self.name}: it does not answer")

    def silent_since(self, started: float) -> None:
        """A call that waits for no lock got no answer. If the server said nothing else meanwhile,
        it is left alone for a moment, so that callers don't queue up before a dead one."""
        if self._heard < started:
            self._silent_until = _now() + _SILENCE

    def late(self) -> StoreTimeout:
        return StoreTimeout(f"{self.name}: no answer in {self.deadline} s")

    def translate(self, error: BaseException, where: str) -> StoreError:
        if answered(error):
            self._heard = _now()
        return translate(error, f"{self.name} {where}".rstrip())

    def kill(self, link: Link) -> None:
        """Make the server drop an interrupted transaction at once: while it waits for a lock it
        would not see that its client has gone."""
        task = asyncio.ensure_future(self._kill(link.thread_id))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def keep(self, task: asyncio.Task[None]) -> None:
        """Wait for a task of cleaning up before closing."""
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        for task in self._committing:
            task.cancel()
        if self._committing:
            await asyncio.wait(self._committing)
        while self._tasks:
            await asyncio.wait(self._tasks)
        self.readers.close()
        self.writers.close()

    async def _commit(self, link: Link, sql: str, args: Sequence[Any]) -> Result:
        result = await link.run(sql, args)
        self._heard = _now()
        return result

    async def _query(
        self, operation: str, sql: str, args: Sequence[Any], where: str, *, fresh: bool
    ) -> Result:
        link = await self.readers.take(fresh=fresh)
        try:
            result = await self.step(link, operation, sql, args)
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
        return result

    async def _connect(self, *, autocommit: bool) -> Link:
        self.check()
        started = _now()
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                return await connect(self.login, autocommit=autocommit, deadline=self.deadline)
        except TimeoutError:
            self.silent_since(started)
            raise StoreUnavailable(
                f"{self.name}: it took no connection in {CONNECT_TIMEOUT} s"
            ) from None
        except DRIVER_ERRORS as error:
            raise StoreUnavailable(str(self.translate(error, ""))) from error

    async def _kill(self, thread_id: int) -> None:
        try:
            await self.query("kill", f"KILL CONNECTION {thread_id:d}", (), "")
        except StoreError:
            return  # it is gone already, or the whole server is


class _Stale(Exception):
    """An idle connection turned out to be dead."""


def _now() -> float:
    return asyncio.get_running_loop().time()
