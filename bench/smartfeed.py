"""The home feed's order, judged by a simulated population that uses the feed's own code.

    make bench NAME=smartfeed [QUICK=1]

Each owner publishes pins of three topics, some owners far more than others. A topic is an interest.
A pin has a quality, which nobody knows before seeing the pin. A viewer follows owners, has a taste
for two topics, visits the home feed again and again, and likes a pin of a page with the probability
taste x quality. Each order gets the same world: the same pins, viewers, tastes and draws. A draw
belongs to a viewer and a pin, so an order can't be lucky. The interval is a bootstrap over viewers.
"""

import argparse
import asyncio
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bench.rows import Row, table, write
from datasources.protocols import Stores
from datasources.records import User
from datasources.valkey import ValkeyServer
from feed_engine import writes
from feed_engine.feeds.rows import Reason
from feed_engine.feeds.settings import FeedSettings, Weights
from tests.embedded_stores import embedded_config, embedded_stores
from tests.feeds import Feeding

TOPICS, OWNERS, FOLLOWED, VISITS = 8, 48, 24, 8
HOURS = 3_600_000  # ms
ORDERS = {
    "newest first": Weights(affinity=0.0, likes=0.0),
    "affinity alone": Weights(affinity=0.5, likes=0.0),
    "affinity and likes": Weights(),
    "twice the weights": Weights(affinity=1.0, likes=1.0),
}


class Shape(NamedTuple):
    viewers: int
    a_round: int
    """Pins that all owners publish between two visits."""


def _draw(*key: object) -> float:
    return random.Random(repr(key)).random()


async def _likes(stores: Stores, shape: Shape, weights: Weights) -> list[int]:
    """The number of new pins that each viewer liked."""
    feeding, rng = Feeding(stores), random.Random(1)
    feeding.settings = FeedSettings(generator_seconds=60, weights=weights)
    owners = [await feeding.user() for _ in range(OWNERS)]
    boards = [await feeding.board(owner) for owner in owners]
    topics = [(await feeding.interest()).id for _ in range(TOPICS)]
    topics_of = [rng.sample(range(TOPICS), 3) for _ in owners]
    activity = [1.0 / (1 + rng.randrange(OWNERS)) for _ in owners]
    viewers: list[User] = []
    tastes: list[list[float]] = []
    for _ in range(shape.viewers):
        viewer = await feeding.user()
        viewers.append(viewer)
        liked = set(rng.sample(range(TOPICS), 2))
        tastes.append([0.6 if topic in liked else 0.04 for topic in range(TOPICS)])
        for number in rng.sample(range(OWNERS), FOLLOWED):
            await feeding.follow(viewer, owners[number].id)
    await feeding.drain()
    found, at = [0] * shape.viewers, feeding.now - 2 * VISITS * HOURS
    names: dict[int, tuple[int, int]] = {}  # pin → its number in the world, its topic's number
    for _ in range(VISITS):
        for number in rng.choices(range(OWNERS), activity, k=shape.a_round):
            at += HOURS // shape.a_round
            topic = rng.choice(topics_of[number])
            pin = await feeding.pin_at(boards[number], at, topics[topic])
            names[pin.id] = (len(names), topic)
        at += HOURS
        feeding.now = at
        await feeding.drain()
        await feeding.empty_popular()
        for who, viewer in enumerate(viewers):
            page = await feeding.home(viewer, first=25)
            for item in page.items:
                if item.reason is Reason.SHOWN_BEFORE or item.pin.id not in names:
                    continue
                name, topic = names[item.pin.id]
                quality = _draw("quality", name) ** 2
                if _draw("like", who, name) < tastes[who][topic] * quality:
                    found[who] += 1
                    await writes.like_pin(stores, viewer.id, item.pin.id, at=at)
        await feeding.drain()
        await feeding.empty_popular()
    return found


def _ratio(found: Sequence[int], plain: Sequence[int]) -> tuple[float, float, float]:
    """The ratio of two orders' likes, with an interval of 95%."""
    rng, many = random.Random(2), len(found)
    ratios = sorted(
        sum(found[n] for n in some) / max(1, sum(plain[n] for n in some))
        for some in (rng.choices(range(many), k=many) for _ in range(1000))
    )
    return sum(found) / sum(plain), ratios[25], ratios[975]


async def _run(shape: Shape) -> list[Row]:
    likes: dict[str, list[int]] = {}
    for name, weights in ORDERS.items():
        with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
            async with (
                ValkeyServer(Path(directory)) as valkey,
                embedded_stores(embedded_config(Path(directory), valkey)) as stores,
            ):
                likes[name] = await _likes(stores, shape, weights)
    plain = likes["newest first"]
    rows = [Row("pins liked a visit, newest first", sum(plain) / len(plain) / VISITS, "")]
    for name, found in likes.items():
        if found is not plain:
            ratio, low, high = _ratio(found, plain)
            goal = ">= 1.5" if name == "affinity and likes" else ""
            versus = f"newest first; 95%: {low:.2f} to {high:.2f}"
            rows.append(Row(f"pins liked a visit, {name}", ratio, "x", goal, versus))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.smartfeed", description=__doc__)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    rows = asyncio.run(_run(Shape(6, 100) if args.quick else Shape(24, 140)))
    print(table(rows))
    if not args.quick:
        write("smartfeed", rows)


if __name__ == "__main__":
    main()
