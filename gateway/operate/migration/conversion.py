"""Turns a row of a source into an import line, by fixed rules. A row that no rule can save is left
out; every change of a value and every row that is left out is reported."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from datasources.errors import BadInput
from datasources.sql.source_tables import Values
from feed_engine.transactions import validation
from feed_engine.transactions.hidden_text import without_hidden
from gateway.operate.imports import addresses
from gateway.operate.imports.events import is_private
from gateway.operate.imports.jsonl import (
    EPOCH,
    LATEST_MS,
    AnyLine,
    BadLine,
    decode,
    sequence_of,
    time_of,
)
from gateway.operate.migration.fields import FIELDS, Field, Form
from gateway.operate.migration.mapping import Origin
from gateway.operate.migration.source_checks import TablePlan

HIGHEST_PLACE = 10**12
"""The highest number of a place on a board. A new pin's place begins with its time in milliseconds,
which is above it, so new pins stand before migrated ones."""
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?: (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?)?")
_SHOWN = 60
_SAYS_YES = frozenset({"1", "true", "t", "yes", "y", "on", "public"})
"""Values of an inverted flag. Any other value could mean that few people may see the board."""


class Converted(NamedTuple):
    """A row's line and its JSON, None for a row that is left out; and what was changed, or why."""

    parsed: AnyLine | None
    data: bytes
    changes: list[str]
    fault: str = ""


class _Unusable(ValueError):
    """A value that its field can't have. The message says why."""


def is_secret(value: str, origin: Origin) -> bool:
    """Whether a board is secret by a value of its column."""
    text = value.strip().lower()
    if origin.inverted:
        return text not in _SAYS_YES
    return bool(text) and is_private(text)


def convert(plan: TablePlan, values: Values) -> Converted:
    """The import line of a row, whose values are in the order of the plan."""
    becomes = plan.mapping.becomes
    row = _Row(becomes)
    try:
        for (name, origin), value in zip(plan.mapping.columns.items(), values, strict=True):
            row.read(name, origin, value)
        data = msgspec.json.encode({"type": becomes, **row.line()})
        return Converted(decode(data), data, row.changes)
    except (_Unusable, BadLine) as error:
        return Converted(None, b"", row.changes, str(error))


