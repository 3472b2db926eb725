"""The end of a binary log, from servers that know one of two statements."""

from collections.abc import Sequence
from typing import Any

import pymysql
import pytest

from datasources.errors import StoreUnavailable
from datasources.mysql.log_status import LogStatus
from datasources.sql.source_tables import LogPosition

pytestmark = pytest.mark.anyio


class _Server:
    """A server that knows one statement. It says so as the driver, or as a store."""

    def __init__(self, known: str, *, translated: bool = False) -> None:
        self.known, self._translated, self.asked = known, translated, list[str]()

    async def run(self, statement: str) -> Sequence[tuple[Any, ...]]:
        self.asked.append(statement)
        if statement == self.known:
            return [(b"binlog.000007", 157, b"", b"")]
        error = pymysql.err.ProgrammingError(1064, "You have an error in your SQL syntax")
        if self._translated:
            raise StoreUnavailable("the source: an error in your SQL syntax") from error
        raise error


@pytest.mark.parametrize("translated", [False, True])
@pytest.mark.parametrize("known", ["SHOW MASTER STATUS", "SHOW BINARY LOG STATUS"])
async def test_the_statement_that_the_server_knows_is_found_once(
    known: str, translated: bool
) -> None:
    server, status = _Server(known, translated=translated), LogStatus()
    assert await status.end(server.run) == LogPosition("binlog.000007", 157)
    asked = len(server.asked)
    assert await status.end(server.run) == LogPosition("binlog.000007", 157)
    assert server.asked[asked:] == [known]


async def test_a_server_that_learns_the_new_statement_is_asked_by_it() -> None:
    server, status = _Server("SHOW MASTER STATUS"), LogStatus()
    await status.end(server.run)
    server.known = "SHOW BINARY LOG STATUS"
    assert await status.end(server.run) == LogPosition("binlog.000007", 157)


async def test_a_right_that_is_missing_is_no_unknown_statement() -> None:
    async def run(statement: str) -> Sequence[tuple[Any, ...]]:
        raise pymysql.err.OperationalError(1227, f"Access denied: {statement}")

    with pytest.raises(pymysql.err.OperationalError, match="denied: SHOW MASTER STATUS"):
        await LogStatus().end(run)


async def test_a_server_without_a_binary_log_has_no_end() -> None:
    async def run(statement: str) -> Sequence[tuple[Any, ...]]:
        return []

    assert await LogStatus().end(run) is None
