"""Makes a slave the master of all shards that its master had.

Each step may be repeated. A promotion that was killed continues when it is run again: the row
`pinway.server` of the new master shows how far it came.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from msgspec.structs import replace

from datasources.errors import ConfigError, StoreConflict, StoreError
from datasources.mysql.replication import gtids
from datasources.mysql.replication.admin import CONNECT_SECONDS, Admin, Role, applied
from datasources.replication import topologies
from datasources.replication.server_row import CLOSE, EVENT, LEASE_SECONDS, opens
from datasources.replication.steps import Tell
from datasources.sql.engine import mod_place, object_place
from datasources.sql.schema import OBJECT_SHARD, Type
from datasources.together import together
from datasources.topology import Topology

JUMP = 100_000
"""Local ids that are skipped: the old master may have used some that were never acknowledged."""
LOST_IDS = 100_000_000
"""Local ids that are skipped after a restore: more than a table used since the restored moment.
Local ids have 36 bits, which is enough for hundreds of restores."""
LOST_EVENTS = 1_000_000_000
"""Sequence numbers of transactions that are skipped after a restore: more than were lost."""
APPLY_SECONDS = 600
RECEIVE_SECONDS = 10  # for the last events of a master that was shut for writes
MARGIN = 0.5  # seconds added to the lease
CONNECTIONS = 8  # connections that alter tables at the same time
FENCES = 256  # fences that are read in a statement
Seam = Callable[[str], Awaitable[None]]
"""Called with a step's name after each step; a test may fail there."""


class Received(NamedTuple):
    """The evidence that a slave has received all acknowledged writes."""

    booted: float
    lease: float

    @property
    def complete(self) -> bool:
        """Whether the slave has received an event since it booted. At its start a slave discards
        the events that it had received, so before that it may lack acknowledged writes."""
        return self.lease > self.booted


async def no_seam(_: str) -> None:
    return None


async def no_caches() -> None:
    return None


