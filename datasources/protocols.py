"""The protocols of the stores: each protocol's contract, and the errors that its calls may raise.

All calls may raise StoreTimeout, StoreUnavailable or StoreCorrupt (`datasources.errors`). Each call
names its other errors. A call with many keys takes one round trip for each *server* (not for each
shard), whatever the number of keys. A cancelled call leaves nothing behind: later calls get their
own answers. `tests/contract/` tests every backend against this page.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, Protocol, TypeVar

import msgspec

from datasources.errors import StoreError
from datasources.ids import Kind
from datasources.mappings import (
    Edge,
    EdgeKey,
    ListHead,
    ListKey,
    ListMove,
    PageRequest,
    Respacing,
)
from datasources.mappings import Mapping as MappingName
from datasources.topology import Topology

T = TypeVar("T")

RESPACINGS_KEPT_MS = 7 * 24 * 3600 * 1000
# of a list, whatever their age: one read gets all that are needed to translate a place
RESPACINGS_KEPT = 1_000


# ------------------------------------------------------------------ sharded objects and mappings


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


class Forgotten(NamedTuple):
    """The number of removed rows, and the error of each server that failed."""

    rows: int
    lost: Mapping[str, StoreError]


class Answer(NamedTuple):
    """The saved answer of an earlier mutation with the same idempotency key."""

    # of the input; a different input with the same key is an error of the client
    fingerprint: bytes
    answer: bytes
    outbox_id: int | None  # the work after the commit, which may be finished


class Visit(NamedTuple):
    """A visit of the home feed: its chunk of new pins, in order."""

    user_id: int
    generation: int  # grows by one with each visit of the user
    visit: str
    chunk: bytes
    saved: bool  # the chunk is in the materialized feed of both sides
    created: int  # epoch ms


class ShardTx(Protocol):
    """A transaction on one shard: either all of it is committed, or none. It locks the rows that it
    reads."""

    shard: int

    async def insert(self, kind: Kind, data: bytes) -> int:
        """Store a new object's JSON. Returns its id."""

    async def insert_many(
        self, kind: Kind, data: Sequence[bytes], keys: Sequence[str] | None = None
    ) -> list[int]:
        """Store many new objects in few statements. Returns their ids, in order. With `keys`
        (unique for a kind on this shard), an object whose key exists is not stored again, and the
        existing id is returned, so a repeated import stores nothing twice."""

    async def known_keys(self, kind: Kind, keys: Sequence[str]) -> set[str]:
        """The given keys for which objects of this kind exist, stored by earlier calls of
        `insert_many`."""

    async def get(self, id: int) -> bytes | None:
        """The object's JSON. Locks the object (SELECT ... FOR UPDATE)."""

    async def update(self, id: int, data: bytes) -> None:
        """Replace the object's JSON. Raises StoreConflict if there is no such object."""

    async def head(self, key: ListKey) -> ListHead:
        """The list's head. Locks the list against every other transaction that changes it. (0, 0)
        for a list that was never written."""

    async def edge(self, key: EdgeKey) -> Edge | None:
        """The row, active or not. Locks the row."""

    async def edges(self, keys: Sequence[EdgeKey]) -> dict[EdgeKey, Edge]:
        """The rows of `keys` that exist, active or not. Locks them. Takes few statements for many
        rows."""

    async def put_edge(self, mapping: MappingName, edge: Edge) -> bool:
        """Write the row if there is none, or if `edge.version` is newer. Returns whether it was
        written. Updates the list's count and raises its version. Raises StoreConflict if another
        row of an ordered list has the same sequence."""

    async def top(self, key: ListKey) -> Edge | None:
        """The row with the highest sequence, active or not."""

    async def below(self, key: ListKey, sequence: int) -> Edge | None:
        """The row with the next lower sequence, active or not."""

    async def above(self, key: ListKey, sequence: int) -> Edge | None:
        """The row with the next higher sequence, active or not."""

    async def rows_below(self, key: ListKey, sequence: int, limit: int) -> list[Edge]:
        """Up to `limit` rows with lower sequences, nearest first, active or not."""

    async def rows_above(self, key: ListKey, sequence: int, limit: int) -> list[Edge]:
        """Up to `limit` rows with higher sequences, nearest first, active or not."""

    async def era(self, key: ListKey) -> int:
        """The number of respacings of an ordered list; 0 for other lists."""

    async def respaced(self, key: ListKey, moves: Sequence[tuple[int, int]]) -> int:
        """Begin the list's next era, and store which sequences changed: (old, new), both ascending,
        of rows whose order stays the same. Returns the era. The respacing is kept for
        RESPACINGS_KEPT_MS, as one of the list's last RESPACINGS_KEPT; older ones are removed now.
        """

    async def post(self, kind: str, payload: bytes) -> int:
        """Add an outbox row. Returns its id on this shard."""

    async def hold(self, keys: Sequence[ListKey]) -> None:
        """From the commit on, keep these ordered lists out of the caches, until each is released as
        many times as it was held. Readers see that a list is held."""

    async def release(self, keys: Sequence[ListKey]) -> None:
        """Release lists that were held."""

    async def owed(self, outbox_id: int) -> OutboxRow | None:
        """An outbox row of this shard. Locks the row. None when its work is finished."""

    async def advance(self, outbox_id: int, cursor: bytes) -> None:
        """Store the progress of an outbox row's work, in this transaction."""

    async def finish_row(self, outbox_id: int) -> None:
        """Remove an outbox row whose work this transaction finishes."""

    async def answered(self, viewer_id: int, key: str) -> Answer | None:
        """The answer stored under the viewer's idempotency key."""

    async def save_answer(self, viewer_id: int, key: str, answer: Answer) -> None:
        """Store the answer of this mutation. Raises StoreConflict if the key has one."""

    async def visits(self, user_id: int, after_generation: int) -> list[Visit]:
        """The user's visits after a generation, oldest first. Locks the user's visits."""

    async def add_visit(self, visit: Visit) -> None:
        """Store a visit. Raises StoreConflict if its generation or its name is taken."""


