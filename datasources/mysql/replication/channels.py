"""Channels of moves: replication of some shards from one master to another, by file and position.

With global transaction ids, two channels in opposite directions would stop each other. A server
skips events with its own server id, so no event goes round in a circle.
"""

from collections.abc import Sequence
from typing import Any

from datasources.errors import StoreUnavailable
from datasources.mysql.replication.admin import Admin
from datasources.mysql.replication.logical_copy import Position
from datasources.replication.accounts import Replica
from datasources.replication.sides import Channel, Flow

STOP_SECONDS = 20.0
FOLLOW_SECONDS = 1
"""A channel is alive if it reaches the source's present position within this many seconds."""


class Channels:
    """The channels of one move, which have its name and carry the databases of its shards."""

    def __init__(self, name: str, databases: Sequence[str], replica: Replica) -> None:
        self.name, self._databases, self._replica = name, databases, replica

    async def status(self, on: Admin) -> dict[str, Any] | None:
        """The channel's row of SHOW ALL SLAVES STATUS; None if there is no channel."""
        rows = await on.described("SHOW ALL SLAVES STATUS")
        return next((row for row in rows if row["Connection_name"] == self.name), None)

    async def make(self, on: Admin, source: Admin, position: Position) -> None:
        """Create a channel that begins at a position of the source's binlog, without starting
        it."""
        login = source.login
        await on.run(
            f"CHANGE MASTER '{self.name}' TO MASTER_HOST = %s, MASTER_PORT = %s, MASTER_USER = %s, "
            "MASTER_PASSWORD = %s, MASTER_LOG_FILE = %s, MASTER_LOG_POS = %s, "
            "MASTER_CONNECT_RETRY = 1, MASTER_USE_GTID = no",
            (login.host, login.port, *self._replica, position.file, position.offset),
        )

    async def start(self, on: Admin) -> None:
        """Start the channel, if there is one, and set its filter, which a server forgets at a
        restart."""
        status = await self.status(on)
        if status is None or _runs(status):
            return
        await self._stop(on)
        await on.script(
            (
                f"SET SESSION default_master_connection = '{self.name}'",
                f"SET GLOBAL replicate_do_db = '{','.join(self._databases)}'",
                # The source must not count this server's receipts as its slave's. The setting stays
                # off, because the channel may connect again; a master has no other use for it.
                "SET GLOBAL rpl_semi_sync_slave_enabled = 0",
                "START SLAVE",
                "SET SESSION default_master_connection = ''",
            )
        )
        await self._wait_for_connection(on)

    async def look(self, on: Admin, source: Admin) -> Channel:
        status = await self.status(on)
        if status is None:
            return Channel(Flow.LOST, "there is no channel")
        if told := _fault(status):
            return Channel(Flow.LOST, told)
        if not _runs(status):
            return Channel(Flow.LATE, f"stopped: {status['Last_IO_Error'] or 'by somebody'}")
        now = await position_of(source)
        [[events]] = await on.run(
            "SELECT MASTER_POS_WAIT(%s, %s, %s, %s)",
            (now.file, now.offset, FOLLOW_SECONDS, self.name),
        )
        if events is None or events < 0:
            return Channel(Flow.LATE, f"{status['Seconds_Behind_Master']} s behind")
        return Channel(Flow.ALIVE)

    async def stop(self, on: Admin) -> None:
        if await self.status(on) is not None:
            await self._stop(on)

    async def forget(self, on: Admin) -> None:
        if await self.status(on) is not None:
            await self._stop(on)
            await on.run(f"RESET SLAVE '{self.name}' ALL")
            if not await on.described("SHOW ALL SLAVES STATUS"):
                await on.run("SET GLOBAL rpl_semi_sync_slave_enabled = 1")

    async def _stop(self, on: Admin) -> None:
        await on.run(f"STOP SLAVE '{self.name}' SQL_THREAD", within=STOP_SECONDS)
        await on.run(f"STOP SLAVE '{self.name}'", within=STOP_SECONDS)

    async def _wait_for_connection(self, on: Admin) -> None:
        for _ in range(100):
            status = await self.status(on)
            if status is None or status["Slave_IO_Running"] != "Connecting":
                return
            await on.run("DO SLEEP(0.02)")


async def position_of(source: Admin) -> Position:
    """The present end of a server's binlog."""
    found = await source.described("SHOW MASTER STATUS")
    if not found:
        raise StoreUnavailable(f"{source.name}: it writes no binlog")
    return Position(found[0]["File"], int(found[0]["Position"]), "")


def _runs(status: dict[str, Any]) -> bool:
    return (status["Slave_IO_Running"], status["Slave_SQL_Running"]) == ("Yes", "Yes")


def _fault(status: dict[str, Any]) -> str:
    """The error that stopped a channel permanently; "" if there is none."""
    if status["Last_SQL_Errno"]:
        return str(status["Last_SQL_Error"])
    # After other errors, such as a lost connection, the channel retries by itself.
    if status["Last_IO_Errno"] and status["Slave_IO_Running"] == "No":
        return str(status["Last_IO_Error"])
    return ""
