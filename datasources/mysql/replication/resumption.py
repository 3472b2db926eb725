"""Brings the servers of a pair back to their work after a restart.

All servers boot read-only, and slaves start nothing: meanwhile the slave may have been promoted, or
its master may be lost. Here both servers are asked first. Only servers that were restarted are
changed: a master that somebody set read-only, or a slave that somebody stopped, stays as it is.
"""

from collections.abc import Callable

from datasources.errors import StoreConflict
from datasources.mysql.replication.admin import CONNECT_SECONDS, Admin, Role
from datasources.replication.server_row import opens

STOPPED = "No"


class Resumption:
    """The master and the slave of a pair, as the topology names them."""

    def __init__(
        self, master: Admin, slave: Admin | None, *, tell: Callable[[str], None] = lambda _: None
    ) -> None:
        self._master, self._slave, self._tell = master, slave, tell

    async def needed(self) -> bool:
        """Whether a server was restarted, and waits. Raises StoreError for a server that can't be
        asked."""
        role = await self._master.role()
        return was_restarted(role) or (role.is_master and await self._slave_waits())

    async def run(self) -> bool:
        """Open a restarted master, and start a restarted slave; whether one of them waited. Raises
        StoreConflict when the slave was promoted, StoreError for a server that can't be asked."""
        role = await self._master.role()
        opened = was_restarted(role)
        if opened:
            await self._check(role)
            for statement in opens(waits=role.waits):
                await self._master.run(statement, within=CONNECT_SECONDS)
            self._tell(f"{self._master.name} was restarted, and takes writes again")
        if not opened and not role.is_master:
            return False
        started = self._slave is not None and await self._slave_waits()
        if started:
            assert self._slave is not None
            await self._slave.run("START SLAVE", within=CONNECT_SECONDS)
            self._tell(f"{self._slave.name} was restarted, and follows {self._master.name} again")
        return opened or started

    async def _check(self, role: Role) -> None:
        name = self._master.name
        status = await self._master.slave(within=CONNECT_SECONDS)
        if status is not None and status["Slave_IO_Running"] != STOPPED:
            raise StoreConflict(f"{name} replicates: `pinway shards promote` goes on")
        if not role.waits:
            return  # without a slave, no other server can have taken its place
        if self._slave is None:
            raise StoreConflict(
                f"{name} waits for a slave, and the topology names none: "
                "`pinway shards attach HOST` gives it one"
            )
        other = await self._slave.role()
        if other.epoch > role.epoch or other.owner != role.id:
            raise StoreConflict(
                f"{self._slave.name} took the place of {name} in epoch {other.epoch}: "
                f"`pinway shards promote {self._slave.name}` finishes it"
            )

    async def _slave_waits(self) -> bool:
        """Whether the slave follows this master, and has started nothing since it booted."""
        if self._slave is None:
            return False
        status = await self._slave.slave(within=CONNECT_SECONDS)
        return (
            status is not None
            and status["Slave_IO_Running"] == status["Slave_SQL_Running"] == STOPPED
            and int(status["Master_Port"]) == self._master.login.port
            and not status["Last_IO_Error"]
            and not status["Last_SQL_Error"]
        )


def was_restarted(role: Role) -> bool:
    """Whether a pair's master was restarted, and not opened since: it has renewed no lease."""
    return role.read_only and role.owner == role.id and role.lease < role.booted