class Promotion:
    """A promotion of `new` over `old`, which may be dead, hang, or be alive.

    `make` opens a further connection to `new`. `sleep` waits seconds. `empty_caches` returns when
    no process reads an entry that was cached before; an unplanned promotion calls it, because a
    reader may have cached writes of the old master that `new` never got. With `restored`, `new` is
    not a slave: it was restored from a backup of a pair that is lost. Then `old` must be dead or be
    `new` itself. `slave`, the slave of `old`, must be dead, too, because it has all acknowledged
    writes; with `accept_loss` it may be alive.
    """

    def __init__(
        self,
        topology: Topology,
        new: Admin,
        old: Admin,
        make: Callable[[], Admin],
        *,
        tell: Tell = lambda _: None,
        seam: Seam = no_seam,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        empty_caches: Callable[[], Awaitable[None]] = no_caches,
        accept_loss: bool = False,
        restored: bool = False,
        slave: Admin | None = None,
    ) -> None:
        self._topology, self._new, self._old, self._make = topology, new, old, make
        self._slave = slave
        self._tell, self._seam, self._sleep = tell, seam, sleep
        self._empty_caches = empty_caches
        self._accept_loss, self._restored = accept_loss, restored

    async def run(self) -> Topology:
        """Promote. Returns the topology to save. Raises StoreError, ConfigError."""
        following = topologies.promoted(self._topology, self._old.name, self._new.name)
        role = await self._new.role()
        if self._restored:
            await self._check_restored(role)
            # A server restored from its own backup, which was its pair's master, still owns the
            # row.
            is_taken_over = role.is_master
        else:
            is_taken_over = role.owner == role.id
        if not is_taken_over:
            if not self._restored:
                await self._check()
            try:
                await self._become_complete()
            except StoreError:
                await self._go_back()
                raise
            await self._own(role.owner, following.epoch)
            await self._seam("owned")
        epoch = max(following.epoch, (await self._new.role()).epoch)
        await self._new.script((EVENT, *opens(waits=False)))
        await self._seam("opened")
        self._tell(f"{self._new.name} takes writes")
        return replace(following, epoch=epoch)

    async def finish(self) -> None:
        """Remove the connection to the old master. Call it after the topology was saved: until
        then, gateways read the new master as a slave that has applied everything."""
        await self._new.script(("STOP ALL SLAVES", "RESET SLAVE ALL"))

    async def _become_complete(self) -> None:
        """Wait until the new master has all acknowledged writes, and the old master is no longer
        read."""
        lives = not self._restored and await self._lives()
        if lives:
            # This may take seconds, so it runs before writes are refused. The ids that the old
            # master uses until then are fewer than JUMP, or are applied and so skipped as well.
            await self._jump()
        shut = lives and await self._shut_old()
        await self._seam("shut")
        if not self._restored:
            await self._receive_all()
        await self._seam("received")
        planned = shut and await self._end_lease()
        if not planned:
            self._tell(f"waiting for the end of {self._old.name}'s lease")
            await self._sleep(LEASE_SECONDS + MARGIN)
            self._tell("waiting until no gateway reads what was cached before")
            await self._empty_caches()
        if not lives:
            await self._jump()
        await self._seam("jumped")

    async def _lives(self) -> bool:
        """Whether the old master answers: then this is a planned switch."""
        try:
            await self._old.run("SELECT 1", within=CONNECT_SECONDS)
        except StoreError as error:
            self._tell_dead(error)
            return False
        return True

    def _tell_dead(self, error: StoreError) -> None:
        self._tell(f"{self._old.name} does not answer, going on without it ({error})")

    async def _go_back(self) -> None:
        """After a failure, return the old master to its former state."""
        if self._restored:
            return
        for admin, statement in (
            (self._new, "START SLAVE IO_THREAD"),
            (self._old, "SET GLOBAL read_only = 0"),
        ):
            with suppress(StoreError):
                await admin.run(statement, within=CONNECT_SECONDS)

    async def _check(self) -> None:
        """Raises ConfigError, StoreConflict unless the slave belongs to this master, and applies
        all acknowledged writes."""
        status = await self._new.slave()
        if status is None:
            raise ConfigError(
                f"{self._new.name} is nobody's slave: only a slave of {self._old.name} can take "
                "its place"
            )
        if int(status["Master_Port"]) != self._old.login.port:
            raise ConfigError(
                f"{self._new.name} is a slave of {status['Master_Host']}:{status['Master_Port']}, "
                f"not of {self._old.name}; nothing was changed"
            )
        if status["Last_SQL_Error"]:
            raise StoreConflict(
                f"{self._new.name} does not apply what it received: {status['Last_SQL_Error']}; "
                "nothing was changed"
            )
        if status["Slave_SQL_Running"] != "Yes" and not self._accept_loss:
            raise StoreConflict(
                f"{self._new.name} was restarted and has applied nothing since: it may lack "
                "acknowledged writes, so nothing was changed. Start its master, or accept the loss "
                "with --accept-loss"
            )

    async def _check_restored(self, role: Role) -> None:
        """Raises ConfigError, StoreConflict unless the server has the lost master's shards, follows
        no server, and the lost pair is dead: a server that is alive has later writes."""
        if await self._new.slave() is not None:
            raise ConfigError(
                f"{self._new.name} is a slave, so it was not restored: promote it without "
                "--restored; nothing was changed"
            )
        if role.is_master and role.semi_sync:
            raise ConfigError(
                f"{self._new.name} takes writes, and its slave receives them, so it was not "
                "restored; nothing was changed"
            )
        if self._old.name != self._new.name and await _answers(self._old):
            raise ConfigError(
                f"{self._old.name} answers, and has later writes: run `pinway shards attach "
                f"{self._new.name}`; nothing was changed"
            )
        if self._slave is not None and not self._accept_loss and await _answers(self._slave):
            raise ConfigError(
                f"{self._slave.name} answers, and has all acknowledged writes: run `pinway shards "
                f"promote {self._slave.name}`, or drop its writes with --accept-loss; nothing was "
                "changed"
            )
        owners = await fence_owners(self._new, await self._databases())
        others = sorted(name for name, owner in owners.items() if owner != str(role.owner))
        if others:
            raise StoreConflict(
                f"{self._new.name} has {others[0]}, but as a shard of server {owners[others[0]]}, "
                f"not of {self._old.name}: the copy may be old; nothing was changed"
            )

    async def _shut_old(self) -> bool:
        """Shut a live master for writes, and let the slave receive the last of its events."""
        try:
            await self._old.run(CLOSE[0], within=CONNECT_SECONDS)
            self._tell(f"{self._old.name} takes no more writes")
            [[position]] = await self._old.run("SELECT @@gtid_binlog_pos", within=CONNECT_SECONDS)
        except StoreError as error:
            self._tell_dead(error)
            return False
        return await applied(self._new, position, RECEIVE_SECONDS)

    async def _end_lease(self) -> bool:
        """End the lease of a master that was shut for writes. Its readers then check the topology
        first, so nobody has to wait until the lease expires."""
        try:
            await self._old.run("SET SESSION sql_log_bin = 0", within=CONNECT_SECONDS)
            await self._old.run(
                f"UPDATE pinway.server SET lease_ts = lease_ts - INTERVAL {LEASE_SECONDS + MARGIN} "
                "SECOND WHERE id = 1",
                within=CONNECT_SECONDS,
            )
        except StoreError:
            return False
        return True

    async def _receive_all(self) -> None:
        """Stop receiving. From the first statement on, the old master gets no receipts, so it
        acknowledges nothing and can't renew its lease. STOP SLAVE is not used, because it would
        stop applying, too."""
        await self._new.run("STOP SLAVE IO_THREAD")
        status = await self._new.slave()
        position = "" if status is None else status["Gtid_IO_Pos"]
        self._tell(f"{self._new.name} applies what it has received, up to {position}")
        if not await applied(self._new, position, APPLY_SECONDS):
            raise StoreConflict(
                f"{self._new.name} has not applied what it received in {APPLY_SECONDS} s: "
                "nothing was changed; run the command again"
            )
        role = await self._new.role()
        if not Received(role.booted, role.lease).complete and not self._accept_loss:
            raise StoreConflict(
                f"{self._new.name} was restarted and has received nothing since: it may lack "
                "acknowledged writes, so nothing was changed. Start its master, or accept the loss "
                "with --accept-loss"
            )

    async def _own(self, old_id: int, epoch: int) -> None:
        """Take over the server row and all fences in one transaction."""
        databases = await self._databases()
        self._tell(f"{self._new.name} takes {len(databases)} shards over in epoch {epoch}")
        if self._restored:
            await self._skip_lost_events()
        await self._new.run("BEGIN")
        await self._new.run(
            "UPDATE pinway.server SET epoch = %s, owner = @@server_id, waits = 0, "
            "lease_ts = UTC_TIMESTAMP(6) WHERE id = 1",
            (epoch,),
        )
        for database in databases:
            await self._new.run(
                f"UPDATE {database}.fence SET epoch = %s, owner = @@server_id WHERE owner = %s",
                (epoch, str(old_id).encode()),
            )
        await self._new.run("COMMIT")

    async def _skip_lost_events(self) -> None:
        """Continue with transaction ids that no lost event had. Otherwise a server that has lost
        events would have the same ids for other writes, and would seem to need only the following
        events."""
        [[domain, position]] = await self._new.run("SELECT @@gtid_domain_id, @@gtid_current_pos")
        last = gtids.last_in(position.decode(), domain)
        await self._new.run("SET SESSION gtid_seq_no = %s", (last + LOST_EVENTS,))

    async def _databases(self) -> list[str]:
        """The shards to take over. A backup may have shards that moved to another master later."""
        found = await shard_databases(self._new)
        if not self._restored:
            return found
        name, topology = self._old.name, self._topology
        wanted = {
            place_of(name, shard).database
            for ranges, place_of in (
                (topology.shards, object_place),
                (topology.mod.ranges, mod_place),
            )
            for r in ranges
            if r.master == name
            for shard in range(r.range[0], r.range[1] + 1)
        }
        if missing := wanted.difference(found):
            raise StoreConflict(
                f"{self._new.name} has no {min(missing)}, which is on {self._old.name}: the backup "
                "is from before it was made"
            )
        return [name for name in found if name in wanted]

    async def _jump(self) -> None:
        left_out = LOST_IDS if self._restored else JUMP
        self._tell(f"setting the tables' next ids ahead by {left_out:,d}")
        waiting = iter(await numbered_tables(self._new))

        async def work() -> None:
            admin = self._make()
            try:
                # Until the server is a master, its binlog may only have its master's events.
                await admin.run("SET SESSION sql_log_bin = 0")
                for table, following in waiting:
                    await admin.run(
                        f"ALTER TABLE {table} AUTO_INCREMENT = {following + left_out:d}"
                    )
            finally:
                await admin.close()

        await together(work() for _ in range(CONNECTIONS))


