"""The protocols of the stores: each protocol's contract, and the errors it may raise.

All calls may raise StoreTimeout, StoreUnavailable or StoreCorrupt (`datasources.errors`); each call
names its other errors. A call that takes many keys costs one round trip a *server* (not a shard),
whatever their number. A call that is cancelled leaves nothing behind: later calls get their own
answers. `tests/contract/` holds every backend to this page.
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
RESPACINGS_KEPT = 1_000  # of a list, however new: one read gets all that translate a place


# ------------------------------------------------------------------ sharded objects and mappings


class OutboxRow(NamedTuple):
    """Work that follows from a commit and is not finished. `cursor` is how far it came."""

    shard: int
    id: int
    kind: str
    payload: bytes
    cursor: bytes | None
    created: int  # epoch ms
    attempts: int = 0  # how often it was parked


class Parked(NamedTuple):
    """Rows that can't be done: how many, and why one of them can't."""

    rows: int
    reason: str


class Backlog(NamedTuple):
    """The outbox rows of the servers that answered: how many, how many of these are parked or set
    aside, how many are set aside, when the oldest was written (epoch ms; None without rows); and
    the error of each other server."""

    rows: int
    parked: int
    set_aside: int
    oldest: int | None
    lost: Mapping[str, StoreError]


class OutboxEntry(NamedTuple):
    """An outbox row as people look at it: when it is due (epoch ms; None: it was set aside), and
    why it was parked ("" if it was not)."""

    row: OutboxRow
    due: int | None
    reason: str


Places = Mapping[int, tuple[int, int]]
"""A place in each shard's order of due rows: the due time and the id of an outbox row."""


class Due(NamedTuple):
    """Due outbox rows of the servers that answered. `read_to` is where to read on behind them;
    `lost` has the error of each server that did not answer."""

    rows: Sequence[OutboxRow]
    read_to: Places
    lost: Mapping[str, StoreError]


class Forgotten(NamedTuple):
    """How many rows were removed, and the error of each server where that failed."""

    rows: int
    lost: Mapping[str, StoreError]


class Answer(NamedTuple):
    """The saved answer of an earlier mutation with the same idempotency key."""

    fingerprint: bytes  # of the input; another input under the same key is the client's error
    answer: bytes
    outbox_id: int | None  # the work that followed, maybe finished


class Visit(NamedTuple):
    """One visit of the home feed: the chunk of new pins it was shown, in order."""

    user_id: int
    generation: int  # grows by one with each visit of the user
    visit: str
    chunk: bytes
    saved: bool  # the chunk is in the materialized feed of both sides
    created: int  # epoch ms


