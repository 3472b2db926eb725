"""Likes and follows: set or remove the viewer's edge to an object, all in the same way.

A payload has both ends as they are now, and the edge's entry in each end's list, which a client
puts on top of its connection. After a removal it has the id to remove from the lists instead.
"""

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from datasources.ids import Kind
from datasources.mappings import REVERSE, Mapping
from datasources.mappings import Edge as Row
from datasources.protocols import Stores
from datasources.records import Board, Interest, Pin, Record, User
from feed_engine.feeds.follow_edges import FOLLOWS
from feed_engine.writes import follows, likes
from resolvers import nodes
from resolvers.context import ID, Context, object_id
from resolvers.mutations import inputs, payloads
from resolvers.paging import Edge
from resolvers.payloads import edge, mutation

R = TypeVar("R", bound=Record)
_LISTS = {Kind.PIN: Mapping.USER_LIKES_PINS, **FOLLOWS}
"""The viewer's lists of liked pins and of followed objects, by the objects' kind."""


class Write(Protocol):
    """A write of the viewer's edge to an object. Returns the edge's row."""

    def __call__(
        self, stores: Stores, viewer_id: int, id: int, /, *, key: str | None
    ) -> Awaitable[Row]: ...


@dataclass(frozen=True, slots=True)
class Written(Generic[R]):
    """An edge after a write. `entry` belongs to the viewer's list, `mirror` to the object's list. A
    removed edge has neither; `removed_id` is the object's id."""

    target: R | None
    viewer: User | None
    entry: Edge[R] | None
    mirror: Edge[User] | None
    removed_id: str | None
    feed_token: str | None


async def _write(
    context: Context, write: Write, kind: Kind, sent: str, input: inputs.Input
) -> Written[Any]:
    """Write the viewer's edge to the object with the id that the client sent."""
    viewer_id, mapping = context.require_viewer(), _LISTS[kind]
    id = object_id(sent, kind, argument=f"{kind.name.lower()}Id")
    row = await write(context.stores, viewer_id, id, key=input.idempotency_key)
    context.forget()
    target = await nodes.node(context, id=ID(str(id)))  # None if it became secret since
    viewer = await context.loaders.users.load(viewer_id)
    shown = row.active and target is not None and viewer is not None
    return Written(
        target=target,
        viewer=viewer,
        entry=edge(context, mapping, row, target) if shown and target else None,
        mirror=edge(context, REVERSE[mapping], row.reversed(), viewer)
        if shown and viewer
        else None,
        removed_id=None if row.active else sent,
        feed_token=context.feed_tokens.of(row),
    )


@mutation
async def like_pin(context: Context, input: inputs.LikePin) -> payloads.LikePinPayload:
    return _liked(await _write(context, likes.like_pin, Kind.PIN, input.pin_id, input))


@mutation
async def unlike_pin(context: Context, input: inputs.LikePin) -> payloads.LikePinPayload:
    return _liked(await _write(context, likes.unlike_pin, Kind.PIN, input.pin_id, input))


@mutation
async def follow_user(context: Context, input: inputs.FollowUser) -> payloads.FollowUserPayload:
    return _followed_user(await _write(context, follows.follow, Kind.USER, input.user_id, input))


@mutation
async def unfollow_user(context: Context, input: inputs.FollowUser) -> payloads.FollowUserPayload:
    return _followed_user(await _write(context, follows.unfollow, Kind.USER, input.user_id, input))


@mutation
async def follow_board(context: Context, input: inputs.FollowBoard) -> payloads.FollowBoardPayload:
    return _followed_board(await _write(context, follows.follow, Kind.BOARD, input.board_id, input))


@mutation
async def unfollow_board(
    context: Context, input: inputs.FollowBoard
) -> payloads.FollowBoardPayload:
    written = await _write(context, follows.unfollow, Kind.BOARD, input.board_id, input)
    return _followed_board(written)


@mutation
async def follow_interest(
    context: Context, input: inputs.FollowInterest
) -> payloads.FollowInterestPayload:
    written = await _write(context, follows.follow, Kind.INTEREST, input.interest_id, input)
    return _followed_interest(written)


@mutation
async def unfollow_interest(
    context: Context, input: inputs.FollowInterest
) -> payloads.FollowInterestPayload:
    written = await _write(context, follows.unfollow, Kind.INTEREST, input.interest_id, input)
    return _followed_interest(written)


def _liked(written: Written[Pin]) -> payloads.LikePinPayload:
    return payloads.LikePinPayload(
        pin=written.target,
        viewer=written.viewer,
        liked_pin_edge=written.entry,
        liker_edge=written.mirror,
        unliked_pin_id=written.removed_id,
    )


def _followed_user(written: Written[User]) -> payloads.FollowUserPayload:
    return payloads.FollowUserPayload(
        user=written.target,
        viewer=written.viewer,
        followed_user_edge=written.entry,
        follower_edge=written.mirror,
        unfollowed_user_id=written.removed_id,
        feed_token=written.feed_token,
    )


def _followed_board(written: Written[Board]) -> payloads.FollowBoardPayload:
    return payloads.FollowBoardPayload(
        board=written.target,
        viewer=written.viewer,
        followed_board_edge=written.entry,
        follower_edge=written.mirror,
        unfollowed_board_id=written.removed_id,
        feed_token=written.feed_token,
    )


def _followed_interest(written: Written[Interest]) -> payloads.FollowInterestPayload:
    return payloads.FollowInterestPayload(
        interest=written.target,
        viewer=written.viewer,
        followed_interest_edge=written.entry,
        unfollowed_interest_id=written.removed_id,
        feed_token=written.feed_token,
    )
