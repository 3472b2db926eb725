"""Generated pins with realistic texts: common words of pins and boards, and a long tail of rare
names, in the proportions of written language (Zipf's law)."""

import itertools
import random

from datasources.ids import Kind, compose
from datasources.protocols import Document

_COMMON = """
the a for with and home of in easy diy ideas best recipe small garden wall kitchen to room
chocolate cake wedding vintage modern living summer wood light hair dress outfit art design
paper cookies chicken green white black blue red gold winter bedroom bathroom decor plants
succulents print pattern crochet knitting quilt free tutorial how make your own simple healthy
breakfast dinner salad soup bread lemon strawberry vanilla gluten vegan quick party birthday
christmas halloween baby kids craft painting watercolor drawing tattoo nails makeup style
fashion shoes boots jewelry necklace ring travel italy japan paris beach mountain lake forest
sunset photography portrait landscape cats dogs birds flowers roses tulips tree leaf oak maple
house tiny cabin architecture interior furniture chair table lamp shelf storage organization
desk office workspace typography poster logo brand color palette illustration comics books
reading library quotes fitness yoga running cycling camping hiking tent car motorcycle engine
robot space stars moon planet science python rust database keyboard camera guitar piano music
vinyl film theater museum sculpture ceramic pottery glass leather fabric linen cotton wool
basket rustic farmhouse minimalist boho scandinavian industrial tropical autumn spring snow rain
ocean river bridge city street market coffee tea wine
"""
_SYLLABLES = [
    a + b
    for a in ("br", "cl", "gr", "st", "tr", *"bcdfghklmnprstvz")
    for b in ("an", "el", "or", "in", *"aeiou")
]
_RARE = 40_000


class Texts:
    """Random texts from one seed."""

    def __init__(self, seed: int = 1) -> None:
        self.random = random.Random(seed)
        rare = {
            "".join(self.random.choices(_SYLLABLES, k=self.random.randint(2, 4)))
            for _ in range(_RARE)
        }
        self._words = [*_COMMON.split(), *sorted(rare)]
        self._weights = list(
            itertools.accumulate(1 / (place + 8) for place in range(len(self._words)))
        )

    def words(self, least: int, most: int) -> list[str]:
        count = self.random.randint(least, most)
        return self.random.choices(self._words, cum_weights=self._weights, k=count)

    def pins(self, count: int) -> list[Document]:
        return [self.pin(number) for number in range(1, count + 1)]

    def pin(self, number: int) -> Document:
        return Document(
            compose(number % 16, Kind.PIN, number),
            " ".join(self.words(2, 8)).capitalize(),
            " ".join(self.words(0, 24)),
            board_id=compose(number % 16, Kind.BOARD, 1 + number // 200),
            weight=1 + self.random.random(),
        )

    def query(self) -> str:
        """A query of one to three words."""
        return " ".join(self.words(1, 3))

    def unfinished(self) -> str:
        """A query as it stands while it is typed: at least two letters."""
        query = self.query()
        return query[: max(2, len(query) - self.random.randint(1, 4))]

    def mistyped(self) -> str:
        """A query with two letters swapped in its longest word."""
        words = self.query().split()
        longest = max(range(len(words)), key=lambda place: len(words[place]))
        word = words[longest]
        place = self.random.randrange(max(1, len(word) - 1))
        swapped = word[:place] + word[place + 1 : place + 2] + word[place : place + 1]
        words[longest] = swapped + word[place + 2 :]
        return " ".join(words)
