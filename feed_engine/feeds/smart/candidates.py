"""Candidates for a chunk: read from the pools as deep as the chunk needs, and checked.

A pool's content is only a hint. Before a pin is chosen, it is checked that the viewer was not shown
the pin, may see it now, and still follows what brought it. All checks are made at once for more
candidates than are needed, so that one round is enough if few candidates fail. If most candidates
were shown before, the pins of further candidates are loaded only after the shown ones are known.
"""

import asyncio
import random
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice
from typing import NamedTuple

import msgspec

from datasources.errors import StoreError
from datasources.ids import Kind, kind_of
from datasources.mappings import EdgeKey, ListKey, PageRequest
from datasources.protocols import Cell, WideColumnStore
from datasources.records import Pin
from feed_engine.feeds import affinity
from feed_engine.feeds.follow_edges import FOLLOWS
from feed_engine.feeds.marks import pools_generation
from feed_engine.feeds.own_writes import in_pools, read_seeing
from feed_engine.feeds.preferences import of_pages, requests
from feed_engine.feeds.rows import FORMER_POPULAR_ROW, Source
from feed_engine.feeds.settings import Feeds, FeedSettings, Passed, Preferences
from feed_engine.feeds.smart import materialized, pool_rows, pools, shares
from feed_engine.feeds.smart.diversity import Groups, is_diverse
from feed_engine.feeds.smart.exploration import Explored, explore
from feed_engine.feeds.smart.generator import Candidate, board_of, generate
from feed_engine.feeds.smart.interests import ask_fill
from feed_engine.feeds.smart.pool_refill import ask_refill_pool
from feed_engine.feeds.smart.pool_rows import PoolRow, PoolRows, read_pages
from feed_engine.feeds.smart.pools import brought_by
from feed_engine.feeds.smart.ranking import BROUGHT_BY_FOLLOW, Ranking
from feed_engine.feeds.smart.scores import HALF_LIFE
from feed_engine.feeds.smart.shares import Shares
from feed_engine.feeds.visible import Visible
from feed_engine.feeds.visits import Remembered, Span
from feed_engine.outbox.completion import keep
from feed_engine.speculation import Side
from feed_engine.times import DAY, HOUR

DEEPEST = 3  # reads for one chunk, at most; each read is twice as deep as the one before
DEEPER = 4  # reads, the last of the viewer's own rows, if they are dead as far as they were read
SWEPT = 25  # useless candidates of a visit for which its job sweeps the viewer's pools
SPARE = 5  # candidates that are checked in addition to 1.25 times the wanted number
ENOUGH_CHECKS = 2  # rounds of checks after which a full chunk of checked candidates is taken
SIBLINGS = 10  # further candidates of one picture that are checked, to name what brought it
# candidates that are first looked up among the shown pins, for each candidate that is checked
LOOKED_UP = 4
WEIGHED = 100  # candidates of a round that are ranked by more than their scores in the pools
FOLLOWED_INTERESTS = 1000  # interests that are read for a viewer, at most

NEW = DAY  # ms after its creation during which exploration takes a pin for new
LOOK_BELOW = 4  # visits, one of which reads behind the former end of a shared pool
TOPS_EVERY = 4  # visits, one of which reads what seldom has new pins
FILLERS_AGAIN = 64  # visits, after which the passed popular pins are forgotten


class NextChunk(NamedTuple):
    """The next chunk of a viewer, after the earlier visits that the viewer's shard returned: its
    size, the pins that these visits showed, and the generation and spans of the newest of them."""

    size: int
    taken: set[int]
    generation: int
    spans: dict[int, Span]


def next_chunk(settings: FeedSettings, earlier: Sequence[Remembered]) -> NextChunk:
    """The chunk to choose after earlier visits, newest first."""
    if not earlier:
        return NextChunk(settings.chunk, set(), 0, {})
    newest = earlier[0]
    taken = {pin_id for visit in earlier for pin_id in visit.chunk.shown}
    size = settings.chunk + newest.chunk.owed
    return NextChunk(size, taken, newest.generation, newest.chunk.spans)


LoadBoards = Callable[[Collection[int]], Awaitable[None]]
"""Loads boards, so that `Visible` finds them loaded."""

CountLikes = Callable[[Collection[int]], Awaitable[Mapping[int, int]]]
"""The numbers of likes of pins. Pins whose number can't be read are left out."""


