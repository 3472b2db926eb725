"""`extensions.trace` of a response: what the request did and when, for developers."""

from typing import Any

import orjson

from datasources.recording import Recording, Span


def described(recording: Recording) -> bytes:
    """The recording as JSON. Times are in milliseconds since the request began."""
    root = recording.root
    numbers = {id(span): number for number, span in enumerate(recording.spans)}

    def one(span: Span) -> dict[str, Any]:
        ended = span.ended if span.ended is not None else root.ended
        assert ended is not None
        return {
            "id": numbers[id(span)],
            "parent": None if span.above is None else numbers.get(id(span.above)),
            "kind": span.kind,
            "name": span.name,
            "startMs": _ms(span.began - root.began),
            "ms": _ms(ended - span.began),
            "outcome": span.outcome if span.ended is not None else "unfinished",
            **span.notes,
        }

    assert root.ended is not None
    return orjson.dumps(
        {
            "ms": _ms(root.ended - root.began),
            "levels": levels(recording),
            "caches": {
                cache: {"hits": hits, "keys": keys}
                for cache, (hits, keys) in sorted(recording.lookups.items())
            },
            "spans": [one(span) for span in recording.spans],
            "leftOut": recording.left_out,
        },
        default=str,
    )


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
