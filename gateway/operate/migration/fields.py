"""The fields of Pinway's objects and edges that columns of a source can fill."""

from enum import Enum
from typing import NamedTuple

from datasources.sql.source_tables import DATES, INTEGERS, Column


class Form(Enum):
    """How a column's value is read."""

    KEY = "an old id"
    TEXT = "a text"
    NAME = "a text of one line"
    USERNAME = "a user name"
    SLUG = "a slug"
    EMAIL = "an e-mail address"
    SUBJECT = "a subject or its issuer"
    ADDRESS = "a web address"
    TIME = "a time"
    FLAG = "a flag"
    PIXELS = "a number of pixels"
    PLACE = "a place on a board"


class Field(NamedTuple):
    """A field. `of`: the kind of object whose old id it is. `most`: characters at most."""

    form: Form
    required: bool = False
    of: str = ""
    most: int = 0


KEY = Field(Form.KEY, required=True)
_CREATED = {"created": Field(Form.TIME)}
FIELDS: dict[str, dict[str, Field]] = {
    "user": {
        "key": KEY,
        "username": Field(Form.USERNAME, required=True),
        "full_name": Field(Form.NAME, most=180),
        "about": Field(Form.TEXT, most=2000),
        "avatar": Field(Form.ADDRESS),
        "email": Field(Form.EMAIL),
        "issuer": Field(Form.SUBJECT, most=255),
        "subject": Field(Form.SUBJECT, most=255),
        **_CREATED,
    },
    "interest": {
        "key": KEY,
        "name": Field(Form.NAME, required=True, most=180),
        "slug": Field(Form.SLUG, required=True),
        "description": Field(Form.TEXT, most=5000),
        **_CREATED,
    },
    "board": {
        "key": KEY,
        "owner": Field(Form.KEY, required=True, of="user"),
        "name": Field(Form.NAME, required=True, most=180),
        "description": Field(Form.TEXT, most=5000),
        "secret": Field(Form.FLAG),
        "cover": Field(Form.KEY, of="pin"),
        **_CREATED,
    },
    "pin": {
        "key": KEY,
        "board": Field(Form.KEY, required=True, of="board"),
        "title": Field(Form.TEXT, most=500),
        "description": Field(Form.TEXT, most=5000),
        "link": Field(Form.ADDRESS),
        "image": Field(Form.ADDRESS),
        "image_width": Field(Form.PIXELS),
        "image_height": Field(Form.PIXELS),
        "source": Field(Form.KEY, of="pin"),
        "interest": Field(Form.KEY, of="interest"),
        "sequence": Field(Form.PLACE),
        **_CREATED,
    },
    "comment": {
        "key": KEY,
        "pin": Field(Form.KEY, required=True, of="pin"),
        "author": Field(Form.KEY, required=True, of="user"),
        "text": Field(Form.TEXT, required=True, most=2000),
        **_CREATED,
    },
    "like": {
        "user": Field(Form.KEY, required=True, of="user"),
        "pin": Field(Form.KEY, required=True, of="pin"),
        **_CREATED,
    },
    "follow": {
        "follower": Field(Form.KEY, required=True, of="user"),
        "user": Field(Form.KEY, of="user"),
        "board": Field(Form.KEY, of="board"),
        "interest": Field(Form.KEY, of="interest"),
        **_CREATED,
    },
}
"""Kind of line (docs/import.md) → its fields."""
TARGETS = ("user", "board", "interest")
"""The fields of a follow of which a table has exactly one."""
OPTIONS = {
    "charset": {
        *(Form.TEXT, Form.NAME, Form.USERNAME, Form.SLUG, Form.ADDRESS, Form.EMAIL),
        Form.SUBJECT,
    },
    "issuer": {Form.SUBJECT},
    "unit": {Form.TIME},
    "first": {Form.PLACE},
    "inverted": {Form.FLAG},
}
"""Option of a column → the forms that have it."""
_NUMBERS = INTEGERS | {"decimal"}


def type_fault(form: Form, column: Column, unit: str | None) -> str | None:
    """Why a column's type can't be read in a form, and what could be; None if it can."""
    is_date, is_number = column.type in DATES, column.type in _NUMBERS
    readable = column.is_text or column.is_binary
    match form:
        case Form.TIME if is_date and unit:
            return "a date needs no unit: leave the unit out"
        case Form.TIME if is_number and not unit:
            return "a number needs its unit: {column: NAME, unit: seconds} or unit: milliseconds"
        case Form.TIME if not is_date and not is_number:
            return "a time is a DATE, DATETIME or TIMESTAMP, or an integer with its unit"
        case Form.PIXELS | Form.PLACE if not is_number:
            return f"{form.value} is an integer"
        case Form.FLAG if not (is_number or column.is_text or column.type == "bit"):
            return "a flag is an integer, a BIT or a text"
        case Form.KEY if not (is_number or readable or column.type == "uuid"):
            return "an old id is an integer, a text, a BINARY or a UUID"
        case Form.SUBJECT if is_number:
            return None
        case Form.TEXT | Form.NAME | Form.USERNAME | Form.SLUG if not readable:
            return f"{form.value} is a text or a BLOB"
        case Form.ADDRESS | Form.EMAIL | Form.SUBJECT if not readable:
            return f"{form.value} is a text or a BLOB"
    return None
