"""The pictures of the demo, of four kinds: drawn pieces, emoji, photographs and brand icons."""

from typing import NamedTuple

from gateway.demo.art.pieces import STYLES, Piece
from gateway.demo.emoji import Emoji
from gateway.demo.icons import WIDTH, Brand, card
from gateway.demo.photos import Photo


class Picture(NamedTuple):
    """The picture of a pin. `slug` is unique among all pictures; `color` is #rrggbb; sizes are in
    pixels."""

    slug: str
    title: str
    description: str
    link: str | None
    url: str
    width: int
    height: int
    color: str


def of_brand(brand: Brand) -> Picture:
    look = card(brand)
    return Picture(
        brand.slug,
        brand.title,
        f"The {brand.title} mark, in {brand.color}.",
        f"https://simpleicons.org/?q={brand.slug}",
        f"/images/brands/{brand.slug}.svg",
        WIDTH,
        look.height,
        look.background,
    )


def of_piece(name: str, piece: Piece) -> Picture:
    return Picture(
        f"art-{name}",
        piece.title,
        STYLES[piece.style].description,
        None,
        f"/images/art/{name}.svg",
        WIDTH,
        piece.height,
        piece.color,
    )


def of_emoji(name: str, emoji: Emoji) -> Picture:
    return Picture(
        f"emoji-{name}",
        emoji.title,
        "Fluent Emoji, by Microsoft.",
        None,
        f"/images/emoji/{name}.svg",
        WIDTH,
        emoji.height,
        emoji.color,
    )


def of_photo(name: str, photo: Photo) -> Picture:
    return Picture(
        f"photo-{name}",
        photo.title,
        f"Photograph: {photo.author} ({photo.license}).",
        None,
        f"/images/photos/{name}.webp",
        photo.width,
        photo.height,
        photo.color,
    )
