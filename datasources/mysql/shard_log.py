"""The rows of shards that changed between two moments, from their server's binary log."""

import re
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence, Set
from typing import Any

from datasources.errors import ConfigError, StoreUnavailable
from datasources.mysql.binary_log import BinaryLog, Statement
from datasources.mysql.link import Login
from datasources.mysql.replication.gtids import earliest, is_before
from datasources.scans import Changes, Moment
from datasources.sql.engine import Row, object_place
from datasources.sql.schema import Table
from datasources.sql.source_tables import LogPosition

_AGAIN = "Make a full dump"
_UNLOGGED = re.compile(
    rb"\s*(?:TRUNCATE|RENAME\s+TABLE|DROP\s+(?:DATABASE|SCHEMA|TABLE)|"
    rb"ALTER\s+.*\b(?:TABLESPACE|EXCHANGE\s+PARTITION|RENAME\s+TO)\b)",
    re.IGNORECASE | re.DOTALL,
)
"""Statements that change or remove rows without an event for each row."""
_DATABASE = re.compile(rb"\s*DROP\s+(?:DATABASE|SCHEMA)\b", re.IGNORECASE)
_NAME = re.compile(rb"\bdb\d{5}\b")


class ShardLog:
    """The binary log of a server. `shards` and `tables` are followed. `login` needs the privilege
    REPLICATION SLAVE."""

    def __init__(self, login: Login, shards: Collection[int], tables: Mapping[str, Table]) -> None:
        self._shards = {object_place("", shard).database: shard for shard in shards}
        self._tables = tables
        self._places = {
            name: [[column.name for column in table.columns].index(key) for key in table.primary]
            for name, table in tables.items()
        }
        self._log = BinaryLog(login, self._shards, tables, self._key_of, advice=_AGAIN)

    async def changes(self, since: Set[str], until: Moment) -> AsyncGenerator[Changes, None]:
        """See `datasources.scans.LoggedShards`."""
        for position in since:
            if is_before(until.gtids, position):
                raise StoreUnavailable(
                    f"{until.server} has the transactions {until.gtids or 'before all'}, and not "
                    f"yet {position}, of which there is a dump"
                )
        after: LogPosition | str = earliest(since)
        end = LogPosition(until.log, until.offset)
        try:
            while True:
                part = await self._log.read(after, end)
                for statement in part.statements:
                    self._check(statement)
                yield {
                    (self._shards[database], table): keys
                    for (database, table), keys in part.keys.items()
                }
                after = part.next
                if part.at_end:
                    return
        finally:
            await self._log.close()

    def _key_of(self, table: str, values: Sequence[Any]) -> Row:
        # New columns come after the old columns, so an old row has the key at the same places.
        return tuple(int(values[place]) for place in self._places[table])

    def _check(self, statement: Statement) -> None:
        """Raises ConfigError for a statement after which the log does not tell all changes."""
        if not _UNLOGGED.match(statement.text):
            return
        named = _NAME.findall(statement.text) or [statement.schema.encode()]
        databases = sorted(self._shards.keys() & {name.decode() for name in named})
        tables = {word.decode() for word in re.findall(rb"\w+", statement.text)}
        if databases and (_DATABASE.match(statement.text) or tables & self._tables.keys()):
            text = statement.text.decode(errors="replace")
            raise ConfigError(
                f"{self._log.where} does not tell all changes of {databases[0]}, because of the "
                f"statement {text[:200]!r} (moves of shards have such statements). {_AGAIN}"
            )
