"""The format of the lists' cursors: their content, their encryption and their signature.

A page that ends among entries that the viewer may not see ends with the cursor of a hidden entry.
So all cursors are encrypted in the same way, and authenticated: deterministic encryption in the
manner of SIV (RFC 5297), with BLAKE2b's keyed mode as the pseudo-random function. A place always
has the same cursor; clients that merge pages need this.

The signature of a list's cursor also covers the list, as SIV's associated data: so the cursor of
one list is refused by all others, and is no longer for it. Earlier versions did not sign the list;
their cursors are accepted.
"""

import os
import struct
from binascii import Error, a2b_base64, b2a_base64
from enum import IntEnum
from hashlib import blake2b
from hmac import compare_digest
from typing import NamedTuple

from datasources.errors import BadInput
from datasources.ids import InvalidId, Kind, kind_of
from datasources.mappings import ListKey, Mapping
from feed_engine.feeds.cursors import FOR_URLS

_TAG_BYTES = 8
_PLACE_BYTES = 16 + 8 + 4 + 1  # sequence, id, era, kind
_LENGTH = -(-(_TAG_BYTES + _PLACE_BYTES) * 4 // 3)
_BLOCK = 64  # bytes of a feed cursor's stream that one hash gives
_FEED_LENGTH = 400  # characters of a feed's cursor, at most
_NUMBERS = bytes(range(256))
_FROM_URLS = bytes.maketrans(b"-_", b"+/")
_NAME = struct.Struct(">BQ")  # a list's mapping and its parent
_WHOLE = {
    Mapping.USER_HAS_PUBLIC_BOARDS: Mapping.USER_HAS_BOARDS,
    Mapping.USER_HAS_PUBLIC_PINS: Mapping.USER_HAS_PINS,
}
"""Lists of which one field shows a part to some viewers, and the whole to others: a viewer who
signs in turns the pages with the same cursors."""


class CursorKind(IntEnum):
    """The kind of list to which a cursor belongs."""

    LIST = 1
    OBJECTS = 2
    SORTED = 3
    SEARCH = 4
    NOTIFICATIONS = 5


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
        self._of_any_list: Cursors | None = None
        self._feed_tag = blake2b(
            key=blake2b(b"feed tag" + secret, digest_size=32).digest(), digest_size=_TAG_BYTES
        )
        self._feed_stream = blake2b(
            key=blake2b(b"feed stream" + secret, digest_size=32).digest(), digest_size=_BLOCK
        )

    def of(self, key: ListKey) -> "Cursors":
        """The cursors of one list."""
        bound = Cursors.__new__(Cursors)
        bound.__dict__ |= self.__dict__
        bound._tag = self._tag.copy()
        bound._tag.update(_NAME.pack(_WHOLE.get(key.mapping, key.mapping).code, key.from_id))
        bound._of_any_list = self
        return bound

    def encode(self, kind: int, id: int, sequence: int = 0, era: int = 0) -> str:
        """The cursor of a place: URL-safe text of 50 characters."""
        place = ((sequence << 64 | id) << 32 | era) << 8 | kind
        mac = self._tag.copy()
        mac.update(place.to_bytes(_PLACE_BYTES))
        tag = mac.digest()
        sealed = (place ^ self._stream_of(tag)).to_bytes(_PLACE_BYTES)
        text = b2a_base64(tag + sealed, newline=False).translate(FOR_URLS)
        return text[:_LENGTH].decode("ascii")

    def decode(self, kind: int, cursor: str, argument: str = "after") -> CursorPlace:
        """The place of a cursor of this kind, which came in the argument `after` or `before`.
        Raises BadInput for any other text."""
        if len(cursor) == _LENGTH and cursor.isascii():
            try:
                raw = _from_base64(cursor)
            except Error:
                raw = b""
            tag, sealed = raw[:_TAG_BYTES], raw[_TAG_BYTES:]
            if len(sealed) == _PLACE_BYTES:
                place = int.from_bytes(sealed) ^ self._stream_of(tag)
                read = CursorPlace(place >> 104, place >> 40 & 2**64 - 1, place >> 8 & 2**32 - 1)
                # A place has exactly one cursor: all other texts that decode to the place are
                # refused.
                for cursors in (self, self._of_any_list):
                    if cursors and cursor == cursors.encode(kind, read.id, read.sequence, read.era):
                        return read
        raise _wrong(cursor, argument)

    def decode_object(self, kind: Kind, cursor: str) -> int:
        """The id in a cursor of the list of all objects of a kind. Raises BadInput."""
        id = self.decode(CursorKind.OBJECTS, cursor).id
        try:
            sound = kind_of(id) is kind
        except InvalidId:
            sound = False
        if not sound:
            raise _wrong(cursor, "after")
        return id

    def seal(self, place: str) -> str:
        """The cursor of a place in a feed, which the feed engine wrote as base64url."""
        raw = _from_base64(place)
        mac = self._feed_tag.copy()
        mac.update(raw)
        tag = mac.digest()
        return _to_base64(tag + self._with_feed_stream(tag, raw))

    def unseal(self, cursor: str | None) -> str | None:
        """The place of a feed's cursor. All other text is returned as it is: earlier versions gave
        clients the places themselves, and the feed engine refuses what is no place."""
        return None if cursor is None else self.sealed_place(cursor) or cursor

    def sealed_place(self, cursor: str) -> str | None:
        """The place in a cursor that `seal` made; None for all other text."""
        if len(cursor) > _FEED_LENGTH or not cursor.isascii():
            return None
        try:
            sealed = _from_base64(cursor)
        except Error:
            return None
        tag = sealed[:_TAG_BYTES]
        raw = self._with_feed_stream(tag, sealed[_TAG_BYTES:])
        place = _to_base64(raw)
        # A place has exactly one cursor.
        return place if raw and compare_digest(self.seal(place), cursor) else None

    def _with_feed_stream(self, tag: bytes, text: bytes) -> bytes:
        """The text combined with the stream of the tag, which encrypts it, and decrypts it."""
        length = len(text)
        stream, block = b"", 0
        while len(stream) < length:  # one block, unless the visit has a long name
            part = self._feed_stream.copy()
            part.update(tag + _NUMBERS[block : block + 1])
            stream += part.digest()
            block += 1
        return (int.from_bytes(text) ^ int.from_bytes(stream[:length])).to_bytes(length)

    def _stream_of(self, tag: bytes) -> int:
        stream = self._stream.copy()
        stream.update(tag)
        return int.from_bytes(stream.digest())


def _wrong(cursor: str, argument: str) -> BadInput:
    known = "startCursor" if argument == "before" else "endCursor"
    return BadInput(
        f"{argument} is {cursor[:60]!r}: not a cursor of this list; pass the {known} of its last "
        "page",
        argument,
    )


def _to_base64(raw: bytes) -> str:
    text = b2a_base64(raw, newline=False)
    return text.translate(FOR_URLS, b"=").decode("ascii")


def _from_base64(text: str) -> bytes:
    return a2b_base64(text.encode("ascii").translate(_FROM_URLS) + b"==")


OF_THIS_PROCESS = Cursors(os.urandom(32))
"""The cursors of contexts without others. They are valid until the process ends."""