class _Row:
    """The fields of a line so far, and the changes that rules made."""

    def __init__(self, becomes: str) -> None:
        self._becomes = becomes
        self._fields: dict[str, Any] = {}
        self.changes: list[str] = []

    def read(self, name: str, origin: Origin, value: bytes | None) -> None:
        field = FIELDS[self._becomes][name]
        if value is None and field.form is not Form.FLAG:
            if field.required:
                raise _Unusable(f"{name} is NULL, and a {self._becomes} needs it")
            return
        found = _READERS[field.form](self, name, field, origin, value)
        if found is not None:
            self._fields[name] = found

    def line(self) -> dict[str, Any]:
        """The fields as the import format has them."""
        line = dict(self._fields)
        if "issuer" not in line or "subject" not in line:
            line.pop("issuer", None)
            line.pop("subject", None)
        if "avatar" in line:
            line["avatar"] = {"url": line["avatar"]}
        if self._becomes == "pin":
            sizes = {
                name: line.pop(f"image_{name}")
                for name in ("width", "height")
                if f"image_{name}" in line
            }
            if "image" in line:
                line["image"] = {"url": line["image"], **sizes}
            if "interest" in line:
                line["interests"] = [line.pop("interest")]
            self._add_link_as_text(line)
            if "sequence" in line:
                line["sequence"] = str(sequence_of(line["key"], line["sequence"]))
        return line

    def _add_link_as_text(self, line: dict[str, Any]) -> None:
        text = line.pop("link_text", None)
        if text is not None:
            whole = f"{line.get('description', '')}\n{text}".strip()
            line["description"] = whole[: FIELDS["pin"]["description"].most]

    def change(self, name: str, message: str) -> None:
        self.changes.append(f"{name} {message}")

    def key(self, name: str, field: Field, origin: Origin, value: bytes) -> str | None:
        text = value.decode("utf-8", "replace")
        if text in ("", "0") and not field.required:
            return None  # old tables write 0 for "none"
        return text

    def raw_text(self, name: str, field: Field, origin: Origin, value: bytes) -> str:
        try:
            return value.decode(origin.charset or "utf-8").strip()
        except UnicodeError:
            charset = origin.charset or "UTF-8"
            self.change(name, f"has bytes that are wrong in {charset}: U+FFFD stands for them")
            return value.decode(origin.charset or "utf-8", "replace").strip()

    def text(self, name: str, field: Field, origin: Origin, value: bytes) -> str:
        text = self.raw_text(name, field, origin, value)
        if not (text.isascii() and text.isprintable()):
            seen = without_hidden(validation.UNSEEN.sub("", text)).strip()
            seen = seen if validation.is_visible(seen) else ""
            if seen != text:
                self.change(name, "has characters that nobody can see: they are left out")
                text = seen
        if len(text) > field.most:
            self.change(name, f"has {len(text):,} characters: cut at {field.most:,}")
            text = text[: field.most].strip()
        return text

    def name(self, name: str, field: Field, origin: Origin, value: bytes) -> str:
        text = self.text(name, field, origin, value)
        if field.required and not text:
            self.change(name, "is empty: Untitled stands for it")
            return "Untitled"
        return text

    def slug(self, name: str, field: Field, origin: Origin, value: bytes) -> str:
        return self.raw_text(name, field, origin, value).lower()

    def email(self, name: str, field: Field, origin: Origin, value: bytes) -> str | None:
        text = self.raw_text(name, field, origin, value)
        try:
            return validation.email(text) if text else None
        except BadInput:
            self.change(name, "is no e-mail address: left out")
            return None

    def subject(self, name: str, field: Field, origin: Origin, value: bytes) -> str | None:
        text = self.raw_text(name, field, origin, value)
        if len(text) > field.most or validation.UNSEEN.search(text):
            message = f"has over {field.most} characters, or some that nobody can see: left out"
            self.change(name, message)
            return None
        if origin.issuer is not None:
            self._fields["issuer"] = origin.issuer
        return text or None

    def address(self, name: str, field: Field, origin: Origin, value: bytes) -> str | None:
        text = self.raw_text(name, field, origin, value)
        if not text or (name != "link" and text.startswith(validation.IMAGES)):
            return text or None
        found = addresses.read(text)
        if not found.fault:
            return found.text
        if name == "link" and found.text:
            self._fields["link_text"] = found.text
            self.change(name, "is no web address: the pin has it in its description instead")
        else:
            self.change(name, "is no web address: left out")
        return None

    def time(self, name: str, field: Field, origin: Origin, value: bytes) -> str | None:
        text = value.decode()
        try:
            ms = _numbered(text, origin.unit) if origin.unit else _dated(text)
        except ValueError:
            ms = -1
        if not 0 <= ms <= LATEST_MS:
            self.change(name, f"is {text[:_SHOWN]}, no time from 1970 to 2286: left out")
            return None
        found = time_of(ms)
        return found.isoformat() if found is not None else None

    def flag(self, name: str, field: Field, origin: Origin, value: bytes | None) -> bool:
        return is_secret(value.decode("utf-8", "replace") if value is not None else "", origin)

    def pixels(self, name: str, field: Field, origin: Origin, value: bytes) -> int | None:
        number = int(value.partition(b".")[0])
        if 1 <= number <= validation.PIXELS:
            return number
        if number:
            self.change(name, f"is {number}, not from 1 to {validation.PIXELS:,}: left out")
        return None

    def place(self, name: str, field: Field, origin: Origin, value: bytes) -> int | None:
        number = int(value.partition(b".")[0])
        if not 0 <= number <= HIGHEST_PLACE:
            message = f"is {number}, not from 0 to {HIGHEST_PLACE:,}: the pin's time places it"
            self.change(name, message)
            return None
        return number if origin.first == "highest" else HIGHEST_PLACE - number


def _dated(text: str) -> int:
    """Epoch milliseconds of a date in UTC. Raises ValueError, also for the zero date."""
    found = _DATE.fullmatch(text)
    if found is None:
        raise ValueError(text)
    *numbers, fraction = found.groups()
    year, month, day, hour, minute, second = (int(number or 0) for number in numbers)
    moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    return int((moment - EPOCH).total_seconds()) * 1000 + int((fraction or "").ljust(3, "0")[:3])


def _numbered(text: str, unit: str) -> int:
    number = int(text.partition(".")[0])
    return number * 1000 if unit == "seconds" else number


_READERS: dict[Form, Callable[..., Any]] = {
    Form.KEY: _Row.key,
    Form.TEXT: _Row.text,
    Form.NAME: _Row.name,
    Form.USERNAME: _Row.raw_text,
    Form.SLUG: _Row.slug,
    Form.EMAIL: _Row.email,
    Form.SUBJECT: _Row.subject,
    Form.ADDRESS: _Row.address,
    Form.TIME: _Row.time,
    Form.FLAG: _Row.flag,
    Form.PIXELS: _Row.pixels,
    Form.PLACE: _Row.place,
}
