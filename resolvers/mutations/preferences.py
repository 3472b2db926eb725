"""Hides pins in the viewer's home feed, says of what the viewer wants to see less or more, and
mutes users."""

from collections.abc import Awaitable
from typing import Protocol

from datasources.ids import Kind
from datasources.protocols import Stores
from datasources.records import Pin, User
from feed_engine import writes
from resolvers import nodes, visibility
from resolvers.context import ID, Context, object_id
from resolvers.mutations import inputs, payloads
from resolvers.payloads import mutation


class Write(Protocol):
    """A write of one of the viewer's preferences. Returns the id that it is about."""

    def __call__(
        self, stores: Stores, viewer_id: int, id: int, /, *, key: str | None
    ) -> Awaitable[int]: ...


@mutation
async def hide_pin(context: Context, input: inputs.HidePin) -> payloads.HidePinPayload:
    pin = await _hidden(context, writes.hide_pin, input)
    return payloads.HidePinPayload(pin=pin, hidden_pin_id=input.pin_id)


@mutation
async def unhide_pin(context: Context, input: inputs.HidePin) -> payloads.HidePinPayload:
    pin = await _hidden(context, writes.unhide_pin, input)
    return payloads.HidePinPayload(pin=pin, unhidden_pin_id=input.pin_id)


@mutation
async def see_less(
    context: Context, input: inputs.FeedPreference
) -> payloads.FeedPreferencePayload:
    return await _tuned(context, writes.see_less, input, "LESS")


@mutation
async def see_more(
    context: Context, input: inputs.FeedPreference
) -> payloads.FeedPreferencePayload:
    return await _tuned(context, writes.see_more, input, "MORE")


@mutation
async def see_as_usual(
    context: Context, input: inputs.FeedPreference
) -> payloads.FeedPreferencePayload:
    return await _tuned(context, writes.see_as_usual, input, "USUAL")


@mutation
async def mute_user(context: Context, input: inputs.MuteUser) -> payloads.MuteUserPayload:
    user = await _muted(context, writes.mute_user, input)
    return payloads.MuteUserPayload(user=user, muted_user_id=input.user_id)


@mutation
async def unmute_user(context: Context, input: inputs.MuteUser) -> payloads.MuteUserPayload:
    user = await _muted(context, writes.unmute_user, input)
    return payloads.MuteUserPayload(user=user, unmuted_user_id=input.user_id)


async def _muted(context: Context, write: Write, input: inputs.MuteUser) -> User | None:
    viewer_id = context.require_viewer()
    id = object_id(input.user_id, Kind.USER, argument="userId")
    await write(context.stores, viewer_id, id, key=input.idempotency_key)
    context.forget()
    return await visibility.user(context, id)


async def _hidden(context: Context, write: Write, input: inputs.HidePin) -> Pin | None:
    viewer_id = context.require_viewer()
    id = object_id(input.pin_id, Kind.PIN, argument="pinId")
    await write(context.stores, viewer_id, id, key=input.idempotency_key)
    context.forget()
    pin = await nodes.node(context, id=ID(str(id)))
    return pin if isinstance(pin, Pin) else None


async def _tuned(
    context: Context, write: Write, input: inputs.FeedPreference, preference: str
) -> payloads.FeedPreferencePayload:
    viewer_id = context.require_viewer()
    id = object_id(input.id)
    await write(context.stores, viewer_id, id, key=input.idempotency_key)
    context.forget()
    target = await nodes.node(context, id=ID(str(id)))
    return payloads.FeedPreferencePayload(target=target, preference=preference)
