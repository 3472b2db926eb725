"""Bar charts as SVG, without a drawing library."""

from collections.abc import Sequence
from html import escape

_WIDTH, _LEFT, _RIGHT, _ROW, _TOP = 760, 250, 90, 30, 44
_COLORS = {"ours": "#2563eb", "peer": "#9ca3af", "bound": "#d1d5db"}


def bars(title: str, rows: Sequence[tuple[str, float, str]]) -> str:
    """Horizontal bars of (label, value, "ours" | "peer" | "bound"), all on one scale."""
    most = max(value for _, value, _ in rows)
    height = _TOP + _ROW * len(rows) + 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'font-family="system-ui, sans-serif" font-size="14">',
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
        f'<text x="12" y="24" font-weight="600">{escape(title)}</text>',
    ]
    for place, (label, value, kind) in enumerate(rows):
        y = _TOP + _ROW * place
        width = max(1.0, (_WIDTH - _LEFT - _RIGHT) * value / most)
        parts += [
            f'<text x="{_LEFT - 10}" y="{y + 16}" text-anchor="end">{escape(label)}</text>',
            f'<rect x="{_LEFT}" y="{y}" width="{width:.1f}" height="22" fill="{_COLORS[kind]}"/>',
            f'<text x="{_LEFT + width + 8:.1f}" y="{y + 16}">{value:,.0f}</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])