Listed = tuple[int, bytes | StoreError]
"""An object's id and JSON; or an error in place of objects that could not be read."""


class ObjectStore(Protocol):
    """Objects as JSON by id, including deleted ones (active: false); transactions on a shard."""

    def topology(self) -> Topology:
        """The topology in use, for placing new objects."""

    async def get(self, ids: Sequence[int]) -> dict[int, bytes]:
        """The JSON of the objects that exist. An id on a shard that is not open has none. One round
        trip for each server."""

    async def list(self, kind: Kind, after_id: int, limit: int) -> list[tuple[int, bytes]]:
        """Up to `limit` objects of a kind with ids above `after_id` (0: from the first), in order
        of id, over all shards."""

    async def list_reachable(self, kind: Kind, after_id: int, limit: int) -> Sequence[Listed]:
        """List objects as `list` does, but with one entry in place of all objects of a failing
        server: its error, with the last id that these objects could have at this point of the
        order. A failing server is asked once in a call."""

    async def transact(self, shard: int, work: Callable[[ShardTx], Awaitable[T]]) -> T:
        """Run `work` in a transaction on the shard's master, and commit. `work` runs again after a
        deadlock, so it must have no effects outside the transaction. Raises StaleTopology if the
        shard is not, or no longer, on that server; StoreConflict when the attempts run out. An
        exception of `work` rolls the transaction back and passes through."""


