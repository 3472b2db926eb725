"""A transaction on one shard of a MySQL server."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

from datasources.mysql.errors import Lost, answered
from datasources.mysql.link import Link
from datasources.mysql.server import DRIVER_ERRORS, Server
from datasources.sql.engine import Fence, Place, Result
from datasources.sql.session import GuardedSession, Statement


class MySqlSession(GuardedSession):
    """A transaction on one shard. The fence is read in the round trip that begins it."""

    def __init__(self, place: Place, server: Server) -> None:
        super().__init__(place)
        self._server = server
        self._link: Link | None = None
        self._waiting = False  # whether an answer may still arrive
        self._lost = False
        self._committed = False
        self._commits: asyncio.Task[Result] | None = None

    async def begin(self) -> None:
        """Raises StoreTimeout, StoreUnavailable, StoreCorrupt."""
        self._server.check()
        await self._take(fresh=False)
        try:
            await self._read_fence()
        except Lost:
            if self._link is None or not self._link.used:
                raise
            # Nothing was done yet: a dead connection from the pool is replaced.
            self._server.writers.discard(self._link)
            await self._take(fresh=True)
            await self._read_fence()

    async def end(self) -> None:
        """Roll back uncommitted changes, and give the connection back."""
        self.ended()
        link, self._link = self._link, None
        if link is None:
            return
        writers = self._server.writers
        if self._commits is not None and not self._commits.done():
            self._server.leave_committing(link, self._commits)
            return
        if self._waiting:
            writers.discard(link)
            if not self._lost:
                self._server.kill(link)
            return
        try:
            if not self._committed:
                await self._server.step(link, "tx.rollback", "ROLLBACK", ())
        except BaseException as error:
            writers.discard(link)
            if not isinstance(error, DRIVER_ERRORS):
                raise
        else:
            writers.give(link)

    def idle(self) -> bool:
        """Whether there is nothing to roll back, or no way to do so."""
        return self._committed or self._waiting or self._link is None

    async def _take(self, *, fresh: bool) -> None:
        self._link = None
        try:
            async with asyncio.timeout(self._server.deadline):
                self._link = await self._server.writers.take(fresh=fresh)
        except TimeoutError:
            raise self._server.late() from None

    async def _read_fence(self) -> None:
        read = await self._step(
            "tx.begin",
            "SELECT @@server_id, f.epoch, f.owner FROM (SELECT 1) AS one "
            f"LEFT JOIN {self.place.database}.fence f ON f.id = 1 LOCK IN SHARE MODE",
            (),
        )
        [(server, epoch, owner)] = read.rows
        self.fence = None if epoch is None else Fence(epoch, owner.decode(), str(server))

    async def _run(self, operation: str, statements: Sequence[Statement]) -> Result:
        return await self._step(operation, *self._packet(statements))

    async def _commit(self, operation: str, last: Sequence[Statement]) -> None:
        assert self._link is not None
        sql, args = self._packet([*last, ("COMMIT", ())])
        self._commits = self._server.commit(self._link, operation, sql, args)
        await self._answer(self._commit_within_deadline(self._commits))
        self._committed = True

    def _packet(self, statements: Sequence[Statement]) -> tuple[str, list[Any]]:
        # The server stops at the first failing statement of a packet.
        text = "; ".join(sql for sql, _ in statements)
        sql = text.replace("{db}", self.place.database).replace("?", "%s")
        return sql, [it for _, args in statements for it in args]

    async def _commit_within_deadline(self, task: "asyncio.Task[Result]") -> Result:
        async with asyncio.timeout(self._server.deadline):
            return await asyncio.shield(task)

    async def _step(self, operation: str, sql: str, args: Sequence[Any]) -> Result:
        assert self._link is not None
        return await self._answer(self._server.step(self._link, operation, sql, args))

    async def _answer(self, call: Coroutine[Any, Any, Result]) -> Result:
        self._waiting, self._lost = True, False
        try:
            result = await call
        except TimeoutError:
            raise self._server.late() from None
        except DRIVER_ERRORS as error:
            self._waiting = self._lost = not answered(error)
            raise self._server.translate(error, self.place.database) from error
        self._waiting = False
        return result
