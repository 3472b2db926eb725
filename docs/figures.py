"""The pictures of the explanation pages: `python docs/figures.py` writes them into docs/figures.

They are committed, so that they show on a code host too; tests/unit/test_figures.py compares.
"""

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "figures"
_COLUMN, _LEFT, _HEAD, _STEP = 172, 96, 64, 42
_CALL, _ANSWER, _LATER, _LOST = "#1f6feb", "#1a7f37", "#8250df", "#c0392b"


class Arrow(NamedTuple):
    """An arrow from one column to another."""

    start: str
    end: str
    text: str
    color: str = _CALL


class Note(NamedTuple):
    """A text in one column, or over several."""

    start: str
    end: str
    text: str


Step = Arrow | Note

COLORS = (
    (_CALL, "call"),
    (_ANSWER, "answer"),
    (_LATER, "later, by a job"),
    (_LOST, "late or refused"),
)


def sequence(title: str, columns: Sequence[str], steps: Sequence[Step]) -> str:
    """A sequence diagram; time goes down."""
    at = {name: _LEFT + place * _COLUMN for place, name in enumerate(columns)}
    width = 2 * _LEFT + _COLUMN * (len(columns) - 1)
    height = _HEAD + _STEP * len(steps) + 62
    parts = []
    for name, x in at.items():
        parts += [
            f'<line x1="{x}" y1="{_HEAD}" x2="{x}" y2="{height - 44}" stroke="#c8ccd1"/>',
            f'<rect x="{x - 76}" y="36" width="152" height="28" rx="6" fill="#fff" '
            'stroke="#5b6470"/>',
            _text(x, 55, name, "t"),
        ]
    for place, step in enumerate(steps):
        y = _HEAD + 30 + place * _STEP
        start, end = at[step.start], at[step.end]
        parts += (
            _arrow(start, end, y, step) if isinstance(step, Arrow) else _note(start, end, y, step)
        )
    used = [(c, w) for c, w in COLORS if any(isinstance(s, Arrow) and s.color == c for s in steps)]
    for place, (color, words) in enumerate(used):
        x = 20 + 150 * place
        parts.append(
            f'<line x1="{x}" y1="{height - 18}" x2="{x + 26}" y2="{height - 18}" stroke="{color}" '
            f'stroke-width="2" marker-end="url(#{color[1:]})"/>'
        )
        parts.append(_text(x + 34, height - 14, words, "l"))
    return _svg(title, width, height, parts)


def _arrow(start: int, end: int, y: int, step: Arrow) -> list[str]:
    dashes = ' stroke-dasharray="5 4"' if step.color in (_LATER, _LOST) else ""
    gap = 3 if end > start else -3
    line = (
        f'<line x1="{start + gap}" y1="{y}" x2="{end - gap}" y2="{y}" stroke="{step.color}" '
        f'stroke-width="2"{dashes} marker-end="url(#{step.color[1:]})"/>'
    )
    return [line, _text((start + end) / 2, y - 6, step.text, "s")]


def _note(start: int, end: int, y: int, step: Note) -> list[str]:
    left = min(start, end) - 80
    width = abs(end - start) + 160
    box = (
        f'<rect x="{left}" y="{y - 18}" width="{width}" height="28" rx="4" fill="#fff8dd" '
        'stroke="#d8c98a"/>'
    )
    return [box, _text(left + width / 2, y, step.text, "s")]


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{kind}">{escape(text)}</text>'


def _svg(title: str, width: int, height: int, parts: Sequence[str]) -> str:
    return "\n".join(_lines(title, width, height, parts))


def _lines(title: str, width: int, height: int, parts: Sequence[str]) -> Iterator[str]:
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        'aria-labelledby="title">'
    )
    yield f'<title id="title">{escape(title)}</title>'
    yield (
        "<style>text{font-family:system-ui,sans-serif;fill:#1c2128}"
        ".t{font-size:13px;font-weight:600;text-anchor:middle}"
        ".s{font-size:12px;text-anchor:middle}.l{font-size:12px}"
        ".h{font-size:14px;font-weight:600}</style>"
    )
    yield "<defs>"
    for color, _ in COLORS:
        yield (
            f'<marker id="{color[1:]}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            f'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="{color}"/></marker>'
        )
    yield "</defs>"
    yield f'<rect width="{width}" height="{height}" fill="#fafbfc"/>'
    yield _text(14, 22, title, "h")
    yield from parts
    yield "</svg>\n"


def boxes(title: str, rows: Sequence[Sequence[tuple[str, str, int]]]) -> str:
    """Rows of boxes of (heading, text, width); an arrow leads from each row to the next."""
    width = 40 + max(sum(box[2] + 8 for box in row) for row in rows)
    parts = []
    for place, row in enumerate(rows):
        x, y = 20, 40 + place * 92
        if place:
            parts.append(
                f'<line x1="{width / 2}" y1="{y - 34}" x2="{width / 2}" y2="{y - 4}" '
                f'stroke="{_CALL}" stroke-width="2" marker-end="url(#{_CALL[1:]})"/>'
            )
        x = round((width - sum(box[2] + 8 for box in row) + 8) / 2)
        for heading, text, size in row:
            parts += [
                f'<rect x="{x}" y="{y}" width="{size}" height="54" rx="6" fill="#fff" '
                'stroke="#5b6470"/>',
                _text(x + size / 2, y + 22, heading, "t"),
                _text(x + size / 2, y + 42, text, "s"),
            ]
            x += size + 8
    return _svg(title, width, 40 + 92 * len(rows) - 24, parts)


