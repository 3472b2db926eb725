"""A snapshot of a server that holds no lock on what it has read.

A transaction holds the metadata locks of all tables that it has read, and the server compares each
table with all of them: the tables of thousands of shards would take hours. A rollback to a
savepoint that follows the snapshot releases the locks, and the snapshot stays. MariaDB does so only
in a session that writes no binary log.
"""

from collections.abc import Awaitable, Callable

from datasources.errors import StoreError
from datasources.mysql.errors import comes_from

BEGIN = (
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "START TRANSACTION WITH CONSISTENT SNAPSHOT",
    "SAVEPOINT snapshot",
)
RELEASE = "ROLLBACK TO SAVEPOINT snapshot"
_DENIED = 1227


async def write_no_log(run: Callable[[str], Awaitable[object]]) -> None:
    """Let a session write no binary log, which the account may need the right BINLOG ADMIN for.
    Without the right, the session holds its locks. Raises StoreError."""
    try:
        await run("SET SESSION sql_log_bin = 0")
    except StoreError as error:
        if not comes_from(error, _DENIED):
            raise
