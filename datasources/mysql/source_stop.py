"""Ends the writes to an unsharded database: by a lock that ends with its connection, and then by
the server's `read_only`."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from datasources.errors import ConfigError, StoreConflict, StoreTimeout
from datasources.mysql import lock_holders
from datasources.mysql.errors import number, translate
from datasources.mysql.link import Link, Login, connect
from datasources.mysql.log_status import LogStatus
from datasources.mysql.server import DRIVER_ERRORS
from datasources.sql.source_tables import LogPosition

_DEADLINE = 30.0  # seconds for a statement that waits for nobody
_WAIT = 1  # seconds for which the lock waits, while writes wait behind it
_LOCK_WAIT_TIMEOUT = 1205


class SourceStop:
    """A server that refuses writes: while the link is open, by a lock; by `read_only` if `keep` was
    called."""

    def __init__(self, link: Link) -> None:
        self._link, self._status = link, LogStatus()

    async def position(self) -> LogPosition:
        """The end of the binary log. Raises ConfigError if the server has none."""
        end = await self._status.end(self._rows)
        if end is None:
            raise ConfigError("the source has no binary log")
        return end

    async def keep(self) -> None:
        """Let the server refuse writes from now on, and end the lock."""
        await self._link.run("SET GLOBAL read_only = ON")
        await self._link.run("UNLOCK TABLES")

    async def undo(self) -> None:
        """Let the server take writes again."""
        await self._link.run("SET GLOBAL read_only = OFF")

    async def _rows(self, statement: str) -> list[tuple[Any, ...]]:
        return (await self._link.run(statement)).rows


async def _locked(link: Link, within: float) -> bool:
    """Take the lock against all writes. False if it does not come in time."""
    try:
        async with asyncio.timeout(within):
            await link.run("FLUSH TABLES WITH READ LOCK")
    except TimeoutError:
        return False
    except DRIVER_ERRORS as error:
        if number(error) == _LOCK_WAIT_TIMEOUT:
            return False
        raise
    return True


@asynccontextmanager
async def stopped(login: Login, within: float) -> AsyncIterator[SourceStop]:
    """Refuse writes to all databases of the server in the block. Raises StoreTimeout, which names
    tables and connections, if they keep the lock away for a second, or for `within` seconds if
    these are less. Raises StoreConflict while there are prepared XA transactions: their changes
    are in no table yet. The user needs the rights for FLUSH TABLES WITH READ LOCK, for read_only,
    for the log's position and for XA RECOVER."""
    where = f"the source {login.host}:{login.port}"
    try:
        link = await connect(login, autocommit=True, deadline=_DEADLINE)
    except DRIVER_ERRORS as error:
        raise translate(error, where) from error
    try:
        # Without a right for the next three, this fails before anybody waits.
        await link.run("SET GLOBAL read_only = @@GLOBAL.read_only")
        stop = SourceStop(link)
        await stop.position()
        await lock_holders.find_prepared(link)
        await link.run(f"SET SESSION lock_wait_timeout = {_WAIT:d}")
        if not await _locked(link, within):
            link.close()  # nobody waits behind the lock any more
            holders = await lock_holders.told(login, link.thread_id)
            raise StoreTimeout(
                f"{where}: locks or statements keep its lock away for over "
                f"{min(within, _WAIT):g} s, and nothing has changed: {holders}"
            )
        if transactions := await lock_holders.find_prepared(link):
            told = "; ".join(one.words() for one in transactions)
            raise StoreConflict(f"{where}: {told}; nothing has changed")
        yield stop
    except DRIVER_ERRORS as error:
        raise translate(error, where) from error
    finally:
        link.close()
