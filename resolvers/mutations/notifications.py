"""Marks the viewer's notifications as read."""

from feed_engine import writes
from resolvers.context import Context
from resolvers.mutations import inputs, payloads
from resolvers.notifications import place_of, unread
from resolvers.payloads import mutation

_COUNT = "unreadNotificationCount"


@mutation
async def mark_notifications_read(
    context: Context, input: inputs.MarkNotificationsRead
) -> payloads.MarkNotificationsReadPayload:
    viewer_id = context.require_viewer()
    up_to = None if input.up_to is None else place_of(context, input.up_to, "upTo")
    await writes.mark_notifications_read(
        context.stores, viewer_id, up_to, key=input.idempotency_key
    )
    context.forget()
    left = len(await unread(context)) if _COUNT in context.asked else None
    return payloads.MarkNotificationsReadPayload(unread_notification_count=left)
