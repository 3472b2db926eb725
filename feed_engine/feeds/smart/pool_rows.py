"""Reads the rows of a viewer's candidates, a page at a time, and merges them best first.

A viewer has a row for each source, and shares the rows of followed interests and of popular pins
with other viewers. A candidate is offered when no unread cell of its source's rows can have a
higher score.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from datasources.protocols import Cell, WideColumnStore
from feed_engine.feeds.rows import (
    FORMER_POPULAR_ROW,
    POOLS,
    POPULAR_ROWS,
    Source,
    interest_row,
    pool_row,
)
from feed_engine.feeds.smart import pools
from feed_engine.feeds.smart.generator import Candidate

PAGE = 100  # cells of a viewer's own row in the first read; each further read takes twice as many
DEEPENED = 9  # rows in a further read
SHARED_PAGE = 30  # cells of a row that others read, too


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

    @property
    def shared(self) -> bool:
        return self.interest_id != 0 or self.source is Source.POPULAR


@dataclass(slots=True)
class PoolRows:
    """All rows of a viewer, and the candidates read from them so far. `floor`: the lowest score
    that may be chosen."""

    viewer_id: int
    floor: float
    rates: Mapping[Source, int]
    rows: list[PoolRow] = field(init=False)
    found: dict[Source, list[Candidate]] = field(init=False)

    def __post_init__(self) -> None:
        self.found = {source: [] for source in Source}
        self.rows = [PoolRow(s, pool_row(self.viewer_id, s), PAGE) for s in pools.OWN_SOURCES]
        popular = [*POPULAR_ROWS, FORMER_POPULAR_ROW]
        self.rows += [PoolRow(Source.POPULAR, key, SHARED_PAGE) for key in popular]

    def follow(self, interest_ids: Collection[int]) -> None:
        """Read the rows of these interests, and no other interests."""
        there = {row.interest_id for row in self.rows}
        self.rows = [r for r in self.rows if not r.interest_id or r.interest_id in interest_ids]
        self.rows += [
            PoolRow(Source.INTEREST, interest_row(id), SHARED_PAGE, id)
            for id in interest_ids
            if id not in there
        ]

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
        fresh = [pools.candidate(row.source, cell) for cell in cells]
        self.found[row.source] += fresh
        row.candidates += fresh
        whole = len(cells) < row.limit
        if cells:
            row.after, row.lowest = cells[-1].column, fresh[-1].score
        row.ended = whole or (row.lowest < self.floor and self.rates[row.source] > 0)
        row.limit *= 2
        return [row] if whole else []

    def offered(self) -> dict[Source, list[Candidate]]:
        """The candidates that may be chosen now, by source, best first."""
        bounds = dict.fromkeys(Source, -inf)
        for row in self.rows:
            if not row.ended:
                bounds[row.source] = max(bounds[row.source], row.lowest)
        return {
            source: sorted(
                (c for c in some if c.score >= bounds[source]), key=lambda c: (-c.score, c.pin_id)
            )
            for source, some in self.found.items()
        }


async def read_pages(
    store: WideColumnStore, pages: Iterable[tuple[bytes, bytes | None, int]]
) -> Sequence[list[Cell]]:
    """A page of each row (key, after, limit), read at once from one side."""
    return await asyncio.gather(
        *(store.read(POOLS, key, after=after, limit=limit) for key, after, limit in pages)
    )
