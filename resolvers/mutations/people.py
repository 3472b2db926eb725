"""Signing up, and following users, boards and interests."""

from datetime import UTC, datetime, timedelta
from typing import Any

from datasources.ids import Kind
from feed_engine.seen import token_of
from feed_engine.writes import follows, users
from feed_engine.writes.inputs import NewUser
from resolvers import nodes
from resolvers.context import ID, Context, object_id
from resolvers.payloads import mutation

TOKEN_FOR = timedelta(minutes=15)
"""How long a sign-up that is sent again gets a token: long enough for a lost answer, and too short
for somebody who learns or guesses an old key."""


@mutation("user", "token")
async def sign_up(context: Context, input: Any) -> dict[str, Any]:
    draft = NewUser(username=input.username, full_name=input.full_name, about=input.about)
    user = await users.sign_up(context.stores, draft, key=input.idempotency_key)
    is_new = datetime.now(UTC) - nodes.created_at(context, user) < TOKEN_FOR
    return {"user": user, "token": context.issue_token(user.id) if is_new else None}


async def _follow(context: Context, input: Any, kind: Kind, on: bool) -> dict[str, Any]:
    name = kind.name.lower()
    viewer_id = context.require_viewer()
    target_id = object_id(getattr(input, f"{name}_id"), kind, argument=f"{name}Id")
    write = follows.follow if on else follows.unfollow
    edge = await write(context.stores, viewer_id, target_id, key=input.idempotency_key)
    context.loaders.reset()
    return {
        # What was followed may have become secret since.
        name: await nodes.node(context, id=ID(str(target_id))),
        "viewer": await context.loaders.users.load(viewer_id),
        "feed_token": token_of(edge),
    }


@mutation("user", "viewer", "feed_token")
async def follow_user(context: Context, input: Any) -> dict[str, Any]:
    return await _follow(context, input, Kind.USER, True)


@mutation("user", "viewer", "feed_token")
async def unfollow_user(context: Context, input: Any) -> dict[str, Any]:
    return await _follow(context, input, Kind.USER, False)


@mutation("board", "viewer", "feed_token")
async def follow_board(context: Context, input: Any) -> dict[str, Any]:
    return await _follow(context, input, Kind.BOARD, True)


@mutation("board", "viewer", "feed_token")
async def unfollow_board(context: Context, input: Any) -> dict[str, Any]:
    return await _follow(context, input, Kind.BOARD, False)


@mutation("interest", "viewer", "feed_token")
async def follow_interest(context: Context, input: Any) -> dict[str, Any]:
    return await _follow(context, input, Kind.INTEREST, True)


@mutation("interest", "viewer", "feed_token")
async def unfollow_interest(context: Context, input: Any) -> dict[str, Any]:
    return await _follow(context, input, Kind.INTEREST, False)
