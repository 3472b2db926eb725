"""Tables of shards, read page by page as of one moment. `pinway dump` reads them so."""

from collections.abc import AsyncIterator, Mapping, Sequence, Set
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from typing import Protocol, TypeAlias, runtime_checkable

import msgspec

from datasources.sql.engine import Row
from datasources.sql.schema import Table

FILE, MASTER, SLAVE = "file", "master", "slave"
"""The roles of what a scan reads: an embedded shard's file, a master, or a slave."""


class Moment(msgspec.Struct, frozen=True):
    """The moment as of which shards were read. `log`, `offset` and `gtids` are its place in the
    server's binary log: empty for files, and for servers that don't tell it."""

    taken: str  # UTC, ISO 8601
    server: str  # its name in the topology
    role: str
    log: str = ""
    offset: int = 0
    gtids: str = ""


def now() -> str:
    """The present time as the text of `Moment.taken`."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Scan(Protocol):
    """Some shards as of one moment."""

    moment: Moment

    async def page(self, shard: int, table: Table, after: Row, limit: int) -> list[Row]:
        """At most `limit` rows with all columns of the table, in the order of its primary key,
        after a key (empty: from the first row). Text columns are bytes. Raises StoreError."""


@runtime_checkable
class ShardScans(Protocol):
    """Shards that can be read as of one moment."""

    def scanned_together(self) -> list[list[int]]:
        """All open shards, in the groups that a scan reads as of one moment. Raises ConfigError
        while shards are being moved."""

    def scan(self, shards: Sequence[int]) -> AbstractAsyncContextManager[Scan]:
        """Begin to read the shards of one group. Raises StoreError."""


Changes: TypeAlias = Mapping[tuple[int, str], Sequence[Row]]
"""For each shard and table, the primary keys of rows that were inserted, changed or deleted."""


@runtime_checkable
class LoggedScan(Scan, Protocol):
    """A scan of shards whose server tells which rows changed."""

    async def rows(self, shard: int, table: Table, keys: Sequence[Row]) -> list[Row]:
        """The rows with these primary keys, like `page`. A key without a row is left out."""


@runtime_checkable
class LoggedShards(ShardScans, Protocol):
    """Shards whose servers tell which rows changed. A scan of them is a LoggedScan."""

    def is_logged_by(self, shard: int, server: str) -> bool:
        """Whether a server is the shard's master, or its slave."""

    def changes(
        self, shards: Sequence[int], tables: Mapping[str, Table], since: Set[str], until: Moment
    ) -> AsyncIterator[Changes]:
        """The changes of shards from the earliest of some moments, of which the global transaction
        ids are given, to the moment of a scan; later changes may be among them. Raises ConfigError
        if the server no longer has them, and StoreError."""
