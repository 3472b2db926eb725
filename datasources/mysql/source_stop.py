"""Ends the writes to an unsharded database: by a lock that ends with its connection, and then by
the server's `read_only`."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from datasources.errors import StoreConflict, StoreTimeout
from datasources.mysql import lock_holders
from datasources.mysql.errors import number, translate
from datasources.mysql.link import Link, Login, connect
from datasources.mysql.server import DRIVER_ERRORS
from datasources.sql.source_tables import LogPosition

_DEADLINE = 30.0  # seconds for a statement that waits for nobody
_WAIT = 1  # seconds for which the lock waits, while writes wait behind it
_LOCK_WAIT_TIMEOUT = 1205


class SourceStop:
    """A server that refuses writes: while the link is open, by a lock; by `read_only` if `keep` was
    called."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def position(self) -> LogPosition:
        """The end of the binary log."""
        [row] = (await self._link.run("SHOW MASTER STATUS")).rows
        return LogPosition(row[0].decode(), int(row[1]))

    async def keep(self) -> None:
        """Let the server refuse writes from now on, and end the lock."""
        await self._link.run("SET GLOBAL read_only = ON")
        await self._link.run("UNLOCK TABLES")

    async def undo(self) -> None:
        """Let the server take writes again."""
        await self._link.run("SET GLOBAL read_only = OFF")


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
    for SHOW MASTER STATUS and for XA RECOVER."""
    where = f"the source {login.host}:{login.port}"
    try:
        link = await connect(login, autocommit=True, deadline=_DEADLINE)
    except DRIVER_ERRORS as error:
        raise translate(error, where) from error
    try:
        # Without the right to set read_only, this fails before anybody waits.
        await link.run("SET GLOBAL read_only = @@GLOBAL.read_only")
        await link.run("SHOW MASTER STATUS")
        await lock_holders.find_prepared(link)  # the right for it
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
        yield SourceStop(link)
    except DRIVER_ERRORS as error:
        raise translate(error, where) from error
    finally:
        link.close()
