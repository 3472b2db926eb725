"""One write: a transaction on one shard, its completion, and the answer kept under its key."""

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import msgspec

from datasources.errors import (
    BadInput,
    Exhausted,
    RequestError,
    StaleTopology,
    StoreConflict,
    StoreCorrupt,
)
from datasources.ids import Kind, shard_of
from datasources.mappings import Edge, ListKey, Mapping
from datasources.protocols import Answer, OutboxRow, ShardTx, Stores
from feed_engine.live.events import Event
from feed_engine.outbox.change import KIND, AnyTask, Change, change, encode
from feed_engine.outbox.completion import acknowledge, change_of
from feed_engine.transactions import access
from feed_engine.transactions.inputs import Input, Target
from feed_engine.transactions.quotas import Quota
from feed_engine.transactions.validation import idempotency_key

ATTEMPTS = 5  # of a transaction that lost to another transaction with the same key

P = TypeVar("P")
R = TypeVar("R")


class Saved(msgspec.Struct, frozen=True, omit_defaults=True):
    """The stored form of an answer: ids and rows. To repeat the answer, the objects are read
    again."""

    id: int = 0
    row: tuple[int, int, str, int, bool] | None = None
    era: int = 0
    version: int = 0
    above_id: int | None = None
    below_id: int | None = None
    from_id: int = 0
    from_version: int = 0

    def edge(self) -> Edge:
        """The row that was stored. Raises StoreCorrupt if there is none."""
        if self.row is None:
            raise StoreCorrupt("the answer saved under an idempotency key has no row")
        from_id, to_id, sequence, version, active = self.row
        return Edge(from_id, to_id, int(sequence), version, active, self.era)


def row_of(edge: Edge) -> tuple[int, int, str, int, bool]:
    """An edge in the form of `Saved.row`. The sequence is text, because JSON numbers don't have 38
    digits."""
    return edge.from_id, edge.to_id, str(edge.sequence), edge.version, edge.active


class Outdated(Exception):
    """The result of `prepare` is out of date: call `prepare` again."""


@dataclass(frozen=True, slots=True)
class Outcome(Generic[R]):
    """The outcome of a transaction. If not `durable`, the transaction wrote nothing, and `change`
    only completes the work of an earlier write.

    For quotas: `extra` is how many writes it counts as in addition; it is directed at a user
    (`toward`; 0: nobody), and comments under a pin (`under`)."""

    result: R
    saved: Saved
    change: Change
    durable: bool = True
    extra: int = 0
    toward: int = 0
    under: int = 0


class Mutation(NamedTuple):
    """The writer, the shard of the commit, and the idempotency key.

    A mutation that `takes_back` ends what an earlier write began, or marks what others wrote. No
    quota refuses it: otherwise strangers whose comments an owner deletes would use up the owner's
    day. The earlier writes bound its number.
    """

    name: str
    shard: int
    viewer_id: int
    key: str | None
    given: Input
    takes_back: bool = False

    def fingerprint(self) -> bytes:
        return hashlib.sha256(self.name.encode() + b"\n" + msgspec.json.encode(self.given)).digest()

    def scoped_key(self) -> str | None:
        """The stored form of the key: short, and the same in every collation."""
        return hashlib.sha256(self.key.encode()).hexdigest() if self.key is not None else None


def of_viewer(
    stores: Stores,
    name: str,
    viewer_id: int,
    kind: Kind,
    id: int,
    key: str | None,
    field: str | None = None,
) -> Mutation:
    """A mutation of the viewer's own rows about an object, whose id is the input's `field`. Raises
    NotFound for an id of another kind, or of a shard that is not open."""
    access.home(stores, kind, id, field)
    shard = access.home(stores, Kind.USER, viewer_id)
    return Mutation(name, shard, viewer_id, key, Target(id=id))


class Rows:
    """The mapping rows of a write. Rows of its own shard are written in the transaction; rows of
    other shards are written after it."""

    def __init__(self, tx: ShardTx) -> None:
        self._tx = tx
        self._remote: list[tuple[Mapping, Edge]] = []
        self._lists: list[ListKey] = []

    async def put(self, mapping: Mapping, edge: Edge) -> None:
        if shard_of(edge.from_id) != self._tx.shard:
            self._remote.append((mapping, edge))
            return
        await self._tx.put_edge(mapping, edge)
        self._lists.append(ListKey(mapping, edge.from_id))

    def change(
        self,
        *,
        objects: Sequence[int] = (),
        tasks: Sequence[AnyTask] = (),
        events: Sequence[Event] = (),
    ) -> Change:
        """The work after the transaction."""
        return change(
            edges=self._remote,
            lists=self._lists,
            objects=list(objects),
            tasks=list(tasks),
            events=events,
        )


async def nothing() -> None:
    """A `prepare` for writes that read nothing before their transaction."""


