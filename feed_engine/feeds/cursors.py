"""Feeds' opaque cursors: a version byte and a place, as base64url without padding."""

from base64 import urlsafe_b64decode
from binascii import b2a_base64
from enum import IntEnum

from datasources.errors import BadInput


class CursorKind(IntEnum):
    """The first byte of a cursor: the kind of list, and the cursor's format."""

    FOLLOWING_1 = 0x11
    HOME_1 = 0x21
    POPULAR_1 = 0x31
    POPULAR_2 = 0x32


FOR_URLS = bytes.maketrans(b"+/", b"-_")


def encode(kind: CursorKind, place: bytes) -> str:
    text = b2a_base64(bytes((kind,)) + place, newline=False)
    return text.translate(FOR_URLS, b"=").decode("ascii")


def decode(kind: CursorKind, cursor: str, *, least: int, most: int | None = None) -> bytes:
    """The place in a cursor of `kind`, which has `least` to `most` bytes. Raises BadInput."""
    if len(cursor) <= 400 and cursor.isascii():
        try:
            raw = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        except ValueError:
            raw = b""
        if raw[:1] == bytes((kind,)) and least <= len(raw) - 1 <= (least if most is None else most):
            return raw[1:]
    raise wrong()


def wrong() -> BadInput:
    """The error of a text that is not a cursor of the feed. It does not repeat the text, which is
    a place that was decrypted if the cursor belongs to another feed."""
    return BadInput(
        "after is not a cursor of this feed: pass the endCursor of its last page", "after"
    )