def figures() -> dict[str, str]:
    """Name → SVG."""
    client, gateway, shard, caches = "client", "gateway", "master shard", "caches"
    primary, standby, queue, feeds = "primary", "standby", "queue and jobs", "feed stores"
    return {
        "ids": boxes(
            "From an id to a row",
            [
                [
                    ("2 bits", "zero", 70),
                    ("16 bits", "shard, say 1234", 190),
                    ("10 bits", "type: pin", 130),
                    ("36 bits", "local number", 330),
                ],
                [("topology", "shards 1024 to 2047: server MySQL001A, epoch 7", 520)],
                [("master", "database of shard 1234, table pin, row of the local number", 520)],
            ],
        ),
        "write": sequence(
            "A write is one transaction, and is finished by whoever lives",
            [client, gateway, shard, caches, queue, feeds],
            [
                Arrow(client, gateway, "createPin, key"),
                Arrow(gateway, shard, "one transaction"),
                Note(shard, shard, "pin, rows, answer, outbox"),
                Arrow(shard, gateway, "committed", _ANSWER),
                Arrow(gateway, caches, "take leases away, invalidate"),
                Arrow(gateway, client, "pin, feedToken", _ANSWER),
                Arrow(shard, queue, "relay reads the outbox", _LATER),
                Arrow(queue, feeds, "fan-out", _LATER),
                Arrow(queue, shard, "outbox row is done", _LATER),
            ],
        ),
        "lease": sequence(
            "A slow reader can't fill a cache with an older value",
            ["reader", "cache", shard, "writer"],
            [
                Arrow("reader", "cache", "get"),
                Arrow("cache", "reader", "miss, lease 7", _ANSWER),
                Arrow("reader", shard, "read"),
                Arrow(shard, "reader", "old value", _ANSWER),
                Arrow("writer", shard, "commit the new value"),
                Arrow("writer", "cache", "take lease 7 away"),
                Note("writer", "writer", "acknowledges"),
                Arrow("reader", "cache", "fill under lease 7", _LOST),
                Note("cache", "cache", "refuses: no such lease"),
            ],
        ),
        "visit": sequence(
            "A visit of the home feed",
            [client, gateway, "pools", "materialized", shard, queue],
            [
                Arrow(client, gateway, "homeFeed"),
                Arrow(gateway, "pools", "new pins"),
                Arrow(gateway, "materialized", "earlier pins, at the same time"),
                Arrow("materialized", gateway, "both answers", _ANSWER),
                Note(gateway, gateway, "mix by fixed rates"),
                Arrow(gateway, shard, "keep the shown chunk"),
                Arrow(gateway, client, "page, visitId", _ANSWER),
                Arrow(shard, queue, "outbox", _LATER),
                Arrow(queue, "materialized", "append the chunk", _LATER),
                Arrow(queue, "pools", "remove its pins", _LATER),
            ],
        ),
        "fan-out": sequence(
            "The following feed: written to each follower, checked at reading",
            ["owner", shard, queue, feeds, gateway, "follower"],
            [
                Arrow("owner", shard, "new pin"),
                Arrow(shard, queue, "outbox", _LATER),
                Arrow(queue, feeds, "a cell for each follower", _LATER),
                Note(feeds, feeds, "cause, edge version"),
                Arrow("follower", gateway, "followingFeed"),
                Arrow(gateway, feeds, "the follower's row"),
                Arrow(feeds, gateway, "cells", _ANSWER),
                Arrow(gateway, shard, "edges as they are now"),
                Note(gateway, gateway, "drop what is unfollowed"),
                Arrow(gateway, "follower", "page", _ANSWER),
            ],
        ),
        "race": sequence(
            "The race: a late primary is overtaken after the cutoff",
            [gateway, primary, standby],
            [
                Arrow(gateway, primary, "read"),
                Note(gateway, primary, "the cutoff passes: no answer yet"),
                Arrow(gateway, standby, "the same read"),
                Arrow(standby, gateway, "first good answer wins", _ANSWER),
                Arrow(primary, gateway, "too late: counted, not used", _LOST),
            ],
        ),
        "bounds": boxes(
            "What a request passes, and what may refuse it",
            [
                [
                    ("connection", "how many; 503", 180),
                    ("headers, body", "size, time; 431, 408, 413", 220),
                ],
                [
                    ("document", "length, depth, fragments", 210),
                    ("validation", "types, aliases", 150),
                    ("cost", "estimate against max_cost", 220),
                ],
                [
                    ("client's bucket", "rate_cost; 429", 180),
                    ("execution", "request_timeout, places", 210),
                    ("answer", "max_response_bytes", 190),
                ],
            ],
        ),
    }


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, svg in figures().items():
        (FOLDER / f"{name}.svg").write_text(svg)


if __name__ == "__main__":
    main()
