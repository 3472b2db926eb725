"""Lanes of a job: parts that proceed independently, each with a saved place, so that an unavailable
store stops its own lane only.

All lanes run at the same time. When a lane fails, the others still run to their ends. Then the job
fails, and its next run continues with the lanes that are not done. A side that failed is not called
for a while: jobs don't wait for its timeout one after another, and their other lanes keep their
speed.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from datasources.errors import StoreError, StoreUnavailable
from datasources.protocols import WideColumnStore
from datasources.together import together
from feed_engine.outbox.change import Advance

FIRST_REST, LONGEST_REST = 0.25, 5.0  # seconds, doubling; up to half is cut off at random
DONE = "done"
MISSING = "left"
"""The name of an extra place, which stands for no lane. It names the only side that was missing
when the job failed, as in "pools standby". A job that is under way has no such place. Outboxes keep
the name, so it stays as it is."""

Save = Callable[[str], Awaitable[None]]
"""Saves a lane's place."""
Lane = Callable[[str, Save], Awaitable[None]]
"""Continues from a place ("" is the start) to the lane's end."""

_PLACES = msgspec.json.Decoder(dict[str, str])


async def run_lanes(lanes: Mapping[str, Lane], places: Mapping[str, str], advance: Advance) -> None:
    """Run each lane from its place to its end. When all lanes have ended and their places are
    saved, raises the first lane's StoreError."""
    saver = _Saver({name: place for name, place in places.items() if name != MISSING}, advance)

    async def run(name: str, lane: Lane) -> None:
        async def save(place: str) -> None:
            await saver.save(name, place)

        await lane(saver.places.get(name, ""), save)
        saver.places[name] = DONE

    waiting = {name: lane for name, lane in lanes.items() if places.get(name) != DONE}
    try:
        await together([run(name, lane) for name, lane in waiting.items()])
    except StoreError:
        for name in waiting:
            saver.places.setdefault(name, "")
        if (side := _lacking(saver.places)) is not None:
            saver.places[MISSING] = side
        if DONE in saver.places.values() and saver.places != places:
            await saver.save_all()
        raise


def places_of(cursor: bytes) -> dict[str, str]:
    """The lanes' places in a cursor. Raises msgspec.MsgspecError if `run_lanes` didn't save the
    cursor."""
    return _PLACES.decode(cursor)


def lacking(cursor: bytes) -> str | None:
    """The only side that was missing when the job failed. None if there is no such side, or if the
    job is under way."""
    try:
        return places_of(cursor).get(MISSING)
    except msgspec.MsgspecError:
        return None


def _lacking(places: Mapping[str, str]) -> str | None:
    """The only side that the unfinished lanes write to, if other lanes are done. A lane's name is
    "CONTENT SIDE": the feeds' lanes write to the feeds, all other lanes to the pools."""
    lanes = {name: place for name, place in places.items() if " " in name}
    unfinished = {
        f"{'feeds' if content == 'feeds' else 'pools'} {side}"
        for (content, _, side), place in ((n.partition(" "), p) for n, p in lanes.items())
        if place != DONE
    }
    return unfinished.pop() if len(unfinished) == 1 and DONE in lanes.values() else None


class _Saver:
    """Saves the places of all lanes together. Places that change during a save share the next
    save."""

    def __init__(self, places: dict[str, str], advance: Advance) -> None:
        self.places = places
        self._advance = advance
        self._turn = asyncio.Lock()
        self._changed = 0
        self._saved = 0

    async def save(self, name: str, place: str) -> None:
        self.places[name] = place
        self._changed += 1
        mine = self._changed
        async with self._turn:
            if self._saved < mine:
                await self.save_all()

    async def save_all(self) -> None:
        upto = self._changed
        await self._advance(msgspec.json.encode(self.places))
        self._saved = upto


@dataclass(slots=True)
class _Rest:
    seconds: float = 0.0
    until: float = 0.0


_rests: WeakKeyDictionary[WideColumnStore, _Rest] = WeakKeyDictionary()


async def on_side(
    store: WideColumnStore,
    write: Callable[[WideColumnStore], Awaitable[Any]],
    *,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Write to one side, unless calls to it are paused. Raises StoreUnavailable at once during the
    pause."""
    rest = _rests.setdefault(store, _Rest())
    now = clock()
    if now < rest.until:
        raise StoreUnavailable("this side failed a moment ago, and rests")
    if rest.seconds:  # one call tries the side, and the others wait for its outcome
        rest.until = now + rest.seconds
    try:
        await write(store)
    except StoreError:
        rest.seconds = min(max(FIRST_REST, 2 * rest.seconds), LONGEST_REST)
        rest.until = clock() + rest.seconds * random.uniform(0.5, 1)
        raise
    rest.seconds = rest.until = 0.0
