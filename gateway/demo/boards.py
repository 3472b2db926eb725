"""The demo's boards: which picture goes onto which board, and who repins which pictures."""

import random
from typing import NamedTuple

from feed_engine.times import HOUR
from gateway.demo.icons import Brand
from gateway.demo.people import CURATORS, PEOPLE
from gateway.demo.pictures import Picture, of_brand
from gateway.demo.shelves import shelves
from gateway.demo.themes import Theme, themes
from gateway.demo.topics import INTERESTS

_LEAST = 8  # pins that a board has, at least
_TAKES = 36  # boards on which curators repin other people's pins
_FANS = 12  # people with a board who are not curators
_FAN_BOARDS = (
    "Saved for later",
    "Sticker wishlist",
    "Inspiration",
    "Logos I would tattoo",
    "Moodboard",
    "Reference",
)
_VIEWER = PEOPLE - 1
_BRANDS = "/images/brands/"


class MadePin(NamedTuple):
    key: str
    picture: Picture
    interests: tuple[str, ...]
    created: int  # epoch ms
    source: str | None = None
    secret: bool = False


class MadeBoard(NamedTuple):
    """A board. `owner` is the owner's index in the list of people."""

    key: str
    owner: int
    name: str
    description: str
    pins: list[MadePin]
    secret: bool = False
    is_drawn: bool = False
    """Whether its pictures are not brands."""


def arrange(rng: random.Random, brands: list[Brand], opened: int, closed: int) -> list[MadeBoard]:
    """Boards of brands. Each brand is on one board of a theme that fits, preferably a board with
    few pins, and preferably its field's rather than its color's. A brand whose boards are all full
    is left out."""
    taken: dict[int, list[Brand]] = {}
    subjects = [theme for theme in themes() if sum(map(theme.fits, brands)) >= _LEAST]
    for brand in rng.sample(brands, len(brands)):
        fitting = [
            n
            for n, theme in enumerate(subjects)
            if theme.fits(brand) and len(taken.get(n, ())) < theme.most
        ]
        if fitting:
            weights = [subjects[n].weight / (1 + len(taken.get(n, ())) / 30) for n in fitting]
            (chosen,) = rng.choices(fitting, weights)
            taken.setdefault(chosen, []).append(brand)
    boards = []
    for n, some in sorted(taken.items()):
        theme = subjects[n]
        begun = opened + rng.randrange((closed - opened) // 2)
        key = f"board-{_slug(theme.name)}"
        pins = [
            MadePin(
                key=f"pin-{brand.slug}",
                picture=of_brand(brand),
                interests=_interests(theme, brand, subjects),
                created=begun + rng.randrange(closed - begun),
            )
            for brand in some
        ]
        boards.append(MadeBoard(key, n % CURATORS, theme.name, theme.description, pins))
    return boards


def displayed(rng: random.Random, opened: int, closed: int) -> list[MadeBoard]:
    """The boards of drawn pieces, emoji and photographs, created in the second half of the time, so
    that feeds begin with them."""
    found = []
    for n, shelf in enumerate(shelves(rng)):
        begun = (opened + closed) // 2 + rng.randrange((closed - opened) // 8)
        pins = [
            MadePin(
                key=f"pin-{picture.slug}",
                picture=picture,
                interests=shelf.interests,
                created=begun + rng.randrange(closed - begun),
            )
            for picture in shelf.pictures
        ]
        owner = (7 * n + 2) % CURATORS
        key = f"board-{shelf.slug}"
        found.append(MadeBoard(key, owner, shelf.name, shelf.description, pins, is_drawn=True))
    return found


def repinned(rng: random.Random, boards: list[MadeBoard], closed: int) -> list[MadeBoard]:
    """Boards of repins: curators' own selections, a few fans' boards, and the viewer's three."""
    found = []
    for n, board in enumerate(rng.sample([b for b in boards if len(b.pins) >= 12], _TAKES)):
        owner = (board.owner + 1 + n) % CURATORS
        name = f"{board.name}, the short list"
        text = f"The best of “{board.name}”."
        some = rng.sample(board.pins, rng.randrange(8, min(24, len(board.pins))))
        found.append(_collection(rng, f"take-{n}", owner, name, text, some, closed))
    everything = [pin for board in boards for pin in board.pins]
    drawn = [pin for pin in everything if not pin.picture.url.startswith(_BRANDS)]
    for n in range(_FANS):
        some = rng.sample(everything, rng.randrange(8, 25))
        owner, name = CURATORS + n * 20, _FAN_BOARDS[n % len(_FAN_BOARDS)]
        found.append(_collection(rng, f"fan-{n}", owner, name, "", some, closed))
    for key, name, text, count in (
        ("demo-favorites", "Favorites", "Drag these around: the order is yours.", 24),
        ("demo-office", "For the new office", "Posters, maybe?", 16),
        ("demo-secret", "Secret plans", "Only you can see this board.", 9),
    ):
        some = rng.sample(drawn, count)
        found.append(_collection(rng, key, _VIEWER, name, text, some, closed, key == "demo-secret"))
    return found


def _collection(
    rng: random.Random,
    key: str,
    owner: int,
    name: str,
    description: str,
    sources: list[MadePin],
    closed: int,
    secret: bool = False,
) -> MadeBoard:
    pins = [
        MadePin(
            key=f"{key}-{pin.picture.slug}",
            picture=pin.picture,
            interests=pin.interests,
            created=pin.created + HOUR + rng.randrange(max(closed - pin.created, 1)),
            source=pin.key,
            secret=secret,
        )
        for pin in sources
    ]
    return MadeBoard(key, owner, name, description, pins, secret)


def _interests(theme: Theme, brand: Brand, subjects: list[Theme]) -> tuple[str, ...]:
    """The board's interest, and the interest of the brand's own field if it differs."""
    fields = [t.interest for t in subjects if t.weight > 5 and t.fits(brand)]
    known = {slug for _, slug, _ in INTERESTS}
    return tuple(dict.fromkeys(s for s in (theme.interest, *fields[:1]) if s in known))


def _slug(name: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in name.lower()).split())