class ShardTx(Protocol):
    """A transaction on one shard: all of it is committed, or nothing. It locks the rows that it
    reads."""

    shard: int

    async def insert(self, kind: Kind, data: bytes) -> int:
        """Store a new object's JSON; its id."""

    async def insert_many(
        self, kind: Kind, data: Sequence[bytes], keys: Sequence[str] | None = None
    ) -> list[int]:
        """Store many new objects in few statements; their ids, in order. With `keys` (unique per
        kind on this shard) an object whose key is already there is not stored again: its id is
        returned, so a repeated import doubles nothing."""

    async def known_keys(self, kind: Kind, keys: Sequence[str]) -> set[str]:
        """The given keys that objects of this kind have already, from earlier calls of
        `insert_many`."""

    async def get(self, id: int) -> bytes | None:
        """The object's JSON, locked (SELECT ... FOR UPDATE)."""

    async def update(self, id: int, data: bytes) -> None:
        """Replace the object's JSON. Raises StoreConflict if there is no such object."""

    async def head(self, key: ListKey) -> ListHead:
        """Lock the list against every other transaction that changes it; (0, 0) if untouched."""

    async def edge(self, key: EdgeKey) -> Edge | None:
        """The row, active or not, locked."""

    async def edges(self, keys: Sequence[EdgeKey]) -> dict[EdgeKey, Edge]:
        """The rows of `keys` that exist, active or not, locked. Takes few statements for many
        rows."""

    async def put_edge(self, mapping: MappingName, edge: Edge) -> bool:
        """Write the row if there is none or `edge.version` is newer; whether it was written. Keeps
        the list's count and raises its version. Raises StoreConflict for an ordered mapping's
        sequence that another row of the list has."""

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
        """Begin the list's next era, and remember which sequences became which: (old, new)
        ascending in both, of rows whose order stays the same. It is kept for RESPACINGS_KEPT_MS as
        one of the list's last RESPACINGS_KEPT; older ones go now. The era."""

    async def post(self, kind: str, payload: bytes) -> int:
        """Add an outbox row; its id on this shard."""

    async def hold(self, keys: Sequence[ListKey]) -> None:
        """Have nobody cache these ordered lists from the commit on, until each is released as often
        as it was held: a reader of such a list meanwhile sees that it is held."""

    async def release(self, keys: Sequence[ListKey]) -> None:
        """Take a hold back."""

    async def owed(self, outbox_id: int) -> OutboxRow | None:
        """An outbox row of this shard, locked; None when its work is finished."""

    async def advance(self, outbox_id: int, cursor: bytes) -> None:
        """Remember how far the work of an outbox row comes with this transaction."""

    async def finish_row(self, outbox_id: int) -> None:
        """Remove an outbox row, whose work this transaction finishes."""

    async def answered(self, viewer_id: int, key: str) -> Answer | None:
        """The answer saved under the viewer's idempotency key."""

    async def save_answer(self, viewer_id: int, key: str, answer: Answer) -> None:
        """Keep the answer of this mutation. Raises StoreConflict if the key has one."""

    async def visits(self, user_id: int, after_generation: int) -> list[Visit]:
        """The user's visits later than a generation, oldest first; locks the user's visits."""

    async def add_visit(self, visit: Visit) -> None:
        """Remember a visit. Raises StoreConflict if its generation or its name is taken."""


Listed = tuple[int, bytes | StoreError]
"""An object's id and JSON, or a stand-in for objects that could not be read."""


class ObjectStore(Protocol):
    """Objects as JSON by id, deleted ones (active: false) included; transactions on a shard."""

    def topology(self) -> Topology:
        """The topology in use, for placing new objects."""

    async def get(self, ids: Sequence[int]) -> dict[int, bytes]:
        """The JSON of the existing objects; an id on a shard that is not open has none. One round
        trip a server."""

    async def list(self, kind: Kind, after_id: int, limit: int) -> list[tuple[int, bytes]]:
        """Up to `limit` objects of a kind with ids above `after_id` (0: all), in id order, over
        all shards."""

    async def list_reachable(self, kind: Kind, after_id: int, limit: int) -> Sequence[Listed]:
        """List objects as `list` does, but replace all objects of a failing server by one entry:
        its error, at the objects' position in the order, under the last id that they could have
        there. This call does not ask a failing server again."""

    async def transact(self, shard: int, work: Callable[[ShardTx], Awaitable[T]]) -> T:
        """Run `work` in a transaction on the shard's master and commit. `work` runs again after a
        deadlock, so it must have no effects of its own. Raises StaleTopology if the shard is not
        (or no longer) that server's, StoreConflict when retries run out; whatever `work` raises
        rolls back and passes through."""


class MappingStore(Protocol):
    """Mapping rows, each on the shard of its from id."""

    async def pages(self, requests: Sequence[PageRequest]) -> list[list[Edge]]:
        """For each request its active rows from the highest (sequence, to_id) down, by seek, with
        the list's era at that moment. One round trip a server for all requests together. The
        requests of one shard are answered as of one moment, and so are heads."""

    async def windows(self, requests: Sequence[PageRequest]) -> list["Window"]:
        """`pages`, and of ordered lists the version that they had at that moment and whether they
        were held."""

    async def heads(self, keys: Sequence[ListKey]) -> dict[ListKey, ListHead]:
        """Count and version of each list, (0, 0) for an untouched one; and whether it is held."""

    async def edges(self, keys: Sequence[EdgeKey]) -> dict[EdgeKey, Edge]:
        """The rows that exist, active or not."""

    async def respacings(self, key: ListKey, after_era: int) -> list[Respacing]:
        """The list's kept respacings that are later than an era, in their order."""

    async def apply(self, edges: Sequence[tuple[MappingName, Edge]]) -> None:
        """Write rows wherever they are newer, a transaction a shard, all servers at once."""

    async def load(self, edges: Sequence[tuple[MappingName, Edge]]) -> None:
        """`apply` for very many rows at a time (bulk import): fewer, larger statements."""


