"""The rows that a viewer's candidates come from, each read a page at a time, and merged best first.

A viewer has a row of their own for each source, and shares the rows of followed interests and of
popular pins with others. A candidate is offered when no unread cell of its source's rows can be
better.
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

PAGE = 100  # cells of an own row at first; each further read takes twice as many
DEEPENED = 9  # rows that a further read takes
SHARED_PAGE = 30  # of a row that others read too


@dataclass(slots=True)
class PoolRow:
    """A row, read down to `after`, where the score is `lowest`; `limit`: cells of the next read."""

    source: Source
    key: bytes
    limit: int
    interest_id: int = 0
    after: bytes | None = None
    lowest: float = inf
    ended: bool = False


@dataclass(slots=True)
class PoolRows:
    """All rows of a viewer, and the candidates read from them so far. `floor`: the score of a pin
    that is too poor to be chosen."""

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
        """Read the rows of these interests, and of no others."""
        there = {row.interest_id for row in self.rows}
        self.rows = [r for r in self.rows if not r.interest_id or r.interest_id in interest_ids]
        self.rows += [
            PoolRow(Source.INTEREST, interest_row(id), SHARED_PAGE, id)
            for id in interest_ids
            if id not in there
        ]

    def first(self, *, fillers: bool) -> list[PoolRow]:
        """The rows of a visit's first read. A viewer whose last visit was full without fillers
        needs none of their many rows, most likely."""
        return [row for row in self.rows if fillers or self.rates[row.source] > 0]

    def next(self) -> list[PoolRow]:
        """The rows of a further read. Fillers come last, and first the rows whose unread cells may
        be the best of their source: they keep other candidates from being offered."""
        unread = [row for row in self.rows if not row.ended]
        unread.sort(key=lambda row: (self.rates[row.source] == 0, -row.lowest))
        return unread[:DEEPENED]

    def unread(self, *, own: bool) -> bool:
        """Whether there is more to read; `own`: of sources that are mixed, not of fillers."""
        return any(not row.ended and (not own or self.rates[row.source] > 0) for row in self.rows)

    def take(self, row: PoolRow, cells: Sequence[Cell]) -> list[PoolRow]:
        """Keep the candidates of a page of a row. Returns the row if it ended there, with all of
        its cells read."""
        fresh = [pools.candidate(row.source, cell) for cell in cells]
        self.found[row.source] += fresh
        whole = len(cells) < row.limit
        if cells:
            row.after, row.lowest = cells[-1].column, fresh[-1].score
        row.ended = whole or (row.lowest < self.floor and self.rates[row.source] > 0)
        row.limit *= 2
        return [row] if whole else []

    def offered(self) -> dict[Source, list[Candidate]]:
        """By source, the best first."""
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
    """A page of each row (key, after, limit), at once, from one side."""
    return await asyncio.gather(
        *(store.read(POOLS, key, after=after, limit=limit) for key, after, limit in pages)
    )
