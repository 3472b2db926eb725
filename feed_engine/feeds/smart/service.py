"""The smart home feed: a chunk of new pins, then the pins shown before (a published design).

The pools and the materialized feed are read at the same time. The chunk is stored on the viewer's
shard before the answer is sent, so that the same visit gets the same answer and no pin is lost. A
job that is posted with it saves the chunk and removes its pins from the pools. If the pools fail,
the answer is the materialized feed alone, and the next chunk is larger by the missed pins. If the
materialized feed fails, the answer is the chunk and the earlier visits that the shard still has.
"""

import asyncio
import itertools
import struct
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from datasources.errors import BadInput, StoreError
from datasources.ids import Kind, kind_of
from datasources.records import Pin
from feed_engine.feeds import cursors, preferences, visits
from feed_engine.feeds.cursors import CursorKind
from feed_engine.feeds.own_writes import check_token
from feed_engine.feeds.rows import Place, Reason
from feed_engine.feeds.settings import Feeds, Preferences
from feed_engine.feeds.smart.candidates import Candidates, CountLikes, LoadBoards, next_chunk
from feed_engine.feeds.smart.materialized import ShownPin
from feed_engine.feeds.smart.pages import Saved, fill, visit_pins
from feed_engine.feeds.smart.pools import brought_by
from feed_engine.feeds.smart.popular_page import popular_page
from feed_engine.feeds.smart.results import Cause, Health, HomeItem, HomePage
from feed_engine.feeds.visible import Visible
from feed_engine.feeds.visits import Chunk, Remembered
from feed_engine.speculation import Side

T = TypeVar("T")

_CURSOR = struct.Struct(">QQH")  # the visit's generation, then the place; the visit's name follows


async def home_page(
    feeds: Feeds,
    viewer_id: int | None,
    *,
    first: int,
    after: str | None = None,
    visit: str | None = None,
    seen: str | None = None,
    dated: bool = False,
    causes: bool = True,
    visible: Visible,
    boards: LoadBoards | None = None,
    likes: CountLikes | None = None,
    know: Callable[[Preferences], None] | None = None,
) -> HomePage:
    """`first` pins of the viewer's home feed, after a cursor of the same visit.

    Without `after`, returns the first page of a visit: a new visit, or the earlier visit that
    `visit` names. A new visit reads the pools; a named visit is looked for first. Without a viewer,
    returns popular pins.

    `seen`: the token of a write that a new visit waits for, until the feed's deadline. `dated`: say
    since when a standby's answer may be stale. `causes`: name what brought each new pin. `boards`
    loads the boards that `visible` will ask for, at the same time as the pins; `likes` counts the
    likes of pins, without which these do not count. `know` is told the viewer's preferences before
    `visible` is called.

    Raises BadInput for an invalid cursor or token, or for a cursor of another visit than `visit`. A
    store that fails shortens the answer, as `health` says; it raises nothing, unless `visible`
    does.
    """
    name = visits.check_name(visit) if visit is not None else None
    if seen is not None:
        check_token(seen, viewer_id)
    if viewer_id is None:
        return await popular_page(feeds, first, after, name or visits.new_name(), visible)
    asked = _Asked(feeds, viewer_id, first, visible, causes, know)
    if after is not None:
        return await _later_page(asked, after, name)
    candidates = Candidates(
        feeds, viewer_id, visible, boards=boards, likes=likes, seen=seen, dated=dated
    )
    return await _first_page(asked, name, candidates)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A page that a viewer requests."""

    feeds: Feeds
    viewer_id: int
    first: int
    visible: Visible
    causes: bool
    know: Callable[[Preferences], None] | None = None
    preferences: Preferences = preferences.NONE

    def with_preferences(self, found: Preferences) -> "_Asked":
        if self.know is not None:
            self.know(found)
        return replace(self, preferences=found)


@dataclass(frozen=True, slots=True)
class _Told:
    """A visit, as the viewer's shard returned it. `known`: all visits that the shard returned,
    newest first. `this`: the visit itself, if it is one of them. `lost`: the shard could not return
    or store everything."""

    name: str
    generation: int
    known: Sequence[Remembered] = ()
    this: Remembered | None = None
    lost: bool = False

    @property
    def pools(self) -> Side | None:
        """The side whose pools gave the visit's chunk."""
        return Side[self.this.chunk.pools] if self.this and self.this.chunk.pools else None


