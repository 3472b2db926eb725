"""The pieces: the styles, and the picture for a style and a number."""

import random
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from gateway.demo.art import patterns, plants, skies
from gateway.demo.art.shapes import PALETTES, Canvas
from gateway.demo.icons import WIDTH

PIECES = 36  # of each style
_HEIGHTS = (400, 480, 600, 680, 760, 840, 900)


class Style(NamedTuple):
    """A style. `names` are the titles of its pieces, to which a number is added."""

    draw: Callable[[Canvas], str]
    board: str
    description: str
    interest: str
    names: tuple[str, ...]


STYLES: dict[str, Style] = {
    "hills": Style(
        skies.hills, "Far hills", "Ridges, one behind the other.", "travel",
        ("Evening ridge", "Long walk home", "First light", "The valley road"),
    ),
    "sea": Style(
        skies.sea, "By the sea", "Boats, waves and the sun on them.", "travel",
        ("Small boat", "Low sun", "Calm before lunch", "Tide table"),
    ),
    "night": Style(
        skies.night, "After dark", "Forests with the lights out.", "nature",
        ("Clear night", "Moonrise", "Owl hour", "North of everything"),
    ),
    "town": Style(
        skies.town, "Roofs and windows", "Somebody is always up late.", "travel",
        ("Old town", "Lights on", "Sunday evening", "View from the hotel"),
    ),
    "orbits": Style(
        skies.orbits, "Orbits", "Planets that nobody has found yet.", "science",
        ("Seven planets", "Slow system", "Ring season", "Postcard from far away"),
    ),
    "bauhaus": Style(
        patterns.bauhaus, "Circle, square, triangle", "Geometry lessons.", "design",
        ("Composition", "Study in shapes", "Exhibition poster", "Building blocks"),
    ),
    "truchet": Style(
        patterns.truchet, "Endless ribbons", "Two tiles, turned at random.", "art",
        ("Ribbon", "Maze", "Loose ends", "Knot garden"),
    ),
    "scales": Style(
        patterns.scales, "Paper and cloth", "Patterns for walls and wrapping.", "design",
        ("Waves of the sea", "Wrapping paper", "Fish scales", "Tiled roof"),
    ),
    "contours": Style(
        patterns.contours, "Maps of nowhere", "Height lines of made-up mountains.", "art",
        ("Summit", "Two peaks", "Treasure island", "Survey"),
    ),
    "terrazzo": Style(
        patterns.terrazzo, "Terrazzo", "Floors to look down at.", "design",
        ("Kitchen floor", "Stone chips", "Lobby", "Confetti"),
    ),
    "weave": Style(
        patterns.weave, "Woven", "Checks, plaids and picnic blankets.", "design",
        ("Picnic blanket", "Scarf", "Tea towel", "Winter plaid"),
    ),
    "bloom": Style(
        plants.bloom, "In bloom", "Petals, counted twice.", "nature",
        ("Dahlia", "Paper flower", "Summer", "Bouquet"),
    ),
    "branch": Style(
        plants.branch, "Leaves and stems", "Pressed between two pages.", "nature",
        ("Olive branch", "Eucalyptus", "Window plant", "Herbarium page"),
    ),
    "vase": Style(
        plants.vase, "Still lifes", "A vase, a table, some fruit.", "art",
        ("Vase with oranges", "On the table", "Cut flowers", "Sunday painting"),
    ),
    "arches": Style(
        plants.arches, "Rainbows, stacked", "Warm arcs for small rooms.", "art",
        ("Over the hills", "Playroom", "Morning arcs", "Sunrise print"),
    ),
}  # fmt: skip


class Piece(NamedTuple):
    """A drawing. `color` is its main color from a distance, as #rrggbb."""

    style: str
    number: int
    title: str
    height: int
    color: str


@lru_cache(1)
def pieces() -> dict[str, Piece]:
    """Every piece, by the name in its address: STYLE-NUMBER."""
    found = {}
    for style, about in STYLES.items():
        for number in range(1, PIECES + 1):
            canvas = _canvas(style, number)
            name = about.names[number % len(about.names)]
            title = f"{name}, no. {(number + 3) // len(about.names)}"
            color = canvas.palette.ground if style not in _SKY else canvas.palette.colors[3]
            found[f"{style}-{number}"] = Piece(style, number, title, canvas.height, color)
    return found


_SKY = {"hills", "sea", "town"}  # their ground is mostly hidden


def _canvas(style: str, number: int) -> Canvas:
    rng = random.Random(f"{style}-{number}")
    return Canvas(WIDTH, rng.choice(_HEIGHTS), PALETTES[rng.randrange(len(PALETTES))], rng)


@lru_cache(256)
def draw_piece(piece: Piece) -> str:
    """The piece as an SVG document."""
    canvas = _canvas(piece.style, piece.number)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{piece.height}" '
        f'viewBox="0 0 {WIDTH} {piece.height}" role="img"><title>{piece.title}</title>'
        f"{STYLES[piece.style].draw(canvas)}</svg>"
    )
