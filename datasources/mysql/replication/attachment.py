"""Makes a server the slave of a master that has none, and removes a lost slave.

A former master may have writes that were never acknowledged. Such a server is replaced by a copy of
the master as of one moment, and follows from there.
"""

from datasources.errors import ConfigError, StoreConflict
from datasources.mysql.replication import gtids
from datasources.mysql.replication.admin import CONNECT_SECONDS, Admin, applied
from datasources.mysql.replication.logical_copy import copy, snapshot
from datasources.mysql.replication.promotion import Seam, no_seam
from datasources.replication.accounts import Replica
from datasources.replication.server_row import RENEWAL
from datasources.replication.steps import Progress, Tell

CATCH_UP_SECONDS = 3600
REFUSED_LOGINS = {1044, 1045, 1698, 1862}
"""The error numbers with which a master refuses a login: waiting longer would not help."""
READING_BINLOG = 1236
"""The error number with which a master ends a slave's reading because of any fault in its binary
logs."""
LACKS_POSITION = (
    "Could not find GTID state requested by slave in any binlog files",
    "Could not find first log file name in binary log index file",
    "start replication from impossible position",
    "which is not in the master's binlog",
    "GTID state not found in binlog",
    "The binlog on the master is missing the GTID",
)
"""The texts of that error for a position that is missing from the master's binary logs. After other
faults, such as a damaged log, the slave may be the only server that has the data."""