class MappingStore(Protocol):
    """Mapping rows, each on the shard of its from id."""

    async def pages(self, requests: Sequence[PageRequest]) -> list[list[Edge]]:
        """For each request, its active rows in descending order of (sequence, to_id), with the
        list's era at that moment. One round trip for each server. The requests for one shard are
        answered as of one moment; so are `heads`."""

    async def windows(self, requests: Sequence[PageRequest]) -> list["Window"]:
        """The rows as `pages` returns them and, for ordered lists, their version at that moment and
        whether they were held."""

    async def heads(self, keys: Sequence[ListKey]) -> dict[ListKey, ListHead]:
        """Count and version of each list, (0, 0) for a list that was never written; and whether it
        is held."""

    async def edges(self, keys: Sequence[EdgeKey]) -> dict[EdgeKey, Edge]:
        """The rows that exist, active or not."""

    async def respacings(self, key: ListKey, after_era: int) -> list[Respacing]:
        """The list's stored respacings after an era, in order."""

    async def apply(self, edges: Sequence[tuple[MappingName, Edge]]) -> None:
        """Write rows where they are newer, with one transaction for each shard, on all servers at
        once."""

    async def load(self, edges: Sequence[tuple[MappingName, Edge]]) -> None:
        """Write very many rows as `apply` does, with fewer and larger statements (for imports)."""


class Outbox(Protocol):
    """Work that must follow a commit. It is stored on the commit's own shard until it is
    finished."""

    async def load(self, shard: int, id: int) -> OutboxRow | None:
        """The row, or None when its work is finished."""

    async def pending(self, due_before: int, limit: int) -> list[OutboxRow]:
        """Unfinished rows that became due before an epoch ms, over all shards; for each shard, the
        longest due first. A row is due when it is written, and again when its parking time is over.
        Raises the error of a failing server, even if other servers answer."""

    async def due(self, due_before: int, limit: int, *, behind: Places) -> Due:
        """Unfinished rows as `pending` returns them, except that a failing server only costs its
        own rows. For the shards in `behind`, only the rows after the given place are returned."""

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
        """The parked rows of all shards that can be reached."""

    async def backlog(self) -> Backlog:
        """The counts of all rows. A server that fails costs its own rows only."""

    async def finish(self, shard: int, id: int) -> None:
        """Remove a row whose work is done. May be called twice."""


class VisitStore(Protocol):
    """Visits of the home feed, on the user's own shard."""

    async def recent(self, user_id: int, limit: int, *, named: str | None = None) -> list[Visit]:
        """The newest visits, all unsaved visits, and the visit with the name `named`, newest
        first."""

    async def mark_saved(self, user_id: int, generation: int) -> None:
        """Record that both sides of the materialized feed have the chunk of this visit."""


class Expiry(Protocol):
    """Deletes data that is kept for a limited time, a few rows of each shard at a time. A server
    that fails costs its own shards only."""

    async def answers(self, created_before: int, limit: int) -> Forgotten:
        """Delete the oldest answers saved before an epoch ms, up to `limit` on each shard. Their
        keys count as never used."""

    async def visits(self, created_before: int, limit: int) -> Forgotten:
        """Delete the oldest saved visits that began before an epoch ms, up to `limit` on each
        shard. A user's newest visit stays, and so do unsaved visits."""


class ModStore(Protocol):
    """Finds ids by arbitrary keys (user names, importers' keys), on mod shard md5(key) % count."""

    async def find(self, namespace: str, keys: Sequence[str]) -> dict[str, int]:
        """The ids of the keys that are claimed."""

    async def claim(self, namespace: str, key: str, id: int) -> int:
        """Claim the key for an id, unless it is claimed. Returns the id that holds the key."""

    async def claim_many(self, namespace: str, ids: Mapping[str, int]) -> dict[str, int]:
        """Claim many keys. Returns the id that holds each key."""

    async def release(self, namespace: str, key: str, id: int) -> None:
        """Release the key if this id holds it."""


