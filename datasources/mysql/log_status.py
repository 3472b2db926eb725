"""Asks a server for the end of its binary log. MySQL 8.2 renamed the statement, and 8.4 has the new
name alone, which MariaDB does not know."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from datasources.errors import StoreError
from datasources.mysql.errors import comes_from
from datasources.mysql.server import DRIVER_ERRORS
from datasources.sql.source_tables import LogPosition

_UNKNOWN = 1064  # a syntax error


class LogStatus:
    """Asks by the statement that a server knew last."""

    def __init__(self) -> None:
        self._statements = ["SHOW MASTER STATUS", "SHOW BINARY LOG STATUS"]

    async def end(
        self, run: Callable[[str], Awaitable[Sequence[tuple[Any, ...]]]]
    ) -> LogPosition | None:
        """The end of the log; None if the server has none. `run` returns the rows of a statement.
        Raises the exceptions of `run`."""
        first, second = self._statements
        try:
            rows = await run(first)
        except (StoreError, *DRIVER_ERRORS) as error:
            if not comes_from(error, _UNKNOWN):
                raise
            rows = await run(second)
            self._statements = [second, first]
        for file, offset, *_ in rows:
            return LogPosition(file.decode(), int(offset))
        return None