async def mutate(
    stores: Stores,
    mutation: Mutation,
    prepare: Callable[[], Awaitable[P]],
    work: Callable[[ShardTx, P], Awaitable[Outcome[R]]],
    recall: Callable[[Saved], Awaitable[R]],
) -> R:
    """Commit `work`, complete it, and return its answer. If the key already has an answer, only
    unfinished work is done, and `recall` repeats the answer.

    `prepare` reads other shards. Raises RequestError for errors that the client can correct
    (QuotaExceeded if the viewer has written enough today), and Unfinished when the write is kept
    but can't be completed yet.
    """
    idempotency_key(mutation.key)
    quota = Quota(
        stores,
        mutation.name,
        mutation.shard,
        mutation.viewer_id,
        takes_back=mutation.takes_back,
    )

    async def run(tx: ShardTx, prepared: P) -> tuple[Answer | None, Outcome[R] | None, int | None]:
        if (saved := await _answered(tx, mutation)) is not None:
            return saved, None, None
        outcome = await work(tx, prepared)
        key, outbox_id = mutation.scoped_key(), None
        stored = outcome.durable or key is not None  # a kept answer may still have unfinished work
        if amount := stored + outcome.extra:
            await quota.use(
                tx,
                amount,
                changes=outcome.durable,
                toward=outcome.toward,
                under=outcome.under,
            )
        if stored:
            outbox_id = await tx.post(KIND, encode(outcome.change))
        if key is not None:
            answer = Answer(mutation.fingerprint(), msgspec.json.encode(outcome.saved), outbox_id)
            await tx.save_answer(mutation.viewer_id, key, answer)
        return None, outcome, outbox_id

    async def attempt() -> tuple[Answer | None, Outcome[R] | None, int | None]:
        quota.reserve()
        try:
            prepared = await prepare()
            await quota.reserved()
            try:
                found = await _transact(stores, mutation, lambda tx: run(tx, prepared))
            except Exhausted:
                raise await quota.exceeded() from None
        except (RequestError, Outdated):
            await quota.give_back()
            raise
        if found[2] is None:  # nothing was written
            await quota.give_back()
        return found

    try:
        saved, outcome, outbox_id = await _while_outdated(attempt)
    except RequestError as error:
        # A write that was answered keeps its answer even if it would be refused now, because of
        # later writes, or because another request with this key has just done the write.
        saved, outcome, outbox_id = await _find(stores, mutation), None, None
        if saved is None:
            if (absent := await access.unseen(stores, mutation.viewer_id, error)) is not None:
                raise absent from None
            raise
    if saved is not None:
        return await _repeat(stores, mutation, saved, recall)
    assert outcome is not None
    row = None
    if outbox_id is not None:
        row = OutboxRow(mutation.shard, outbox_id, KIND, b"", None, 0)
    await acknowledge(stores, row, outcome.change)
    return outcome.result


async def commit(
    stores: Stores, shard: int, work: Callable[[ShardTx], Awaitable[Change | None]]
) -> None:
    """Commit and complete a write that has no answer (a part of a job). `work` returns None if it
    wrote nothing."""

    async def run(tx: ShardTx) -> tuple[int, Change] | None:
        if (following := await work(tx)) is None:
            return None
        return await tx.post(KIND, encode(following)), following

    if (posted := await stores.shards.objects.transact(shard, run)) is not None:
        outbox_id, following = posted
        await acknowledge(stores, OutboxRow(shard, outbox_id, KIND, b"", None, 0), following)


async def _while_outdated(attempt: Callable[[], Awaitable[R]]) -> R:
    for _ in range(ATTEMPTS):
        try:
            return await attempt()
        except Outdated:
            continue
    raise StoreConflict("other writes kept changing these objects at the same time: try again")


async def _transact(
    stores: Stores, mutation: Mutation, run: Callable[[ShardTx], Awaitable[R]]
) -> R:
    # If another request with this key saves its answer first, that answer is found.
    for _ in range(0 if mutation.key is None else ATTEMPTS - 1):
        try:
            return await stores.shards.objects.transact(mutation.shard, run)
        except StaleTopology:
            raise
        except StoreConflict:
            continue
    return await stores.shards.objects.transact(mutation.shard, run)


async def _answered(tx: ShardTx, mutation: Mutation) -> Answer | None:
    if (key := mutation.scoped_key()) is None:
        return None
    saved = await tx.answered(mutation.viewer_id, key)
    if saved is not None and saved.fingerprint != mutation.fingerprint():
        raise BadInput(
            "This idempotencyKey was used for another input: use a new key for a new change, and "
            "the same input with the same key",
            "idempotencyKey",
        )
    return saved


async def _find(stores: Stores, mutation: Mutation) -> Answer | None:
    if mutation.key is None:
        return None
    return await stores.shards.objects.transact(mutation.shard, lambda tx: _answered(tx, mutation))


async def _repeat(
    stores: Stores,
    mutation: Mutation,
    saved: Answer,
    recall: Callable[[Saved], Awaitable[R]],
) -> R:
    if saved.outbox_id is not None:
        row = await stores.shards.outbox.load(mutation.shard, saved.outbox_id)
        if row is not None:
            await acknowledge(stores, row, change_of(row))
    try:
        answer = msgspec.json.decode(saved.answer, type=Saved)
    except msgspec.MsgspecError as error:
        raise StoreCorrupt(f"the answer saved under an idempotency key: {error}") from error
    return await recall(answer)