class Candidates:
    """A viewer's candidates for one visit. Call `read` first, then `choose`, again if necessary.

    `seen`: the token of a write that the first read waits for. `dated`: say since when the pools
    may be stale if the side that answered may be behind, which costs one more read.
    """

    def __init__(
        self,
        feeds: Feeds,
        viewer_id: int,
        visible: Visible,
        *,
        boards: LoadBoards | None = None,
        likes: CountLikes | None = None,
        seen: str | None = None,
        dated: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._feeds, self._viewer_id, self._visible = feeds, viewer_id, visible
        self._clock, self._until = clock, clock() + feeds.settings.generator_seconds
        self._boards, self._count_likes = boards, likes
        self._seen, self._dated = seen, dated
        self._floor = feeds.settings.floor + feeds.clock() / HALF_LIFE
        self._passed = feeds.passed.get(viewer_id, Passed(0, {}, frozenset()))
        generation = self._passed.generation + 1
        self._rows = PoolRows(
            viewer_id,
            self._floor,
            feeds.settings.rates,
            spans=_looking_below(generation, self._passed.spans),
            tops=generation % TOPS_EVERY == 0 or not self._passed.generation,
            former=not feeds.looked_at(FORMER_POPULAR_ROW),
        )
        self._reads = 0
        # repin → the first pin of its chain, as stored with the pin itself
        self._roots: dict[int, int] = {}
        self.preferred: Preferences | None = None  # as read with the followed interests
        self._pins: dict[int, Pin] = {}  # the pins that were loaded and can be seen
        self.ranking = Ranking(feeds.weights, self._pins)
        # Pins, and first pins of chains, that were shown; and all that were looked up among them.
        self._shown, self._asked = set(self._passed.shown), set(self._passed.shown)
        self._dead: set[int] = set()  # pins that the viewer can't see, or owns
        self._muted: set[int] = set()  # pins of muted users
        self._left: set[Candidate] = set()  # what brought them isn't followed
        self._moved: set[Candidate] = set()  # what brought them no longer has the pin
        self._checked: set[Candidate] = set()
        self._likes = shares.Likes()  # as read with the followed interests
        self.shares = Shares(feeds.settings.rates)
        self.beside: Sequence[int] = ()
        """Pins that the page needs besides the chunk. They are loaded with the first candidates."""
        self.side: Side | None = None  # the worse of the sides that answered; None: none yet
        self.lacks = False  # whether the awaited write is missing
        self.late = False  # whether the generator's deadline ended the choice
        self.since: int | None = None  # epoch ms of the newest change that the side had

    async def read(self) -> None:
        """Read the next page of each row. Raises StoreError."""
        self._reads += 1
        if self._reads > 1:
            await self._read(self._rows.next(own=self._reads > DEEPEST))
            return
        # The viewer most likely follows the same interests as at the last visit.
        self._rows.follow(self._feeds.interests.get(self._viewer_id, ()))
        before = self._rows.first(fillers=self._feeds.filled.get(self._viewer_id, True))
        _, interests = await asyncio.gather(self._read(before), self._followed_interests())
        self._rows.follow(interests)
        there = {row.key for row in before}
        if further := [r for r in self._rows.first(fillers=False) if r.key not in there]:
            with suppress(StoreError):
                await self._read(further)

    def go_on(self, generation: int, spans: Mapping[int, Span]) -> None:
        """Use what the viewer's last visit, of this generation, passed. Another process may have
        answered it."""
        if generation != self._passed.generation:
            self._rows.go_on(_looking_below(generation + 1, spans))

    def mix(self, earlier: Iterable[Remembered]) -> None:
        """Mix the sources by what the viewer liked of earlier visits."""
        settings = self._feeds.settings
        tallies = shares.tallied(earlier, self._likes, self._feeds.clock())
        power, least = settings.rates_power, settings.least_share
        rates = shares.learned(settings.rates, tallies, power=power, least=least)
        self.shares = Shares(rates, tallies)

    def prefer(self, preferences: Preferences) -> None:
        """Choose by the viewer's preferences."""
        self.ranking.preferences = preferences

    async def choose(self, size: int, taken: Collection[int]) -> list[Candidate]:
        """Up to `size` candidates. No two candidates are of the same picture, and none is among
        `taken`. Reads further while there are too few. Raises StoreError when the viewer's shard or
        the pins can't be read. When the generator's time is over, sets `late` and returns what was
        checked by then.

        `taken` are the pins of the earlier visits that the viewer's shard returned. All other
        visits were already saved at that time, so the shown pins are looked up afterwards.
        """
        rates, ahead, first = self.shares.rates, size + size // 4 + SPARE, True
        looked_up, checks = LOOKED_UP * ahead, 0
        while True:
            over = self._clock() >= self._until
            if over and not first:
                self.late = True
                return list(islice(self._generate(taken, checked=True), size))
            generated = self._generate(taken)
            wanted = list(islice(generated, size))
            fillers = sum(rates[c.source] == 0 for c in wanted)
            # Pins of one owner may hide pins of others, further down or among the fillers.
            lacking = len(wanted) < size or not is_diverse([self._groups(c) for c in wanted])
            short = lacking or fillers > 0
            buried = fillers == len(wanted) and self.sweep
            deepest = DEEPER if buried else DEEPEST
            unread = self._reads < deepest and self._rows.unread(own=not lacking)
            if short and unread and not over:
                with suppress(StoreError):  # the first read's candidates are enough
                    await self.read()
            elif all(self._is_checked(c) for c in wanted):
                self._feeds.remember_filled(self._viewer_id, short)
                return wanted
            elif checks >= ENOUGH_CHECKS and (enough := self._instead_of(wanted, taken)):
                self._feeds.remember_filled(self._viewer_id, short)
                return enough
            else:
                chosen = [*wanted, *islice(generated, ahead - size)]
                further = [*chosen, *self._further(looked_up - ahead, chosen)]
                asking = [self._look_up(further), self._weigh(further[:WEIGHED])]
                if first or all(self._is_looked_up(c) for c in chosen):
                    # A viewer may have an affinity to interests, which only loaded pins tell.
                    loaded = further[:WEIGHED] if self.ranking.knows_viewer else chosen
                    unchecked = [c for c in loaded if c not in self._checked]
                    asking.append(self._drop_unfit(unchecked + self._siblings(chosen)))
                    ahead *= 2  # if some candidates fail, the next round checks more
                    checks += 1
                await asyncio.gather(*asking)
                first, looked_up = False, 2 * looked_up

    def explored(
        self, chosen: Sequence[Candidate], taken: Collection[int], generation: int
    ) -> Explored:
        """The chunk of this generation, after exploration: a share of its places goes to checked
        candidates that are new, or whose owners are new to the viewer."""
        share = self._feeds.settings.explore
        if not share:
            return Explored(list(chosen), {})
        there = {id for c in chosen for id in (c.pin_id, self._root(c))}
        others = self._generate(there.union(taken), checked=True)
        return explore(
            chosen,
            [c for c in others if self._is_new(c)],
            share=share,
            groups_of=self._groups,
            seed=f"{self._viewer_id} {generation}",
        )

    def _is_new(self, c: Candidate) -> bool:
        pin = self._pins[c.pin_id]
        if not self.ranking.preferences.less.isdisjoint(self.ranking.subjects(c)):
            return False
        is_new = self._feeds.clock() - pin.created < NEW
        return is_new or (self.ranking.knows_viewer and not self.ranking.affinity_to(pin.owner_id))

    def _instead_of(self, wanted: list[Candidate], taken: Collection[int]) -> list[Candidate]:
        """A chunk of checked candidates, as many and with no more fillers; empty if there is none.

        Only a loaded pin tells its owner. So candidates that were not loaded always seem to be
        better than loaded ones that are held back, and a visit could load all popular pins."""
        found = list(islice(self._generate(taken, checked=True), len(wanted)))
        rates = self.shares.rates
        fillers, most = (sum(not rates[c.source] for c in some) for some in (found, wanted))
        return found if len(found) == len(wanted) and fillers <= most else []

    @property
    def sweep(self) -> bool:
        """Whether the viewer's pools hold many pins that can't be seen, or were shown, or no longer
        belong to what brought them."""
        own = (c for row in self._rows.own for c in row.candidates)
        gone = self._dead | self._shown
        return sum(c.pin_id in gone or c in self._moved for c in own) >= SWEPT

    def of(self, pin_id: int) -> list[Candidate]:
        """All candidates for a pin that were read, the best first."""
        found = (c for some in self._rows.found.values() for c in some if c.pin_id == pin_id)
        dropped = (c for c in self._left | self._moved if c.pin_id == pin_id)
        return sorted([*found, *dropped], key=lambda c: (self.is_left(c), -c.score))

    def is_left(self, c: Candidate) -> bool:
        """Whether what brought a candidate isn't followed, or no longer has the pin."""
        return c in self._left or c in self._moved

    async def were_shown(self, ids: Collection[int]) -> bool:
        """Whether an earlier visit that was saved showed one of the pins."""
        await self._look_up_pins(ids)
        return not self._shown.isdisjoint(ids)

    def cells(self, chosen: Collection[Candidate]) -> dict[int, tuple[bytes, ...]]:
        """The columns of the chosen pins and their repins in the viewer's own pools, by source, as
        far as they were read."""
        pins = {id for c in chosen for id in (c.pin_id, self._root(c))}
        found: dict[int, tuple[bytes, ...]] = {}
        for row in self._rows.own:
            of_chosen = (c for c in row.candidates if c.pin_id in pins or self._root(c) in pins)
            if columns := tuple(pools.column(c) for c in of_chosen):
                found[row.source] = columns
        return found

    def spans(
        self, generation: int, chosen: Collection[Candidate], taken: Collection[int]
    ) -> dict[int, Span]:
        """The parts of the shared pools that the viewer has passed, with these chosen pins."""
        if not generation % FILLERS_AGAIN:
            self._rows.forget_fillers()
        gone = self._shown.union(taken, self._dead, self._muted, self.ranking.preferences.hidden)
        for c in chosen:
            gone |= {c.pin_id, self._root(c)}
        return self._rows.passed(
            lambda c: (
                c.pin_id in gone
                or c in self._moved
                or self._root(c) in gone
                or not self.ranking.preferences.less.isdisjoint(self.ranking.subjects(c))
            )
        )

    def remember(self, generation: int, spans: Mapping[int, Span]) -> None:
        """Keep what the next visit in this process needs, when the chunk is stored."""
        read = {c.pin_id for row in self._rows.rows if row.shared for c in row.candidates}
        read |= {self._roots[id] for id in read if id in self._roots}
        shown = frozenset(self._shown & read)
        self._feeds.remember_passed(self._viewer_id, Passed(generation, spans, shown))

    def roots(self, chosen: Iterable[Candidate]) -> dict[int, int]:
        """Repin → the first pin of its chain, for the repins among the chosen pins."""
        roots = ((c.pin_id, self._root(c)) for c in chosen)
        return {pin_id: root for pin_id, root in roots if root != pin_id}

    def features(self, chosen: Iterable[Candidate]) -> dict[int, tuple[float, float, float, float]]:
        """For each chosen pin, what its place depended on."""
        now = self._feeds.clock() / HALF_LIFE
        found: dict[int, tuple[float, float, float, float]] = {}
        for c in chosen:
            in_pool, affinity, likes, preferences = self.ranking.features(c)
            parts = round(in_pool - now, 3), round(affinity, 3), round(likes, 3)
            found[c.pin_id] = (*parts, preferences)
        return found

    def causes(self, chosen: Iterable[Candidate]) -> dict[int, tuple[tuple[int, int], ...]]:
        """For each chosen pin, what the viewer follows that brought the pin or another pin of the
        same picture, or the pin that the viewer likes and that it is related to: (followed or liked
        id, pin id), first for the pin itself."""
        by_root: dict[int, list[Candidate]] = defaultdict(list)
        for c in self._checked:
            if c.source in BROUGHT_BY_FOLLOW:
                by_root[self._root(c)].append(c)
        found: dict[int, tuple[tuple[int, int], ...]] = {}
        for card in chosen:
            same = by_root.get(self._root(card), [])
            same.sort(key=lambda c: (c.pin_id != card.pin_id, -c.score, c.cause_id))
            pins: dict[int, int] = {}
            if card.source is Source.RELATED and card.cause_id:
                pins[card.cause_id] = card.pin_id
            for c in same:
                pins.setdefault(c.cause_id, c.pin_id)
            if pins:
                found[card.pin_id] = tuple(pins.items())[: SIBLINGS + 1]
        return found

    async def _read(self, rows: Sequence[PoolRow]) -> None:
        sides = self._feeds.stores.pools
        asked = [(row.key, row.after, row.limit) for row in rows]
        behind = [(row, span) for row in rows if (span := row.behind) is not None]
        asked += [(row.key, span.last, pool_rows.SHARED_PAGE) for row, span in behind]
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
            return await read_pages(store, asked)

        raced, has = await read_seeing(
            self._feeds.pools_race, sides, pages, there, kind=("pools", len(rows).bit_length())
        )
        self.lacks |= not has
        if self.side is not Side.STANDBY:
            self.side = raced.side
        pairs = list(zip(rows, raced.value, strict=False))  # then the cells behind spans
        if raced.side in generations and (self.lacks or raced.side is Side.STANDBY):
            stamps = [
                c.stamp for r, cells in pairs if r.source is not Source.POPULAR for c in cells
            ]
            self.since = max([generations[raced.side], *stamps]) or None
            self._dated = False
        ended = [row for pair in pairs for row in self._rows.take(*pair)]
        for (row, _), cells in zip(behind, raced.value[len(rows) :], strict=True):
            ended += self._rows.take_behind(row, cells)
        if any(row.key == FORMER_POPULAR_ROW and not row.candidates for row in ended):
            self._feeds.look(FORMER_POPULAR_ROW)
        store = sides.standby if raced.side is Side.STANDBY else sides.primary
        may_lack = [row for row in ended if row.interest_id or row.source is Source.FOLLOWED]
        if rows := [row for row in may_lack if self._feeds.look(row.key)]:
            keep(self._ask_fill(store, rows))

    async def _ask_fill(self, store: WideColumnStore, rows: Sequence[PoolRow]) -> None:
        """Request fillings of the pools that may lack pins."""
        stores, now = self._feeds.stores, self._feeds.clock()
        with suppress(StoreError):  # a later reader tries again
            for row in rows:
                if row.interest_id:
                    await ask_fill(stores, store, row.interest_id, now)
                else:
                    await ask_refill_pool(stores, store, self._viewer_id, now)

    async def _followed_interests(self) -> Collection[int]:
        """The interests to read. If the viewer follows many, the choice changes every hour."""
        feeds, most = self._feeds, self._feeds.settings.interests
        key = ListKey(FOLLOWS[Kind.INTEREST], self._viewer_id)
        try:
            edges, affinities, likes, *preferred = await feeds.stores.shards.mappings.pages(
                [
                    PageRequest(key, FOLLOWED_INTERESTS),
                    affinity.request(self._viewer_id),
                    shares.request(self._viewer_id),
                    *requests(self._viewer_id),
                ]
            )
        except StoreError:
            return feeds.interests.get(self._viewer_id, ())
        self.ranking.learn(affinity.of_page(affinities), feeds.clock())
        self._likes = shares.of_page(likes)
        self.preferred = of_pages(preferred)
        feeds.remember_preferences(self._viewer_id, self.preferred)
        ids = [edge.to_id for edge in edges]
        if len(ids) > most:
            ids = random.Random(self._viewer_id ^ feeds.clock() // HOUR).sample(ids, most)
        feeds.remember_interests(self._viewer_id, ids)
        return ids

    def _generate(self, taken: Collection[int], *, checked: bool = False) -> Iterator[Candidate]:
        offered, preferences = self._rows.offered(), self.ranking.preferences
        if checked:
            offered = {s: [c for c in some if self._is_checked(c)] for s, some in offered.items()}
        return generate(
            self.ranking.order(offered),
            rates=self.shares.rates,
            floor=self._floor,
            excluded=self._dead | self._muted,
            shown=self._shown.union(taken, preferences.hidden),
            root_of=self._root,
            groups_of=self._groups,
            rare=preferences.less,
        )

    def _further(self, count: int, chosen: Collection[Candidate]) -> list[Candidate]:
        """Up to `count` other candidates that were not looked up among the shown pins: of each
        source as many as its rate says, and then the best of all."""
        rates, offered = self.shares.rates, self._rows.offered()
        there = {c.pin_id for c in chosen}
        unknown = {
            source: (c for c in offered[source] if not (c.pin_id in there or self._is_looked_up(c)))
            for source in sorted(rates, key=lambda source: -rates[source])
        }
        found = list[Candidate]()
        for source, some in unknown.items():
            found += islice(some, count * rates[source] // sum(rates.values()))
        return [*found, *islice(chain.from_iterable(unknown.values()), count - len(found))]

    def _groups(self, c: Candidate) -> Groups:
        """The owner, the board, and the interests of which the viewer wants to see less."""
        pin, less = self._pins.get(c.pin_id), self.ranking.preferences.less
        if pin is not None:
            groups: Groups = (pin.owner_id, pin.board_id)
        elif c.source is Source.FOLLOWED and c.cause_id != c.board_id:
            groups = (c.cause_id, c.board_id) if c.board_id else (c.cause_id,)
        else:
            groups = board_of(c)
        if not less:
            return groups
        return (*groups, *less.intersection(self.ranking.subjects(c)).difference(groups))

    def _is_checked(self, c: Candidate) -> bool:
        return c in self._checked and self._is_looked_up(c)

    def _is_looked_up(self, c: Candidate) -> bool:
        return c.pin_id in self._asked and self._root(c) in self._asked

    def _siblings(self, chosen: Sequence[Candidate]) -> list[Candidate]:
        """Further candidates of the chosen pictures that other followed users, boards or interests
        brought."""
        roots = {self._root(c): 0 for c in chosen}
        there, found = set(chosen) | self._checked, list[Candidate]()
        for c in (c for source in BROUGHT_BY_FOLLOW for c in self._rows.found[source]):
            root = self._root(c)
            if (
                c not in there
                and c.pin_id not in self._dead
                and c.pin_id not in self._muted
                and roots.get(root, SIBLINGS) < SIBLINGS
            ):
                roots[root] += 1
                found.append(c)
        return found

    def _root(self, c: Candidate) -> int:
        """The first pin of the chain of repins, as far as the cell and the loaded pins say."""
        pin_id = c.root_id or c.pin_id
        seen = {pin_id}
        while (root := self._roots.get(pin_id)) is not None and root not in seen:
            seen.add(root)
            pin_id = root
        return pin_id

    async def _look_up(self, candidates: Iterable[Candidate]) -> None:
        await self._look_up_pins({id for c in candidates for id in (c.pin_id, self._root(c))})

    async def _look_up_pins(self, pins: Iterable[int]) -> None:
        """Look up which pins were shown. While neither side answers, no pin counts as shown: shown
        pins leave the viewer's own pools anyway."""
        asked = [pin for pin in pins if pin not in self._asked]
        if not asked:
            return
        self._asked.update(asked)
        with suppress(StoreError):
            raced = await self._feeds.feeds_race(
                lambda store: materialized.shown_among(store, self._viewer_id, asked),
                kind=("shown", len(asked).bit_length()),
            )
            self._shown |= raced.value

    async def _was_shown(self, pin_id: int) -> bool:
        await self._look_up_pins([pin_id])
        return pin_id in self._shown

    async def _drop_unfit(self, candidates: list[Candidate]) -> None:
        """Drop the candidates that must not be chosen, and mark the others as checked."""
        keys = {
            c: EdgeKey(FOLLOWS[kind_of(c.cause_id)], self._viewer_id, c.cause_id)
            for c in candidates
            if c.source in BROUGHT_BY_FOLLOW
        }
        beside, self.beside = self.beside, ()
        ids = list(dict.fromkeys([*(c.pin_id for c in candidates), *beside]))
        followed, pins, _ = await asyncio.gather(
            self._followed(list(dict.fromkeys(keys.values()))),
            self._visible(ids),
            self._load_boards({c.board_id for c in candidates if c.board_id}),
        )
        self._pins.update(pins)
        self._roots |= {pin.id: pin.root for pin in pins.values() if pin.root != pin.id}
        for c in candidates:
            pin = pins.get(c.pin_id)
            if pin is None or pin.owner_id == self._viewer_id:
                self._dead.add(c.pin_id)
            elif pin.owner_id in self.ranking.preferences.muted:
                self._muted.add(c.pin_id)
            elif c in keys and not (keys[c] in followed and brought_by(pin, c.cause_id)):
                self._rows.drop(c)
                (self._moved if keys[c] in followed else self._left).add(c)
            else:
                self._checked.add(c)

    async def _followed(self, keys: Sequence[EdgeKey]) -> set[EdgeKey]:
        if not keys:
            return set()
        edges = await self._feeds.stores.shards.mappings.edges(keys)
        return {key for key, edge in edges.items() if edge.active}

    async def _weigh(self, candidates: Iterable[Candidate]) -> None:
        """Count the likes of candidates. Popular pins have them in their scores."""
        known = self.ranking.likes
        ids = {c.pin_id for c in candidates if c.source is not Source.POPULAR} - known.keys()
        if self._count_likes is not None and ids:
            known |= await self._count_likes(ids)

    async def _load_boards(self, ids: Collection[int]) -> None:
        if self._boards is not None and ids:
            await self._boards(ids)


def _looking_below(generation: int, spans: Mapping[int, Span]) -> dict[int, Span]:
    """The spans for a visit. Now and then, a visit reads behind the end of a pool: a filling may
    have written further pins there."""
    if generation % LOOK_BELOW:
        return dict(spans)
    return {id: msgspec.structs.replace(span, ended=False) for id, span in spans.items()}
