"""Follows the changes of a source by its binary log.

The rows that changed are noted in the ledger together with the new position in the log, and then
they are looked at. So a process that is killed continues where it was: no change is lost, and a
change that is looked at twice ends in the same state.
"""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

from datasources.errors import ConfigError
from datasources.sql.source_tables import LogPosition
from gateway.operate.imports.load import patiently
from gateway.operate.migration.converging import Convergence
from gateway.operate.migration.journal import Journal
from gateway.operate.migration.ledger import Row
from gateway.operate.migration.opening import Work

if TYPE_CHECKING:
    from datasources.mysql.source_log import SourceLog
    from datasources.mysql.source_stop import SourceStop

_CAUGHT_UP = 1.0  # seconds
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

    def __init__(self, work: Work, log: "SourceLog", position: LogPosition) -> None:
        self._work, self._log, self._position = work, log, position
        self._quiet: tuple[LogPosition, LogPosition] | None = None
        """The log's end before a read that reached it, and the end of that read."""
        self._convergence = Convergence(
            work.runtime.stores, work.source, work.plans, work.ledger, work.mapping.name
        )

    def source_stopped(self, within: float) -> AbstractAsyncContextManager["SourceStop"]:
        """See `datasources.mysql.source_stop`."""
        return self._work.source.stopped(within)

    async def round(self, step: Callable[[int], None]) -> Round:
        """Bring the next changes to the stores. `step` is told of rows as they are done.

        Each read to the log's end is a new connection, so the log is read only if it has grown."""
        began = time.monotonic()
        end = await patiently(self._work.source.log_end)
        if self._quiet is not None and end == self._quiet[0]:
            rows = await self._convergence.work(step)
            return Round(rows, time.monotonic() - began, self._position, self._quiet[1])
        changes = await patiently(lambda: self._log.read(self._position))
        ledger, journal = self._work.ledger, self._work.journal
        with journal.spool.transaction():
            for table, keys in changes.keys.items():
                ledger.look_at(Row(table, key) for key in keys)
            for table in changes.emptied:
                ledger.look_at_table(table)
            store_position(journal, changes.next)
        self._position = changes.next
        self._quiet = (end, changes.read) if end is not None and changes.at_end else None
        rows = await self._convergence.work(step)
        behind = time.monotonic() - began if changes.at_end else None
        return Round(rows, behind, changes.next, changes.read)


@asynccontextmanager
async def following(work: Work) -> AsyncIterator[Follower]:
    """A follower from the stored position on. Raises ConfigError with the reason if the source
    can't be followed."""
    if faults := await work.source.log_faults():
        raise ConfigError(
            f"the source's changes can't be followed: {'; '.join(faults)} (only transactions after "
            "the change of a setting are logged with it: copy again, with a new journal)"
        )
    position = stored_position(work.journal)
    if position is None:
        raise ConfigError(
            f"the copy of {work.mapping.name} stored no position in the source's binary log, "
            "because there was none, or because a MySQL server tells it only to users with the "
            "right REPLICATION CLIENT: copy again, with a new journal"
        )
    tables = {plan.table.name: plan.table for plan in work.plans}
    keys = {name: await work.source.key_columns(table) for name, table in tables.items()}
    work.journal.set_fact("followed", "yes")
    log = work.source.log(keys)
    try:
        yield Follower(work, log, position)
    finally:
        await log.close()


def store_position(journal: Journal, position: LogPosition) -> None:
    journal.set_fact(POSITION, str(position))


def stored_position(journal: Journal) -> LogPosition | None:
    """The position up to which changes are noted; at first, the copy's position."""
    text = journal.fact(POSITION)
    if text is None:
        return None
    file, _, offset = text.rpartition(":")
    return LogPosition(file, int(offset))
