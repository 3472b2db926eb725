"""The job after `recordEvents`: stores the events of the pins that the viewer may see."""

from datasources.ids import shard_of
from datasources.protocols import EventKind, PinEvent, ShardTx, Stores
from feed_engine.outbox.change import Advance, EventsRecorded
from feed_engine.times import DAY
from feed_engine.transactions import access


async def events_recorded(
    stores: Stores, task: EventsRecorded, cursor: bytes | None, advance: Advance
) -> None:
    """Store the events. Running it again stores nothing twice, and nothing that the viewer has
    deleted since."""
    viewer_id, day = task.viewer_id, task.at // DAY * DAY
    pins = await access.find_pins(stores, viewer_id, list({pin_id for pin_id, _ in task.events}))
    events = [
        PinEvent(viewer_id, day, pin_id, EventKind(kind), task.at)
        for pin_id, kind in task.events
        if pin_id in pins
    ]

    async def work(tx: ShardTx) -> None:
        await tx.add_events(viewer_id, task.era, events)

    await stores.shards.objects.transact(shard_of(viewer_id), work)
