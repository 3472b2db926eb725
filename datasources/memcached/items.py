"""Reads items from memcached's answers to `gets`. It is compiled."""

import msgspec

_DIGITS = 18
"""Digits of a number that always fits in 64 bits."""
_BLANK, _ZERO, _E = 32, 48, 69
_VALUE = b"VALUE "


class Item(msgspec.Struct, frozen=True, gc=False):
    """A stored value. `cas` changes with each write of the key, during one run of the server. It is
    a struct for speed: a page has a hundred items."""

    flags: int
    cas: int
    value: bytes


class ProtocolError(Exception):
    """The server refused a command, or gave an answer that is not in the protocol."""


def read_items(buffer: bytes, at: int, items: dict[bytes, Item], answers: int) -> tuple[int, int]:
    """Add to `items` the items that arrived as a whole, from the position `at`. Returns the place
    after them, and how many of the answers have not ended. Raises ProtocolError.

    Each read is checked before: compiled, `text` has no bounds.
    """
    text = buffer
    while answers and (end := buffer.find(b"\r\n", at)) >= 0:
        if text[at] == _E and buffer[at:end] == b"END":
            answers -= 1
            at = end + 2
            continue
        # VALUE KEY FLAGS SIZE CAS
        key_ends = _blank(text, at + 6, end)
        flags_end = _blank(text, key_ends + 1, end)
        size_ends = _blank(text, flags_end + 1, end)
        flags = _number(text, key_ends + 1, flags_end)
        size = _number(text, flags_end + 1, size_ends)
        cas = _large_number(buffer, size_ends + 1, end)
        if flags < 0 or size < 0 or cas is None or buffer[at : at + 6] != _VALUE:
            raise ProtocolError(buffer[at:end].decode(errors="replace"))
        begin = end + 2
        if len(buffer) - begin - 2 < size:
            break
        end = begin + size
        items[buffer[at + 6 : key_ends]] = Item(flags, cas, buffer[begin:end])
        at = end + 2
    return at, answers


def _blank(text: bytes, at: int, end: int) -> int:
    """The position of the first blank before `end`, or `end`."""
    while at < end and text[at] != _BLANK:
        at += 1
    return at


def _number(text: bytes, at: int, end: int) -> int:
    """The number between two positions; -1 if there is none, or one with too many digits."""
    if at >= end or end - at > _DIGITS:
        return -1
    found = 0
    while at < end:
        digit = text[at] - _ZERO
        if digit < 0 or digit > 9:
            return -1
        found = found * 10 + digit
        at += 1
    return found


def _large_number(text: bytes, at: int, end: int) -> int | None:
    """The number between two positions, with any digits."""
    found = _number(text, at, end)
    if found < 0:
        digits = text[at:end]
        return int(digits) if digits.isdigit() else None
    return found
