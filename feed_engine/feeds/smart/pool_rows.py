"""Reads the rows of a viewer's candidates, a page at a time, and merges them best first.

A viewer has a row for each source, and shares the rows of followed interests and of popular pins
with other viewers. A candidate is offered when no unread cell of its source's rows can have a
higher score.

Pins that were shown stay in shared rows. So each visit stores the span of each row that its viewer
has passed. The next visit reads the row's top, where new pins arrive, and goes on behind the span.
Of popular pins, which only fill a chunk, it mostly reads the part behind the span. Pins that arrive
within a span are found by a job (see `feed_engine.feeds.smart.late`).
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from datasources.protocols import Cell, WideColumnStore
from feed_engine.feeds.rows import (
    FORMER_POPULAR_ROW,
    POOLS,
    POPULAR_ROWS,
    Source,
    interest_row,
    parse_pool,
    pool_row,
)
from feed_engine.feeds.smart import pools
from feed_engine.feeds.smart.generator import Candidate
from feed_engine.feeds.visits import Span

PAGE = 100  # cells of a viewer's own row in the first read; each further read takes twice as many
DEEPENED = 9  # rows in a further read
SHARED_PAGE = 30  # cells of a row that others read, too
TOP = 10  # cells of such a row above a span that the viewer has passed
CARRIED = 50  # spans that a visit stores, at most


@dataclass(slots=True)
class PoolRow:
    """A row, read down to `after`, where the score is `lowest`. `limit`: cells of the next read."""

    source: Source
    key: bytes
    limit: int
    interest_id: int = 0
    after: bytes | None = None
    lowest: float = inf
    ended: bool = False
    candidates: list[Candidate] = field(default_factory=list)  # all that were read, best first
    span: Span | None = None  # the part of the row that earlier visits passed
    jumped: int | None = None  # the number of candidates above the span, when that is known
    from_top: bool = True

    @property
    def shared(self) -> bool:
        return self.interest_id != 0 or self.source is Source.POPULAR

    @property
    def id(self) -> int:
        """The id in the row's key, under which its span is stored."""
        return int.from_bytes(self.key[:8], "big")

    @property
    def behind(self) -> Span | None:
        """The span behind which cells are read at the same time as the row's top."""
        ready = self.span is not None and self.after is None and not self.span.ended
        return self.span if ready else None

    def skip_to(self, span: Span) -> None:
        """Start behind a span. What is above it is not read."""
        self.span, self.from_top, self.jumped = span, False, 0
        self.after, self.lowest = span.last, parse_pool(span.last).score

    def go_on(self, span: Span) -> None:
        """Go on behind a span which is known only after the first read."""
        self.span = span
        if not self.ended and self.after is not None and self.after >= span.first:
            columns = (pools.column(c) for c in self.candidates)
            self.jumped = sum(column < span.first for column in columns)
            if self.after < span.last:
                self.after, self.lowest = span.last, parse_pool(span.last).score
                self.ended = span.ended

    def take(self, cells: Sequence[Cell]) -> list[Candidate]:
        """Move down over the cells of a read. Returns their candidates, without cells in the
        span."""
        span, whole = self.span, len(cells) < self.limit
        self.limit = 2 * max(self.limit, SHARED_PAGE)
        if cells:
            self.after = cells[-1].column
        self.ended = whole
        if span is not None and self.jumped is None and self.from_top:
            above = [cell for cell in cells if cell.column < span.first]
            if whole or len(above) < len(cells):
                below = [cell for cell in cells if cell.column > span.last]
                self.jumped = len(self.candidates) + len(above)
                self.ended = whole or (span.ended and not below)
                self.after = max(self.after or b"", span.last)
                cells = above + below
        if self.after is not None:
            self.lowest = parse_pool(self.after).score
        fresh = [pools.candidate(self.source, cell) for cell in cells]
        self.candidates += fresh
        return fresh

    def passed(self, useless: Callable[[Candidate], bool]) -> Span | None:
        """The span that this visit passes, if the candidates that are not `useless` for the next
        visit remain to be read."""
        span, last, jumped = self.span, b"", self.jumped
        if self.ended and self.from_top and span is None and len(self.candidates) <= SHARED_PAGE:
            return None  # it is read as a whole
        ended = self.ended
        for number, c in enumerate(self.candidates):
            column = pools.column(c)
            if span is not None and jumped is not None and number >= jumped:
                last = max(last, span.last)
                if column <= span.last:
                    continue
            if not useless(c):
                ended = False
                if span is not None and (jumped is None or number < jumped):
                    return span
                break
            last = column
        if span is not None and jumped is None:
            return span
        if span is not None:
            last = max(last, span.last)
        first = pools.column(self.candidates[0]) if self.candidates else last
        if span is not None:
            first = min(first, span.first)
        return Span(first, last, ended) if last else None


