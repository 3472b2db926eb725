"""Fills stores with a population up to the beginning of its week, by the loader of `pinway import`,
and finds the objects of the population by their numbers."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.smartfeed.population import START, Ints, Population
from datasources import records
from datasources.ids import Kind
from datasources.protocols import Stores
from datasources.records import Board, Interest, Pin, Record, User
from gateway.operate.imports.jsonl import (
    AnyLine,
    BoardLine,
    FollowLine,
    InterestLine,
    LikeLine,
    PinLine,
    UserLine,
    canonical,
    time_of,
)
from gateway.operate.imports.lines import Entry
from gateway.operate.imports.loader import import_entries
from gateway.operate.imports.report import ImportOptions, OnProgress

PAGE = 2000  # objects in a read


@dataclass(frozen=True)
class Ids:
    """Ids by the numbers of the population. `pins` has 0 for a pin that is not published yet."""

    users: Ints
    boards: Ints  # (users, 3)
    interests: Ints
    pins: Ints


async def fill(stores: Stores, population: Population, folder: Path, progress: OnProgress) -> None:
    """Import all users, and all that they did before the week. Fills their feeds, too."""
    entries = (Entry(n, line, canonical(line)) for n, line in enumerate(_lines(population), 1))
    options = ImportOptions(strict=True, spool_dir=str(folder))
    await import_entries(stores, entries, options=options, progress=progress)


def _lines(population: Population) -> Iterator[AnyLine]:
    began = time_of(START)
    for topic in range(population.shape.topics):
        yield InterestLine(key=f"t{topic}", name=f"Topic {topic}", slug=f"topic-{topic}")
    for user in range(population.shape.users):
        yield UserLine(key=f"u{user}", username=f"user{user}", created=began)
        for place in range(3):
            yield BoardLine(key=f"b{user}-{place}", owner=f"u{user}", name=f"{user}-{place}")
    for pin in range(population.published):
        root = population.root[pin]
        yield PinLine(
            key=f"p{pin}",
            board=f"b{population.owner[pin]}-{population.place[pin]}",
            title=str(pin),
            interests=(f"t{population.topic[pin]}",),
            source=f"p{root}" if root != pin else None,
            created=time_of(int(population.at[pin])),
        )
    for like in population.earlier_likes():
        yield LikeLine(user=f"u{like.user}", pin=f"p{like.pin}", created=time_of(like.at))
    for user, followed in population.follows:
        yield FollowLine(follower=f"u{user}", user=f"u{followed}", created=began)
    for user, topic in population.interests:
        yield FollowLine(follower=f"u{user}", interest=f"t{topic}", created=began)


async def find_ids(stores: Stores, population: Population) -> Ids:
    """The ids of what `fill` imported."""
    shape = population.shape
    users, interests = np.zeros(shape.users, np.int64), np.zeros(shape.topics, np.int64)
    boards, pins = np.zeros((shape.users, 3), np.int64), np.zeros(shape.pins, np.int64)
    async for record in _objects(stores):
        match record:
            case User():
                users[int(record.username.removeprefix("user"))] = record.id
            case Interest():
                interests[int(record.slug.removeprefix("topic-"))] = record.id
            case Board():
                user, _, place = record.name.partition("-")
                boards[int(user), int(place)] = record.id
            case Pin():
                pins[int(record.title)] = record.id
    return Ids(users, boards, interests, pins)


async def _objects(stores: Stores) -> AsyncIterator[Record]:
    for kind in (Kind.USER, Kind.INTEREST, Kind.BOARD, Kind.PIN):
        after = 0
        while page := await stores.shards.objects.list(kind, after, PAGE):
            for id, data in page:
                yield records.decode(kind, id, data)
            after = page[-1][0]