class Outbox(Protocol):
    """Work that must follow a commit, kept on the commit's own shard until it is finished."""

    async def load(self, shard: int, id: int) -> OutboxRow | None:
        """The row, or None when its work is finished."""

    async def pending(self, due_before: int, limit: int) -> list[OutboxRow]:
        """Unfinished rows that became due before an epoch ms, over all shards, the longest due
        first of each. A row is due when it is written, and again when it was parked for long
        enough. Raises a server's error, whatever the others answer."""

    async def due(self, due_before: int, limit: int, *, behind: Places) -> Due:
        """Unfinished rows as `pending` returns them, but a failing server costs its own rows only.
        Shards in `behind` return only the rows after the given place."""

    async def advance(self, shard: int, id: int, cursor: bytes) -> None:
        """Remember how far the work came."""

    async def park(self, row: OutboxRow, reason: str, delay: int | None) -> None:
        """The row can't be done as it is: it is not due again for `delay` ms, so that it keeps no
        other row waiting, and its count of attempts grows. None: the row is set aside, and never
        due again."""

    async def listing(self, limit: int, *, parked: bool) -> list[OutboxEntry]:
        """Up to `limit` rows of the shards that can be reached, the oldest of each shard first;
        only parked rows and rows set aside, or all rows."""

    async def begun(self, limit: int) -> list[OutboxRow]:
        """Up to `limit` rows with a cursor, of the shards that can be reached, the newest first;
        rows set aside are not among them."""

    async def entry(self, shard: int, id: int) -> OutboxEntry | None:
        """`load`, with what `listing` says of the row."""

    async def revive(self, shard: int, id: int) -> None:
        """A parked row is due now, as if it had never been parked."""

    async def parked(self) -> Parked:
        """The parked rows of all shards that can be reached."""

    async def backlog(self) -> Backlog:
        """All rows, counted. A server that fails costs its own rows only."""

    async def finish(self, shard: int, id: int) -> None:
        """The work is done: remove the row. Done twice is no error."""


class VisitStore(Protocol):
    """Visits of the home feed, on the user's own shard."""

    async def recent(self, user_id: int, limit: int, *, named: str | None = None) -> list[Visit]:
        """The newest visits, every one not saved, and the one `named`, newest first."""

    async def mark_saved(self, user_id: int, generation: int) -> None:
        """The chunk of this visit is in the materialized feed of both sides."""


class Expiry(Protocol):
    """Forgets what is kept for a time only, a few rows of each shard at a time. A server that
    fails costs its own shards alone."""

    async def answers(self, created_before: int, limit: int) -> Forgotten:
        """Forget the oldest answers saved before an epoch ms, up to `limit` of each shard. Their
        keys are as if they had never been used."""

    async def visits(self, created_before: int, limit: int) -> Forgotten:
        """Forget the oldest saved visits begun before an epoch ms, up to `limit` of each shard. A
        user's newest visit stays, and so does a visit that is not saved."""


