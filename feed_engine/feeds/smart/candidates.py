"""Candidates for a chunk: read from the pools as deep as the chunk needs, and checked.

The pools' contents are only a hint. Before a pin is chosen it is checked that the viewer was not
shown it, that they may see it now, and that they still follow what brought it.
"""

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress

from datasources.errors import StoreError
from datasources.ids import kind_of
from datasources.mappings import EdgeKey
from datasources.protocols import Cell, WideColumnStore
from datasources.records import Pin
from feed_engine.feeds.applied import pools_generation
from feed_engine.feeds.follow_edges import FOLLOWS
from feed_engine.feeds.rows import POOLS, POPULAR_ROW, Source, pool_row
from feed_engine.feeds.seen import in_pools, read_seeing
from feed_engine.feeds.settings import Feeds
from feed_engine.feeds.smart import materialized, pools
from feed_engine.feeds.smart.generator import Candidate, generate
from feed_engine.feeds.smart.scoring import HALF_LIFE
from feed_engine.feeds.visible import Visible
from feed_engine.speculation import Side

PAGE = 100  # candidates of a pool a read
DEEPEST = 10  # reads for one chunk at most

_BROUGHT_BY_FOLLOW = (Source.FOLLOWED, Source.INTEREST)


class Candidates:
    """A viewer's candidates for one visit. `read` first; then `choose`, again if need be.

    `seen`: the token of a write that the first read waits for; `dated`: tell since when the pools
    may be stale, where a side answered that may lag, for one read more.
    """

    def __init__(
        self,
        feeds: Feeds,
        viewer_id: int,
        visible: Visible,
        *,
        seen: str | None = None,
        dated: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._feeds, self._viewer_id, self._visible = feeds, viewer_id, visible
        self._clock, self._until = clock, clock() + feeds.settings.generator_seconds
        self._sources: dict[int, int] = {}  # repin → the pin that was repinned
        self._seen, self._dated = seen, dated
        self._pools: dict[Source, list[Candidate]] = {source: [] for source in Source}
        self._after: dict[Source, bytes | None] = dict.fromkeys(Source)  # of the pools not read out
        self._excluded: set[int] = set()
        self._checked: set[Candidate] = set()
        self._floor = feeds.settings.floor + feeds.clock() / HALF_LIFE
        self.side: Side | None = None  # the worst that answered; None: none did yet
        self.lacks = False  # the write that was waited for
        self.late = False  # the choice was ended by the generator's deadline
        self.since: int | None = None  # epoch ms of the newest change that the side knew of

    async def read(self) -> None:
        """Read the next page of each pool, and leave out what was shown. Raises StoreError."""
        sources, sides = list(self._after), self._feeds.stores.pools
        after = dict(self._after)  # a side may still be reading when this has moved on
        seen, self._seen = self._seen, None
        there = None
        if seen is not None:
            there = await in_pools(self._feeds.stores, seen, self._viewer_id, self._was_shown)
        may_lag = [sides.standby] if there is None else list(sides)
        generations: dict[Side, int] = {}

        async def pages(store: WideColumnStore) -> Sequence[list[Cell]]:
            if self._dated and any(store is side for side in may_lag):
                side = Side.STANDBY if store is sides.standby else Side.PRIMARY
                generations[side] = await pools_generation(store, self._viewer_id)
            return await asyncio.gather(*(self._page(store, s, after[s]) for s in sources))

        raced, has = await read_seeing(
            self._feeds.pools_race, sides, pages, there, kind=("pools", len(sources))
        )
        self.lacks |= not has
        if self.side is not Side.STANDBY:
            self.side = raced.side
        if raced.side in generations and (self.lacks or raced.side is Side.STANDBY):
            own = zip(sources, raced.value, strict=True)
            stamps = [c.stamp for s, cells in own if s is not Source.POPULAR for c in cells]
            self.since = max([generations[raced.side], *stamps]) or None
            self._dated = False
        fresh: dict[Source, list[Candidate]] = {}
        for source, cells in zip(sources, raced.value, strict=True):
            fresh[source] = [pools.candidate(source, cell) for cell in cells]
            read_out = len(cells) < PAGE or self._is_poor(fresh[source][-1])
            if read_out:
                del self._after[source]
            else:
                self._after[source] = cells[-1].column
        await self._exclude_shown({c.pin_id for some in fresh.values() for c in some})
        for source, some in fresh.items():
            self._pools[source] += [c for c in some if c.pin_id not in self._excluded]

    async def choose(
        self, size: int, taken: Collection[int], *, untold: bool = False
    ) -> list[Candidate]:
        """Up to `size` candidates, none among `taken`, reading on while there are too few. Raises
        StoreError when the viewer's shard or the pins can't be read. When the generator's time is
        over, `late` is set and those checked by then are the choice.

        `taken` is what the viewer's shard tells of earlier visits; `untold`: there are others.
        These may have been saved after `read` had looked for them, so each choice is looked up.
        """
        rates, reads, ask = self._feeds.settings.rates, 1, size
        first = True
        while True:
            over = self._clock() >= self._until
            chosen = generate(
                self._pools,
                size=ask,
                rates=rates,
                floor=self._floor,
                excluded=self._excluded.union(taken),
            )
            if over and not first:
                self.late = True
                return [c for c in chosen if c in self._checked][:size]
            short = len(chosen) < size or any(rates[c.source] == 0 for c in chosen[:size])
            if short and not over and reads < DEEPEST and self._unread(full=len(chosen) >= size):
                reads += 1
                with suppress(StoreError):  # then what the first read gave is good enough
                    await self.read()
            elif unchecked := [c for c in chosen if c not in self._checked]:
                first = False
                if await self._check(unchecked, untold=untold):
                    ask *= 2  # some were bad: the next look goes further ahead
            elif not self._drop_copies(chosen[:size], taken):
                return chosen[:size]

    def _unread(self, *, full: bool) -> bool:
        """Whether there are more candidates to read. If the chunk is full of fillers, only the
        viewer's own pools count; otherwise all pools count."""
        return any(not full or self._feeds.settings.rates[source] > 0 for source in self._after)

    async def _page(
        self, store: WideColumnStore, source: Source, after: bytes | None
    ) -> list[Cell]:
        popular = source is Source.POPULAR
        row = POPULAR_ROW if popular else pool_row(self._viewer_id, source)
        return await store.read(POOLS, row, after=after, limit=PAGE)

    def _is_poor(self, last: Candidate) -> bool:
        """Whether a pool has nothing above the floor behind this candidate."""
        return last.score < self._floor and self._feeds.settings.rates[last.source] > 0

    async def _exclude_shown(self, pins: Collection[int]) -> None:
        """While neither side can tell which pins were shown, the pools' pins count as unseen, since
        shown pins leave the pools."""
        asked = [pin for pin in pins if pin not in self._excluded]
        try:
            raced = await self._feeds.feeds_race(
                lambda store: materialized.shown_among(store, self._viewer_id, asked),
                kind=("shown", len(asked).bit_length()),
            )
        except StoreError:
            return
        self._excluded |= raced.value

    async def _was_shown(self, pin_id: int) -> bool:
        await self._exclude_shown([pin_id])
        return pin_id in self._excluded

    async def _check(self, candidates: list[Candidate], *, untold: bool) -> bool:
        """Drop the candidates that must not be chosen; return whether there were any."""
        if not untold:
            return await self._drop_unfit(candidates)
        bad, _ = await asyncio.gather(
            self._drop_unfit(candidates), self._exclude_shown({c.pin_id for c in candidates})
        )
        shown = {c for c in candidates if c.pin_id in self._excluded}
        self._checked -= shown
        return bad or bool(shown)

    def _drop_copies(self, chosen: Sequence[Candidate], taken: Collection[int]) -> bool:
        """Drop repins of a picture that is in the choice, or in an earlier visit; whether there
        were any. A picture and its repins have one card."""
        roots: set[int] = set()
        before = len(self._excluded)
        for c in chosen:
            root = self._root(c.pin_id)
            if root in roots or (root != c.pin_id and root in taken):
                self._excluded.add(c.pin_id)
            roots.add(root)
        return len(self._excluded) > before

    def _root(self, pin_id: int) -> int:
        """The first pin of a chain of repins, as far as its pins are known."""
        seen = {pin_id}
        while (source := self._sources.get(pin_id)) is not None and source not in seen:
            seen.add(source)
            pin_id = source
        return pin_id

    async def _drop_unfit(self, candidates: list[Candidate]) -> bool:
        keys = {
            c: EdgeKey(FOLLOWS[kind_of(c.cause_id)], self._viewer_id, c.cause_id)
            for c in candidates
            if c.source in _BROUGHT_BY_FOLLOW
        }
        asked = list(dict.fromkeys(keys.values()))
        pins = self._visible(list(dict.fromkeys(c.pin_id for c in candidates)))
        if asked:
            edges, seen = await asyncio.gather(
                self._feeds.stores.shards.mappings.edges(asked), pins
            )
            followed = {key for key, edge in edges.items() if edge.active}
        else:
            followed, seen = set(), await pins
        bad = False
        self._sources |= {p.id: p.source_id for p in seen.values() if p.source_id is not None}
        for c in candidates:
            pin = seen.get(c.pin_id)
            if pin is None or pin.owner_id == self._viewer_id:
                self._excluded.add(c.pin_id)
                bad = True
            elif c in keys and not (keys[c] in followed and _brought_by(pin, c.cause_id)):
                self._pools[c.source].remove(c)
                bad = True
            else:
                self._checked.add(c)
        return bad


def _brought_by(pin: Pin, cause_id: int) -> bool:
    return cause_id in (pin.owner_id, pin.board_id, *pin.interest_ids)
