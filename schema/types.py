"""The objects: users, boards, pins, comments and interests."""

from datetime import datetime

import strawberry

from datasources import records
from resolvers import boards, interests, pins, users
from schema.costs import listed, page, reads
from schema.fields import field, plain
from schema.nodes import Connection, Node, RecordType, created_at


@strawberry.type(description="A picture.")
class Image:
    url: str = field(pins.image_url, "Its absolute address.")
    width: int | None = plain("In pixels.")
    height: int | None = plain("In pixels.")
    dominant_color: str | None = field(pins.image_color, "As #rrggbb, to show before it loads.")


@strawberry.type(description="Somebody who saves pins to boards.")
class User(RecordType, Node):
    record = records.User

    username: str = plain("The unique name: letters, digits, dots and underscores.")
    full_name: str = plain("The name as shown.")
    about: str = plain("What they say of themselves.")
    avatar: Image | None = plain("Their picture.")
    created_at: datetime = created_at()
    board_count: int = field(
        users.board_count, "Boards that the viewer may know of.", cost=reads(3, each=1)
    )
    pin_count: int = field(
        users.pin_count, "Pins on boards that the viewer may know of.", cost=reads(3, each=1)
    )
    follower_count: int = field(
        users.follower_count, "Users who follow this one.", cost=reads(3, each=1)
    )
    following_count: int = field(
        users.following_count, "Users whom this one follows.", cost=reads(3, each=1)
    )
    viewer_follows: bool | None = field(
        users.viewer_follows,
        "Whether the viewer follows them; null without a viewer.",
        cost=reads(1, each=1),
    )
    boards: Connection["Board"] | None = field(
        users.boards, "Their boards, newest first.", cost=page(6, 2)
    )
    pins: Connection["Pin"] | None = field(
        users.pins, "Their pins on all boards, newest first.", cost=page(15, 5)
    )
    liked_pins: Connection["Pin"] | None = field(
        users.liked_pins, "What they liked, last first.", cost=page(15, 5)
    )
    followers: Connection["User"] | None = field(
        users.followers, "Who follows them, last first.", cost=page(6, 2)
    )
    following_users: Connection["User"] | None = field(
        users.following_users, "Whom they follow.", cost=page(6, 2)
    )
    following_boards: Connection["Board"] | None = field(
        users.following_boards, "Boards they follow, of other people.", cost=page(6, 2)
    )
    following_interests: Connection["Interest"] | None = field(
        users.following_interests, "Interests they follow.", cost=page(6, 2)
    )


@strawberry.type(description="A collection of pins. A secret one exists for its owner alone.")
class Board(RecordType, Node):
    record = records.Board

    name: str = plain("Its name.")
    description: str = plain("What it is about.")
    secret: bool = plain("Whether only its owner can see it.")
    created_at: datetime = created_at()
    owner: User | None = field(
        boards.owner, "Who made it; null when their server is down.", cost=reads(3, each=1)
    )
    cover: "Pin | None" = field(
        boards.cover, "The pin chosen as its cover, else the newest.", cost=reads(27, each=9)
    )
    pin_count: int = field(boards.pin_count, "How many pins are on it.", cost=reads(3, each=1))
    pins: Connection["Pin"] | None = field(
        boards.pins, "Its pins in the owner's order; new ones go on top.", cost=page(15, 6, each=2)
    )
    follower_count: int = field(
        boards.follower_count, "How many users follow it.", cost=reads(3, each=1)
    )
    followers: Connection[User] | None = field(
        boards.followers, "Who follows it, last first.", cost=page(6, 2)
    )
    viewer_follows: bool | None = field(
        boards.viewer_follows,
        "Whether the viewer follows it; null without a viewer.",
        cost=reads(1, each=1),
    )
    viewer_can_edit: bool = field(boards.viewer_can_edit, "Whether it is the viewer's own.")


@strawberry.type(description="A picture with a link, saved to a board.")
class Pin(RecordType, Node):
    record = records.Pin

    title: str = plain("Its title.")
    description: str = plain("What is said about it.")
    link: str | None = plain("Where the picture is from.")
    image: Image | None = plain("The picture.")
    created_at: datetime = created_at()
    board: Board | None = field(
        pins.board, "The board it is on; null when its server is down.", cost=reads(3, each=1)
    )
    owner: User | None = field(
        pins.owner, "Who saved it; null when their server is down.", cost=reads(3, each=1)
    )
    source: "Pin | None" = field(
        pins.source, "The pin it was repinned from, if one can see it.", cost=reads(12, each=4)
    )
    interests: list["Interest"] = field(
        pins.interests, "Topics it belongs to.", cost=listed(3, 1, 20)
    )
    like_count: int = field(pins.like_count, "How many users like it.", cost=reads(3, each=1))
    liked_by: Connection[User] | None = field(
        pins.liked_by, "Who likes it, last first.", cost=page(6, 2)
    )
    viewer_has_liked: bool | None = field(
        pins.viewer_has_liked,
        "Whether the viewer likes it; null without a viewer.",
        cost=reads(1, each=1),
    )
    comment_count: int = field(
        pins.comment_count, "How many comments it has.", cost=reads(3, each=1)
    )
    comments: Connection["Comment"] | None = field(
        pins.comments, "Its comments, newest first.", cost=page(33, 8)
    )


@strawberry.type(description="What somebody wrote under a pin.")
class Comment(RecordType, Node):
    record = records.Comment

    text: str = plain("The words.")
    created_at: datetime = created_at()
    author: User | None = field(pins.comment_author, "Who wrote it.", cost=reads(3, each=1))
    pin: Pin | None = field(pins.comment_pin, "What it was written under.", cost=reads(12, each=4))


@strawberry.type(description="A topic that pins belong to and users follow.")
class Interest(RecordType, Node):
    record = records.Interest

    name: str = plain("Its name.")
    slug: str = plain("Its name in addresses.")
    description: str = plain("What belongs to it.")
    created_at: datetime = created_at()
    pins: Connection[Pin] | None = field(
        interests.pins, "Its public pins, newest first.", cost=page(15, 5)
    )
    viewer_follows: bool | None = field(
        interests.viewer_follows,
        "Whether the viewer follows it; null without a viewer.",
        cost=reads(1, each=1),
    )
