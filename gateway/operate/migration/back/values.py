"""The mapping backwards: the fields of Pinway's objects and of rows in one form, and the value of a
column for each field."""

from collections.abc import Callable, Mapping
from datetime import timedelta

from datasources.mappings import SEQUENCE_STEP, Edge
from datasources.records import Board, Comment, Image, Interest, Pin, Record, User
from datasources.sql.source_tables import DATES, Written, WrittenColumn
from feed_engine.transactions.key_kinds import issuer_and_subject
from gateway.operate.imports.jsonl import (
    EPOCH,
    AnyLine,
    BoardLine,
    CommentLine,
    FollowLine,
    ImageField,
    InterestLine,
    LikeLine,
    PinLine,
    UserLine,
    created_ms,
)
from gateway.operate.migration.conversion import HIGHEST_PLACE, is_secret
from gateway.operate.migration.fields import FIELDS, Form
from gateway.operate.migration.items import target_of
from gateway.operate.migration.mapping import Origin

Value = str | int | bool | None
Fields = dict[str, Value]
"""Fields of the mapping: times in epoch ms (0 for none), objects by their old ids."""
KeyOf = Callable[[int | None], str | None]
_DAY_MS = 24 * 3600 * 1000
_NO_AND_YES = (
    {"0", "false", "f", "no", "n", "off", "private"},
    {"1", "true", "t", "yes", "y", "on", "private", "secret"},
)


class Inexpressible(ValueError):
    """The column can't have the value. The message says why."""


def fields_of_line(line: AnyLine) -> Fields:
    """The fields of a row. A place on a board is compared with the whole board, not here."""
    created: Fields = {"created": created_ms(line)}
    match line:
        case UserLine():
            return created | {
                "username": line.username.lower(),
                "full_name": line.full_name,
                "about": line.about,
                "avatar": _url(line.avatar),
                "email": line.email or None,
                "issuer": line.issuer or None,
                "subject": line.subject or None,
            }
        case InterestLine():
            return created | {
                "name": line.name,
                "slug": line.slug,
                "description": line.description,
            }
        case BoardLine():
            return created | {
                "owner": line.owner,
                "name": line.name,
                "description": line.description,
                "secret": line.secret,
                "cover": line.cover,
            }
        case PinLine():
            return created | {
                "board": line.board,
                "title": line.title,
                "description": line.description,
                "link": line.link,
                **_picture(line.image),
                "source": line.source,
                "interest": next(iter(line.interests), None),
            }
        case CommentLine():
            return created | {"pin": line.pin, "author": line.author, "text": line.text}
        case LikeLine():
            return created | {"user": line.user, "pin": line.pin}
        case FollowLine():
            target = target_of(line)
            return created | {"follower": line.follower, target.kind: target.key}
    raise TypeError(line)  # no table becomes sections


def fields_of_record(record: Record, key_of: KeyOf) -> Fields:
    """The fields of an object. `key_of`: the old id of an object to which it refers, if any."""
    created: Fields = {"created": record.created}
    match record:
        case User():
            return created | {
                "username": record.username,
                "full_name": record.full_name,
                "about": record.about,
                "avatar": _url(record.avatar),
                "email": record.email or None,
                **_subject(record),
            }
        case Interest():
            return created | {
                "name": record.name,
                "slug": record.slug,
                "description": record.description,
            }
        case Board():
            return created | {
                "owner": key_of(record.owner_id),
                "name": record.name,
                "description": record.description,
                "secret": record.secret,
                "cover": key_of(record.cover_pin_id),
            }
        case Pin():
            interests = [key for id in record.interest_ids if (key := key_of(id)) is not None]
            return created | {
                "board": key_of(record.board_id),
                "title": record.title,
                "description": record.description,
                "link": record.link,
                **_picture(record.image),
                "source": key_of(record.source_id),
                "interest": next(iter(interests), None),
            }
        case Comment():
            return created | {
                "pin": key_of(record.pin_id),
                "author": key_of(record.author_id),
                "text": record.text,
            }
    raise TypeError(record)


