"""The themes of the demo's boards: brands by field, by color and by shape."""

from collections.abc import Callable
from typing import NamedTuple

from gateway.demo.icons import Brand, hue
from gateway.demo.topics import TOPICS


class Theme(NamedTuple):
    """A board's subject. `interest` is the slug of its pins' interest; `weight` is how much a brand
    prefers this theme to others that fit; `most` is the largest number of pins."""

    name: str
    description: str
    interest: str
    weight: float
    fits: Callable[[Brand], bool]
    most: int = 60


# (name, from degrees, to degrees), where people see the borders between colors
_HUES = (
    ("Red", 345, 12),
    ("Orange", 12, 36),
    ("Yellow", 36, 65),
    ("Lime", 65, 95),
    ("Green", 95, 150),
    ("Teal", 150, 185),
    ("Sky", 185, 205),
    ("Blue", 205, 230),
    ("Indigo", 230, 255),
    ("Violet", 255, 290),
    ("Magenta", 290, 325),
    ("Pink", 325, 345),
)


def themes() -> list[Theme]:
    """Every theme, about seventy."""
    found = [
        Theme(name, description, interest, 6.0, _among(slugs))
        for name, interest, description, slugs in TOPICS
    ]
    for name, low, high in _HUES:
        for shade, bounds in (("Deep", (0.0, 0.34)), ("True", (0.34, 0.54)), ("Soft", (0.54, 1.0))):
            title = name if shade == "True" else f"{shade} {name.lower()}"
            text = f"{title}: marks that own the color."
            found.append(Theme(title, text, "color", 1.5, _of_hue(low, high, bounds), 16))
    found.append(Theme("Ink", "Black, and nothing else.", "color", 1.0, _gray(0.0, 0.12), 16))
    found.append(Theme("Concrete", "Fifty grays, roughly.", "color", 1.5, _gray(0.12, 0.8), 16))
    found.append(Theme("Paper", "White on white.", "color", 1.5, _gray(0.8, 1.01), 16))
    found += [
        Theme("As few strokes as possible", "Minimal marks.", "design", 0.8, _minimal, 24),
        Theme("Intricate", "Marks drawn with patience.", "design", 1.2, _intricate, 24),
        Theme("Apache's feather and friends", "One foundation.", "open-source", 4.0, _apache),
    ]
    return found


def _among(slugs: str) -> Callable[[Brand], bool]:
    some = frozenset(slugs.split())
    return lambda brand: brand.slug in some


def _of_hue(low: float, high: float, bounds: tuple[float, float]) -> Callable[[Brand], bool]:
    def fits(brand: Brand) -> bool:
        found = hue(brand.color)
        between = low <= found.degrees < high
        around = low > high and (found.degrees >= low or found.degrees < high)
        light = bounds[0] <= found.lightness < bounds[1]
        return (between or around) and light and found.saturation >= 0.12

    return fits


def _gray(low: float, high: float) -> Callable[[Brand], bool]:
    def fits(brand: Brand) -> bool:
        found = hue(brand.color)
        return found.saturation < 0.12 and low <= found.lightness < high

    return fits


def _minimal(brand: Brand) -> bool:
    return len(brand.path) < 160


def _intricate(brand: Brand) -> bool:
    return len(brand.path) > 5000


def _apache(brand: Brand) -> bool:
    return brand.slug.startswith("apache")
