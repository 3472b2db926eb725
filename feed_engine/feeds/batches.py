"""Plans for large fan-outs: the followers of a cause are split into batches, with a job for each.

A fan-out to a million followers would keep one worker busy for a minute, and the pins after it
waiting. Its job only plans: it walks through the followers and posts an outbox row for each batch.
Many workers run the batches, with lower priority than all jobs that somebody waits for. A batch is
a range of positions in the list of followers. A user who follows later gets the pin from the
follow's own job.
"""

import msgspec

from datasources.ids import shard_of
from datasources.mappings import ListKey, PageRequest, Position
from datasources.protocols import BULK, Job, ShardTx, Stores
from feed_engine.outbox.change import KIND, FanOutBatch, change, encode

BATCH = 10_000
"""Followers in a batch: one or two seconds of work. Causes with more followers are planned."""
POSTED = 50
"""Batches that are posted in one transaction."""
PLANNED = "planned"
"""The name of the place, among the places of a fan-out's lanes, that lists the planned causes."""

_IDS = msgspec.json.Decoder(list[int])


async def large(stores: Stores, keys: list[ListKey], batch: int) -> list[ListKey]:
    """The lists of followers that need more than one batch."""
    heads = await stores.shards.mappings.heads(keys)
    return [key for key in keys if heads[key].size > batch]


async def post_batches(
    stores: Stores, pin_id: int, key: ListKey, at: int, batch: int = BATCH
) -> None:
    """Post an outbox row, and queue a job, for each batch of a list. It may be repeated."""
    after: Position | None = None
    spans: list[tuple[Position | None, Position | None]] = []
    while True:
        [rows] = await stores.shards.mappings.pages([PageRequest(key, batch, after)])
        whole = len(rows) == batch
        until = Position(rows[-1].sequence, rows[-1].to_id) if whole else None
        spans.append((after, until))
        if len(spans) == POSTED or not whole:
            tasks = [
                FanOutBatch(pin_id, key.from_id, at, start=_text(start), end=_text(end))
                for start, end in spans
            ]
            await _post(stores, shard_of(pin_id), tasks)
            spans = []
        if not whole:
            return
        after = until


async def _post(stores: Stores, shard: int, tasks: list[FanOutBatch]) -> None:
    async def run(tx: ShardTx) -> list[int]:
        return [await tx.post(KIND, encode(change(tasks=[task]))) for task in tasks]

    ids = await stores.shards.objects.transact(shard, run)
    await stores.queue.enqueue([Job(shard, id) for id in ids], priority=BULK)


def planned(place: str) -> set[int]:
    """The ids of the causes in a plan's place."""
    return set(_IDS.decode(place)) if place else set()


def place_of(causes: list[int]) -> str:
    return msgspec.json.encode(causes).decode()


def _text(position: Position | None) -> str:
    return f"{position.sequence}:{position.to_id}" if position else ""


def position(text: str) -> Position | None:
    """The position that a task names; None for an end of the list."""
    if not text:
        return None
    sequence, _, to_id = text.partition(":")
    return Position(int(sequence), int(to_id))
