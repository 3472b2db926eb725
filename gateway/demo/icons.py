"""The pictures of the demo: the brand icons of the `simplepycons` package (Simple Icons, CC0)."""

import colorsys
import hashlib
import importlib
import re
import sys
import threading
from functools import lru_cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from typing import Any, NamedTuple

WIDTH = 600  # pixels; the width of every drawn picture
_HEIGHTS = range(460, 901, 20)
_SLUG = re.compile(r"[a-z0-9][a-z0-9_]*")
_COLOR = re.compile(r"#[0-9a-f]{6}")
_PATH = re.compile(r'<path\s+d="([MmZzLlHhVvCcSsQqTtAae0-9.,\s+-]+)"')


class Brand(NamedTuple):
    """A brand. `slug` names the picture in its address; `color` is #rrggbb in lower case; `path` is
    SVG path data in a box of 24 by 24."""

    slug: str
    title: str
    color: str
    path: str


class Card(NamedTuple):
    """The look of a brand's picture: its height in pixels, and the colors of its background and its
    icon, as #rrggbb. The background is the picture's dominant color."""

    height: int
    background: str
    shade: str
    icon: str


class Hue(NamedTuple):
    """A color in the order in which people sort colors: degrees, and saturation and lightness from
    0 to 1."""

    degrees: float
    saturation: float
    lightness: float


_loading = threading.Lock()


def brands() -> dict[str, Brand]:
    """All brands by slug. The first call takes a second, because it imports a module for each
    icon."""
    with _loading:
        return _brands()


@lru_cache(1)
def _brands() -> dict[str, Brand]:
    # The import is slow, so it happens on the first call.
    icons: Any = importlib.import_module("simplepycons").all_icons
    found = {name: _brand_of(name, icons[name]) for name in sorted(icons.names())}
    return {name: brand for name, brand in found.items() if brand is not None}


def brand(slug: str) -> Brand | None:
    """The brand with a slug, None if there is none. Imports the icon's module alone, which takes a
    millisecond: a page of pictures does not wait for the import of all icons."""
    if not _SLUG.fullmatch(slug):
        return None
    with _loading:
        try:
            module = importlib.import_module(f"{_icons_alone()}._{slug}")
        except ModuleNotFoundError:
            return None
    for found in vars(module).values():
        if isinstance(found, type) and found.__module__ == module.__name__:
            return _brand_of(slug, found())
    return None


@lru_cache(1)
def _icons_alone() -> str:
    """The name of a package with the modules of `simplepycons`, which imports none by itself."""
    name, source = "_pinway_icons", find_spec("simplepycons")
    assert source is not None
    spec = ModuleSpec(name, None, is_package=True)
    spec.submodule_search_locations = source.submodule_search_locations
    sys.modules[name] = module_from_spec(spec)
    return name


def _brand_of(slug: str, icon: Any) -> Brand | None:
    """The brand of an icon. Icons go into pages unchanged, so all but plain paths in plain colors
    are left out."""
    path, color = _PATH.search(icon.raw_svg), icon.primary_color.lower()
    if path and _COLOR.fullmatch(color) and _SLUG.fullmatch(slug):
        return Brand(slug, str(icon.title), color, " ".join(path[1].split()))
    return None


def card(brand: Brand) -> Card:
    """The card of a brand. It is always the same for a brand, because it is stored with the pin and
    drawn much later."""
    digest = hashlib.blake2b(brand.slug.encode(), digest_size=4).digest()
    height = _HEIGHTS[int.from_bytes(digest[:2], "big") % len(_HEIGHTS)]
    luminance = _luminance(brand.color)
    if luminance > 0.6:  # a pale icon needs a dark ground
        ground = _mix(brand.color, "#15181d", 0.9)
        return Card(height, ground, _mix(ground, "#000000", 0.35), brand.color)
    if digest[2] % 5 < 2:  # white on the brand's color
        return Card(height, brand.color, _mix(brand.color, "#000000", 0.25), "#ffffff")
    ground = _mix(brand.color, "#ffffff", 0.86)
    return Card(height, ground, _mix(brand.color, "#ffffff", 0.7), brand.color)


def hue(color: str) -> Hue:
    red, green, blue = _channels(color)
    degrees, lightness, saturation = colorsys.rgb_to_hls(red / 255, green / 255, blue / 255)
    return Hue(degrees * 360, saturation, lightness)


def _channels(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _luminance(color: str) -> float:
    """Relative luminance, as WCAG 2 defines it."""
    red, green, blue = (
        (c / 255 / 12.92) if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4
        for c in _channels(color)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _mix(color: str, other: str, share: float) -> str:
    """A mix of two colors, with `share` of the other color."""
    mixed = (
        round(a * (1 - share) + b * share)
        for a, b in zip(_channels(color), _channels(other), strict=True)
    )
    return "#{:02x}{:02x}{:02x}".format(*mixed)
