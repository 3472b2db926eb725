"""Blocks and unblocks users."""

from datasources.ids import Kind
from datasources.mappings import Mapping
from feed_engine import writes
from resolvers import visibility
from resolvers.context import Context, object_id
from resolvers.mutations import inputs, payloads
from resolvers.payloads import edge, mutation


@mutation
async def block_user(context: Context, input: inputs.BlockUser) -> payloads.BlockUserPayload:
    viewer_id = context.require_viewer()
    id = object_id(input.user_id, Kind.USER, argument="userId")
    row = await writes.block_user(context.stores, viewer_id, id, key=input.idempotency_key)
    context.forget()
    user = await context.loaders.users.load(id)
    if user is None or not row.active:  # the account is gone
        return payloads.BlockUserPayload()
    entry = edge(context, Mapping.USER_BLOCKS_USERS, row, user)
    return payloads.BlockUserPayload(blocked_user=user, blocked_user_edge=entry)


@mutation
async def unblock_user(context: Context, input: inputs.BlockUser) -> payloads.BlockUserPayload:
    viewer_id = context.require_viewer()
    id = object_id(input.user_id, Kind.USER, argument="userId")
    await writes.unblock_user(context.stores, viewer_id, id, key=input.idempotency_key)
    context.forget()
    user = await visibility.user(context, id)
    return payloads.BlockUserPayload(unblocked_user_id=input.user_id, user=user)
