"""Likes and follows: the viewer sets an edge to something, and takes it back; one shape for all.

A payload holds both ends as they are now, and the edge's entry in the list of either end, to put on
top of a client's connection; or, taken back, the id to take out of one.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from datasources.ids import Kind
from datasources.mappings import Edge as Row
from feed_engine.writes import follows, likes
from resolvers import nodes
from resolvers.context import ID, Context, object_id
from resolvers.payloads import Payload, edge, mutation

Write = Callable[..., Awaitable[Row]]


def _edge_mutation(
    write: Write, kind: Kind, done: str, mirror: str | None = None, *, fed: bool = False
) -> Callable[..., Awaitable[Payload]]:
    """A mutation that has the viewer's edge to an object of `kind` written. `done` is what then was
    done to it ("liked"); `mirror` the viewer's entry in the object's own list, where it has one;
    `fed` whether feeds follow from it."""
    name = kind.name.lower()
    entry, taken_back = f"{done}_{name}_edge", f"un{done}_{name}_id"
    mirrors = [mirror] if mirror else []
    tokens = ["feed_token"] if fed else []

    @mutation(name, "viewer", entry, taken_back, *mirrors, *tokens)
    async def resolve(context: Context, input: Any) -> dict[str, Any]:
        viewer_id, sent = context.require_viewer(), getattr(input, f"{name}_id")
        id = object_id(sent, kind, argument=f"{name}Id")
        row = await write(context.stores, viewer_id, id, key=input.idempotency_key)
        context.loaders.reset()
        # The object may have become secret since.
        target = await nodes.node(context, id=ID(str(id)))
        viewer = await context.loaders.users.load(viewer_id)
        payload: dict[str, Any] = {name: target, "viewer": viewer}
        payload |= {field: context.feed_tokens.of(row) for field in tokens}
        if not row.active:
            return {**payload, taken_back: sent}
        if target and viewer:
            payload[entry] = edge(context, row, target)
            payload |= {field: edge(context, row.reversed(), viewer) for field in mirrors}
        return payload

    return resolve


like_pin = _edge_mutation(likes.like_pin, Kind.PIN, "liked", "liker_edge")
unlike_pin = _edge_mutation(likes.unlike_pin, Kind.PIN, "liked", "liker_edge")
follow_user = _edge_mutation(follows.follow, Kind.USER, "followed", "follower_edge", fed=True)
unfollow_user = _edge_mutation(follows.unfollow, Kind.USER, "followed", "follower_edge", fed=True)
follow_board = _edge_mutation(follows.follow, Kind.BOARD, "followed", "follower_edge", fed=True)
unfollow_board = _edge_mutation(follows.unfollow, Kind.BOARD, "followed", "follower_edge", fed=True)
follow_interest = _edge_mutation(follows.follow, Kind.INTEREST, "followed", fed=True)
unfollow_interest = _edge_mutation(follows.unfollow, Kind.INTEREST, "followed", fed=True)