class ShardStore(Protocol):
    """A whole sharded database: the protocols above over one set of servers."""

    @property
    def objects(self) -> ObjectStore: ...

    @property
    def mappings(self) -> MappingStore: ...

    @property
    def outbox(self) -> Outbox: ...

    @property
    def visits(self) -> VisitStore: ...

    @property
    def expiry(self) -> Expiry: ...

    @property
    def mod(self) -> ModStore: ...

    def use(self, topology: Topology) -> None:
        """Switch to a later topology. An older or equal topology is ignored. Raises StoreCorrupt
        for a topology that must not follow the present topology, which then stays in use."""

    def reload_with(self, reload: Callable[[], Awaitable[None]]) -> None:
        """Set the function that reads the topology again, and passes it to `use`. It is called when
        a server refuses a call as StaleTopology; if the topology has changed, the call is repeated.
        """

    async def replication(self) -> dict[str, float | None]:
        """The seconds that each slave of the topology is behind its master; None for a slave that
        does not replicate. Slaves that can't be asked are left out."""

    async def setting_faults(self) -> dict[str, list[str] | None]:
        """The settings because of which acknowledged writes may be lost: for each server, lines of
        text. None for a server that can't be asked."""

    async def connection_limits(self) -> dict[str, int]:
        """The number of connections that each server allows, by server name. Servers that can't be
        asked are left out."""

    async def create(self, progress: Callable[[int, int], None] = ...) -> None:
        """Create the missing databases and tables of the topology. `progress` is called with (done,
        all)."""

    async def absent(self) -> dict[str, list[str]]:
        """The databases of the topology that are missing, by server. Servers that do not answer are
        left out."""

    async def ping(self) -> dict[str, str | None]:
        """Each server's fault in one line, or None if the server is well."""

    async def close(self) -> None: ...


# ------------------------------------------------------------------ caches


class Lease(NamedTuple):
    """The right to fill one missing entry. A later `drop`, or the lease's expiry, ends the right:
    the fill then does nothing, so a slow reader can't overwrite a newer value with an old one."""

    key: object
    token: str


class LocalObjects(Protocol):
    """Entries of an ObjectCache that are in this process."""

    def held(self, ids: Sequence[int]) -> dict[int, bytes]:
        """The entries that are in the cache now. Returns without waiting, and grants no leases."""


class ObjectCache(Protocol):
    """Objects' JSON by id.

    An entry that `get` returns neither as bytes nor as a Lease is being filled by another reader:
    read the store, and fill nothing. After `drop` has returned, no reader gets a value that was
    read from the store before the `drop` began.
    """

    @property
    def local(self) -> LocalObjects | None:
        """The cache's values in this process; None for a cache in another process."""

    async def get(self, ids: Sequence[int]) -> dict[int, bytes | Lease]: ...

    async def fill(self, values: Sequence[tuple[Lease, bytes]]) -> None: ...

    async def drop(self, ids: Sequence[int]) -> None:
        """Remove the entries. Raises if their removal is uncertain."""

    async def ping(self) -> None: ...

    async def close(self) -> None: ...


class Window(NamedTuple):
    """The newest rows of a list, or the rows after a position. `complete`: there are no more rows.
    `version`: the list's version at that moment; 0 for lists that are not ordered. `held`: the list
    was held at that moment, and the window must not be cached."""

    edges: Sequence[Edge]
    complete: bool
    version: int = 0
    held: bool = False


class MappingCache(Protocol):
    """Windows of the newest rows of lists, and the lists' heads. Leases are as in ObjectCache.

    All answers of one call are as of one moment.
    """

    window: int  # rows that a window keeps: a fill reads this many, or all if there are fewer

    async def pages(self, requests: Sequence[PageRequest]) -> list[list[Edge] | Lease | None]:
        """For each request: its rows if a window covers them; a Lease to fill the whole window if
        there is none; None if another reader is filling it, or if it is too short. Edges have
        version 0 (caches store the order, not versions) and the window's era. One round trip."""

    async def heads(self, keys: Sequence[ListKey]) -> dict[ListKey, ListHead | Lease]: ...

    async def fill_pages(self, windows: Sequence[tuple[Lease, Window]]) -> None: ...

    async def fill_heads(self, heads: Sequence[tuple[Lease, ListHead]]) -> None: ...

    async def drop(self, keys: Sequence[ListKey]) -> None:
        """Remove the windows and heads of these lists. Raises if their removal is uncertain."""

    async def move(self, moves: Sequence[ListMove]) -> None:
        """Move rows within the windows, and raise the heads' versions. An entry with the version
        before a move follows the move. An entry with the move's version or a later version stays.
        All other entries and leases are removed. Raises if the result is uncertain. One round trip;
        all moves happen at once."""

    async def take(
        self, bucket: str, least: int, most: int, *, burst: int, refill: int
    ) -> tuple[int, float]:
        """Take `least` to `most` tokens from a bucket that holds up to `burst` and gets `refill`
        tokens each second. Returns (tokens, 0), or (0, seconds until there are `least` tokens). A
        new bucket is full. One round trip."""

    async def ping(self) -> None: ...

    async def close(self) -> None: ...


