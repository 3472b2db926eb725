"""The query type: the root fields of all reads."""

import strawberry

from resolvers import boards, collaborators, feeds, interests, nodes, pins, preferences, users
from resolvers.paging import MAX_PAGE
from schema.caching import SECONDS, TOPIC_SECONDS
from schema.costs import A_NEW_VISIT, Toll, listed, page, reads
from schema.feeds import FollowingFeedConnection, HomeFeedConnection
from schema.fields import field
from schema.nodes import Connection, Node
from schema.notifications import NotificationQuery
from schema.orders import SORTED_USERS
from schema.search import SearchQuery
from schema.types import BlockedUser, Board, BoardInvitation, Interest, Pin, User


@strawberry.type(description="All reads.")
class Query(NotificationQuery, SearchQuery):
    viewer: User | None = field(
        users.viewer, "The signed-in user; null without a token.", cost=reads(3, each=1), cached=0
    )
    node: Node | None = field(nodes.node, "Any object by its id.", cost=reads(33, each=8))
    nodes: list[Node | None] = field(
        nodes.nodes,
        "Objects by their ids, in the order of the ids.",
        cost=listed(54, 8, MAX_PAGE, "ids"),
    )
    user: User | None = field(
        users.user, "A user by id or by name: give exactly one.", cost=reads(4, each=2)
    )
    blocked_users: Connection[BlockedUser] | None = field(
        users.blocked_users,
        "The users whom the viewer blocks, last blocked first.",
        cost=[*page(6, 2), SORTED_USERS],
        cached=0,
    )
    muted_users: Connection[User] | None = field(
        users.muted_users,
        "The users whom the viewer mutes, last muted first.",
        cost=[*page(6, 2), SORTED_USERS],
        cached=0,
    )
    hidden_pins: Connection[Pin] | None = field(
        preferences.hidden_pins,
        "The pins that the viewer hides with `hidePin`, last hidden first. In place of a repin, "
        "the list has the first pin of its picture, if the viewer may see it.",
        cost=page(15, 5),
        cached=0,
    )
    seen_less: Connection[Node] | None = field(
        preferences.seen_less,
        "The users, boards and interests of which the viewer sees less in the home feed, by "
        "`seeLess`, last chosen first.",
        cost=page(33, 8),
        cached=0,
    )
    seen_more: Connection[Node] | None = field(
        preferences.seen_more,
        "The users, boards and interests of which the viewer sees more in the home feed, by "
        "`seeMore`, last chosen first.",
        cost=page(33, 8),
        cached=0,
    )
    board_invitations: Connection[BoardInvitation] | None = field(
        collaborators.board_invitations,
        "The boards to which the viewer is invited, last invited first.",
        cost=page(6, 2),
        cached=0,
    )
    board: Board | None = field(boards.board, "A board by its id.", cost=reads(3, each=1))
    pin: Pin | None = field(pins.pin, "A pin by its id.", cost=reads(12, each=4))
    users: Connection[User] | None = field(
        users.all_users, "All users.", cost=page(1, 1, backward=False), cached=SECONDS
    )
    boards: Connection[Board] | None = field(
        boards.all_boards, "All public boards.", cost=page(1, 1, backward=False), cached=SECONDS
    )
    pins: Connection[Pin] | None = field(
        pins.all_pins,
        "All pins on public boards.",
        cost=page(13, 4, backward=False),
        cached=SECONDS,
    )
    interests: Connection[Interest] | None = field(
        interests.all_interests,
        "All interests.",
        cost=page(1, 1, backward=False),
        cached=TOPIC_SECONDS,
    )
    home_feed: HomeFeedConnection | None = field(
        feeds.home_feed,
        "The viewer's home feed; without a viewer, popular pins. Each visit uses up new pins: pass "
        "`visitId` to see the same visit again.",
        cost=[*page(60, 5, each=1200, backward=False), Toll(weight=str(A_NEW_VISIT))],
    )
    following_feed: FollowingFeedConnection | None = field(
        feeds.following_feed,
        "New pins of the users and boards that the viewer follows.",
        cost=page(30, 6, each=50, backward=False),
    )
