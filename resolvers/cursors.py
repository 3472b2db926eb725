"""The format of the lists' cursors: their content, their encryption and their signature.

A page that ends among entries that the viewer may not see ends with the cursor of a hidden entry.
So all cursors are encrypted in the same way, and authenticated: deterministic encryption in the
manner of SIV (RFC 5297), with BLAKE2b's keyed mode as the pseudo-random function. A place always
has the same cursor; clients that merge pages need this.
"""

import binascii
import os
from base64 import urlsafe_b64decode
from enum import IntEnum
from hashlib import blake2b
from typing import NamedTuple

from datasources.errors import BadInput

_TAG_BYTES = 8
_PLACE_BYTES = 16 + 8 + 4 + 1  # sequence, id, era, kind
_LENGTH = -(-(_TAG_BYTES + _PLACE_BYTES) * 4 // 3)
_FOR_URLS = bytes.maketrans(b"+/", b"-_")


class CursorKind(IntEnum):
    """The kind of list to which a cursor belongs."""

    LIST = 1
    OBJECTS = 2


class CursorPlace(NamedTuple):
    """The entry after which a page begins. In the list of all objects of a type, an entry only has
    an id."""

    sequence: int
    id: int
    era: int


class Cursors:
    """Writes and reads cursors with one secret. Gateways with the same secret can read each other's
    cursors."""

    def __init__(self, secret: bytes) -> None:
        self._tag = blake2b(
            key=blake2b(b"tag" + secret, digest_size=32).digest(), digest_size=_TAG_BYTES
        )
        self._stream = blake2b(
            key=blake2b(b"stream" + secret, digest_size=32).digest(), digest_size=_PLACE_BYTES
        )

    def encode(self, kind: int, id: int, sequence: int = 0, era: int = 0) -> str:
        """The cursor of a place: URL-safe text of 50 characters."""
        place = ((sequence << 64 | id) << 32 | era) << 8 | kind
        mac = self._tag.copy()
        mac.update(place.to_bytes(_PLACE_BYTES))
        tag = mac.digest()
        sealed = (place ^ self._stream_of(tag)).to_bytes(_PLACE_BYTES)
        text = binascii.b2a_base64(tag + sealed, newline=False).translate(_FOR_URLS)
        return text[:_LENGTH].decode("ascii")

    def decode(self, kind: int, cursor: str) -> CursorPlace:
        """The place of a cursor of this kind. Raises BadInput for any other text."""
        if len(cursor) == _LENGTH and cursor.isascii():
            try:
                raw = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
            except binascii.Error:
                raw = b""
            tag, sealed = raw[:_TAG_BYTES], raw[_TAG_BYTES:]
            if len(sealed) == _PLACE_BYTES:
                place = int.from_bytes(sealed) ^ self._stream_of(tag)
                read = CursorPlace(place >> 104, place >> 40 & 2**64 - 1, place >> 8 & 2**32 - 1)
                # A place has exactly one cursor: all other texts that decode to the place are
                # refused.
                if self.encode(kind, read.id, read.sequence, read.era) == cursor:
                    return read
        raise BadInput(
            f"after is {cursor[:60]!r}: not a cursor of this list; pass the endCursor of its last "
            "page",
            "after",
        )

    def _stream_of(self, tag: bytes) -> int:
        stream = self._stream.copy()
        stream.update(tag)
        return int.from_bytes(stream.digest())


OF_THIS_PROCESS = Cursors(os.urandom(32))
"""The cursors of contexts without others. They are valid until the process ends."""
