"""Visits of the home feed. Each visit remembers its chunk of new pins, under a generation.

A visit is stored on the user's shard before the answer is sent; a job then saves its chunk to the
materialized feed. A visit is marked as saved only when *both* sides have its chunk. So all that a
delayed or lost side may lack is still on the shard, marked as unsaved. A page that combines the
unsaved visits from the shard with saved visits from either side is the same whichever side answers.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import NamedTuple
from uuid import uuid4

import msgspec

from datasources.errors import BadInput, StoreConflict, StoreCorrupt, StoreError
from datasources.ids import shard_of
from datasources.protocols import URGENT, Job, ShardTx, Stores, Visit
from feed_engine.feeds.rows import Reason
from feed_engine.outbox import change
from feed_engine.outbox.completion import keep
from feed_engine.transactions import quotas

RECENT = 8  # saved visits that each page reads; unsaved visits are always read
ENQUEUE_WITHIN = 0.1  # seconds; the relay queues jobs that a slow queue didn't take


class Span(msgspec.Struct, frozen=True, array_like=True):
    """A part of a pool that a viewer shares with other viewers: all pins in the columns from
    `first` to `last` were shown to the viewer, or can't be. `ended`: no pins followed."""

    first: bytes
    last: bytes
    ended: bool = False


class Features(NamedTuple):
    """The parts of a pin's score before the weights. `in_pool`: the score in its pool, less the
    visit's time / HALF_LIFE. `affinity` and `likes`: log2(1 + the affinity or the likes)."""

    in_pool: float
    affinity: float = 0.0
    likes: float = 0.0
    preferences: float = 0.0


class Chunk(msgspec.Struct, frozen=True, omit_defaults=True):
    """The new pins of a visit.

    `pins`: (pin id, reason), in order. `pools`: the name of the side whose pools answered; None if
    neither did. `owed`: pins that the next visit gets in addition, because this one could not
    choose enough. `since`: epoch ms of the pools' newest change, if later changes may be missing.
    `lacks`: whether an awaited write is missing. `roots`: for each repin, the first pin of its
    chain. `causes`: for each pin, (followed id, pin id) for what the viewer followed that brought
    the pin or another pin of the same picture. `sweep`: whether the pools hold many useless pins.
    `cells`: source → the columns of the chunk's pins in the user's own pools; None: unknown.
    `spans`: id in a shared pool's key → the part of the pool that the viewer has passed.
    `odds`: for each explored pin, the probability with which it was drawn.
    `features`: for each pin, what its place depended on, from which weights are learned.
    """

    pins: tuple[tuple[int, Reason], ...] = ()
    pools: str | None = None
    owed: int = 0
    since: int | None = None
    lacks: bool = False
    roots: dict[int, int] = {}
    causes: dict[int, tuple[tuple[int, int], ...]] = {}
    sweep: bool = False
    cells: dict[int, tuple[bytes, ...]] | None = None
    spans: dict[int, Span] = {}
    odds: dict[int, float] = {}
    features: dict[int, tuple[float, float, float, float]] = {}

    @property
    def shown(self) -> set[int]:
        """The pins and the roots of repins: each picture is shown once."""
        return {pin_id for pin_id, _ in self.pins}.union(self.roots.values())


_CHUNK = msgspec.json.Decoder(Chunk)


class Remembered(NamedTuple):
    """A visit with its chunk decoded."""

    generation: int
    visit: str
    chunk: Chunk
    saved: bool
    created: int


Choose = Callable[[list[Remembered]], Awaitable[Chunk]]
"""Chooses a chunk that shares no pin with the given visits (the known visits, newest first)."""


def new_name() -> str:
    return uuid4().hex


def check_name(visit: str, field: str = "visitId") -> str:
    """A client's name for a visit: 1 to 64 printable ASCII characters. Raises BadInput, with the
    field that has the name."""
    if not (1 <= len(visit) <= 64 and visit.isascii() and visit.isprintable()):
        raise BadInput("a visit is named by 1 to 64 printable ASCII characters", field)
    return visit


def remembered(visit: Visit) -> Remembered:
    """The visit, with its chunk decoded. Raises StoreCorrupt."""
    try:
        chunk = _CHUNK.decode(visit.chunk)
    except msgspec.MsgspecError as error:
        raise StoreCorrupt(f"visit {visit.generation} of user {visit.user_id}: {error}") from error
    return Remembered(visit.generation, visit.visit, chunk, visit.saved, visit.created)


async def recent(stores: Stores, user_id: int, named: str | None = None) -> list[Remembered]:
    """The newest visits, all unsaved visits, and the visit with the name `named`, newest first."""
    told = await stores.shards.visits.recent(user_id, RECENT, named=named)
    return [remembered(visit) for visit in told]


async def begin(
    stores: Stores, user_id: int, visit: str, known: list[Remembered], now: int, choose: Choose
) -> tuple[Remembered, list[Remembered]]:
    """Store a new visit with the chunk that `choose` returns, and post the job that saves it.
    Returns the visit, and all known visits, newest first, including this visit and visits that
    began in the meantime.

    The transaction finds visits that began at the same time elsewhere. A visit with the same name
    is returned as the answer. If a visit with another name began, the chunk is chosen again without
    that visit's pins. Raises Exhausted if the user began as many visits as a day allows: the feed
    then shows what it showed before.
    """
    shard = shard_of(user_id)
    while True:
        chunk = await choose(known)
        newest = known[0].generation if known else 0

        async def work(
            tx: ShardTx, chunk: Chunk = chunk, newest: int = newest
        ) -> tuple[list[Remembered], Remembered | None, int]:
            meanwhile = [remembered(v) for v in await tx.visits(user_id, newest)]
            if meanwhile:
                return meanwhile, None, 0
            this = Visit(user_id, newest + 1, visit, msgspec.json.encode(chunk), False, now)
            if uses := quotas.visit(stores):
                await tx.use(user_id, quotas.today(now), uses)
            await tx.add_visit(this)
            task = change.VisitShown(user_id, newest + 1)
            payload = change.encode(change.change(tasks=[task]))
            return [], remembered(this), await tx.post(change.KIND, payload)

        try:
            meanwhile, begun, outbox_id = await stores.shards.objects.transact(shard, work)
        except StoreConflict:
            # Another request has just taken the name or the generation: read that visit.
            later = await recent(stores, user_id)
            if [v.generation for v in later[:1]] == [v.generation for v in known[:1]]:
                raise
            meanwhile, begun, outbox_id = [v for v in later if v.generation > newest], None, 0
        by_generation = {v.generation: v for v in (*known, *meanwhile)}
        known = [by_generation[generation] for generation in sorted(by_generation, reverse=True)]
        if begun is not None:
            keep(_enqueue(stores, Job(shard, outbox_id)))  # the answer doesn't wait for it
            return begun, [begun, *known]
        if twin := next((v for v in known if v.visit == visit), None):
            return twin, known


async def _enqueue(stores: Stores, job: Job) -> None:
    with suppress(StoreError, TimeoutError):
        async with asyncio.timeout(ENQUEUE_WITHIN):
            await stores.queue.enqueue([job], priority=URGENT)
