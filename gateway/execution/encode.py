"""Encodes a response's data as JSON. Large data is encoded in pieces, with rests of the event loop
in between."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import orjson

SMALL = 4_096
"""The maximum number of objects of a response that is encoded in one piece."""
SMALL_TEXT = 1 << 18
"""The maximum number of characters of such a response."""
PIECE = 1_024
"""The number of values that are encoded at a time."""
A_VALUE = 64
"""The characters of a text that count as one more value."""
PART = 1 << 18
"""The approximate size of a part of a large response, in bytes."""
BUDGET = 0.004
"""The seconds of work between rests."""


class TooLarge(Exception):
    """The response has more bytes than it may have."""


def dumps(value: Any, default: Callable[[Any], Any] | None = None) -> bytes:
    """Returns a value as JSON. Values that orjson refuses are written like json.dumps does:
    integers of any size, keys that are not strings, lone surrogates. Raises TypeError or ValueError
    for other values. `default` converts a value of a class that JSON doesn't have."""
    try:
        return orjson.dumps(value, default)
    except TypeError:
        return b"".join(_spelled_out(value, default))


def _spelled_out(value: Any, default: Callable[[Any], Any] | None) -> Iterator[bytes]:
    if isinstance(value, dict) and value:
        opening = b"{"
        for key, item in value.items():
            if not isinstance(key, str):
                (key,) = json.loads(json.dumps({key: None}))
            yield opening + json.dumps(key).encode() + b":"
            yield dumps(item, default)
            opening = b","
        yield b"}"
    elif isinstance(value, list | tuple) and value:
        opening = b"["
        for item in value:
            yield opening + dumps(item, default)
            opening = b","
        yield b"]"
    else:
        yield json.dumps(value, default=default).encode()


async def encode(data: Any, most: int = 0) -> list[bytes]:
    """Returns the bytes of `dumps(data)` in parts of about PART bytes, encoded with rests. Raises
    TooLarge as soon as they are more than `most` (0: any number).

    The parts are not joined: allocating memory for a large response takes the operating system
    longer than the loop may be held.
    """
    parts: list[bytes] = []
    pieces: list[bytes] = []
    await asyncio.sleep(0)  # executing has just freed many objects
    clock = asyncio.get_running_loop().time
    size, total, since = 0, 0, clock()
    for piece in _pieces(data):
        pieces.append(piece)
        size += len(piece)
        total += len(piece)
        if 0 < most < total:
            raise TooLarge
        if size > PART:
            parts.append(b"".join(pieces))
            pieces, size = [], 0
        if clock() - since > BUDGET:
            await asyncio.sleep(0)
            since = clock()
    parts.append(b"".join(pieces))
    await asyncio.sleep(0)
    return parts


def _pieces(value: Any) -> Iterator[bytes]:
    if type(value) is dict and value:
        opening = b"{"
        for key, item in value.items():
            yield opening + dumps(key) + b":"
            yield from _pieces(item) if _values(item, PIECE) > PIECE else (dumps(item),)
            opening = b","
        yield b"}"
    elif type(value) is list and value:
        yield from _items(value)
    else:
        yield dumps(value)


def _items(value: list[Any]) -> Iterator[bytes]:
    """The pieces of a list that is not empty. Small items are encoded together."""
    opening, together, count = b"[", list[Any](), 0
    for item in value:
        values = _values(item, PIECE)
        if values <= PIECE:
            together.append(item)
            count += values
        if together and (count > PIECE or values > PIECE):
            yield opening + dumps(together)[1:-1]
            opening, together, count = b",", [], 0
        if values > PIECE:
            yield opening
            yield from _pieces(item)
            opening = b","
    yield opening + dumps(together)[1:-1] + b"]" if together else b"]"


def _values(value: Any, most: int) -> int:
    """The number of values in a value, counted until there are more than `most`. A long text counts
    as several values."""
    if type(value) is dict:
        below: Iterable[Any] = value.values()
    elif type(value) is list:
        below = value
    else:
        return 1 + len(value) // A_VALUE if type(value) is str else 1
    count = 1
    for item in below:
        kind = type(item)
        count += _values(item, most - count) if kind is dict or kind is list or kind is str else 1
        if count > most:
            break
    return count
