"""Follows the changes of a source by its binary log.

The rows that changed are noted in the ledger together with the new position in the log, and then
they are looked at. So a process that is killed continues where it was: no change is lost, and a
change that is looked at twice ends in the same state.

The log does not tell which rows a statement like TRUNCATE or ALTER TABLE has changed. All rows of
its table are compared with the shards, when the log has been read to its end.
"""

import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

from datasources.errors import ConfigError
from datasources.sql.source_tables import KeyColumn, LogPosition
from gateway.operate.imports.load import patiently
from gateway.operate.migration import source_checks
from gateway.operate.migration.converging import Convergence
from gateway.operate.migration.journal import Journal
from gateway.operate.migration.ledger import Row
from gateway.operate.migration.opening import Work
from gateway.operate.migration.source_checks import TablePlan
from gateway.operate.migration.verification import verify

if TYPE_CHECKING:
    from datasources.mysql.source import Source
    from datasources.mysql.source_log import Changes, SourceLog
    from datasources.mysql.source_stop import SourceStop

_CAUGHT_UP = 1.0  # seconds
SERVER = "server"
"""The journal's fact with the number of the server in whose binary log the positions are."""
_PRIMARY = "primary keys"
"""The journal's fact with the columns of each table's primary key when it was followed first."""
_REMADE = "remade"
"""The journal's fact with the tables whose rows are to be compared with the shards."""
POSITION = "position"
"""The journal's fact with the position up to which changes are noted in the ledger."""


class Round(NamedTuple):
    """One round. `rows` were looked at. `behind`: seconds since the source was as the shards are
    now, at most; None while the log has more. `read`: the end of what was read of the log."""

    rows: int
    behind: float | None
    position: LogPosition
    read: LogPosition

    @property
    def is_caught_up(self) -> bool:
        """Whether the shards are less than a second behind."""
        return self.behind is not None and self.behind < _CAUGHT_UP

    def words(self) -> str:
        """The round for people."""
        lag = "more to read" if self.behind is None else f"{self.behind:.1f} s behind"
        return f"looked at {self.rows:,} changed rows: {lag}, at {self.position}"


