"""The root of all reading."""

import strawberry

from resolvers import boards, feeds, interests, nodes, pins, users
from schema.feeds import FollowingFeedConnection, HomeFeedConnection
from schema.fields import field
from schema.nodes import Connection, Node
from schema.types import Board, Interest, Pin, User


@strawberry.type(description="Everything that can be asked.")
class Query:
    viewer: User | None = field(users.viewer, "Who is signed in; null without a token.")
    node: Node | None = field(nodes.node, "Any object by its id.")
    nodes: list[Node | None] = field(nodes.nodes, "Objects by their ids, in that order.")
    user: User | None = field(users.user, "A user by id or by name: give exactly one.")
    board: Board | None = field(boards.board, "A board by its id.")
    pin: Pin | None = field(pins.pin, "A pin by its id.")
    users: Connection[User] | None = field(users.all_users, "All users.")
    boards: Connection[Board] | None = field(boards.all_boards, "All public boards.")
    pins: Connection[Pin] | None = field(pins.all_pins, "All pins on public boards.")
    interests: Connection[Interest] | None = field(interests.all_interests, "All interests.")
    home_feed: HomeFeedConnection | None = field(
        feeds.home_feed,
        "The viewer's home feed; popular pins without a viewer. Each visit uses up new pins: name "
        "the visit to see it again.",
    )
    following_feed: FollowingFeedConnection | None = field(
        feeds.following_feed, "New pins of the users and boards the viewer follows."
    )
