"""The object types: users, boards, pins, comments and interests."""

from datetime import datetime
from typing import Any

import strawberry

from datasources import records
from resolvers import boards, collaborators, data_exports, interests, pins, related, sections, users
from resolvers.collaborators import BoardRole
from resolvers.data_exports import ExportState
from resolvers.visibility import Invitation
from schema.caching import INHERITED, KEPT, TOPIC_KEPT
from schema.costs import listed, page, reads, walked
from schema.fields import by_class, field, plain
from schema.nodes import Connection, Node, RecordType, created_at
from schema.orders import SORTED_BOARDS, SORTED_PINS, SORTED_USERS, described

described(
    BoardRole,
    "The role of a user on a board.",
    OWNER="The user made the board.",
    COLLABORATOR="The user sees the board, and adds and orders pins.",
    INVITED="The user is invited, and may accept or decline.",
)


@strawberry.type(description="A picture.", directives=[INHERITED])
class Image:
    url: str = field(pins.image_url, "The absolute address of the picture.")
    width: int | None = plain("The width in pixels.")
    height: int | None = plain("The height in pixels.")
    dominant_color: str | None = field(
        pins.image_color, "The dominant color, as #rrggbb, to show before the picture loads."
    )


described(
    ExportState,
    "The state of a file with a user's own data.",
    PENDING="A job makes the file.",
    READY="The file can be loaded.",
    EXPIRED="The file's time is over, and the file is gone. It may be requested again.",
)


@strawberry.type(
    description="A request of the viewer for a file with all data that is kept about the viewer: a "
    "ZIP archive of JSON files.",
    directives=[INHERITED],
)
class DataExport:
    state: ExportState = plain("The state of the file.")
    requested_at: datetime = plain("When the viewer requested the file.")
    ready_at: datetime | None = plain("When the file was complete; null before.")
    expires_at: datetime | None = plain(
        "When the file is removed, 7 days after it was complete; null before it is complete."
    )
    bytes: float | None = plain("The size of the file in bytes; null before it is complete.")
    url: str | None = plain(
        "The absolute address of the file, for a GET without a token within 15 minutes; null "
        "unless the file is ready. Each read of this field gives an address with a new time."
    )


@strawberry.type(description="A person who saves pins to boards.", directives=[KEPT])
class User(RecordType, Node):
    record = records.User

    username: str = plain("The unique name: letters, digits, dots and underscores.")
    full_name: str = plain("The displayed name.")
    about: str = plain("A text about the user.")
    avatar: Image | None = plain("The user's picture.")
    created_at: datetime = created_at()
    email: str | None = field(
        users.email,
        "The viewer's own e-mail address; null for every other user, and if the viewer has none.",
        cached=0,
    )
    issuer: str | None = field(
        users.issuer,
        "The issuer by whose tokens the viewer signs in; null for every other user, and if only "
        "the tokens of this server sign the viewer in.",
        cached=0,
    )
    data_export: DataExport | None = field(
        data_exports.data_export,
        "The viewer's last request for their own data (`requestMyData`); null for every other "
        "user, and if there was none.",
        cached=0,
    )
    board_count: int = field(
        users.board_count,
        "The number of the user's boards that the viewer may see.",
        cost=reads(3, each=1),
    )
    pin_count: int = field(
        users.pin_count,
        "The number of the user's pins on boards that the viewer may see.",
        cost=reads(3, each=1),
    )
    follower_count: int = field(
        users.follower_count, "The number of users who follow this user.", cost=reads(3, each=1)
    )
    following_count: int = field(
        users.following_count, "The number of users whom this user follows.", cost=reads(3, each=1)
    )
    viewer_follows: bool | None = field(
        users.viewer_follows,
        "Whether the viewer follows this user; null without a viewer.",
        cost=reads(1, each=1),
        cached=0,
    )
    viewer_mutes: bool | None = field(
        users.viewer_mutes,
        "Whether the viewer mutes this user; null without a viewer.",
        cost=reads(1, each=1),
        cached=0,
    )
    boards: Connection["Board"] | None = field(
        users.boards,
        "The user's boards, newest first.",
        cost=[*page(6, 2), SORTED_BOARDS],
    )
    pins: Connection["Pin"] | None = field(
        users.pins, "The user's pins on all boards, newest first.", cost=page(15, 5)
    )
    liked_pins: Connection["Pin"] | None = field(
        users.liked_pins, "The pins that the user likes, last liked first.", cost=page(15, 5)
    )
    followers: Connection["User"] | None = field(
        users.followers,
        "The users who follow this user, last followed first.",
        cost=[*page(6, 2), SORTED_USERS],
    )
    following_users: Connection["User"] | None = field(
        users.following_users, "The users whom this user follows.", cost=[*page(6, 2), SORTED_USERS]
    )
    following_boards: Connection["Board"] | None = field(
        users.following_boards,
        "The boards of other users that this user follows, last followed first.",
        cost=[*page(6, 2), SORTED_BOARDS],
    )
    collaborating_boards: Connection["Board"] | None = field(
        collaborators.collaborating_boards,
        "The boards of other users on which the viewer collaborates, last joined first. Only the "
        "viewer's own list has entries.",
        cost=[*page(6, 2), SORTED_BOARDS],
        cached=0,
    )
    following_interests: Connection["Interest"] | None = field(
        users.following_interests, "The interests that this user follows.", cost=page(6, 2)
    )
    suggested_users: list["User"] | None = field(
        related.suggested_users,
        "Users whose public boards have what this user saves, and whom this user does not follow; "
        "best first. Empty while there is no graph of related pins.",
        cost=walked(40, 12),
    )