async def shard_databases(admin: Admin) -> list[str]:
    """The databases of a server that are shards with a fence."""
    rows = await admin.run(
        "SELECT table_schema FROM information_schema.tables WHERE table_name = 'fence' "
        "AND table_schema REGEXP '^(db|mod)[0-9]{5}$' ORDER BY table_schema"
    )
    return [name.decode() for [name] in rows]


async def fence_owners(admin: Admin, databases: Sequence[str]) -> dict[str, str]:
    """The server id in the fence of each shard's database."""
    owners = dict[str, str]()
    for at in range(0, len(databases), FENCES):
        fences = " UNION ALL ".join(
            f"SELECT '{name}', owner FROM {name}.fence" for name in databases[at : at + FENCES]
        )
        rows = await admin.run(fences)
        owners |= {name.decode(): owner.decode() for name, owner in rows}
    return owners


async def _answers(admin: Admin) -> bool:
    try:
        await admin.run("SELECT 1", within=CONNECT_SECONDS)
    except StoreError:
        return False
    return True


async def numbered_tables(admin: Admin) -> Sequence[tuple[str, int]]:
    """The tables with AUTO_INCREMENT, and the next number of each."""
    names = [
        table.name
        for table in OBJECT_SHARD
        if any(column.type is Type.LOCAL_ID for column in table.columns)
    ]
    rows = await admin.run(
        "SELECT table_schema, table_name, COALESCE(auto_increment, 1) "
        "FROM information_schema.tables WHERE table_schema REGEXP '^db[0-9]{5}$' "
        f"AND table_name IN ({', '.join(['%s'] * len(names))})",
        names,
    )
    return [(f"{schema.decode()}.{name.decode()}", int(n)) for schema, name, n in rows]
