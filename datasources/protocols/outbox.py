"""The outbox: work that must follow a commit, kept on the commit's shard until it is finished."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from datasources.errors import StoreError


class OutboxRow(NamedTuple):
    """Unfinished work that follows from a commit. `cursor` is its progress."""

    shard: int
    id: int
    kind: str
    payload: bytes
    cursor: bytes | None
    created: int  # epoch ms
    attempts: int = 0  # how many times it was parked


class Parked(NamedTuple):
    """Rows that can't be done at present: their number, and the reason of one of them."""

    rows: int
    reason: str


class Backlog(NamedTuple):
    """The outbox rows of the servers that answered: their number; how many are parked or set aside;
    how many are set aside; when the oldest was written (epoch ms; None without rows); and the error
    of each other server."""

    rows: int
    parked: int
    set_aside: int
    oldest: int | None
    lost: Mapping[str, StoreError]


class OutboxEntry(NamedTuple):
    """An outbox row for operators: when it is due (epoch ms; None: it was set aside), and why it
    was parked ("" if it was not)."""

    row: OutboxRow
    due: int | None
    reason: str


Places = Mapping[int, tuple[int, int]]
"""For each shard, a place in the order of its due rows: the due time and the id of an outbox
row."""


class Due(NamedTuple):
    """Due outbox rows of the servers that answered. `read_to`: the places after which the next read
    continues. `lost`: the error of each server that did not answer."""

    rows: Sequence[OutboxRow]
    read_to: Places
    lost: Mapping[str, StoreError]


class Outbox(Protocol):
    """Work that must follow a commit. It is stored on the commit's own shard until it is
    finished."""

    async def load(self, shard: int, id: int) -> OutboxRow | None:
        """The row, or None when its work is finished."""

    async def pending(self, due_before: int, limit: int) -> list[OutboxRow]:
        """Unfinished rows that became due before an epoch ms, over all shards; for each shard, the
        longest due first. A row is due when it is written, and again when its parking time is over.
        Raises the error of a failing server, even if other servers answer."""

    async def due(
        self, due_before: int, limit: int, *, behind: Places, turn: int | None = None
    ) -> Due:
        """Unfinished rows as `pending` returns them, except that a failing server only costs its
        own rows. For the shards in `behind`, only the rows after the given place are returned. With
        `turn`, a number that grows by 1, a bounded number of shards of each server is read: all of
        a server's shards in a few successive turns."""

    async def advance(self, shard: int, id: int, cursor: bytes) -> None:
        """Store the progress of a row's work."""

    async def park(self, row: OutboxRow, reason: str, delay: int | None) -> None:
        """Park a row that can't be done at present: it becomes due again after `delay` ms, so that
        it delays no other row, and its count of attempts grows. With `delay` None the row is set
        aside, and never becomes due again."""

    async def listing(self, limit: int, *, parked: bool) -> list[OutboxEntry]:
        """Up to `limit` rows of the shards that can be reached; for each shard, the oldest first.
        `parked`: only rows that are parked or set aside."""

    async def begun(self, limit: int) -> list[OutboxRow]:
        """Up to `limit` rows with a cursor, of the shards that can be reached, the newest first.
        Rows that are set aside are left out."""

    async def entry(self, shard: int, id: int) -> OutboxEntry | None:
        """The row as `load` returns it, with the details of `listing`."""

    async def revive(self, shard: int, id: int) -> None:
        """Make a parked row due now, as if it had never been parked."""

    async def parked(self) -> Parked:
        """The parked rows of all shards that can be reached; see `backlog`."""

    async def backlog(self) -> Backlog:
        """The counts of all rows, except rows that were posted for a later time. A server that
        fails costs its own rows only. The first call counts the rows of all shards. A later call
        counts again on a bounded number of shards of each server, the next ones each time."""

    async def finish(self, shard: int, id: int) -> None:
        """Remove a row whose work is done. May be called twice."""