@strawberry.type(
    description="A user whom the viewer blocks, with the fields by which to recognize the user. "
    "Nothing else of the user can be read until the viewer unblocks the user.",
    directives=[INHERITED],
)
class BlockedUser:
    id: strawberry.ID = plain("The user's id.")
    username: str = plain("The unique name.")
    full_name: str = plain("The displayed name.")
    avatar: Image | None = plain("The user's picture.")


@strawberry.type(
    description="An invitation of the viewer to collaborate on a board. Of a secret board, an "
    "invited user learns what is here, and nothing else.",
    directives=[INHERITED],
)
class BoardInvitation:
    board_id: strawberry.ID = plain("The board's id, for `acceptInvitation` and the like.")
    board_name: str = plain("The board's name.")
    owner: User | None = field(
        collaborators.inviter,
        "The board's owner, who invites; null when that user's server is down.",
        cost=reads(3, each=1),
    )

    @classmethod
    @by_class
    def is_type_of(cls, value: Any, info: Any) -> bool:
        return isinstance(value, Invitation)


@strawberry.type(
    description="A collection of pins. Only its owner and collaborators can see a secret board.",
    directives=[KEPT],
)
class Board(RecordType, Node):
    record = records.Board

    name: str = plain("The name.")
    description: str = plain("The description.")
    secret: bool = plain("Whether only the owner and the collaborators can see the board.")
    created_at: datetime = created_at()
    owner: User | None = field(
        boards.owner,
        "The user who made the board; null when that user's server is down.",
        cost=reads(3, each=1),
    )
    cover: "Pin | None" = field(
        boards.cover, "The pin chosen as the cover, or the newest pin.", cost=reads(27, each=9)
    )
    pin_count: int = field(
        boards.pin_count, "The number of pins on the board.", cost=reads(3, each=1)
    )
    pins: Connection["Pin"] | None = field(
        boards.pins,
        "The pins in the members' order; new pins go on top.",
        cost=[*page(15, 6, each=2), SORTED_PINS],
    )
    sections: Connection["Section"] | None = field(
        sections.on_board,
        "The parts of the board, in the members' order; new sections come first. A board has 500 "
        "at most.",
        cost=page(15, 5),
    )
    follower_count: int = field(
        boards.follower_count, "The number of users who follow the board.", cost=reads(3, each=1)
    )
    followers: Connection[User] | None = field(
        boards.followers,
        "The users who follow the board, last followed first.",
        cost=[*page(6, 2), SORTED_USERS],
    )
    viewer_follows: bool | None = field(
        boards.viewer_follows,
        "Whether the viewer follows the board; null without a viewer.",
        cost=reads(1, each=1),
        cached=0,
    )
    viewer_can_edit: bool = field(
        boards.viewer_can_edit, "Whether the viewer owns the board.", cached=0
    )
    viewer_role: BoardRole | None = field(
        collaborators.viewer_role,
        "The role of the viewer on the board; null without a viewer, and for everybody else.",
        cached=0,
    )
    invited_users: Connection[User] | None = field(
        collaborators.invited_users,
        "The users who have not answered their invitations, last invited first. Only the owner "
        "sees them: for everybody else, the list is empty.",
        cost=[*page(6, 2), SORTED_USERS],
        cached=0,
    )
    collaborators: Connection[User] | None = field(
        collaborators.collaborators,
        "The users who add and order pins beside the owner, last joined first.",
        cost=[*page(6, 2), SORTED_USERS],
    )
    suggested_pins: list["Pin"] | None = field(
        related.suggested_pins,
        "Public pins that are related to the newest pins of the board, and not on it; best first. "
        "Empty while there is no graph of related pins.",
        cost=walked(60, 24),
    )


