"""Five other shapes of operations in one schema: deep and thin, wide, a long list, an interface
with four types, and many errors and nulls. The resolvers are plain."""

from __future__ import annotations

import strawberry

LEVELS, WIDTH, LENGTH, MIXED, HEAVY = 6, 60, 1000, 200, 200


@strawberry.type
class Level:
    """A level of a chain."""

    number: int
    name: str

    @strawberry.field
    async def next(self) -> Level:
        return Level(number=self.number + 1, name=f"level {self.number + 1}")


Wide = strawberry.type(
    type(
        "Wide",
        (),
        {"__annotations__": {f"field_{n}": (str, int, bool, float)[n % 4] for n in range(WIDTH)}},
    )
)
WIDE = Wide(**{f"field_{n}": (f"value {n}", n, n % 3 == 0, n / 7)[n % 4] for n in range(WIDTH)})


@strawberry.type
class Entry:
    id: strawberry.ID
    title: str
    count: int
    note: str | None


ENTRIES = [
    Entry(
        id=strawberry.ID(str(n)), title=f"title {n}", count=n, note=f"note {n}" if n % 2 else None
    )
    for n in range(LENGTH)
]


@strawberry.interface
class Card:
    id: strawberry.ID
    title: str


@strawberry.type
class Picture(Card):
    url: str
    width: int


@strawberry.type
class Story(Card):
    text: str
    words: int


@strawberry.type
class Video(Card):
    url: str
    seconds: float


@strawberry.type
class Offer(Card):
    price: float
    shop: str | None


def _card(n: int) -> Card:
    id, title = strawberry.ID(str(n)), f"card {n}"
    if n % 4 == 0:
        return Picture(id=id, title=title, url=f"https://example.com/{n}.jpg", width=n)
    if n % 4 == 1:
        return Story(id=id, title=title, text=f"text {n}", words=n)
    if n % 4 == 2:
        return Video(id=id, title=title, url=f"https://example.com/{n}.mp4", seconds=n / 3)
    return Offer(id=id, title=title, price=n / 100, shop=None if n % 3 else f"shop {n}")


CARDS = [_card(n) for n in range(MIXED)]


@strawberry.type
class Fragile:
    """An object with failing fields: every third `careful` fails and every fourth is null; every
    tenth `vital` fails."""

    number: strawberry.Private[int]

    @strawberry.field
    def id(self) -> strawberry.ID:
        return strawberry.ID(str(self.number))

    @strawberry.field
    async def careful(self) -> str | None:
        if self.number % 3 == 0:
            raise ValueError(f"no care for {self.number}")
        return None if self.number % 4 == 0 else f"careful {self.number}"

    @strawberry.field
    async def vital(self) -> str:
        if self.number % 10 == 0:
            raise ValueError(f"nothing vital in {self.number}")
        return f"vital {self.number}"


FRAGILE = [Fragile(number=n) for n in range(HEAVY)]


@strawberry.type
class Query:
    @strawberry.field
    async def level(self) -> Level:
        return Level(number=1, name="level 1")

    @strawberry.field
    async def wide(self) -> Wide:  # type: ignore[valid-type]
        return WIDE

    @strawberry.field
    async def entries(self) -> list[Entry]:
        return ENTRIES

    @strawberry.field
    async def cards(self) -> list[Card]:
        return CARDS

    @strawberry.field
    async def fragile(self) -> list[Fragile | None]:
        return list(FRAGILE)

    @strawberry.field
    async def many(self, count: int) -> list[Entry]:
        return ENTRIES * (count // LENGTH) + ENTRIES[: count % LENGTH]


def build(extensions: tuple[type, ...] = ()) -> strawberry.Schema:
    types = [Picture, Story, Video, Offer]
    return strawberry.Schema(query=Query, types=types, extensions=list(extensions))


def _deep() -> str:
    selection = "number name"
    for _ in range(LEVELS - 1):
        selection = f"number name next {{ {selection} }}"
    return f"query Deep {{ level {{ {selection} }} }}"


def _wide() -> str:
    return f"query Wide {{ wide {{ {' '.join(f'field{n}' for n in range(WIDTH))} }} }}"


OPERATIONS = {
    f"deep and thin: {LEVELS} levels": _deep(),
    f"wide: 1 object, {WIDTH} fields": _wide(),
    f"list of {LENGTH:,}": "query Entries { entries { id title count note } }",
    "interface with four types": """query Cards { cards {
        __typename id title
        ... on Picture { url width } ... on Story { text words }
        ... on Video { url seconds } ... on Offer { price shop }
    } }""",
    "heavy on errors and nulls": "query Fragile { fragile { id careful vital } }",
}
