"""Reads the examples of a training: the pins that visits showed, and whether their viewers acted.

A visit stores the features of its pins as they were when it chose them, so an example knows nothing
of what happened later. A viewer acts on a pin by opening it, by following its link, by a like or by
a repin, within a day. If a viewer's client records which cards were on the screen, the other pins
of the visit are left out: nobody decided about them.
"""

import asyncio
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from datasources.mappings import SEQUENCE_STEP, ListKey, PageRequest
from datasources.mappings import Mapping as Lists
from datasources.protocols import EventKind, PinEvent, Stores
from datasources.records import Pin
from feed_engine.feeds import visits
from feed_engine.feeds.rows import Reason, Source
from feed_engine.feeds.visits import Features, Remembered
from feed_engine.times import DAY
from feed_engine.transactions import access

VISITS = 64  # newest visits of a viewer
EVENTS = 5_000  # newest events of a viewer
LIKES, SAVES = 1_000, 500  # newest likes and pins of a viewer
WITHIN = DAY  # ms from a visit during which an action counts for it
AT_ONCE = 8  # viewers
PAGE = 1_000  # viewers of a shard in one read

_SOURCES = {
    Reason.FOLLOWED_USER: Source.FOLLOWED,
    Reason.FOLLOWED_BOARD: Source.FOLLOWED,
    Reason.FOLLOWED_INTEREST: Source.INTEREST,
    Reason.RELATED: Source.RELATED,
    Reason.POPULAR: Source.POPULAR,
}


class Example(NamedTuple):
    """A pin that a visit showed, at a position from 0. `acted`: the epoch ms of the viewer's first
    action; None: the viewer did not act. `odds`: the pin's propensity."""

    viewer_id: int
    generation: int
    at: int
    source: Source
    position: int
    features: Features
    acted: int | None
    odds: float = 1.0


async def read_examples(
    stores: Stores, *, viewers: int, seed: int, on_viewers: Callable[[int], None]
) -> list[Example]:
    """The examples of up to `viewers` viewers, who are drawn by a seed. `on_viewers` is told how
    many have been read. Raises StoreError."""
    shards = stores.shards.objects.topology().open_shards
    known = sorted([id for shard in shards for id in await _viewers(stores, shard)])
    drawn = sorted(random.Random(seed).sample(known, min(viewers, len(known))))
    found: list[Example] = []
    for at in range(0, len(drawn), AT_ONCE):
        some = drawn[at : at + AT_ONCE]
        for examples in await asyncio.gather(*(_of_viewer(stores, id) for id in some)):
            found += examples
        on_viewers(at + len(some))
    return found


async def _viewers(stores: Stores, shard: int) -> list[int]:
    """The users with visits on a shard."""
    found: list[int] = []
    while page := await stores.shards.visits.viewers(shard, found[-1] if found else 0, PAGE):
        found += page
    return found


async def _of_viewer(stores: Stores, viewer_id: int) -> list[Example]:
    lists = [(Lists.USER_LIKES_PINS, LIKES), (Lists.USER_HAS_PINS, SAVES)]
    told, events, [likes, pins] = await asyncio.gather(
        stores.shards.visits.recent(viewer_id, VISITS),
        stores.shards.events.of_user(viewer_id, EVENTS),
        stores.shards.mappings.pages([PageRequest(ListKey(m, viewer_id), n) for m, n in lists]),
    )
    saved = await access.read(stores, Pin, [edge.to_id for edge in pins])
    actions = defaultdict[int, list[int]](list)  # pin → epoch ms
    for edge in likes:
        actions[edge.to_id].append(edge.sequence // SEQUENCE_STEP)
    for pin in saved.values():
        if pin.source_id is not None:
            actions[pin.source_id].append(pin.created)
    for event in events:
        if event.kind is not EventKind.SEEN:
            actions[event.pin_id].append(event.at)
    return [
        example
        for visit in told
        for example in of_visit(viewer_id, visits.remembered(visit), actions, events)
    ]


def of_visit(
    viewer_id: int,
    visit: Remembered,
    actions: Mapping[int, Sequence[int]],
    events: Sequence[PinEvent],
) -> Iterator[Example]:
    """The examples of a visit. `actions`: pin → the epoch ms of the viewer's actions."""
    began, chunk = visit.created, visit.chunk
    during = range(began, began + WITHIN)
    acted = {
        pin_id: min((at for at in actions.get(pin_id, ()) if at in during), default=None)
        for pin_id, _ in chunk.pins
    }
    seen = {e.pin_id for e in events if e.kind is EventKind.SEEN and e.at in during} & acted.keys()
    for position, (pin_id, reason) in enumerate(chunk.pins):
        features = chunk.features.get(pin_id)  # earlier versions stored none
        if features is None or (seen and pin_id not in seen and acted[pin_id] is None):
            continue
        source = _SOURCES[reason]
        yield Example(
            *(viewer_id, visit.generation, began, source, position),
            Features(*features),
            acted[pin_id],
            chunk.odds.get(pin_id, 1.0),
        )