def fields_of_edge(edge: Edge, ends_by_field: Mapping[str, int], key_of: KeyOf) -> Fields:
    """The fields of a like or a follow. `ends_by_field`: the ids of its two ends."""
    ends: Fields = {name: key_of(id) for name, id in ends_by_field.items()}
    return {"created": edge.sequence // SEQUENCE_STEP, **ends}


def parents(record: Record) -> dict[str, int]:
    """The objects without which an object does not stand, by field."""
    match record:
        case Board():
            return {"owner": record.owner_id}
        case Pin():
            return {"board": record.board_id}
        case Comment():
            return {"pin": record.pin_id, "author": record.author_id}
    return {}


def references(record: Record) -> dict[str, int]:
    """The objects to which an object refers, and which may be missing, by field."""
    match record:
        case Board() if record.cover_pin_id is not None:
            return {"cover": record.cover_pin_id}
        case Pin():
            found = {"owner": record.owner_id}
            if record.source_id is not None:
                found["source"] = record.source_id
            return found | {f"interest {n}": id for n, id in enumerate(record.interest_ids)}
    return {}


def is_same(name: str, wanted: Value, has: Value, origin: Origin, column: WrittenColumn) -> bool:
    """Whether a row has the value of a field, as exactly as its column can."""
    if name == "created" and isinstance(wanted, int) and isinstance(has, int):
        exact = _exactness(origin, column)
        return wanted // exact == has // exact
    return wanted == has


def written(kind: str, name: str, value: Value, origin: Origin, column: WrittenColumn) -> Written:
    """The column's value for a field. Raises Inexpressible."""
    form, type = FIELDS[kind][name].form, column.column
    if value is None or (form is Form.TIME and value == 0):
        return _nothing(name, column)
    if form is Form.TIME:
        return _time(int(value), origin, column)
    if form is Form.FLAG:
        return _flag(bool(value), origin, column)
    if form in (Form.PIXELS, Form.PLACE):
        return int(value)
    text = str(value)
    if form is Form.KEY:
        return bytes.fromhex(text) if type.is_binary else text
    if origin.charset is None and not type.is_binary:
        return text
    charset = origin.charset or "utf-8"
    try:
        return text.encode(charset)
    except UnicodeEncodeError as error:
        lost = text[error.start : error.end]
        raise Inexpressible(f"{charset} has no {lost!r}") from None


def number_of(place: int, origin: Origin) -> int:
    """The number of a place on a board: the conversion of a row backwards."""
    return place if origin.first == "highest" else HIGHEST_PLACE - place


def _flag(secret: bool, origin: Origin, column: WrittenColumn) -> Written:
    """The value of a flag; of an ENUM or a SET the member that says it most clearly."""
    says = int(secret is not origin.inverted)
    members = column.column.members
    if not members:
        return says
    clear = _NO_AND_YES[says]
    found = [it for it in members if is_secret(it, origin) is secret]
    if not found:
        said = "a secret" if secret else "a public"
        raise Inexpressible(f"{column.column.name} has no value for {said} board")
    return min(found, key=lambda it: it.lower() not in clear)


def _nothing(name: str, column: WrittenColumn) -> Written:
    if column.column.nullable:
        return None
    if column.column.type in DATES:
        raise Inexpressible(f"the column {column.column.name} needs a time")
    return "" if column.column.is_text or column.column.is_binary else 0


def _time(ms: int, origin: Origin, column: WrittenColumn) -> str | int:
    if origin.unit is not None:
        return ms // _exactness(origin, column)
    ms -= ms % _exactness(origin, column)  # the server would round it
    moment = EPOCH + timedelta(milliseconds=ms)
    return moment.replace(tzinfo=None).isoformat(" ", "milliseconds")


def _exactness(origin: Origin, column: WrittenColumn) -> int:
    """The ms between two times that the column tells apart."""
    if origin.unit is not None:
        return 1000 if origin.unit == "seconds" else 1
    if column.column.type == "date":
        return _DAY_MS
    return (1000, 100, 10, 1)[min(column.fraction, 3)]


def _subject(user: User) -> Fields:
    issuer, subject = issuer_and_subject(user.subject)
    return {"issuer": issuer or None, "subject": subject or None}


def _picture(image: ImageField | Image | None) -> Fields:
    width, height = (image.width, image.height) if image is not None else (None, None)
    return {"image": _url(image), "image_width": width, "image_height": height}


def _url(image: ImageField | Image | None) -> str | None:
    return image.url if image is not None else None