class Follower:
    """Follows the changes for one migration."""

    def __init__(self, work: Work, position: LogPosition) -> None:
        self._work, self._position = work, position
        self._quiet: tuple[LogPosition, LogPosition] | None = None
        """The log's end before a read that reached it, and the end of that read."""
        self._plans: list[TablePlan] = []
        self._keys: dict[str, list[KeyColumn]] = {}
        self._log: SourceLog
        self._convergence: Convergence

    async def learn(self) -> bool:
        """Read which columns the tables have now. Returns whether the columns of a primary key have
        changed in the binary log. Raises ConfigError if the mapping or the log does not fit."""
        work = self._work
        plans = await source_checks.plans(work.mapping, work.source)
        tables = {plan.table.name: plan.table for plan in plans}
        keys = {name: await work.source.key_columns(table) for name, table in tables.items()}
        if keys == self._keys:
            return False
        primary = json.dumps({name: table.primary for name, table in tables.items()})
        if (work.journal.fact(_PRIMARY) or primary) != primary:
            raise ConfigError(
                f"the primary key of a table of {work.mapping.name} has other columns than before: "
                "copy again, with a new journal"
            )
        work.journal.set_fact(_PRIMARY, primary)
        log = work.source.log(keys)
        await self.close()
        self._plans, self._keys, self._log = plans, keys, log
        self._convergence = Convergence(
            work.runtime.stores, work.source, plans, work.ledger, work.journal.keys
        )
        return True

    async def close(self) -> None:
        if self._keys:
            await self._log.close()

    def source_stopped(self, within: float) -> AbstractAsyncContextManager["SourceStop"]:
        """See `datasources.mysql.source_stop`."""
        return self._work.source.stopped(within)

    async def waits(self) -> str:
        """See `Source.waits`."""
        return await self._work.source.waits()

    async def round(self, step: Callable[[int], None]) -> Round:
        """Bring the next changes to the stores. `step` is told of rows as they are done. The log is
        read only if it has grown."""
        began = time.monotonic()
        end = await patiently(self._work.source.log_end)
        if self._quiet is not None and end == self._quiet[0]:
            rows = await self._convergence.work(step)
            return Round(rows, time.monotonic() - began, self._position, self._quiet[1])
        changes = await patiently(lambda: self._read(end))
        if changes.remade and await self.learn():
            return await self.round(step)
        ledger, journal = self._work.ledger, self._work.journal
        with journal.spool.transaction():
            for table, keys in changes.keys.items():
                ledger.look_at(Row(table, key) for key in keys)
            if changes.remade:
                remade = changes.remade | self._remade()
                journal.set_fact(_REMADE, json.dumps(sorted(remade)))
            store_position(journal, changes.next)
        self._position = changes.next
        self._quiet = (end, changes.read) if end is not None and changes.at_end else None
        if changes.at_end and (remade := self._remade()):
            await self._compare(remade)
        rows = await self._convergence.work(step)
        behind = time.monotonic() - began if changes.at_end else None
        return Round(rows, behind, changes.next, changes.read)

    async def _read(self, end: LogPosition | None) -> "Changes":
        """Read the log, over the connection that is open, or from the known server."""
        if not self._log.goes_on(self._position):
            await self.check_server()
        return await self._log.read(self._position, end)

    async def check_server(self) -> None:
        """Raises ConfigError if another server has taken the source's place: the positions in its
        binary log are others."""
        before = self._work.journal.fact(SERVER)
        id = await patiently(self._work.source.server_id)
        if before not in (None, id):
            raise ConfigError(
                f"the source is the server with the server_id {id}, and was {before}, whose binary "
                "log has other positions: run migrate verify --repair, which compares all rows and "
                "takes a position in this log, and follow then"
            )

    def _remade(self) -> set[str]:
        """The tables whose rows are to be compared with the shards."""
        return {*json.loads(self._work.journal.fact(_REMADE) or "[]")}

    async def _compare(self, tables: set[str]) -> None:
        """Note all rows of tables that the shards have differently."""
        work, ledger = self._work, self._work.ledger
        plans = [plan for plan in self._plans if plan.table.name in tables]
        found = await verify(
            work.runtime.stores, work.source, plans, ledger, work.journal.keys, lambda _: None
        )
        with work.journal.spool.transaction():
            ledger.look_at([*(one.row for one in found.differences), *found.new])
            for table in tables:
                ledger.look_at_left_out(table)
            work.journal.forget_fact(_REMADE)


@asynccontextmanager
async def following(work: Work) -> AsyncIterator[Follower]:
    """A follower from the stored position on. Raises ConfigError with the reason if the source
    can't be followed."""
    if faults := await work.source.log_faults():
        raise ConfigError(
            f"the source's changes can't be followed: {'; '.join(faults)} (only transactions after "
            "the change of a setting are logged with it: run migrate verify --repair then, which "
            "compares all rows and takes a new position)"
        )
    position = stored_position(work.journal)
    if position is None:
        raise ConfigError(
            f"the copy of {work.mapping.name} stored no position in the source's binary log, "
            "because there was none, or because a MySQL server tells it only to users with the "
            "right REPLICATION CLIENT: run migrate verify --repair, which compares all rows and "
            "takes a position, and follow then"
        )
    follower = Follower(work, position)
    await follower.learn()
    work.journal.set_fact("followed", "yes")
    try:
        yield follower
    finally:
        await follower.close()


async def restart(journal: Journal, source: "Source", position: LogPosition) -> None:
    """Let the next follow begin at a position in the log of the server that is the source now."""
    id = await source.server_id()
    with journal.spool.transaction():
        store_position(journal, position)
        journal.set_fact(SERVER, id)


def store_position(journal: Journal, position: LogPosition) -> None:
    journal.set_fact(POSITION, str(position))


def stored_position(journal: Journal) -> LogPosition | None:
    """The position up to which changes are noted; at first, the copy's position."""
    text = journal.fact(POSITION)
    if text is None:
        return None
    file, _, offset = text.rpartition(":")
    return LogPosition(file, int(offset))
