"""The response's data as JSON, in pieces when it is large, so that the loop is never held long."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import orjson

SMALL = 4_096
"""A response of so many objects need not be encoded in pieces."""
PIECE = 256
"""Simple items of a list that are."""
BUDGET = 0.004


async def encode(data: Any) -> bytes:
    """The bytes of `orjson.dumps(data)`, with rests."""
    pieces: list[bytes] = []
    since = perf_counter()
    for piece in _pieces(data):
        pieces.append(piece)
        if perf_counter() - since > BUDGET:
            await asyncio.sleep(0)
            since = perf_counter()
    return b"".join(pieces)


def _pieces(value: Any) -> Iterator[bytes]:
    if type(value) is dict and value:
        opening = b"{"
        for key, item in value.items():
            yield opening + orjson.dumps(key) + b":"
            yield from _pieces(item) if _large(item) else (orjson.dumps(item),)
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
                yield opening + orjson.dumps(items)[1:-1]
                opening = b","
        yield b"]"
    else:
        yield orjson.dumps(value)


def _large(value: Any) -> bool:
    """Whether it holds a list that is long, or may hold one further down."""
    if type(value) is list:
        return len(value) > 16 or any(map(_large, value))
    if type(value) is dict:
        return any(
            type(item) is list or (type(item) is dict and _large(item)) for item in value.values()
        )
    return False
