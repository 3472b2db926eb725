"""Invites users to boards, answers invitations, and ends memberships."""

from collections.abc import Awaitable, Callable

from datasources.ids import Kind
from datasources.records import Board
from feed_engine import writes
from resolvers import visibility
from resolvers.context import Context, object_id
from resolvers.mutations import inputs, payloads
from resolvers.payloads import mutation


@mutation
async def invite_collaborator(
    context: Context, input: inputs.Collaborator
) -> payloads.CollaboratorPayload:
    return await _of_owner(context, input, writes.invite_collaborator)


@mutation
async def remove_collaborator(
    context: Context, input: inputs.Collaborator
) -> payloads.CollaboratorPayload:
    return await _of_owner(context, input, writes.remove_collaborator)


@mutation
async def accept_invitation(
    context: Context, input: inputs.Membership
) -> payloads.MembershipPayload:
    return await _of_viewer(context, input, writes.accept_invitation)


@mutation
async def decline_invitation(
    context: Context, input: inputs.Membership
) -> payloads.MembershipPayload:
    return await _of_viewer(context, input, writes.decline_invitation)


@mutation
async def leave_board(context: Context, input: inputs.Membership) -> payloads.MembershipPayload:
    return await _of_viewer(context, input, writes.leave_board)


async def _of_owner(
    context: Context, input: inputs.Collaborator, write: Callable[..., Awaitable[Board]]
) -> payloads.CollaboratorPayload:
    """Write what a user is on a board of the viewer."""
    viewer_id = context.require_viewer()
    board_id = object_id(input.board_id, Kind.BOARD, argument="boardId")
    user_id = object_id(input.user_id, Kind.USER, argument="userId")
    await write(context.stores, viewer_id, board_id, user_id, key=input.idempotency_key)
    context.forget()
    return payloads.CollaboratorPayload(
        board=await visibility.board(context, board_id),
        user=await visibility.user(context, user_id),
    )


async def _of_viewer(
    context: Context, input: inputs.Membership, write: Callable[..., Awaitable[Board]]
) -> payloads.MembershipPayload:
    """Write what the viewer is on a board."""
    viewer_id = context.require_viewer()
    board_id = object_id(input.board_id, Kind.BOARD, argument="boardId")
    await write(context.stores, viewer_id, board_id, key=input.idempotency_key)
    context.forget()
    return payloads.MembershipPayload(
        board=await visibility.board(context, board_id),
        viewer=await context.loaders.users.load(viewer_id),
    )
