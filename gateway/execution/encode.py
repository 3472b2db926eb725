"""The response's data as JSON, in pieces when it is large, so that the loop is never held long."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import orjson

SMALL = 4_096
"""A response of so many objects need not be encoded in pieces."""
PIECE = 256
"""Simple items of a list that are."""
PART = 1 << 18
"""Bytes of a large response that are sent at a time, about."""
BUDGET = 0.004


def dumps(value: Any, default: Callable[[Any], Any] | None = None) -> bytes:
    """A value as JSON. What orjson refuses is written as json.dumps would: integers of any size,
    keys that are no strings, lone surrogates. Raises TypeError or ValueError where that fails."""
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


async def encode(data: Any) -> list[bytes]:
    """The bytes of `dumps(data)`, made with rests, in parts of moderate size: memory for all
    of them in one piece takes the system longer than the loop may be held."""
    parts: list[bytes] = []
    pieces: list[bytes] = []
    await asyncio.sleep(0)  # what made the data let go of much at its end
    clock = asyncio.get_running_loop().time
    size, since = 0, clock()
    for piece in _pieces(data):
        pieces.append(piece)
        size += len(piece)
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
            yield from _pieces(item) if _large(item) else (dumps(item),)
            opening = b","
        yield b"}"
    elif type(value) is list and value:
        opening = b"["
        for start in range(0, len(value), PIECE):
            items = value[start : start + PIECE]
            if any(map(_large, items)):
                for item in items:
                    yield opening
                    yield from _pieces(item)
                    opening = b","
            else:
                yield opening + dumps(items)[1:-1]
                opening = b","
        yield b"]"
    else:
        yield dumps(value)


def _large(value: Any) -> bool:
    """Whether a value holds a long list, or may hold one further down."""
    if type(value) is list:
        return len(value) > 16 or any(map(_large, value))
    if type(value) is dict:
        return any(
            type(item) is list or (type(item) is dict and _large(item)) for item in value.values()
        )
    return False
