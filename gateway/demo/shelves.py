"""The demo's boards of drawn pieces, emoji and photographs."""

import random
from typing import NamedTuple

from gateway.demo.art.pieces import STYLES, pieces
from gateway.demo.emoji import emoji
from gateway.demo.photos import photos
from gateway.demo.pictures import Picture, of_emoji, of_photo, of_piece


class Shelf(NamedTuple):
    """A board before it has an owner. `interests` are slugs."""

    slug: str
    name: str
    description: str
    interests: tuple[str, ...]
    pictures: list[Picture]


_EMOJI = (
    ("animals", "Creatures great and small", "Fur, fins and feathers.", "nature"),
    ("garden", "The garden", "What grows, and what lands on it.", "nature"),
    ("kitchen", "Hungry again", "Breakfast, lunch, cake, dinner.", "food-and-drink"),
    ("away", "Ways to get there", "Pack light.", "travel"),
    ("things", "Things on my desk", "None of them is a stapler.", "games"),
)


def shelves(rng: random.Random) -> list[Shelf]:
    """All boards of this kind, with their pictures in random order."""
    found = []
    for style, about in STYLES.items():
        some = [of_piece(name, piece) for name, piece in pieces().items() if piece.style == style]
        interests = tuple(dict.fromkeys((about.interest, "art")))
        found.append(Shelf(style, about.board, about.description, interests, some))
    for group, name, description, interest in _EMOJI:
        some = [of_emoji(slug, drawn) for slug, drawn in emoji().items() if drawn.group == group]
        found.append(Shelf(group, name, description, (interest,), some))
    pictures = [of_photo(name, photo) for name, photo in photos().items()]
    text = "Mountains, cats, coffee, galaxies."
    found.append(Shelf("photos", "Worth a thousand words", text, ("photography",), pictures))
    for shelf in found:
        rng.shuffle(shelf.pictures)
    return found
