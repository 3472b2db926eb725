"""A transaction on one SQLite file.

A statement of few values runs on the event loop: it takes 10 to 20 µs there, and a thread's answer
waits for the interpreter, for up to 5 ms while the loop is busy. A commit waits for the disk, so it
runs in a thread, and so does every long statement.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from datasources.errors import StoreConflict, StoreTimeout
from datasources.sql.engine import Fence, Observe, Place, Result
from datasources.sql.session import GuardedSession, Statement
from datasources.sqlite.connections import Connections
from datasources.sqlite.errors import Busy, translate
from datasources.sqlite.reads import in_few_steps, is_interrupted

T = TypeVar("T")
QUICK_VALUES = 100  # values of statements that run on the event loop, at most
QUICK_STATEMENTS = 8  # statements on the event loop between two turns of other tasks
_PAUSE = 0.01  # seconds between two attempts to begin while another process writes


class SqliteSession(GuardedSession):
    """The transaction. If a call is cancelled or late, its statement still runs to its end in the
    thread: `end` waits for it before it rolls back."""

    def __init__(
        self,
        place: Place,
        path: Path,
        connections: Connections,
        executor: Executor,
        deadline: float,
        observe: Observe,
    ) -> None:
        super().__init__(place)
        self._path, self._connections, self._executor = path, connections, executor
        self._deadline, self._observe = deadline, observe
        self._connection: sqlite3.Connection | None = None
        self._hop: Future[Any] | None = None
        self._quick = 0

    async def begin(self) -> None:
        """Take the file's write lock and read the fence. Raises StoreConflict if another process
        keeps the lock."""
        clock = asyncio.get_running_loop().time
        give_up = clock() + self._deadline
        while True:
            try:
                self.fence = await self._take_lock()
                return
            except Busy as error:
                if clock() + _PAUSE > give_up:
                    raise StoreConflict(
                        f"{error}, and was still after {self._deadline} s"
                    ) from error
            await asyncio.sleep(_PAUSE)

    def idle(self) -> bool:
        """Whether no statement is running, and nothing is to be committed or rolled back."""
        ran = self._hop is None or self._hop.done()
        return ran and (self._connection is None or not self._connection.in_transaction)

    async def end(self) -> None:
        """Roll back uncommitted changes, and give the connection back."""
        self.ended()
        if self._hop is not None:
            await asyncio.gather(asyncio.wrap_future(self._hop), return_exceptions=True)
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            if connection.in_transaction:
                await asyncio.wrap_future(self._executor.submit(connection.execute, "ROLLBACK"))
        except sqlite3.Error:
            connection.close()  # this also rolls back
        else:
            self._connections.give(self._path, connection)

    async def _take_lock(self) -> Fence | None:
        self._observe(self.place.server, "tx.begin")
        if self._connection is None:
            self._connection = self._connections.take_idle(self._path)
        if self._connection is None:
            return await self._in_thread(self._open)  # opening reads the file's schema
        return self._on_loop(self._begin)

    async def _run(self, operation: str, statements: Sequence[Statement]) -> Result:
        self._observe(self.place.server, operation)
        result, rest = None, statements
        if sum(len(args) for _, args in statements) <= QUICK_VALUES:
            self._quick += len(statements)
            if self._quick > QUICK_STATEMENTS:
                self._quick = 0
                await asyncio.sleep(0)
            result, rest = self._on_loop(lambda: self._execute_quickly(statements))
        if result is not None:
            return result
        return await self._in_thread(lambda: self._execute(rest))

    async def _commit(self, operation: str, last: Sequence[Statement]) -> None:
        self._observe(self.place.server, operation)
        await self._in_thread(lambda: self._execute([*last, ("COMMIT", ())]))

    def _on_loop(self, call: Callable[[], T]) -> T:
        try:
            return call()
        except sqlite3.Error as error:
            raise translate(error, self._path) from error

    async def _in_thread(self, call: Callable[[], T]) -> T:
        hop = self._hop = self._executor.submit(call)
        try:
            async with asyncio.timeout(self._deadline):
                return await asyncio.shield(asyncio.wrap_future(hop))
        except TimeoutError:
            raise StoreTimeout(f"{self._path}: no answer in {self._deadline} s") from None
        except sqlite3.Error as error:
            raise translate(error, self._path) from error

    def _open(self) -> Fence | None:
        self._connection = self._connections.take(self._path)
        return self._begin()

    def _begin(self) -> Fence | None:
        assert self._connection is not None
        self._connection.execute("BEGIN IMMEDIATE")
        rows = self._connection.execute("SELECT epoch, owner FROM fence WHERE id = 1").fetchall()
        return Fence(rows[0][0], rows[0][1].decode(), self.place.server) if rows else None

    def _execute(self, statements: Sequence[Statement]) -> Result:
        assert self._connection is not None
        for sql, args in statements:
            cursor = self._connection.execute(sql.replace("{db}", "main"), args)
            rows = cursor.fetchall()
        return Result(rows, cursor.rowcount, cursor.lastrowid or 0)

    def _execute_quickly(
        self, statements: Sequence[Statement]
    ) -> tuple[Result | None, Sequence[Statement]]:
        """Run the statements up to the first read of many rows. Returns the last statement's
        result, or None and the statements that are left."""
        assert self._connection is not None
        result = None
        for number, statement in enumerate(statements):
            if not statement[0].startswith("SELECT"):
                # An interrupted write would roll back the transaction. Its values bound its steps.
                result = self._execute([statement])
                continue
            try:
                result = in_few_steps(self._connection, partial(self._execute, [statement]))
            except sqlite3.Error as error:
                if not is_interrupted(error):
                    raise
                return None, statements[number:]
        return result, ()
