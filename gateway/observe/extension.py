"""`extensions.trace` of a response: what the request did and when, for developers."""

import asyncio
from typing import Any

import orjson

from datasources.recording import Recording, Span

SLICE = 100
"""Spans that are encoded in one turn of the event loop: they take half a millisecond."""


async def described(recording: Recording) -> bytes:
    """The recording, which is over, as JSON. Times are in milliseconds since the request began.
    Other requests go on between two slices of a long recording."""
    root, spans = recording.root, recording.spans
    assert root.ended is not None
    numbers = {id(span): number for number, span in enumerate(spans)}
    ended, slices = root.ended, list[bytes]()
    for first in range(0, len(spans), SLICE):
        if first:
            await asyncio.sleep(0)
        some = [_described(span, numbers, root.began, ended) for span in spans[first:][:SLICE]]
        slices.append(orjson.dumps(some, default=str)[1:-1])
    about = orjson.dumps(
        {
            "ms": _ms(root.ended - root.began),
            "levels": levels(recording),
            "caches": {
                cache: {"hits": hits, "keys": keys}
                for cache, (hits, keys) in sorted(recording.lookups.items())
            },
        }
    )
    left_out = b"%d" % recording.left_out
    return b'%b,"spans":[%b],"leftOut":%b}' % (about[:-1], b",".join(slices), left_out)


def _described(
    span: Span, numbers: dict[int, int], began: float, request_ended: float
) -> dict[str, Any]:
    ended = span.ended if span.ended is not None else request_ended
    return {
        "id": numbers[id(span)],
        "parent": None if span.above is None else numbers.get(id(span.above)),
        "kind": span.kind,
        "name": span.name,
        "startMs": _ms(span.began - began),
        "ms": _ms(ended - span.began),
        "outcome": span.outcome if span.ended is not None else "unfinished",
        **span.notes,
    }


def levels(recording: Recording) -> list[dict[str, Any]]:
    """The levels of the response, derived from its loads: a level begins with the first load after
    all loads of the level before have ended. The time between two levels is the executor's."""
    root, found = recording.root, list[dict[str, Any]]()
    until = float("-inf")
    for span in sorted(recording.spans[1:], key=lambda span: span.began):
        if span.above is not root or span.ended is None:
            continue
        if span.began >= until:
            found.append({"startMs": _ms(span.began - root.began), "ms": 0.0, "loads": []})
        until = max(until, span.ended)
        level = found[-1]
        level["ms"] = _ms(until - root.began - level["startMs"] / 1000)
        level["loads"].append(span.name)
    return found


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)
