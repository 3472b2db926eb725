"""A small world that compares orders. It calls the feed's own code.

Each owner publishes pins of three topics, some owners far more than others. A topic is an interest.
A pin has a quality, which nobody knows before seeing the pin. A viewer follows owners, has a taste
for two topics, and visits the home feed again and again (`liking` says what a viewer likes). Each
order gets the same world: the same pins, viewers, tastes and draws.
"""

import random
import tempfile
from pathlib import Path
from typing import NamedTuple

from bench.rows import Row
from bench.smartfeed.liking import LIKED, NEWEST, OTHER, likes, row
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
PEER = "newest first"
MEASURE = "pins liked a visit"
ORDERS = {
    PEER: NEWEST,
    "affinity alone": Weights(affinity=0.5, likes=0.0),
    "affinity and likes": Weights(),
    "twice the weights": Weights(affinity=1.0, likes=1.0),
}


class Shape(NamedTuple):
    viewers: int
    a_round: int
    """Pins that all owners publish between two visits."""


async def _found(stores: Stores, shape: Shape, weights: Weights) -> list[int]:
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
        tastes.append([LIKED if topic in liked else OTHER for topic in range(TOPICS)])
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
                if likes(who, name, tastes[who][topic]):
                    found[who] += 1
                    await writes.like_pin(stores, viewer.id, item.pin.id, at=at)
        await feeding.drain()
        await feeding.empty_popular()
    return found


async def compared(shape: Shape) -> list[Row]:
    """The rows of all orders."""
    found: dict[str, list[int]] = {}
    for name, weights in ORDERS.items():
        with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
            async with (
                ValkeyServer(Path(directory)) as valkey,
                embedded_stores(embedded_config(Path(directory), valkey)) as stores,
            ):
                found[name] = await _found(stores, shape, weights)
    plain = found[PEER]
    rows = [Row(f"{MEASURE}, {PEER}", sum(plain) / len(plain) / VISITS, "")]
    for name, of_order in found.items():
        if name != PEER:
            goal = ">= 1.5" if name == "affinity and likes" else ""
            rows.append(row(f"{MEASURE}, {name}", of_order, plain, goal=goal, peer=PEER))
    return rows
