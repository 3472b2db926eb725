"""The two MariaDB servers of a move: `datasources.replication.mover.Sides`."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import Any

from datasources.errors import ConfigError, Damaged, StoreConflict, StoreCorrupt, StoreTimeout
from datasources.mysql.replication.admin import Admin
from datasources.mysql.replication.channels import Channels, position_of
from datasources.mysql.replication.logical_copy import copy, snapshot
from datasources.mysql.replication.promotion import shard_databases
from datasources.mysql.replication.verification import compare
from datasources.mysql.schema import FENCES_A_STATEMENT
from datasources.replication.accounts import Replica
from datasources.replication.moves import Move, Owners
from datasources.replication.sides import Channel, Report
from datasources.replication.steps import Progress
from datasources.sql.engine import Contended, object_place

LOCK_SECONDS = 0.5
"""Seconds that a hand-over waits for writers. In this time, other writers wait behind it."""
COMMIT_SECONDS = 10.0


class MariaDbSides:
    """The servers of moves. `make` opens a further connection to a server; the caller closes all
    connections."""

    def __init__(self, move: Move, make: Callable[[str], Admin], replica: Replica) -> None:
        self._make = make
        self._admins: dict[str, Admin] = {}
        self._ids: dict[str, int] = {}
        self._channels = Channels(move.id, [_database(s) for s in move.shards], replica)

    async def check(self, *servers: str) -> None:
        """Raises ConfigError unless all servers are masters that take writes."""
        for server in servers:
            role = await self._admin(server).role()
            if not role.is_master:
                raise ConfigError(f"{server} is no master that takes writes; nothing was changed")
            self._ids[server] = role.id

    async def owners(self, server: str, shards: Collection[int]) -> Owners:
        names = {str(await self._id(name)).encode(): name for name in list(self._ids)}
        found: dict[int, str | None] = dict.fromkeys(shards)
        for shard, owner in await self._fences(server, list(shards)):
            found[shard] = names.get(owner, f"server {owner.decode()}")
        return found

    async def copy(
        self, source: str, target: str, shards: Collection[int], progress: Progress
    ) -> None:
        for shard, owner in (await self.owners(target, shards)).items():
            if owner == target:
                raise Damaged(f"shard {shard} is on {target}: it is not copied over")
        reader, writer = self._make(source), await self._stand_in(source, target)
        try:
            async with snapshot(reader) as position:
                await copy(reader, writer, [_database(shard) for shard in shards], progress)
            await self._channels.make(self._admin(target), self._admin(source), position)
        finally:
            await reader.close()
            await writer.close()

    async def connect(self, source: str, target: str, shards: Collection[int]) -> None:
        position = await position_of(self._admin(source))
        await self._channels.make(self._admin(target), self._admin(source), position)

    async def follow(self, source: str, target: str) -> None:
        await self._channels.start(self._admin(target))

    async def channel(self, source: str, target: str) -> Channel:
        return await self._channels.look(self._admin(target), self._admin(source))

    async def stop(self, source: str, target: str) -> None:
        await self._channels.stop(self._admin(target))

    async def leave(self, source: str, target: str) -> None:
        await self._channels.forget(self._admin(target))

    async def verify(
        self, source: str, target: str, shards: Collection[int], progress: Progress, *, repair: bool
    ) -> Report:
        here, there = self._make(source), self._make(target)
        writer = await self._stand_in(source, target) if repair else None
        try:
            return await compare(
                here, there, self._admin(target), self._channels, sorted(shards), progress, writer
            )
        finally:
            for admin in filter(None, (here, there, writer)):
                await admin.close()

    async def hand(self, source: str, target: str, shards: Collection[int], epoch: int) -> bool:
        owner = str(await self._id(target)).encode()
        admin = self._make(source)
        try:
            await admin.run("BEGIN")
            if not await self._lock(admin, shards):
                return False
            for shard in shards:
                await admin.run(
                    f"UPDATE {_database(shard)}.fence SET epoch = GREATEST(epoch, %s), owner = %s "
                    "WHERE id = 1",
                    (epoch, owner),
                )
            await admin.run(
                "UPDATE pinway.server SET epoch = GREATEST(epoch, %s) WHERE id = 1", (epoch,)
            )
            await admin.run("COMMIT", within=COMMIT_SECONDS)
        finally:
            await admin.close()
        return True

    async def take_back(
        self, source: str, target: str, shards: Collection[int], epoch: int
    ) -> None:
        owner = str(await self._id(target)).encode()
        admin = self._make(source)
        try:
            await admin.run("BEGIN")
            for shard in shards:
                await admin.run(
                    f"UPDATE {_database(shard)}.fence "
                    "SET epoch = GREATEST(epoch, %s), owner = @@server_id "
                    "WHERE id = 1 AND owner = %s",
                    (epoch, owner),
                )
            await admin.run("COMMIT", within=COMMIT_SECONDS)
        finally:
            await admin.close()

    async def drop(self, server: str, shards: Collection[int]) -> None:
        for shard, owner in (await self.owners(server, shards)).items():
            if owner == server:
                raise Damaged(f"shard {shard} is on {server}: it is not deleted")
        for shard in shards:
            await self._admin(server).run(f"DROP DATABASE IF EXISTS {_database(shard)}")

    async def _lock(self, admin: Admin, shards: Collection[int]) -> bool:
        """Lock fences until the end of the transaction. Returns False if it takes too long."""
        clock = asyncio.get_running_loop().time
        give_up = clock() + LOCK_SECONDS
        for shard in shards:
            left = give_up - clock()
            if left <= 0.001:
                return False
            try:
                rows = await admin.run(
                    f"SET STATEMENT max_statement_time = {left:.3f} FOR SELECT "
                    f"owner, CAST(@@server_id AS CHAR) FROM {_database(shard)}.fence "
                    "WHERE id = 1 FOR UPDATE"
                )
            except (StoreTimeout, Contended):
                return False
            if [owner == id for owner, id in rows] != [True]:
                raise StoreConflict(f"shard {shard} is not on {admin.name}")
        return True

    async def _fences(self, server: str, shards: Sequence[int]) -> list[tuple[int, bytes]]:
        try:
            return await self._read_fences(server, shards)
        except StoreCorrupt:  # some databases have no fence
            there = set(await shard_databases(self._admin(server)))
            return await self._read_fences(server, [s for s in shards if _database(s) in there])

    async def _read_fences(self, server: str, shards: Sequence[int]) -> list[tuple[int, bytes]]:
        found: list[Any] = []
        for at in range(0, len(shards), FENCES_A_STATEMENT):
            found += await self._admin(server).run(
                " UNION ALL ".join(
                    f"SELECT {shard:d}, owner FROM {_database(shard)}.fence WHERE id = 1"
                    for shard in shards[at : at + FENCES_A_STATEMENT]
                )
            )
        return [(shard, owner) for shard, owner in found]

    async def _stand_in(self, source: str, target: str) -> Admin:
        """A connection that writes to the target with the source's server id. A source that follows
        the target skips these writes."""
        admin = self._make(target)
        await admin.run(f"SET SESSION server_id = {await self._id(source):d}")
        return admin

    async def _id(self, server: str) -> int:
        if server not in self._ids:
            [[self._ids[server]]] = await self._admin(server).run("SELECT @@server_id")
        return self._ids[server]

    def _admin(self, server: str) -> Admin:
        if server not in self._admins:
            self._admins[server] = self._make(server)
        return self._admins[server]


def _database(shard: int) -> str:
    return object_place("", shard).database
