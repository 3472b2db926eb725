"""Raises the fences of a master's shards to a topology's epoch, without a change of owners."""

import asyncio
from collections.abc import Sequence

from datasources.errors import ConfigError, StoreConflict, StoreTimeout
from datasources.mysql.replication.admin import CONNECT_SECONDS, Admin
from datasources.mysql.schema import FENCES_A_STATEMENT
from datasources.replication.steps import Progress
from datasources.sql.engine import Contended

LOCK_SECONDS = 1
"""Seconds that a fence waits for writers. In this time, other writers wait behind it."""
PAUSE = 0.5
PATIENCE = 90.0
"""Seconds for one fence. A server ends the transaction of a writer that hangs after 60 s
(`datasources.mysql.link`)."""


async def raise_fences(
    admin: Admin, databases: Sequence[str], epoch: int, progress: Progress
) -> None:
    """Make the shards' databases, all of them on this master, refuse writes of earlier epochs; and
    the master, reads of earlier epochs. After the return, every transaction of an earlier epoch has
    ended. May be repeated. Raises StoreError, and ConfigError for a server that is no master."""
    if not (await admin.role()).is_master:
        raise ConfigError(f"{admin.name} is no master that takes writes; run the command again")
    for done, database in enumerate(databases):
        progress(done, len(databases))
        await _raise(admin, f"{database}.fence", epoch)
    await _raise(admin, "pinway.server", epoch)
    await _check(admin, databases, epoch)
    progress(len(databases), len(databases))


async def _raise(admin: Admin, table: str, epoch: int) -> None:
    clock = asyncio.get_running_loop().time
    give_up = clock() + PATIENCE
    while True:
        try:
            # A variable of the session would be lost: after an error, the connection is a new one.
            await admin.run(
                f"SET STATEMENT innodb_lock_wait_timeout = {LOCK_SECONDS} FOR "
                f"UPDATE {table} SET epoch = GREATEST(epoch, %s) WHERE id = 1",
                (epoch,),
                within=LOCK_SECONDS + CONNECT_SECONDS,
            )
        except Contended:
            if clock() > give_up:
                raise StoreTimeout(
                    f"{admin.name}: writers hold {table} for {PATIENCE:g} s: run the command again"
                ) from None
            await asyncio.sleep(PAUSE)
        else:
            return


async def _check(admin: Admin, databases: Sequence[str], epoch: int) -> None:
    """Raises StoreConflict for a shard that is not on this server, as during a move."""
    for at in range(0, len(databases), FENCES_A_STATEMENT):
        some = databases[at : at + FENCES_A_STATEMENT]
        rows = await admin.run(
            " UNION ALL ".join(
                f"SELECT '{name}', epoch, owner, CAST(@@server_id AS CHAR) FROM {name}.fence "
                "WHERE id = 1"
                for name in some
            )
        )
        raised = {
            name.decode()
            for name, found, owner, id in rows
            if found >= epoch and owner.decode() == _text(id)
        }
        if missing := [name for name in some if name not in raised]:
            raise StoreConflict(f"{missing[0]} is not on {admin.name}: run the command again")


def _text(id: bytes | str) -> str:
    return id.decode() if isinstance(id, bytes) else id
