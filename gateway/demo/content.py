"""The demo's content as import lines. It is deterministic, so a second import changes nothing.

It has pins of drawn pieces, emoji, photographs and brand icons on boards by kind, field and color;
other boards of repins; and people whose follows grow by preferential attachment (Barabási and
Albert, 1999), so that few people have many followers and many people have few.
"""

import random
from collections.abc import Iterator

from gateway.demo.boards import MadeBoard, MadePin, arrange, displayed, repinned
from gateway.demo.icons import brands
from gateway.demo.images import AVATAR, avatar_color, avatar_url
from gateway.demo.people import CURATORS, VIEWER, Person, people
from gateway.demo.topics import INTERESTS
from gateway.operate.imports.jsonl import (
    AnyLine,
    BoardLine,
    CommentLine,
    FollowLine,
    ImageField,
    InterestLine,
    LikeLine,
    PinLine,
    UserLine,
    time_of,
)

OPENED = 1_672_531_200_000  # 2023, epoch ms
CLOSED = 1_748_736_000_000  # June 2025
VIEWERS_INTERESTS = ("art", "food-and-drink", "nature", "photography")
_DAY = 86_400_000
_COMMENTS = (
    "Those colors!",
    "Still my favorite one on this board.",
    "Never noticed the negative space before!",
    "Pinned this for the workshop on Thursday.",
    "I could look at this all day.",
    "{title} again? I keep coming back to it.",
    "This works at any size, that is the trick.",
    "Would love a print of this.",
    "Straight onto the mood board.",
    "Who made this? It is lovely.",
)


def demo_lines() -> Iterator[AnyLine]:
    """Every line. The order does not matter."""
    rng = random.Random(2012)
    everybody = people(rng)
    boards = arrange(rng, list(brands().values()), OPENED, CLOSED)
    boards += displayed(rng, OPENED, CLOSED)
    boards += repinned(rng, boards, CLOSED)
    yield from _users(everybody)
    yield from _interests()
    owners = [person.username for person in everybody]
    by_owner = {board.key: owners[board.owner] for board in boards}
    for board in boards:
        yield from _board(board, owners[board.owner])
    yield from _follows(rng, everybody, boards, by_owner)
    yield from _opinions(rng, everybody, [pin for board in boards for pin in board.pins])


def _users(everybody: list[Person]) -> Iterator[AnyLine]:
    for n, person in enumerate(everybody):
        name = person.username
        yield UserLine(
            key=name,
            username=name,
            full_name=person.full_name,
            about=person.about,
            avatar=ImageField(avatar_url(name), AVATAR, AVATAR, avatar_color(name)),
            created=time_of(OPENED - (len(everybody) - n) * _DAY // 4),
        )


def _interests() -> Iterator[AnyLine]:
    for name, slug, description in INTERESTS:
        created = time_of(OPENED - 100 * _DAY)
        yield InterestLine(key=slug, name=name, slug=slug, description=description, created=created)


def _board(board: MadeBoard, owner: str) -> Iterator[AnyLine]:
    yield BoardLine(
        key=board.key,
        owner=owner,
        name=board.name,
        description=board.description,
        secret=board.secret,
        cover=board.pins[0].key,
        created=time_of(min(pin.created for pin in board.pins) - _DAY),
    )
    for pin in board.pins:
        picture = pin.picture
        yield PinLine(
            key=pin.key,
            board=board.key,
            title=picture.title,
            description=picture.description,
            link=picture.link,
            image=ImageField(picture.url, picture.width, picture.height, picture.color),
            source=pin.source,
            interests=pin.interests,
            created=time_of(pin.created),
        )


def _follows(
    rng: random.Random, everybody: list[Person], boards: list[MadeBoard], by_owner: dict[str, str]
) -> Iterator[AnyLine]:
    """The demo's follows. A user with more followers gets more new followers; curators begin with
    some."""
    names = [person.username for person in everybody]
    public = [board for board in boards if not board.secret]
    slugs = [slug for _, slug, _ in INTERESTS]
    weights = [1 + 80 / (n + 1) if n < CURATORS else 1.0 for n in range(len(names))]
    board_weights = [1.0] * len(public)
    for n, name in enumerate(names):
        viewer = name == VIEWER
        at = OPENED + rng.randrange(CLOSED - OPENED)
        wanted = min(60, 1 + int(3 * rng.paretovariate(1.3)))
        chosen = set(rng.choices(range(len(names)), weights, k=wanted)) - {n}
        if viewer:
            drawing = sorted({names.index(by_owner[b.key]) for b in public if b.is_drawn} - {n})
            chosen = set(rng.sample(drawing, 9))
            chosen |= set(rng.sample([m for m in range(CURATORS) if m not in chosen], 3))
        for target in sorted(chosen):
            weights[target] += 1
            yield FollowLine(follower=name, user=names[target], created=time_of(at))
        count = 10 if viewer else rng.randrange(5)
        some = set(rng.choices(range(len(public)), board_weights, k=count))
        for index in sorted(some):
            if by_owner[public[index].key] != name:
                board_weights[index] += 1
                yield FollowLine(follower=name, board=public[index].key, created=time_of(at + 1))
        for slug in VIEWERS_INTERESTS if viewer else rng.sample(slugs, rng.randrange(4)):
            yield FollowLine(follower=name, interest=slug, created=time_of(at + 2))


def _opinions(
    rng: random.Random, everybody: list[Person], pins: list[MadePin]
) -> Iterator[AnyLine]:
    """Likes and comments, by Zipf's law: the n-th most liked pin has 1/n of the likes of the
    first."""
    public = [pin for pin in pins if not pin.secret]
    # Brands get fewer likes than other pins, so that popular pins begin with drawn pictures.
    public.sort(key=lambda pin: rng.random() * (3 if "/brands/" in pin.picture.url else 1))
    weights = [1 / (rank + 20) for rank in range(len(public))]
    for person in everybody:
        wanted = 40 if person.username == VIEWER else min(150, int(8 * rng.paretovariate(1.1)))
        for index in sorted(set(rng.choices(range(len(public)), weights, k=wanted))):
            pin = public[index]
            at = pin.created + rng.randrange(CLOSED + _DAY - pin.created)
            yield LikeLine(user=person.username, pin=pin.key, created=time_of(at))
    for n in range(600):
        (pin,) = rng.choices(public, weights)
        text = rng.choice(_COMMENTS).format(title=pin.picture.title)
        author = rng.choice(everybody).username
        at = pin.created + rng.randrange(CLOSED + _DAY - pin.created)
        yield CommentLine(
            key=f"comment-{n}", pin=pin.key, author=author, text=text, created=time_of(at)
        )
