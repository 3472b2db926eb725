"""Dates of bookmarks, in the forms that browsers and services write."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from gateway.operate.imports.jsonl import EPOCH, LATEST_MS

_MICROSECONDS_1601 = 11_644_473_600_000_000  # from 1601 to 1970
_NUMBER = re.compile(r"([0-9]{1,20})(?:[.,]([0-9]{1,20}))?", re.ASCII)
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_LOG = re.compile(r"[0-9]{1,2}/[A-Za-z]{3}/[0-9]{4}:", re.ASCII)
_ZONE = re.compile(r" (UTC|GMT|Z)\Z")
FORMS = "a number of seconds from 1970 to 2286, nor an ISO 8601 date"


def milliseconds(text: str) -> int | None:
    """Epoch milliseconds of a date; 0 for an empty text. None for a text that is no date, and for
    a date before 1970 or after 2286.

    A number should be in seconds. Some programs write fractions of a second, milliseconds,
    microseconds or (Chromium) the microseconds since 1601. Others write ISO 8601 (UTC, if it names
    no time zone), `10/Oct/2000:13:55:36 +0300`, or the date of an e-mail.
    """
    text = text.strip()
    if not text:
        return 0
    number = _NUMBER.fullmatch(text)
    found = _of_number(number) if number is not None else _of_words(text)
    return found if found is not None and 0 <= found <= LATEST_MS else None


def _of_number(number: re.Match[str]) -> int:
    value = int(number[1])
    if value < 10**11:
        return value * 1000 + int((number[2] or "0")[:3].ljust(3, "0"))
    if value < 10**14:
        return value
    return (value - _MICROSECONDS_1601 if value > _MICROSECONDS_1601 else value) // 1000


def _of_words(text: str) -> int | None:
    try:
        if _ISO.match(text):
            found = datetime.fromisoformat(_ZONE.sub("+00:00", text))
        elif _LOG.match(text):
            zoned = text if " " in text else f"{text} +0000"
            found = datetime.strptime(zoned, "%d/%b/%Y:%H:%M:%S %z")
        elif "," in text[:4]:
            found = parsedate_to_datetime(text)
        else:
            return None
        if found.tzinfo is None:
            found = found.replace(tzinfo=UTC)
        return int((found - EPOCH).total_seconds() * 1000)
    except (ValueError, OverflowError, TypeError):
        return None