# ------------------------------------------------------------------ queue and topology


class Job(NamedTuple):
    """The request to do the work of outbox row `outbox_id` of `shard`. It may run twice."""

    shard: int
    outbox_id: int


class Lane(NamedTuple):
    """The jobs of one priority that are queued or running, and the seconds for which the oldest has
    been due (None: there is none)."""

    priority: str
    jobs: int
    oldest: float | None


URGENT, NORMAL, BULK = "urgent", "normal", "bulk"
PRIORITIES = (URGENT, NORMAL, BULK)
"""The queue's priorities, highest first. Somebody waits for urgent jobs: the pins of a new follow,
the saving of a visit. Bulk jobs are batches of large fan-outs, and whole boards."""


class JobQueue(Protocol):
    """Durable background work. A job runs at least once, and again (with growing delays) if it
    fails or its worker dies. A job is queued only once at a time. Waiting jobs with a higher
    priority start first; running jobs are not interrupted."""

    async def enqueue(
        self, jobs: Sequence[Job], *, delay: float = 0.0, priority: str = NORMAL
    ) -> None:
        """Queue jobs. `delay` is in seconds; `priority` is one of PRIORITIES."""

    async def work(
        self,
        run: Callable[[Job], Awaitable[None]],
        *,
        concurrency: int = 8,
        priorities: Sequence[str] = PRIORITIES,
    ) -> None:
        """Take jobs of these priorities and run them, until cancelled. A cancelled job returns to
        the queue."""

    async def depth(self) -> int:
        """The number of jobs that are queued or running."""

    async def lanes(self) -> list[Lane]:
        """The jobs by priority, with the age of the oldest."""

    async def now(self) -> float:
        """The time of the queue's server, in seconds since 1970."""

    async def mark(self) -> None:
        """Leave a mark that lasts as long as the queue's data."""

    async def marked(self) -> bool:
        """Whether the mark exists. If not, the queue has lost its data."""

    async def ping(self) -> None: ...

    async def close(self) -> None: ...


class TopologySource(Protocol):
    """The source of the shard configuration. It tells its watchers about changes."""

    async def load(self) -> Topology:
        """The topology. Raises StoreUnavailable; StoreCorrupt if there is none or it is invalid."""

    async def save(self, topology: Topology, *, expected_epoch: int | None) -> None:
        """Replace the topology if its epoch is the expected epoch (None: there is no topology yet).
        Raises StoreConflict otherwise."""

    @property
    def fault(self) -> str | None:
        """Why a watcher keeps its topology, although a different one was found or none could be
        read. None if there is no fault."""

    def watch(self) -> AsyncIterator[Topology]:
        """The current topology, then each later one; reconnects as needed. Raises the errors of
        `load` if the first read fails. Logs a topology that must not follow the current one."""

    async def close(self) -> None: ...


class FollowedTopology(TopologySource, Protocol):
    """A topology source that also keeps the shards up to date with the topology."""

    async def follow(self) -> None:
        """Use each later topology until cancelled, whatever fails; `fault` says what failed."""

    async def reload(self) -> None:
        """Read the topology now, and use it. Raises StoreError."""