class ModStore(Protocol):
    """Ids found by arbitrary keys (user names, importers' keys), on shard md5(key) % count."""

    async def find(self, namespace: str, keys: Sequence[str]) -> dict[str, int]:
        """The ids of those keys that are claimed."""

    async def claim(self, namespace: str, key: str, id: int) -> int:
        """Claim the key for an id unless it is claimed; the id that now holds it."""

    async def claim_many(self, namespace: str, ids: Mapping[str, int]) -> dict[str, int]:
        """`claim` for many keys; the holders."""

    async def release(self, namespace: str, key: str, id: int) -> None:
        """Give the key up if that id holds it."""


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
        """Switch to a later topology; an older or equal topology is ignored. Raises StoreCorrupt
        for a topology that must not follow the topology in use, which then stays."""

    def reload_with(self, reload: Callable[[], Awaitable[None]]) -> None:
        """Have `reload` read the topology again, and `use` it, when a server refuses a call as
        StaleTopology: the call is then repeated, if the topology did change."""

    async def replication(self) -> dict[str, float | None]:
        """The seconds that each slave of the topology is behind its master; None for a slave that
        does not replicate. Slaves that can't be asked are left out."""

    async def setting_faults(self) -> dict[str, list[str] | None]:
        """The settings under which acknowledged writes may be lost: by server, a line each. None
        for a server that can't be asked."""

    async def connection_limits(self) -> dict[str, int]:
        """The connections that each server allows, by the server's name. A server that can't be
        asked is left out."""

    async def create(self, progress: Callable[[int, int], None] = ...) -> None:
        """Make the databases and tables that the topology names and that do not exist; `progress`
        hears how many are done, and of how many."""

    async def absent(self) -> dict[str, list[str]]:
        """The databases that the topology names and that their servers do not have, by server. A
        server that does not answer is left out."""

    async def ping(self) -> dict[str, str | None]:
        """Each server's fault in a line, or None when it is well."""

    async def close(self) -> None: ...


# ------------------------------------------------------------------ caches


class Lease(NamedTuple):
    """The right to fill one missing entry. A later `drop` or expiry voids it: then the fill does
    nothing, so a slow reader can't put an old value over a newer write."""

    key: object
    token: str


class LocalObjects(Protocol):
    """Entries of an ObjectCache that are in this very process."""

    def held(self, ids: Sequence[int]) -> dict[int, bytes]:
        """The entries that are in the cache now. Does not wait, and grants no leases."""


class ObjectCache(Protocol):
    """Objects' JSON by id.

    An entry that is neither in the answer as bytes nor as a Lease is being filled by somebody
    else: read the store, and fill nothing. After `drop` returned, no reader gets a value that was
    read from the store before the drop began.
    """

    @property
    def local(self) -> LocalObjects | None:
        """The cache's values in this process; None for a cache in another process."""

    async def get(self, ids: Sequence[int]) -> dict[int, bytes | Lease]: ...

    async def fill(self, values: Sequence[tuple[Lease, bytes]]) -> None: ...

    async def drop(self, ids: Sequence[int]) -> None:
        """Forget the entries. Raises if that can't be made certain."""

    async def ping(self) -> None: ...

    async def close(self) -> None: ...


class Window(NamedTuple):
    """The newest rows of a list (or its next rows, when it was asked behind a position); `complete`
    when there are no more rows. `version` is the list's then; 0: unknown, of lists that are not
    ordered. A window of a list that was `held` at that time must not be cached."""

    edges: Sequence[Edge]
    complete: bool
    version: int = 0
    held: bool = False


class MappingCache(Protocol):
    """Windows onto the newest rows of lists, and their heads. Leases as in ObjectCache.

    All answers of one call are of one moment.
    """

    window: int  # rows that a window keeps: who fills one reads that many, or all if fewer

    async def pages(self, requests: Sequence[PageRequest]) -> list[list[Edge] | Lease | None]:
        """For each request its rows when a window covers them; a Lease to fill the whole window
        when there is none; None when somebody else fills it or it does not reach that deep.
        Edges come with version 0 (caches know order, not versions) and the window's era. One round
        trip."""

    async def heads(self, keys: Sequence[ListKey]) -> dict[ListKey, ListHead | Lease]: ...

    async def fill_pages(self, windows: Sequence[tuple[Lease, Window]]) -> None: ...

    async def fill_heads(self, heads: Sequence[tuple[Lease, ListHead]]) -> None: ...

    async def drop(self, keys: Sequence[ListKey]) -> None:
        """Forget windows and heads of these lists. Raises if that can't be made certain."""

    async def move(self, moves: Sequence[ListMove]) -> None:
        """Move rows within the windows, and raise the heads' versions: entries of the version
        before a move follow the move, entries of its version or a later version stay, and all other
        entries and leases are dropped. Raises if that can't be made certain. One round trip, and
        all at once."""

    async def take(
        self, bucket: str, least: int, most: int, *, burst: int, refill: int
    ) -> tuple[int, float]:
        """Take `least` to `most` tokens out of a bucket that holds up to `burst`, and gets `refill`
        each second. The tokens, and 0; or none, and the seconds until there are `least`. A bucket
        that nobody has used is full. One round trip."""

    async def ping(self) -> None: ...

    async def close(self) -> None: ...


