"""Plots of the kept results: `python docs/plots.py FOLDER` writes them as SVG files.

The book shows the same plots on its page "Measured" (docs/hooks.py).
"""

import json
import math
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "bench" / "results"
Rows = Sequence[dict[str, Any]]

_ROW, _TOP, _LABEL, _WIDTH = 22, 58, 430, 960
_RULES = {"Pinway": "#2563eb", "Finagle": "#9ca3af", "Cassandra": "#b9a37c", "gRPC": "#c9a0c0"}
_GOOD, _BAD, _LINE, _TEXT = "#2563eb", "#c2410c", "#d1d5db", "#1c2128"
_MOST = 4.0  # doublings that fit beside the goal


def plots(results: Path = RESULTS) -> dict[str, str]:
    """Name → SVG: for each benchmark with goals, and for the rules of speculation."""
    found = {}
    for path in sorted(results.glob("*.json")):
        rows = json.loads(path.read_text())
        if goals := [row for row in rows if row["goal"]]:
            found[f"{path.stem}-goals"] = against_goals(goals)
        if path.stem == "speculation" and (tails := _tails(rows)):
            found["speculation-rules"] = by_rule(tails)
    return found


def against_goals(rows: Rows) -> str:
    """A bar for each goal, on a scale of doublings. A bar to the right of the line: the goal holds,
    with room to spare. To the left: the goal is missed."""
    middle = _LABEL + 90.0
    scale = (_WIDTH - middle - 150) / _MOST
    parts = [f'<line x1="{middle}" y1="44" x2="{middle}" y2="100%" stroke="{_LINE}"/>']
    for doubling in range(1, int(_MOST) + 1):
        x = middle + doubling * scale
        parts.append(f'<line x1="{x}" y1="44" x2="{x}" y2="100%" stroke="#eceef1"/>')
        parts.append(_text(x, 40, f"{2**doubling} x", "middle", small=True))
    parts.append(_text(middle, 40, "goal", "middle", small=True))
    for place, row in enumerate(rows):
        y = _TOP + place * _ROW
        room = _room(row["value"], row["goal"])
        length = min(abs(room), _MOST if room > 0 else 1.0) * scale
        x = middle if room > 0 else middle - min(length, 80)
        color = _GOOD if row["holds"] else _BAD
        value = f"{row['value']:,.4g} {row['unit']}".strip()
        goal = row["goal"].replace(">=", "≥").replace("<=", "≤")
        parts += [
            _text(_LABEL, y + 13, _short(row["measure"]), "end"),
            f'<rect x="{x:.1f}" y="{y}" width="{max(length, 2):.1f}" height="16" fill="{color}"/>',
            _text(middle + max(length if room > 0 else 0, 2) + 6, y + 13, f"{value} ({goal})"),
        ]
    title = "Room to the goal: a bar to the right holds, a bar to the left misses"
    return _svg(title, parts, _TOP + len(rows) * _ROW)


def by_rule(tails: dict[str, dict[str, float]]) -> str:
    """The slowest call in a thousand under each rule, by scenario."""
    most = max(value for rules in tails.values() for value in rules.values())
    scale = (_WIDTH - _LABEL - 90) / math.log10(most + 1)
    parts = []
    x = float(_LABEL)
    for rule, color in _RULES.items():
        parts.append(f'<rect x="{x}" y="34" width="12" height="12" fill="{color}"/>')
        parts.append(_text(x + 17, 45, rule, small=True))
        x += 110
    y = _TOP
    for scenario, rules in tails.items():
        parts.append(_text(_LABEL - 8, y + 12 + 5 * len(rules), _short(scenario), "end"))
        for rule, color in _RULES.items():
            if rule in rules:
                width = math.log10(rules[rule] + 1) * scale
                parts.append(
                    f'<rect x="{_LABEL}" y="{y}" width="{width:.1f}" height="11" fill="{color}"/>'
                )
                label = f"{rules[rule]:,.0f} ms"
                parts.append(_text(_LABEL + width + 6, y + 10, label, small=True))
                y += 13
        y += 12
    return _svg("p99.9 of calls under each rule, logarithmic scale", parts, y)


def _tails(rows: Rows) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for row in rows:
        scenario, _, rest = row["measure"].rpartition(": ")
        rule, _, kind = rest.partition(", ")
        if kind == "p99.9" and rule in _RULES:
            found[scenario][rule] = row["value"]
    return found


def _room(value: float, goal: str) -> float:
    """Doublings between the value and the goal; negative if the goal is missed."""
    sign, _, bound = goal.partition(" ")
    limit = float(bound)
    better, worse = (value, limit) if sign == ">=" else (limit, value)
    if better == worse:
        return 0.0
    if worse <= 0:
        return _MOST
    return math.log2(better / worse) if better > 0 else -_MOST


def _short(text: str, most: int = 66) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _text(x: float, y: float, text: str, anchor: str = "start", *, small: bool = False) -> str:
    size = 11 if small else 12.5
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{_TEXT}" '
        f'text-anchor="{anchor}">{escape(text)}</text>'
    )


def _svg(title: str, parts: Sequence[str], height: float) -> str:
    return "\n".join(_lines(title, parts, height + 12))


def _lines(title: str, parts: Sequence[str], height: float) -> Iterator[str]:
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:.0f}" role="img" '
        'font-family="system-ui, sans-serif">'
    )
    yield f"<title>{escape(title)}</title>"
    yield f'<rect width="{_WIDTH}" height="{height:.0f}" fill="white"/>'
    yield f'<text x="12" y="22" font-size="14" font-weight="600" fill="{_TEXT}">{title}</text>'
    yield from parts
    yield "</svg>\n"


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, svg in plots().items():
        (folder / f"{name}.svg").write_text(svg)


if __name__ == "__main__":
    main()
