"""SVG elements as text, and the colors that a piece is drawn in."""

import math
import random
from typing import NamedTuple

Point = tuple[float, float]


class Palette(NamedTuple):
    """The colors of a piece. `ground` is the background; `ink` contrasts with it; `colors` go from
    dark to light."""

    ground: str
    ink: str
    colors: tuple[str, ...]


PALETTES = (
    Palette("#f6ead7", "#2b2a33", ("#7a2e2e", "#c1533b", "#e08e45", "#e9b872", "#5d7b6f")),
    Palette("#10243e", "#f4ecd8", ("#173a5e", "#25628f", "#e4572e", "#f2a541", "#f3e1b6")),
    Palette("#f9e5de", "#41263b", ("#63314f", "#a8446a", "#e0719e", "#f4a6a0", "#f7cfb5")),
    Palette("#e3efe6", "#123832", ("#14532d", "#2f7d5b", "#63a375", "#e4b363", "#ef6461")),
    Palette("#1d1a31", "#f6e7cb", ("#4d2d73", "#8d448b", "#cc6a87", "#ecb07d", "#f8e3a1")),
    Palette("#eef3f7", "#16324f", ("#16324f", "#2a628f", "#3e92cc", "#f5b700", "#e85d75")),
    Palette("#fff3d6", "#33312e", ("#264653", "#2a9d8f", "#e9c46a", "#f4a261", "#e76f51")),
    Palette("#0d3b3e", "#f1efe0", ("#125e5f", "#1f8a83", "#6fc2a8", "#f4b860", "#f2684b")),
    Palette("#f2ecf8", "#2e2350", ("#3d2c8d", "#6a4fb6", "#a083d9", "#f08a9b", "#ffd08a")),
    Palette("#faf1e4", "#27323a", ("#8c4a2f", "#435e55", "#d64933", "#d9a566", "#a6b1a1")),
    Palette("#2a1a1f", "#f7e4d3", ("#6b2737", "#a63d40", "#e0684b", "#eda268", "#90a583")),
    Palette("#e7f4f7", "#0b3954", ("#0b3954", "#087e8b", "#52b5c4", "#ff5a5f", "#f2d0a4")),
    Palette("#f4f1e8", "#3a3226", ("#4c5b3c", "#7d8f53", "#b8b26a", "#d98f4e", "#b34d36")),
    Palette("#171f33", "#eef1ff", ("#26385f", "#3f5fa3", "#7c9ee0", "#f0a6ca", "#fbe3b4")),
)


class Canvas(NamedTuple):
    """A drawing surface: the size in pixels, the palette, and the piece's own random numbers."""

    width: int
    height: int
    palette: Palette
    rng: random.Random

    def color(self) -> str:
        return self.rng.choice(self.palette.colors)


def num(value: float) -> str:
    """A coordinate with at most one decimal."""
    return f"{value:.1f}".rstrip("0").rstrip(".") or "0"


def rect(x: float, y: float, width: float, height: float, fill: str, more: str = "") -> str:
    return (
        f'<rect x="{num(x)}" y="{num(y)}" width="{num(width)}" height="{num(height)}" '
        f'fill="{fill}"{more}/>'
    )


def circle(x: float, y: float, r: float, fill: str, more: str = "") -> str:
    return f'<circle cx="{num(x)}" cy="{num(y)}" r="{num(r)}" fill="{fill}"{more}/>'


def path(d: str, fill: str, more: str = "") -> str:
    return f'<path d="{d}" fill="{fill}"{more}/>'


def line(d: str, stroke: str, width: float, more: str = "") -> str:
    """A path without a fill, with round ends."""
    return (
        f'<path d="{d}" fill="none" stroke="{stroke}" stroke-width="{num(width)}" '
        f'stroke-linecap="round"{more}/>'
    )


def smooth(points: list[Point], *, closed: bool = False) -> str:
    """A curve through the points: Catmull-Rom splines, written as cubic Bézier curves."""
    count = len(points)

    def at(n: int) -> Point:
        return points[n % count] if closed else points[min(max(n, 0), count - 1)]

    parts = [f"M{num(points[0][0])} {num(points[0][1])}"]
    for n in range(count if closed else count - 1):
        (x0, y0), (x1, y1), (x2, y2), (x3, y3) = at(n - 1), at(n), at(n + 1), at(n + 2)
        curve = (x1 + (x2 - x0) / 6, y1 + (y2 - y0) / 6, x2 - (x3 - x1) / 6, y2 - (y3 - y1) / 6)
        parts.append("C" + " ".join(num(value) for value in (*curve, x2, y2)))
    return "".join(parts) + ("Z" if closed else "")


def blob(rng: random.Random, x: float, y: float, r: float, *, points: int, wild: float) -> str:
    """A closed curve around a center. `wild`: how much its radius varies, 0 to 1."""
    turn = rng.random() * math.tau
    found = []
    for n in range(points):
        angle, far = turn + n * math.tau / points, r * (1 + wild * (rng.random() * 2 - 1))
        found.append((x + far * math.cos(angle), y + far * math.sin(angle)))
    return smooth(found, closed=True)


def leaf(x: float, y: float, length: float, width: float, degrees: float) -> str:
    """A pointed leaf that grows from a point; 0 degrees is to the right."""
    turn = math.radians(degrees)

    def to(along: float, across: float) -> str:
        px = x + along * math.cos(turn) - across * math.sin(turn)
        py = y + along * math.sin(turn) + across * math.cos(turn)
        return f"{num(px)} {num(py)}"

    half = width / 2
    return (
        f"M{to(0, 0)}C{to(length * 0.3, -half * 1.3)} {to(length * 0.75, -half)} {to(length, 0)}"
        f"C{to(length * 0.75, half)} {to(length * 0.3, half * 1.3)} {to(0, 0)}Z"
    )


def gradient(name: str, first: str, last: str, *, level: bool = False) -> str:
    """A gradient from top to bottom or, when `level`, from left to right."""
    direction = 'x2="1" y2="0"' if level else 'x2="0" y2="1"'
    return (
        f'<defs><linearGradient id="{name}" x1="0" y1="0" {direction}>'
        f'<stop offset="0" stop-color="{first}"/><stop offset="1" stop-color="{last}"/>'
        "</linearGradient></defs>"
    )
