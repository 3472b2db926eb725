"""Visits of the home feed: each remembers the chunk of new pins it was shown, under a generation.

A visit is remembered on the user's shard before the answer leaves; a job then saves its chunk to
the materialized feed. It is marked as saved only when *both* sides have it: so what a lagging or
a lost side may lack is exactly what the shard still tells as not saved, and a page that takes the
one from the shard and the rest from either side is the same whichever side answers.
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

RECENT = 8  # saved visits read with each page; unsaved visits are always read
ENQUEUE_WITHIN = 0.1  # seconds; the relay finds what a slow queue didn't take


class Chunk(msgspec.Struct, frozen=True, omit_defaults=True):
    """The pins that a visit was shown: (pin id, reason) in order; which side's pools answered
    (None: no answer); how many pins are owed to the next visit because of that; epoch ms of the
    pools' newest change, where they may lack later changes; whether a write that the visit waited
    for is missing; for repins among the pins, the pin that begins the chain of repins; and what
    the viewer followed that brought a pin, or another pin of the same picture: (followed id, that
    pin's id)."""

    pins: tuple[tuple[int, Reason], ...] = ()
    pools: str | None = None
    owed: int = 0
    since: int | None = None
    lacks: bool = False
    roots: dict[int, int] = {}
    causes: dict[int, tuple[tuple[int, int], ...]] = {}

    @property
    def shown(self) -> set[int]:
        """The pins, and the pins that they are repins of: each picture is shown once."""
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
"""Chooses a chunk that shares no pin with these visits (the known ones, newest first)."""


def new_name() -> str:
    return uuid4().hex


def check_name(visit: str) -> str:
    """A client's name for a visit: 1 to 64 printable ASCII characters. Raises BadInput."""
    if not (1 <= len(visit) <= 64 and visit.isascii() and visit.isprintable()):
        raise BadInput("a visit is named by 1 to 64 printable ASCII characters", "visit")
    return visit


def remembered(visit: Visit) -> Remembered:
    """Raises StoreCorrupt."""
    try:
        chunk = _CHUNK.decode(visit.chunk)
    except msgspec.MsgspecError as error:
        raise StoreCorrupt(f"visit {visit.generation} of user {visit.user_id}: {error}") from error
    return Remembered(visit.generation, visit.visit, chunk, visit.saved, visit.created)


async def recent(stores: Stores, user_id: int, named: str | None = None) -> list[Remembered]:
    """The newest visits, every one not saved, and the one `named`, newest first."""
    told = await stores.shards.visits.recent(user_id, RECENT, named=named)
    return [remembered(visit) for visit in told]


async def begin(
    stores: Stores, user_id: int, visit: str, known: list[Remembered], now: int, choose: Choose
) -> tuple[Remembered, list[Remembered]]:
    """Remember a new visit with the chunk chosen for it, and post the job that saves it. Return the
    visit, and all known visits, newest first: this one, and visits that began meanwhile, included.

    Visits begun at the same time elsewhere are seen in the transaction: one of the same name is
    the answer, and of another the pins are not shown twice, so the chunk is chosen again.
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
            keep(_enqueue(stores, Job(shard, outbox_id)))  # nobody waits for the queue
            return begun, [begun, *known]
        if twin := next((v for v in known if v.visit == visit), None):
            return twin, known


async def _enqueue(stores: Stores, job: Job) -> None:
    with suppress(StoreError, TimeoutError):
        async with asyncio.timeout(ENQUEUE_WITHIN):
            await stores.queue.enqueue([job], priority=URGENT)
