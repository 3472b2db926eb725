"""The growth of keys under an adversary: ours don't grow, fractional indexing's grow with each
move."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from fractional_indexing import generate_key_between

PAGE = Path(__file__).with_name("growth.svg")
DIGITS = 38
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 760, 360, 64, 44, 40
_COLORS = ("#2563eb", "#9ca3af", "#6b7280", "#d97706")
Line = tuple[str, Sequence[tuple[int, int]]]


def lengths(moves: int, *, alternating: bool) -> list[tuple[int, int]]:
    """(moves, characters of the longest key). Each key goes into the gap beside the last key:
    always on one side, or on both sides in turn."""
    low, high = generate_key_between(None, None), None
    high = generate_key_between(low, None)
    longest, found = len(high), []
    for number in range(1, moves + 1):
        key = generate_key_between(low, high)
        longest = max(longest, len(key))
        if alternating and number % 2:
            low = key
        else:
            high = key
        if number % max(moves // 200, 1) == 0:
            found.append((number, longest))
    return found


def chart(title: str, lines: Sequence[Line]) -> str:
    """A line chart over the number of moves, as SVG."""
    right = max(x for _, points in lines for x, _ in points)
    most = max(y for _, points in lines for _, y in points)

    def at(x: float, y: float) -> str:
        across = _LEFT + (_WIDTH - _LEFT - 20) * x / right
        return f"{across:.1f},{_HEIGHT - _BOTTOM - (_HEIGHT - _BOTTOM - _TOP) * y / most:.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'font-family="system-ui, sans-serif" font-size="13">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        f'<text x="12" y="24" font-size="14" font-weight="600">{escape(title)}</text>',
        f'<polyline fill="none" stroke="#111" points="{at(0, most)} {at(0, 0)} {at(right, 0)}"/>',
        f'<text x="{_WIDTH - 20}" y="{_HEIGHT - 14}" text-anchor="end">{right:,} moves</text>',
        f'<text x="{_LEFT - 8}" y="{_TOP + 10}" text-anchor="end">{most:,}</text>',
    ]
    for number, (label, points) in enumerate(lines):
        path = " ".join(at(x, y) for x, y in points)
        color, y = _COLORS[number], _TOP + 20 + 18 * number
        parts += [
            f'<polyline fill="none" stroke="{color}" stroke-width="2" points="{path}"/>',
            f'<text x="{_LEFT + 16}" y="{y}" fill="{color}">{escape(label)}</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])


def draw(moves: int) -> dict[str, int]:
    """Write the chart. Returns the longest key of each."""
    same, both = (lengths(moves, alternating=it) for it in (False, True))
    lines: list[Line] = [
        ("38 digits (17 bytes in MySQL), always", [(0, DIGITS), (moves, DIGITS)]),
        ("fractional-indexing, always the same side", same),
        ("fractional-indexing, alternating sides", both),
    ]
    PAGE.write_text(chart("Characters of the longest key", lines))
    return {"same side": same[-1][1], "alternating": both[-1][1]}
