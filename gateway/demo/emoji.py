"""Emoji on colored grounds: the demo's pictures of animals, plants, food, travel and things.

The drawings are Microsoft's Fluent Emoji (MIT), from the npm package
@iconify-json/fluent-emoji-flat. A selection is in files/fluent_emoji.json.
"""

import random
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from gateway.demo.art.shapes import PALETTES, blob, circle, gradient, num, path, rect
from gateway.demo.icons import WIDTH

_BOX = 32  # the width and height of an emoji's coordinates
_HEIGHTS = (440, 520, 600, 680, 760)
_FILE = Path(__file__).parent / "files" / "fluent_emoji.json"


class _Drawing(msgspec.Struct, frozen=True):
    group: str
    body: str


class Emoji(NamedTuple):
    """An emoji. `body` is SVG in a box of 32 by 32; `color` is the ground's color, as #rrggbb."""

    title: str
    group: str
    body: str
    height: int
    color: str


@lru_cache(1)
def emoji() -> dict[str, Emoji]:
    """Every emoji of the demo, by the name in its address."""
    drawings = msgspec.json.decode(_FILE.read_bytes(), type=dict[str, _Drawing])
    found = {}
    for name, drawing in drawings.items():
        rng = random.Random(name)
        title = name.replace("-", " ").capitalize()
        color = rng.choice(PALETTES).ground
        found[name] = Emoji(title, drawing.group, drawing.body, rng.choice(_HEIGHTS), color)
    return found


@lru_cache(256)
def draw_emoji(found: Emoji) -> str:
    """The emoji as an SVG document: one large drawing, or a pattern of small ones."""
    rng = random.Random(found.title)
    height = found.height
    palette = next(palette for palette in PALETTES if palette.ground == found.color)
    parts = [gradient("g", palette.ground, rng.choice(palette.colors[2:]))]
    parts.append(rect(0, 0, WIDTH, height, "url(#g)"))
    if rng.random() < 0.3:
        size = rng.choice((100, 120, 150))
        scale = size * 0.62 / _BOX
        parts.append(
            f'<defs><pattern id="p" width="{size}" height="{size * 2}" '
            'patternUnits="userSpaceOnUse">'
            + _placed(found.body, size * 0.19, size * 0.19, scale)
            + _placed(found.body, -size * 0.31, size * 1.19, scale)
            + _placed(found.body, size * 0.69, size * 1.19, scale)
            + "</pattern></defs>"
        )
        parts.append(rect(0, 0, WIDTH, height, "url(#p)"))
    else:
        x, y, large = WIDTH / 2, height / 2, min(WIDTH, height) * rng.uniform(0.52, 0.66)
        back = blob(rng, x, y, large * 0.72, points=rng.randrange(5, 9), wild=0.16)
        parts.append(path(back, rng.choice(palette.colors), ' opacity="0.85"'))
        for _ in range(rng.randrange(4, 12)):
            dot = circle(
                rng.random() * WIDTH, rng.random() * height, rng.uniform(5, 16), palette.ink
            )
            parts.append(f'<g opacity="0.16">{dot}</g>')
        parts.append(_placed(found.body, x - large / 2, y - large / 2, large / _BOX))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" role="img"><title>{found.title}</title>'
        f"{''.join(parts)}</svg>"
    )


def _placed(body: str, x: float, y: float, scale: float) -> str:
    return f'<g transform="translate({num(x)} {num(y)}) scale({scale:.3f})">{body}</g>'
