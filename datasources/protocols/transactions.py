"""Transactions on one shard: what a write may read and change, and the answers that it saves."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from datasources.ids import Kind
from datasources.mappings import Edge, EdgeKey, ListHead, ListKey
from datasources.mappings import Mapping as MappingName
from datasources.protocols.events import PinEvent
from datasources.protocols.notifications import Notification
from datasources.protocols.outbox import OutboxRow
from datasources.protocols.reports import Case, Decision, Report
from datasources.protocols.visits import Visit

RESPACINGS_KEPT_MS = 7 * 24 * 3600 * 1000

RESPACINGS_KEPT = 1_000


class Answer(NamedTuple):
    """The saved answer of an earlier mutation with the same idempotency key."""

    # of the input; a different input with the same key is an error of the client
    fingerprint: bytes
    answer: bytes
    outbox_id: int | None  # the work after the commit, which may be finished


class Use(NamedTuple):
    """A part of a viewer's quota for one day: the subject (a small number for a kind of writes, or
    the id of a user or a pin), the amount, and how much of it a day may have."""

    subject: int
    amount: int
    most: int


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

    async def rows_of(self, key: ListKey, after_id: int, limit: int) -> list[Edge]:
        """Up to `limit` rows with higher to ids, in order of their to ids, active or not."""

    async def erase_edges(self, keys: Sequence[EdgeKey]) -> None:
        """Remove rows. An older write of a removed row would be applied again, so this is only for
        rows that no unfinished work can write."""

    async def erase(self, ids: Sequence[int]) -> None:
        """Remove objects."""

    async def erase_lists(self, from_ids: Sequence[int]) -> None:
        """Remove the heads and respacings of all lists of these objects. Their rows stay."""

    async def erase_visits(self, user_id: int) -> None:
        """Remove all visits of a user."""

    async def era(self, key: ListKey) -> int:
        """The number of respacings of an ordered list; 0 for other lists."""

    async def respaced(self, key: ListKey, moves: Sequence[tuple[int, int]]) -> int:
        """Begin the list's next era, and store which sequences changed: (old, new), both ascending,
        of rows whose order stays the same. Returns the era. The respacing is kept for
        RESPACINGS_KEPT_MS, as one of the list's last RESPACINGS_KEPT; older ones are removed now.
        """

    async def post(self, kind: str, payload: bytes, *, delay: int = 0) -> int:
        """Add an outbox row, which is due after `delay` ms. Returns its id on this shard."""

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

    async def use(self, viewer_id: int, day: int, uses: Sequence[Use]) -> None:
        """Count the uses at the commit, on a day (its first epoch ms). Then the commit raises
        Exhausted if a day would have more than its most of a subject, and writes nothing. Takes no
        round trip, and locks the counts only during the commit."""

    async def used(self, viewer_id: int, day: int, subjects: Sequence[int]) -> dict[int, int]:
        """The used amounts of the subjects on a day."""

    async def events_era(self, user_id: int) -> int:
        """How often the user's events were deleted by `delete_events`. Locks the user's events."""

    async def add_events(self, user_id: int, era: int, events: Sequence[PinEvent]) -> None:
        """Store the user's events that are not there yet, unless `delete_events` ended the era
        in which they were recorded."""

    async def delete_events(self, user_id: int) -> None:
        """Delete all events of the user, and begin the next era."""

    async def erase_events(self, user_id: int) -> None:
        """Remove all events of a user, and the era. Work of an earlier era would store its events
        again, so this is only for a user for whom no work is left."""

    async def notify(self, notification: Notification) -> bool:
        """Store a notification, or the end of one, if there is none like it with this version or a
        later one. Returns whether it was stored. It gets the user's next place; a notification that
        comes back keeps its place. If the user has NOTIFICATIONS_KEPT, the oldest one is removed.
        Locks the user's notifications."""

    async def mark_notifications(self, user_id: int, up_to: int | None) -> bool:
        """Mark the user's notifications as read up to a place (None: all). Returns whether that
        changed anything: marks are never taken back. Locks the user's notifications."""

    async def erase_notifications(self, user_id: int) -> None:
        """Remove all notifications of a user, and the mark. Places begin again, so this is only for
        a user for whom no work is left."""

    async def erase_acts(self, actor_id: int) -> None:
        """Remove the notifications of an actor's acts from this shard."""

    async def report(self, report: Report) -> bool:
        """Store a report, or change the reporter's earlier report of the subject. Returns whether
        that changed anything. A further reporter counts, and opens the case unless its subject was
        removed. If the subject has REPORTS_KEPT, the oldest one is removed. Locks the case."""

    async def report_case(self, subject_id: int) -> Case | None:
        """The case of a subject of this shard. Locks the case."""

    async def decide(self, decision: Decision) -> bool:
        """Store a decision, and close the case by it. Returns False if the subject has no case, or
        if the case is closed like this already. Locks the case."""

    async def erase_reports_by(self, reporter_id: int, limit: int) -> int:
        """Remove up to `limit` reports of a reporter from this shard. Returns their number. A case
        that is open without reports ends: its earlier decision holds again, or nothing is left of
        it."""

    async def erase_reports_of(self, subject_ids: Sequence[int]) -> None:
        """Remove the cases of subjects of this shard, with their reports and decisions."""

    async def visits(self, user_id: int, after_generation: int) -> list[Visit]:
        """The user's visits after a generation, oldest first. Locks the user's visits."""

    async def add_visit(self, visit: Visit) -> None:
        """Store a visit, in place of the user's oldest visit if there are VISITS_KEPT. Raises
        StoreConflict if its generation or its name is taken."""