@strawberry.type(
    description="A picture with a link, saved to a board.",
    directives=[KEPT],
)
class Pin(RecordType, Node):
    record = records.Pin

    title: str = plain("The title.")
    description: str = plain("The description.")
    link: str | None = plain("The address of the page that the picture is from.")
    image: Image | None = plain("The picture.")
    created_at: datetime = created_at()
    board: Board | None = field(
        pins.board,
        "The board that the pin is on; null when its server is down.",
        cost=reads(3, each=1),
    )
    section: "Section | None" = field(
        pins.section,
        "The section of the board that the pin is in; null if it is in none.",
        cost=reads(12, each=4),
    )
    owner: User | None = field(
        pins.owner,
        "The user who saved the pin; null when that user's server is down.",
        cost=reads(3, each=1),
    )
    source: "Pin | None" = field(
        pins.source,
        "The pin that this pin was saved from; null if the viewer can't see it.",
        cost=reads(12, each=4),
    )
    interests: list["Interest"] = field(pins.interests, "The pin's topics.", cost=listed(3, 1, 20))
    like_count: int = field(
        pins.like_count, "The number of users who like the pin.", cost=reads(3, each=1)
    )
    liked_by: Connection[User] | None = field(
        pins.liked_by,
        "The users who like the pin, last liked first.",
        cost=[*page(6, 2), SORTED_USERS],
    )
    viewer_has_liked: bool | None = field(
        pins.viewer_has_liked,
        "Whether the viewer likes the pin; null without a viewer.",
        cost=reads(1, each=1),
        cached=0,
    )
    related: list["Pin"] | None = field(
        related.related,
        "Public pins of other pictures that are saved to the same boards as this picture, most "
        "related first, few of one board. Empty while there is no graph of related pins.",
        cost=walked(40, 24),
    )
    comment_count: int = field(
        pins.comment_count, "The number of comments on the pin.", cost=reads(3, each=1)
    )
    comments: Connection["Comment"] | None = field(
        pins.comments, "The comments on the pin, newest first.", cost=page(33, 8)
    )


@strawberry.type(
    description="A part of a board, with pins of the board in an order of its own. Who sees the "
    "board sees its sections.",
    directives=[KEPT],
)
class Section(RecordType, Node):
    record = records.Section

    name: str = plain("The name.")
    created_at: datetime = created_at()
    board: Board | None = field(
        sections.board,
        "The board that the section is on; null when its server is down.",
        cost=reads(3, each=1),
    )
    pin_count: int = field(
        sections.pin_count, "The number of pins in the section.", cost=reads(3, each=1)
    )
    pins: Connection[Pin] | None = field(
        sections.pins,
        "The pins in the section, in the owner's order; pins that come to it go on top.",
        cost=[*page(15, 6, each=2), SORTED_PINS],
    )


@strawberry.type(description="A text that a user wrote about a pin.", directives=[KEPT])
class Comment(RecordType, Node):
    record = records.Comment

    text: str = plain("The text.")
    created_at: datetime = created_at()
    author: User | None = field(
        pins.comment_author, "The user who wrote the comment.", cost=reads(3, each=1)
    )
    pin: Pin | None = field(
        pins.comment_pin, "The pin that the comment is on.", cost=reads(12, each=4)
    )


@strawberry.type(
    description="A topic that pins belong to and users follow.",
    directives=[TOPIC_KEPT],
)
class Interest(RecordType, Node):
    record = records.Interest

    name: str = plain("The name.")
    slug: str = plain("The name as used in addresses.")
    description: str = plain("The description.")
    created_at: datetime = created_at()
    pins: Connection[Pin] | None = field(
        interests.pins, "The public pins with this interest, newest first.", cost=page(15, 5)
    )
    viewer_follows: bool | None = field(
        interests.viewer_follows,
        "Whether the viewer follows the interest; null without a viewer.",
        cost=reads(1, each=1),
        cached=0,
    )