# ------------------------------------------------------------------ queue and topology


class Job(NamedTuple):
    """Run what outbox row `outbox_id` of `shard` asks for. Running it twice does no harm."""

    shard: int
    outbox_id: int


class Lane(NamedTuple):
    """The jobs of one priority that are queued or running, and for how many seconds the oldest has
    been due (None: there is none)."""

    priority: str
    jobs: int
    oldest: float | None


URGENT, NORMAL, BULK = "urgent", "normal", "bulk"
PRIORITIES = (URGENT, NORMAL, BULK)
"""The queue's priorities, the first to be worked on first. Somebody waits for what urgent jobs do:
a follow's pins, a visit's saving. Bulk jobs are batches of large fan-outs, and whole boards."""


class JobQueue(Protocol):
    """Durable background work: a job runs at least once, again when its worker dies or it fails
    (with growing delays), and two of the same job are not queued at once. A job begins before all
    jobs of lower priorities that wait; jobs that run are not interrupted."""

    async def enqueue(
        self, jobs: Sequence[Job], *, delay: float = 0.0, priority: str = NORMAL
    ) -> None:
        """`delay` in seconds; `priority` is one of PRIORITIES."""

    async def work(
        self,
        run: Callable[[Job], Awaitable[None]],
        *,
        concurrency: int = 8,
        priorities: Sequence[str] = PRIORITIES,
    ) -> None:
        """Take jobs of these priorities and run them until cancelled; a cancelled job goes back to
        the queue."""

    async def depth(self) -> int:
        """Jobs queued or running."""

    async def lanes(self) -> list[Lane]:
        """The same by priority, and the age of the oldest."""

    async def now(self) -> float:
        """The time of the queue's server, in seconds since 1970."""

    async def mark(self) -> None:
        """Leave a mark that stays as long as the queue's data does."""

    async def marked(self) -> bool:
        """Whether the mark is there: without the mark, the queue has lost its data."""

    async def ping(self) -> None: ...

    async def close(self) -> None: ...


class TopologySource(Protocol):
    """The source of the shard configuration, which tells its watchers of changes."""

    async def load(self) -> Topology:
        """Raises StoreUnavailable, or StoreCorrupt when there is none or it is not valid."""

    async def save(self, topology: Topology, *, expected_epoch: int | None) -> None:
        """Replace it if its epoch is still the expected one (None: there is none yet). Raises
        StoreConflict otherwise."""

    @property
    def fault(self) -> str | None:
        """Why a watcher keeps a topology, although another one was found or none could be read."""

    def watch(self) -> AsyncIterator[Topology]:
        """The current topology, then each later one, reconnecting as needed. Raises the errors of
        `load` if the first read fails; logs a topology that must not follow the current one."""

    async def close(self) -> None: ...


class FollowedTopology(TopologySource, Protocol):
    """The topology's source, and who keeps the shards up to date with it."""

    async def follow(self) -> None:
        """Use each later topology until cancelled, whatever goes wrong; `fault` tells what."""

    async def reload(self) -> None:
        """Read the topology now, and use it. Raises StoreError."""


