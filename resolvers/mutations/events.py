"""Records what the viewer did with pins, and deletes these records."""

from datasources.ids import Kind
from datasources.protocols import EventKind
from feed_engine import writes
from feed_engine.writes.events import Happened
from resolvers.context import Context, object_id
from resolvers.mutations import inputs, payloads
from resolvers.payloads import mutation


@mutation
async def record_events(
    context: Context, input: inputs.RecordEvents
) -> payloads.RecordEventsPayload:
    viewer_id = context.require_viewer()
    events = [
        Happened(object_id(event.pin_id, Kind.PIN, argument="events"), EventKind[event.kind.name])
        for event in input.events
    ]
    await writes.record_events(context.stores, viewer_id, events, key=input.idempotency_key)
    return payloads.RecordEventsPayload()


@mutation
async def delete_events(
    context: Context, input: inputs.DeleteEvents
) -> payloads.DeleteEventsPayload:
    viewer_id = context.require_viewer()
    await writes.delete_events(context.stores, viewer_id, key=input.idempotency_key)
    return payloads.DeleteEventsPayload()