class Attachment:
    """Makes `slave` the slave of `master`; `reader` is another connection to the master. A second
    run continues with the remaining steps."""

    def __init__(
        self,
        master: Admin,
        reader: Admin,
        slave: Admin,
        replica: Replica,
        *,
        tell: Tell = lambda _: None,
        seam: Seam = no_seam,
        progress: Progress = lambda done, total: None,
    ) -> None:
        self._master, self._reader, self._slave, self._replica = master, reader, slave, replica
        self._tell, self._seam, self._progress = tell, seam, progress

    async def run(self) -> None:
        """Do all steps. Afterwards the master's writes wait for the slave. Raises StoreError,
        ConfigError."""
        role = await self._master.role()
        if not role.is_master:
            raise ConfigError(f"{self._master.name} is no master that takes writes")
        if not await self._follows():
            await self._prepare()
            if await self._is_behind():
                self._tell(f"{self._slave.name} has no writes of its own, and continues")
                [[position]] = await self._slave.run("SELECT @@gtid_current_pos")
                await self._follow(position.decode())
            else:
                await self._rebuild(f"{self._slave.name} has events that {self._master.name} lacks")
            await self._seam("following")
        if not await self._catch_up():
            await self._prepare()
            await self._rebuild(f"{self._master.name} has deleted events that the slave needs")
            if not await self._catch_up():
                raise StoreConflict(f"{self._slave.name}: see Last_IO_Error in SHOW SLAVE STATUS")
        await self._master.run("SET GLOBAL rpl_semi_sync_master_enabled = 1")
        await self._seam("waiting")
        await self._master.run("UPDATE pinway.server SET waits = 1 WHERE id = 1")
        self._tell(f"writes to {self._master.name} wait for {self._slave.name}")

    async def _follows(self) -> bool:
        status = await self._slave.slave()
        return (
            status is not None
            and int(status["Master_Port"]) == self._master.login.port
            and status["Master_Host"] == self._master.login.host
            and (status["Slave_IO_Running"], status["Slave_SQL_Running"]) == ("Yes", "Yes")
        )

    async def _catch_up(self) -> bool:
        """Wait until the slave has all events that the master has now. Returns False if the slave's
        position is missing from the master's binary logs: the master deleted them, or was restored
        as of an earlier moment."""
        [[position]] = await self._master.run("SELECT @@gtid_binlog_pos")
        self._tell(f"{self._slave.name} catches up with {position.decode()}")
        for _ in range(CATCH_UP_SECONDS):
            if await applied(self._slave, position, 1):
                return True
            status = await self._slave.slave()
            if status is None or status["Last_SQL_Error"]:
                raise StoreConflict(
                    f"{self._slave.name} does not apply its master's events: "
                    f"{status and status['Last_SQL_Error']}"
                )
            if int(status["Last_IO_Errno"]) in REFUSED_LOGINS:
                raise ConfigError(
                    f"{self._master.name} refuses the login of {self._slave.name} as "
                    f"{self._replica.user!r}: give the right --replica-password, and run the "
                    f"command again ({status['Last_IO_Error']})"
                )
            if int(status["Last_IO_Errno"]) == READING_BINLOG:
                if lacks_position(status["Last_IO_Error"]):
                    return False
                raise StoreConflict(
                    f"{self._master.name} can't send its events to {self._slave.name}: "
                    f"{status['Last_IO_Error']}"
                )
        raise StoreConflict(f"{self._slave.name} did not catch up: see SHOW SLAVE STATUS there")

    async def _prepare(self) -> None:
        """Shut the server for writes. Raises StoreConflict while writes on it wait for a receipt:
        they would be acknowledged, and then lost."""
        [[waiting]] = await self._slave.run(
            "SELECT COUNT(*) FROM information_schema.processlist "
            "WHERE state LIKE 'Waiting for semi-sync ACK%%' AND info NOT LIKE %s",
            (f"{RENEWAL}%",),
            within=CONNECT_SECONDS,
        )
        if waiting:
            raise StoreConflict(
                f"{self._slave.name} has {waiting} writes that wait for a receipt, which they "
                "must never get: restart it first; nothing was changed"
            )
        await self._slave.script(
            (
                "SET GLOBAL read_only = 1",
                "SET GLOBAL rpl_semi_sync_master_enabled = 0",
                "SET GLOBAL rpl_semi_sync_slave_enabled = 1",  # off on a master during a move
                "STOP ALL SLAVES",
                "SET SESSION sql_log_bin = 0",
            )
        )
        # A move's channel that is started later would apply changes that were undone since.
        for row in await self._slave.described("SHOW ALL SLAVES STATUS"):
            if name := row["Connection_name"]:
                await self._slave.run(f"RESET SLAVE '{name}' ALL")

    async def _is_behind(self) -> bool:
        """Return whether the master has all events that the server has."""
        [[own]] = await self._slave.run("SELECT @@gtid_binlog_state")
        [[masters]] = await self._master.run("SELECT @@gtid_binlog_state")
        return gtids.contains(masters.decode(), own.decode())

    async def _rebuild(self, why: str) -> None:
        self._tell(f"{why}: {self._slave.name} is copied again")
        databases = await _databases(self._master)
        for database in await _databases(self._slave):
            await self._slave.run(f"DROP DATABASE {database}")
        await self._slave.script(("RESET SLAVE ALL", "RESET MASTER"))
        await self._seam("emptied")
        # The copy's binary log begins with this state. If the copy becomes a master, a server that
        # has these events does not count as having writes of its own.
        [[state]] = await self._master.run("SELECT @@gtid_binlog_state")
        async with snapshot(self._reader) as position:
            await copy(self._reader, self._slave, databases, self._progress)
        await self._seam("copied")
        await self._slave.run("SET GLOBAL gtid_binlog_state = %s", (state,))
        await self._follow(position.gtids)

    async def _follow(self, gtids: str) -> None:
        await self._slave.run("SET GLOBAL gtid_slave_pos = %s", (gtids,))
        login = self._master.login
        await self._slave.run(
            "CHANGE MASTER TO MASTER_HOST = %s, MASTER_PORT = %s, MASTER_USER = %s, "
            "MASTER_PASSWORD = %s, MASTER_CONNECT_RETRY = 1, MASTER_USE_GTID = slave_pos",
            (login.host, login.port, *self._replica),
        )
        await self._slave.run("START SLAVE")


async def detach(master: Admin, epoch: int, tell: Tell = lambda _: None) -> None:
    """Let a master continue without a slave, in a later epoch. Its waiting writes are then
    acknowledged, so the topology must no longer name a slave that could be promoted."""
    role = await master.role()
    if not role.is_master:
        raise ConfigError(f"{master.name} is no master that takes writes")
    await master.run("SET GLOBAL rpl_semi_sync_master_enabled = 0")
    await master.run(
        "UPDATE pinway.server SET epoch = %s, waits = 0 WHERE id = 1 AND epoch <= %s",
        (epoch, epoch),
    )
    tell(f"{master.name} goes on without a slave: its writes are on one server alone")


def lacks_position(error: str) -> bool:
    """Whether a slave's error with the number `READING_BINLOG` says that its position is missing
    from the master's binary logs."""
    return any(told in error for told in LACKS_POSITION)


async def _databases(admin: Admin) -> list[str]:
    rows = await admin.run(
        "SELECT schema_name FROM information_schema.schemata "
        "WHERE schema_name REGEXP '^((db|mod)[0-9]{5}|pinway)$' ORDER BY schema_name"
    )
    return [name.decode() for [name] in rows]
