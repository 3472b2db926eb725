"""Records what a viewer did with pins, and deletes these records.

The transaction stores only the job (`event_tasks`), which checks the pins. So an answer takes no
longer for many pins, and tells nothing about any of them.
"""

from collections.abc import Sequence
from typing import NamedTuple

from datasources.clocks import now_ms
from datasources.errors import BadInput
from datasources.ids import Kind
from datasources.protocols import EventKind, ShardTx, Stores
from feed_engine.outbox.change import EventsRecorded, change
from feed_engine.transactions import access
from feed_engine.transactions.commit import Mutation, Outcome, Saved, mutate, nothing
from feed_engine.transactions.inputs import Events, Target

MOST = 100
"""Events of one call, at most."""


class Happened(NamedTuple):
    """An event that a client sends."""

    pin_id: int
    kind: EventKind


async def record_events(
    stores: Stores,
    viewer_id: int,
    events: Sequence[Happened],
    *,
    key: str | None = None,
    at: int | None = None,
) -> None:
    """Record events of pins, each once a day. Events of pins that the viewer can't see are ignored.
    Raises BadInput for no event or too many, NotFound for an id that can't be a pin's."""
    if not 1 <= len(events) <= MOST:
        raise BadInput(f"Send 1 to {MOST} events at once, not {len(events)}.", "events")
    for event in events:
        access.home(stores, Kind.PIN, event.pin_id)
    distinct = tuple((e.pin_id, int(e.kind)) for e in dict.fromkeys(events))
    shard, now = access.home(stores, Kind.USER, viewer_id), now_ms() if at is None else at
    mutation = Mutation("recordEvents", shard, viewer_id, key, Events(events=distinct))

    async def work(tx: ShardTx, _: None) -> Outcome[None]:
        task = EventsRecorded(viewer_id, distinct, now, await tx.events_era(viewer_id))
        return Outcome(None, Saved(), change(tasks=[task]), extra=len(distinct) - 1)

    await mutate(stores, mutation, nothing, work, _again)


async def delete_events(stores: Stores, viewer_id: int, *, key: str | None = None) -> None:
    """Delete all events of the viewer, also events whose job has not run yet."""
    shard = access.home(stores, Kind.USER, viewer_id)
    mutation = Mutation(
        *("deleteEvents", shard, viewer_id, key, Target(id=viewer_id)), takes_back=True
    )

    async def work(tx: ShardTx, _: None) -> Outcome[None]:
        await tx.delete_events(viewer_id)
        return Outcome(None, Saved(), change())

    await mutate(stores, mutation, nothing, work, _again)


async def _again(saved: Saved) -> None:
    """Both answers are empty."""
