"""The interface of a SQL backend to the shared stores: batches of reads, and sessions with
transactions."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple, Protocol

from datasources.errors import StaleTopology, StoreConflict
from datasources.sql.dialect import Dialect
from datasources.topology import Topology

Row = tuple[Any, ...]
Observe = Callable[[str, str], None]
"""Called with (server, operation) for each round trip to a server."""


class Place(NamedTuple):
    """A shard's database on a server."""

    server: str
    database: str


def object_place(server: str, shard: int) -> Place:
    return Place(server, f"db{shard:05d}")


def mod_place(server: str, shard: int) -> Place:
    return Place(server, f"mod{shard:05d}")


def shard_at(place: Place) -> tuple[bool, int]:
    """Whether a place is a mod shard, and its number."""
    is_mod = place.database.startswith("mod")
    return is_mod, int(place.database.removeprefix("mod" if is_mod else "db"))


class Part(NamedTuple):
    """One SELECT of a batch, in two pieces, so that a backend can add the part's number to its
    rows. `{db}` is the shard's database and, in `rest`, `?` a parameter."""

    place: Place
    columns: str
    rest: str
    args: tuple[Any, ...]


class Result(NamedTuple):
    """The result of a statement: its rows, the number of matched rows, and the new id."""

    rows: list[Row]
    matched: int
    last_id: int


class Fence(NamedTuple):
    """A shard's fence as a transaction finds it, and the identity of the server that answers."""

    epoch: int
    owner: str
    server: str


class NotOwned(StaleTopology):
    """The shards at `places` belong to other servers."""

    def __init__(self, message: str, places: Iterable[Place]) -> None:
        super().__init__(message)
        self.places = tuple(places)


class Contended(StoreConflict):
    """The database chose this transaction to break a deadlock: run it again."""


class Session(Protocol):
    """A transaction that has begun. Text columns are returned as bytes."""

    place: Place
    fence: Fence | None  # None: the shard has no fence
    turn: Any  # a `datasources.sql.gates.Entered`

    async def run(self, operation: str, sql: str, args: Sequence[Any] = ()) -> Result:
        """Run one statement, written like the `rest` of a Part. Raises StoreConflict for a
        duplicate key; the transaction may continue then. After Contended, StoreTimeout,
        StoreUnavailable and StoreCorrupt it can't continue."""

    async def defer(self, operation: str, sql: str, args: Sequence[Any]) -> None:
        """Run a statement without using its result, before the next statement or the commit, in the
        same round trip. Its errors are raised there."""

    def at_commit(self, sql: str, args: Sequence[Any]) -> None:
        """Run a statement without using its result, in the round trip that commits."""

    def will_lock(self, rows: Iterable[tuple[int, int]]) -> None:
        """Announce the rows that will be locked: lists as (mapping code, from id), objects as
        (minus the kind, local id). Raises Contended if too many transactions of this process wait
        for one of them."""


class Engine(Protocol):
    """The servers of one topology, by name. Calls that name other servers raise StaleTopology."""

    dialect: Dialect

    def use(self, topology: Topology) -> None:
        """Switch to the servers of another topology."""

    def confirm_with(self, confirm: Callable[[], Awaitable[None]]) -> None:
        """Set the function that reads the topology again, for answers that are current only if the
        topology in use is. It raises StaleTopology if the topology has changed, and StoreError."""

    async def read(self, operation: str, parts: Sequence[Part]) -> list[list[Row]]:
        """The rows of each part. One round trip for each server, all servers at once. Raises
        NotOwned if a shard of a move is not on its part's server."""

    def begin(self, place: Place, commit: str) -> AbstractAsyncContextManager[Session]:
        """A transaction on one shard, committed when the block ends, and rolled back when the block
        raises. `commit` is the operation's name for the observer."""