async def _first_page(asked: _Asked, named: str | None, candidates: Candidates) -> HomePage:
    name = named or visits.new_name()
    feeds, viewer_id = asked.feeds, asked.viewer_id
    saved = Saved(feeds, viewer_id, None, asked.first + 1)

    async with asyncio.TaskGroup() as group:
        group.create_task(saved.read())
        preferred = group.create_task(preferences.known(feeds, viewer_id)) if named else None
        pools = None if named else group.create_task(_attempt(candidates.read))
        known = await _attempt(partial(visits.recent, feeds.stores, viewer_id, named))
        if pools is not None and isinstance(known, StoreError):
            pools.cancel()  # no chunk can be stored
    # A new visit reads them with the followed interests, unless its first read failed.
    found = preferred.result() if preferred is not None else candidates.preferred
    if found is None and isinstance(known, StoreError):  # the shard is not asked a second time
        found = feeds.preferences.get(viewer_id, preferences.NONE)
    elif found is None:
        found = await preferences.known(feeds, viewer_id)
    asked = asked.with_preferences(found)
    candidates.prefer(found)
    if isinstance(known, StoreError):
        return await _page(asked, _Told(name, saved.newest, lost=True), saved, None)
    this = next((visit for visit in known if visit.visit == name), None)
    if this is None:
        failed = isinstance(await (pools or _attempt(candidates.read)), StoreError)
        candidates.beside = _earlier(known, saved, asked.first + 1 - feeds.settings.chunk)
        try:
            this, known = await _begin(asked, name, known, candidates, failed)
        except StoreError:  # a chunk that can't be stored isn't shown
            newest = max(saved.newest, known[0].generation if known else 0)
            return await _page(asked, _Told(name, newest, known, lost=True), saved, None)
    return await _page(asked, _Told(name, this.generation, known, this), saved, None)


async def _later_page(asked: _Asked, after: str, name: str | None) -> HomePage:
    generation, place, visit = _parse_cursor(after)
    if name is not None and name != visit:
        raise BadInput(f"this cursor is of visit {visit!r}, not of {name!r}", "after")
    saved = Saved(asked.feeds, asked.viewer_id, place, asked.first + 1)
    recent = _attempt(partial(visits.recent, asked.feeds.stores, asked.viewer_id, visit))
    preferred = preferences.known(asked.feeds, asked.viewer_id)
    told, found, _ = await asyncio.gather(recent, preferred, saved.read())
    asked = asked.with_preferences(found)
    if isinstance(told, StoreError):
        return await _page(asked, _Told(visit, generation, lost=True), saved, place)
    this = next((v for v in told if v.generation == generation), None)
    return await _page(asked, _Told(visit, generation, told, this), saved, place)


async def _begin(
    asked: _Asked, name: str, known: list[Remembered], candidates: Candidates, failed: bool
) -> tuple[Remembered, list[Remembered]]:
    """Choose and store the chunk of a new visit. Raises StoreError of the viewer's shard."""
    feeds, settings = asked.feeds, asked.feeds.settings

    async def choose(earlier: list[Remembered]) -> Chunk:
        size, taken, generation, spans = next_chunk(settings, earlier)
        if failed:
            return Chunk(owed=min(size, settings.owed_cap), spans=spans)
        candidates.go_on(generation, spans)
        candidates.mix(earlier)
        best = await candidates.choose(size, taken)
        chosen, odds = candidates.explored(best, taken, generation + 1)
        assert candidates.side is not None
        pins = tuple((c.pin_id, c.reason) for c in chosen)
        side = candidates.side.name
        missing = min(size - len(pins), settings.owed_cap) if candidates.late else 0
        return Chunk(
            *(pins, side, missing, candidates.since, candidates.lacks),
            roots=candidates.roots(chosen),
            causes=candidates.causes(chosen),
            sweep=candidates.sweep,
            cells=candidates.cells(chosen),
            spans=candidates.spans(generation + 1, chosen, taken),
            odds=odds,
            features=candidates.features(chosen),
        )

    clock = feeds.clock()
    begun, known = await visits.begin(feeds.stores, asked.viewer_id, name, known, clock, choose)
    if not failed:
        candidates.remember(begun.generation, begun.chunk.spans)
    return begun, known


