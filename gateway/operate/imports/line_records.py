"""The records of an import's lines, with the ids of the objects that the lines name."""

from datasources.records import Board, Comment, Interest, Pin, Section, User
from feed_engine.transactions import validation
from feed_engine.transactions.key_kinds import subject_key
from gateway.operate.imports.jsonl import (
    BoardLine,
    CommentLine,
    InterestLine,
    PinLine,
    SectionLine,
    UserLine,
    created_ms,
)


def user_of(line: UserLine) -> User:
    return User(
        created=created_ms(line),
        key=line.key,
        username=line.username.lower(),
        full_name=line.full_name,
        about=line.about,
        avatar=line.avatar.stored() if line.avatar else None,
        email=validation.email(line.email) if line.email else "",
        subject=subject_key(line.issuer, line.subject) if line.subject else "",
    )


def interest_of(line: InterestLine) -> Interest:
    return Interest(
        created=created_ms(line),
        key=line.key,
        name=line.name,
        slug=line.slug,
        description=line.description,
    )


def board_of(line: BoardLine, owner_id: int, cover_pin_id: int | None = None) -> Board:
    return Board(
        created=created_ms(line),
        key=line.key,
        name=line.name,
        owner_id=owner_id,
        description=line.description,
        secret=line.secret,
        cover_pin_id=cover_pin_id,
    )


def section_of(line: SectionLine, board_id: int) -> Section:
    return Section(created=created_ms(line), key=line.key, board_id=board_id, name=line.name)


def pin_of(
    line: PinLine,
    interests: dict[str, int],
    *,
    board_id: int,
    owner_id: int,
    source_id: int | None,
    root_id: int | None,
) -> Pin:
    """`interests`: the ids of all interests that the line names, by key."""
    return Pin(
        created=created_ms(line),
        key=line.key,
        board_id=board_id,
        owner_id=owner_id,
        title=line.title,
        description=line.description,
        link=line.link,
        image=line.image.stored() if line.image else None,
        source_id=source_id,
        root_id=root_id,
        interest_ids=tuple(interests[key] for key in dict.fromkeys(line.interests)),
    )


def comment_of(line: CommentLine, pin_id: int, author_id: int) -> Comment:
    return Comment(
        created=created_ms(line), key=line.key, pin_id=pin_id, author_id=author_id, text=line.text
    )