class Switches(Protocol):
    """Switches that operators set for all running gateways, by name. They are stored beside the
    topology."""

    async def load(self) -> dict[str, str]:
        """All switches; empty if none was ever set. Raises StoreUnavailable; StoreCorrupt if the
        data is not a JSON object of strings."""

    async def change(self, changes: Mapping[str, str | None]) -> dict[str, str]:
        """Set switches, or remove them with None. Returns all switches. Concurrent changes don't
        overwrite each other."""

    def watch(self) -> AsyncIterator[dict[str, str]]:
        """Yield the switches now and after each change; reconnects as needed. While the switches
        can't be read, the last values stay in use."""

    async def close(self) -> None: ...


class Operations(Protocol):
    """The lock of operators' work on the topology, and the work's records, stored beside the
    topology."""

    def lock(self, purpose: str) -> AbstractAsyncContextManager[None]:
        """Hold the lock. It ends with its process. Raises StoreConflict that names the holder."""

    async def load(self, id: str) -> tuple[bytes, int] | None:
        """A record and its version."""

    async def save(self, id: str, data: bytes, version: int | None) -> int:
        """Replace a record that has this version (None: it doesn't exist). Returns its new version.
        Raises StoreConflict if the record has another version."""

    async def ids(self) -> list[str]: ...

    async def report(self, observer: str, data: bytes) -> None:
        """Publish an observer's report, in place of its last report. It disappears with the
        observer's process."""

    async def reports(self) -> dict[str, bytes]:
        """The reports of all living observers, by observer."""

    async def close(self) -> None: ...


# ------------------------------------------------------------------ feeds


class Table(NamedTuple):
    """A wide-column table by name."""

    name: str


class Cell(msgspec.Struct, frozen=True, gc=False):
    """One cell. It is a struct for speed: a page of a feed has a hundred cells."""

    column: bytes
    value: bytes
    stamp: int


class WideColumnStore(Protocol):
    """Rows of sorted columns. Each cell has a stamp: a time or a version, > 0.

    As in HBase, of two puts the put with the higher stamp is visible (with equal stamps, the later
    call). A delete with a stamp hides every put with that stamp or a lower stamp, whether it comes
    before or after. Whether a delete still hides *later* puts after a compaction is not guaranteed.
    The writes of a call to one row are atomic; a call may write many rows.

    Rows and columns are non-empty bytes (a row at most 32,767), and stamps are below 2**63;
    otherwise ValueError is raised. A missing table is StoreUnavailable.
    """

    async def read(
        self, table: Table, row: bytes, *, after: bytes | None = None, limit: int
    ) -> list[Cell]:
        """The visible cells with columns greater than `after`, in ascending order."""

    async def get(self, table: Table, row: bytes, columns: Sequence[bytes]) -> dict[bytes, Cell]:
        """The named cells that are visible."""

    async def put(
        self, table: Table, rows: Mapping[bytes, Mapping[bytes, bytes]], stamp: int
    ) -> None:
        """Write cells row → column → value, all with one stamp."""

    async def delete(self, table: Table, rows: Mapping[bytes, Sequence[bytes]], stamp: int) -> None:
        """Hide the puts to these columns up to a stamp."""

    async def trim(self, table: Table, row: bytes, keep: int) -> None:
        """Keep the first `keep` visible columns of the row, and remove the others. A removed column
        may stay hidden from later puts up to its former stamp."""

    def scan(self, table: Table, *, start: bytes = b"") -> AsyncIterator[tuple[bytes, list[Cell]]]:
        """All rows from `start` on, in order, with their visible cells."""

    async def create(self, tables: Sequence[Table]) -> None:
        """Create the tables that do not exist."""

    async def tables(self) -> set[str]:
        """The names of the tables that exist."""

    async def ping(self) -> None: ...

    async def close(self) -> None: ...


class Sides(NamedTuple):
    """The two sides of a feed store. The standby is some hundred milliseconds behind the
    primary."""

    primary: WideColumnStore
    standby: WideColumnStore


class Stores(NamedTuple):
    """The stores of Pinway, opened by `datasources.factory`."""

    shards: ShardStore
    object_cache: ObjectCache
    mapping_cache: MappingCache
    queue: JobQueue
    topology: FollowedTopology
    pools: Sides
    feeds: Sides