@dataclass(slots=True)
class PoolRows:
    """All rows of a viewer, and the candidates read from them so far. `floor`: the lowest score
    that may be chosen. `spans`: what earlier visits passed, as far as this process knows. `tops`:
    whether to read what seldom has new pins: popular pins above their spans, and the viewer's own
    row of pins that came late to interests. `former`: whether to read the row of
    popular pins of earlier versions."""

    viewer_id: int
    floor: float
    rates: Mapping[Source, int]
    spans: dict[int, Span] = field(default_factory=dict)
    tops: bool = True
    former: bool = True
    rows: list[PoolRow] = field(init=False)
    found: dict[Source, list[Candidate]] = field(init=False)
    _offered: dict[Source, list[Candidate]] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.found = {source: [] for source in Source}
        own = [s for s in pools.OWN_SOURCES if self.tops or s is not Source.INTEREST]
        self.rows = [PoolRow(s, pool_row(self.viewer_id, s), PAGE) for s in own]
        popular = [*POPULAR_ROWS, FORMER_POPULAR_ROW] if self.former else POPULAR_ROWS
        for key in popular:
            row = self._shared(PoolRow(Source.POPULAR, key, SHARED_PAGE))
            if row.span is not None and not row.span.ended and not self.tops:
                row.limit = SHARED_PAGE
                row.skip_to(row.span)

    def follow(self, interest_ids: Collection[int]) -> None:
        """Read the rows of these interests, and no other interests."""
        there = {row.interest_id for row in self.rows}
        self.rows = [r for r in self.rows if not r.interest_id or r.interest_id in interest_ids]
        for id in interest_ids:
            if id not in there:
                self._shared(PoolRow(Source.INTEREST, interest_row(id), SHARED_PAGE, id))

    def _shared(self, row: PoolRow) -> PoolRow:
        self.rows.append(row)
        row.span = self.spans.get(row.id)
        if row.span is not None:
            row.limit = TOP
        return row

    def go_on(self, spans: Mapping[int, Span]) -> None:
        """Use the spans that the viewer's shard returned, after the first read."""
        self.spans = {**spans, **self.spans}
        for row in self.rows:
            if row.shared and row.span is None and row.id in spans:
                row.go_on(spans[row.id])
        self._offered = None

    def passed(self, useless: Callable[[Candidate], bool]) -> dict[int, Span]:
        """The spans that the next visit may skip: of the rows of this visit, and of other rows."""
        read = {row.id: row.passed(useless) for row in self.rows if row.shared}
        found = {id: span for id, span in read.items() if span is not None}
        rest = ((id, span) for id, span in self.spans.items() if id not in read)
        found.update(list(rest)[: max(0, CARRIED - len(found))])
        return found

    def forget_fillers(self) -> None:
        """Pass no filler: their order changes with their likes."""
        fillers = {row.id for row in self.rows if row.source is Source.POPULAR}
        self.rows = [row for row in self.rows if row.id not in fillers]
        self.spans = {id: span for id, span in self.spans.items() if id not in fillers}

    @property
    def own(self) -> list[PoolRow]:
        """The rows that the viewer shares with nobody."""
        return [row for row in self.rows if not row.shared]

    def first(self, *, fillers: bool) -> list[PoolRow]:
        """The rows of a visit's first read. If a viewer's last visit was full without fillers, the
        fillers' many rows are most likely not needed."""
        return [row for row in self.rows if fillers or self.rates[row.source] > 0]

    def next(self, *, own: bool = False) -> list[PoolRow]:
        """The rows of a further read. `own`: only rows that the viewer shares with nobody. Fillers
        come last. The rows whose unread cells may have the highest score of their source come
        first, because they keep other candidates from being offered."""
        unread = [row for row in self.rows if not row.ended and not (own and row.shared)]
        unread.sort(key=lambda row: (self.rates[row.source] == 0, -row.lowest))
        return unread[:DEEPENED]

    def unread(self, *, own: bool) -> bool:
        """Whether unread cells remain. `own`: in the sources that are mixed, without fillers."""
        return any(not row.ended and (not own or self.rates[row.source] > 0) for row in self.rows)

    def take(self, row: PoolRow, cells: Sequence[Cell]) -> list[PoolRow]:
        """Keep the candidates of a page of a row. Returns the row, with all its cells read, if the
        row ended there."""
        whole = len(cells) < row.limit
        self.found[row.source] += row.take(cells)
        row.ended |= row.lowest < self.floor and self.rates[row.source] > 0
        self._offered = None
        return [row] if whole else []

    def take_behind(self, row: PoolRow, cells: Sequence[Cell]) -> list[PoolRow]:
        """Keep the candidates behind a row's span, if the page of the row's top reached the
        span."""
        if row.jumped is None or row.ended or row.span is None or row.after != row.span.last:
            return []
        row.limit = SHARED_PAGE
        return self.take(row, cells)

    def drop(self, c: Candidate) -> None:
        """Offer a candidate no longer."""
        self.found[c.source].remove(c)
        self._offered = None

    def offered(self) -> dict[Source, list[Candidate]]:
        """The candidates that may be chosen now, by source, best first."""
        if self._offered is None:
            bounds = dict.fromkeys(Source, -inf)
            for row in self.rows:
                if not row.ended:
                    bounds[row.source] = max(bounds[row.source], row.lowest)
            self._offered = {
                source: sorted(
                    (c for c in some if c.score >= bounds[source]),
                    key=lambda c: (-c.score, c.pin_id),
                )
                for source, some in self.found.items()
            }
        return self._offered


async def read_pages(
    store: WideColumnStore, pages: Iterable[tuple[bytes, bytes | None, int]]
) -> Sequence[list[Cell]]:
    """A page of each row (key, after, limit), read at once from one side."""
    return await asyncio.gather(
        *(store.read(POOLS, key, after=after, limit=limit) for key, after, limit in pages)
    )