class Switches(Protocol):
    """Switches that people set for all running gateways, by name; kept beside the topology."""

    async def load(self) -> dict[str, str]:
        """Empty when nothing was ever switched. Raises StoreUnavailable, or StoreCorrupt for what
        is not a JSON object of strings."""

    async def change(self, changes: Mapping[str, str | None]) -> dict[str, str]:
        """Set names, or with None remove them; all there are then. Two at the same time lose
        nothing of each other."""

    def watch(self) -> AsyncIterator[dict[str, str]]:
        """Yield the switches now and after each change, reconnecting as needed. While the switches
        can't be read, the last read values stay in force."""

    async def close(self) -> None: ...


class Operations(Protocol):
    """The lock of operators' work on the topology, and the work's records, kept beside it."""

    def lock(self, purpose: str) -> AbstractAsyncContextManager[None]:
        """Hold the lock; it goes with its process. Raises StoreConflict that names the holder."""

    async def load(self, id: str) -> tuple[bytes, int] | None:
        """A record and its version."""

    async def save(self, id: str, data: bytes, version: int | None) -> int:
        """Replace a record of that version (None: there is none); its new version. Raises
        StoreConflict when it has another version."""

    async def ids(self) -> list[str]: ...

    async def report(self, observer: str, data: bytes) -> None:
        """Show what an observer sees to the others, in place of its last report. It goes with the
        observer's process."""

    async def reports(self) -> dict[str, bytes]:
        """The reports of all observers that live, by observer."""

    async def close(self) -> None: ...


# ------------------------------------------------------------------ feeds


class Table(NamedTuple):
    """A wide-column table by name."""

    name: str


class Cell(msgspec.Struct, frozen=True, gc=False):
    """A struct, for its speed: a page of a feed is a hundred of them."""

    column: bytes
    value: bytes
    stamp: int


class WideColumnStore(Protocol):
    """Rows of sorted columns, each cell with a stamp (a time or a version, > 0).

    As in HBase: of two puts the one with the higher stamp shows (at equal stamps the later call);
    a delete at a stamp hides every put at that stamp or lower, before or after it in time. Whether
    a hiding delete still hides *later-arriving* older puts after a compaction is not promised.
    Writes of a call to one row are atomic; a call may write many rows.

    Rows and columns are any bytes but none at all (a row at most 32,767), stamps below 2**63;
    else ValueError. A table that was not created is StoreUnavailable.
    """

    async def read(
        self, table: Table, row: bytes, *, after: bytes | None = None, limit: int
    ) -> list[Cell]:
        """Visible cells in ascending order of column, those greater than `after`."""

    async def get(self, table: Table, row: bytes, columns: Sequence[bytes]) -> dict[bytes, Cell]:
        """The named cells that are visible."""

    async def put(
        self, table: Table, rows: Mapping[bytes, Mapping[bytes, bytes]], stamp: int
    ) -> None:
        """Write cells row → column → value, all with one stamp."""

    async def delete(self, table: Table, rows: Mapping[bytes, Sequence[bytes]], stamp: int) -> None:
        """Hide columns up to a stamp."""

    async def trim(self, table: Table, row: bytes, keep: int) -> None:
        """Keep the first `keep` visible columns of the row; the rest goes, and may stay hidden from
        later puts up to the stamp it had."""

    def scan(self, table: Table, *, start: bytes = b"") -> AsyncIterator[tuple[bytes, list[Cell]]]:
        """All rows from `start` on, in order, with their visible cells."""

    async def create(self, tables: Sequence[Table]) -> None:
        """Make the tables that do not exist."""

    async def tables(self) -> set[str]:
        """The names of the tables that exist."""

    async def ping(self) -> None: ...

    async def close(self) -> None: ...


class Sides(NamedTuple):
    """A feed store's two sides: a hot standby some hundred milliseconds behind its primary."""

    primary: WideColumnStore
    standby: WideColumnStore


class Stores(NamedTuple):
    """The stores of Pinway, as `datasources.factory` opens them."""

    shards: ShardStore
    object_cache: ObjectCache
    mapping_cache: MappingCache
    queue: JobQueue
    topology: FollowedTopology
    pools: Sides
    feeds: Sides
