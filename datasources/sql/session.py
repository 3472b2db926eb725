"""The checks of every backend's transactions: a transaction refuses statements after its end,
statements after a fatal error, and two statements at the same time."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from datasources.errors import StoreConflict, StoreError, StoreUnavailable
from datasources.sql.engine import Contended, Fence, Place, Result
from datasources.sql.gates import Entered, Free

Statement = tuple[str, Sequence[Any]]
STATEMENTS_AT_ONCE = 200  # a few hundred bytes each: far below MySQL's max_allowed_packet


class GuardedSession(ABC):
    """A `datasources.sql.engine.Session`; a backend adds `_run` and `_commit`."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.fence: Fence | None = None
        self.turn: Entered = Free()
        self._turn = asyncio.Lock()
        self._broken: Exception | None = None
        self._deferred: list[Statement] = []
        self._last: list[Statement] = []

    async def run(self, operation: str, sql: str, args: Sequence[Any] = ()) -> Result:
        async with self._turn:
            self.check()
            first, self._deferred = self._deferred, []
            try:
                return await self._run(operation, [*first, (sql, args)])
            except BaseException as error:
                going_on = isinstance(error, StoreConflict) and not isinstance(error, Contended)
                if first or not going_on:
                    self.broke(error)
                raise

    async def defer(self, operation: str, sql: str, args: Sequence[Any]) -> None:
        if len(self._deferred) == STATEMENTS_AT_ONCE:
            await self.run(operation, sql, args)
        else:
            self.check()
            self._deferred.append((sql, args))

    def will_lock(self, rows: Iterable[tuple[int, int]]) -> None:
        self.check()
        try:
            self.turn.enter((self.place.database, *row) for row in rows)
        except Contended as error:
            self.broke(error)
            raise

    def at_commit(self, sql: str, args: Sequence[Any]) -> None:
        self._last.append((sql, args))

    async def commit(self, operation: str) -> None:
        async with self._turn:
            self.check()
            await self._commit(f"{operation}.commit", [*self._deferred, *self._last])

    def check(self) -> None:
        """Raises the error that broke the transaction, if any."""
        if self._broken is not None:
            raise self._broken

    def broke(self, error: BaseException) -> None:
        """Refuse all further statements, so that no part of the transaction is committed."""
        where = f"{self.place.database} on {self.place.server}"
        self._broken = (
            error
            if isinstance(error, StoreError)
            else StoreUnavailable(f"{where}: the transaction was interrupted")
        )

    def ended(self) -> None:
        """Refuse all further statements: using a transaction after its end is a programming
        error."""
        self._broken = RuntimeError("the transaction has ended")

    @abstractmethod
    async def _run(self, operation: str, statements: Sequence[Statement]) -> Result:
        """Run statements until one fails. Returns the last statement's result."""

    @abstractmethod
    async def _commit(self, operation: str, last: Sequence[Statement]) -> None:
        """Run the last statements, and commit if all succeeded."""
