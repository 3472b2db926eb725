"""Checks of single inputs. Each answers the value as it will be stored, or raises BadInput that
says what was wrong and what would be right."""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from datasources.errors import BadInput
from datasources.records import Image

URL_LENGTH = 2048
INTERESTS = 20
KEY_LENGTH = 255
PIXELS = 100_000
IMAGES = "/images/"  # pictures that the gateway serves itself

_USERNAME = re.compile(r"[a-z0-9_.]{3,30}")
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_COLOR = re.compile(r"#[0-9a-fA-F]{6}")
_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def text(value: str, field: str, most: int, *, least: int = 0) -> str:
    """A text without the white space around it, of `least` to `most` characters."""
    value = value.strip()
    _must_be_unicode(value, field)
    if found := _CONTROL.search(value):
        raise BadInput(f"{field} holds the control character {found[0]!r}: leave it out", field)
    if not least <= len(value) <= most:
        if not value:
            raise BadInput(f"{field} is empty: it needs 1 to {most} characters", field)
        raise BadInput(f"{field} has {len(value)} characters: at most {most} are kept", field)
    return value


def username(value: str) -> str:
    """A user name, in lower case."""
    value = value.strip()
    lower = value.lower() if value.isascii() else value
    if not _USERNAME.fullmatch(lower):
        raise BadInput(
            f"{shown(value)} can't be a user name: use 3 to 30 of the letters a to z, digits, "
            "underscores and dots",
            "username",
        )
    return lower


def slug(value: str) -> str:
    if len(value) > 100 or not _SLUG.fullmatch(value):
        raise BadInput(
            f"{shown(value)} can't be a slug: use up to 100 of the letters a to z and digits, with "
            "single hyphens between words",
            "slug",
        )
    return value


def link(value: str | None, field: str) -> str | None:
    """An absolute http or https address; empty is none."""
    if value is None or not (value := value.strip()):
        return None
    _must_be_unicode(value, field)
    try:
        parts = urlsplit(value)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound or len(value) > URL_LENGTH or _UNPRINTABLE.search(value):
        raise BadInput(
            f"{shown(value)} can't be the {field}: it needs an http:// or https:// address of up "
            f"to {URL_LENGTH} characters",
            field,
        )
    return value


def image(value: Image | None, field: str) -> Image | None:
    """A picture at an http or https address, or one that the gateway serves."""
    if value is None:
        return None
    url = value.url.strip()
    if url.startswith(IMAGES):
        if ".." in url or "\\" in url or len(url) > URL_LENGTH or _UNPRINTABLE.search(url):
            raise BadInput(f"{shown(url)} is not the path of a picture here", f"{field}.url")
        _must_be_unicode(url, f"{field}.url")
    elif link(url, f"{field}.url") is None:
        raise BadInput(f"{field}.url is empty: it needs the picture's address", f"{field}.url")
    for name, size in (("width", value.width), ("height", value.height)):
        if size is not None and not 1 <= size <= PIXELS:
            raise BadInput(
                f"{field}.{name} is {size}: it is in pixels, 1 to {PIXELS}", f"{field}.{name}"
            )
    if value.color is not None and not _COLOR.fullmatch(value.color):
        raise BadInput(
            f"{shown(value.color)} is not a color: write it as #rrggbb", f"{field}.dominantColor"
        )
    color = value.color.lower() if value.color else None
    return Image(url=url, width=value.width, height=value.height, color=color)


def interest_ids(values: Sequence[int]) -> tuple[int, ...]:
    """Up to 20 ids, each once, in the order given."""
    found = tuple(dict.fromkeys(values))
    if len(found) > INTERESTS:
        raise BadInput(f"a pin has at most {INTERESTS} interests, not {len(found)}", "interestIds")
    return found


def idempotency_key(value: str | None) -> None:
    if value is None:
        return
    _must_be_unicode(value, "idempotencyKey")
    if not 1 <= len(value) <= KEY_LENGTH:
        raise BadInput(
            f"idempotencyKey has {len(value)} characters: use 1 to {KEY_LENGTH}", "idempotencyKey"
        )


def shown(value: str) -> str:
    """What was given, short enough for a message."""
    return repr(value if len(value) <= 60 else f"{value[:60]}…")


def _must_be_unicode(value: str, field: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadInput(
            f"{field} holds half of a character (a lone surrogate): send whole ones", field
        ) from None