def _earlier(known: Sequence[Remembered], saved: Saved, count: int) -> list[int]:
    """The first pins after a new chunk, at least the pin that tells whether another page
    follows."""
    told = (pin_id for visit in known for pin_id, _ in visit.chunk.pins)
    return list(itertools.islice(itertools.chain(told, saved.pins()), max(1, count)))


async def _page(asked: _Asked, told: _Told, saved: Saved, after: Place | None) -> HomePage:
    """A page of the visit."""
    generation, this = told.generation, told.this
    async with aclosing(visit_pins(generation, told.known, saved, after)) as pieces:
        kept = preferences.keeping(asked.preferences)
        page, has_next = await fill(pieces, asked.first, asked.visible, kept)
    tail = told.name.encode()
    new = [pin.id for shown, pin in page if shown.place.generation == generation]
    causes = await _causes(asked, this.chunk, new) if this and asked.causes else {}

    def item(shown: ShownPin, pin: Pin) -> HomeItem:
        place = _CURSOR.pack(generation, *shown.place) + tail
        cursor = cursors.encode(CursorKind.HOME_1, place)
        if shown.place.generation != generation:
            return HomeItem(pin, Reason.SHOWN_BEFORE, cursor)
        return HomeItem(pin, shown.reason, cursor, causes.get(pin.id, ()))

    served = (saved.side,) if this is None else (saved.side, told.pools)
    stale = told.lost or any(side is not Side.PRIMARY for side in served)
    stale |= this is not None and (this.chunk.lacks or this.chunk.owed > 0)
    no_chunk = this is not None and told.pools is None
    since = None if this is None else this.chunk.since
    return HomePage(
        items=[item(shown, pin) for shown, pin in page],
        has_next=has_next,
        visit=told.name,
        health=Health(
            pools=told.pools,
            materialized=saved.side,
            may_be_stale=stale,
            stale_since=_last_chosen(told.known, generation) if told.lost or no_chunk else since,
        ),
    )


async def _causes(
    asked: _Asked, chunk: Chunk, pin_ids: Sequence[int]
) -> dict[int, tuple[Cause, ...]]:
    """The causes of each pin. A cause is left out if the viewer can no longer see the pin that it
    brought, or the liked pin that is the cause, or if the pin that it brought now belongs to
    another user, board or interest."""
    told = {pin_id: chunk.causes.get(pin_id, ()) for pin_id in pin_ids}
    pairs = [pair for some in told.values() for pair in some]
    liked = (id for id, _ in pairs if kind_of(id) is Kind.PIN)
    ids = list(dict.fromkeys([*(id for _, id in pairs), *liked]))
    pins = await asked.visible(ids) if ids else {}
    return {
        pin_id: tuple(
            Cause(followed_id, pins[id])
            for followed_id, id in some
            if id in pins and (followed_id in pins or brought_by(pins[id], followed_id))
        )
        for pin_id, some in told.items()
    }


def _last_chosen(known: Sequence[Remembered], generation: int) -> int | None:
    """The time at which the pools last answered, for this visit or an earlier visit. None if
    unknown."""
    asked = (v.created for v in known if v.generation <= generation and v.chunk.pools)
    return next(asked, None)


def _parse_cursor(cursor: str) -> tuple[int, Place, str]:
    raw = cursors.decode(CursorKind.HOME_1, cursor, least=_CURSOR.size + 1, most=_CURSOR.size + 64)
    generation, at, position = _CURSOR.unpack(raw[: _CURSOR.size])
    name = raw[_CURSOR.size :]
    if not name.isascii() or at > generation:
        raise cursors.wrong()
    return generation, Place(at, position), name.decode()


async def _attempt(call: Callable[[], Awaitable[T]]) -> T | StoreError:
    """The call's result, or its error. The call is made here, so that a task that is cancelled
    before it begins leaves no unawaited coroutine."""
    try:
        return await call()
    except StoreError as error:
        return error
