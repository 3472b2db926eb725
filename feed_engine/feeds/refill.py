"""Refills following feeds that became too short: older pins had been cut, and newer pins
disappeared.

Pins disappear by an unfollow, a deletion, a move, or when their board becomes secret. A reader who
comes to the end of a cut and short feed posts one job. An unfollow refills the feed at once. Each
side is refilled separately.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence

from datasources.clocks import now_ms
from datasources.errors import StoreUnavailable
from datasources.ids import Kind
from datasources.protocols import Cell, Stores, WideColumnStore
from datasources.together import together
from feed_engine.feeds.content import public_pins
from feed_engine.feeds.follow_edges import FOLLOWS, followed
from feed_engine.feeds.lanes import on_side
from feed_engine.feeds.newest import newest_followed
from feed_engine.feeds.refill_requests import ASK_AGAIN, ASKED, ask
from feed_engine.feeds.row_cap import CUT, cut_mark, mark_cut, trim_following
from feed_engine.feeds.rows import (
    FOLLOWING,
    FOLLOWING_APPLIED,
    FollowingColumn,
    follow_stamp,
    following_column,
    id_row,
    parse_following,
)
from feed_engine.feeds.settings import DEFAULTS, FeedSettings
from feed_engine.feeds.wide import read_row, remove
from feed_engine.outbox.change import Advance, FeedShort
from feed_engine.times import LEAPS

REFILLED = b"\x02"
"""The column of the mark in FOLLOWING_APPLIED. Its stamp is the epoch ms of the last refill."""
TRIES = 5  # attempts of a refill whose follow edges change during the refill


async def feed_short(
    stores: Stores,
    task: FeedShort,
    cursor: bytes | None,
    advance: Advance,
    *,
    settings: FeedSettings = DEFAULTS,
) -> None:
    """Refill the viewer's following feed."""
    await refill(stores, task.viewer_id, settings)


async def refill(
    stores: Stores,
    viewer_id: int,
    settings: FeedSettings = DEFAULTS,
    *,
    clock: Callable[[], int] = now_ms,
) -> None:
    """Write the newest pins that the viewer follows to the viewer's row, on both sides, and remove
    cells that can't be shown. Afterwards the edges are read again: if a follow or unfollow came in
    between, its job saw the row without the new cells, and the refill is repeated."""
    edges = await _edges(stores, viewer_id)
    for _ in range(TRIES):
        await _fill(stores, viewer_id, edges, settings, clock)
        before, edges = edges, await _edges(stores, viewer_id)
        if edges == before:
            return
    raise StoreUnavailable(f"the follows of user {viewer_id} change again and again")


async def _fill(
    stores: Stores,
    viewer_id: int,
    edges: Mapping[int, int],
    settings: FeedSettings,
    clock: Callable[[], int],
) -> None:
    cuts = await _cuts(stores, viewer_id)
    newest = await newest_followed(stores, viewer_id, edges.keys(), settings.following_cap)
    wanted = {
        following_column(FollowingColumn(found.pin.created, found.pin.id, cause)): edges[cause]
        for found in newest
        for cause in found.causes
    }
    complete = len(newest) < settings.following_cap

    async def fill(store: WideColumnStore) -> None:
        side = _Side(stores, store, viewer_id, settings, clock)
        if not complete:
            await mark_cut(store, [id_row(viewer_id)])
        await side.fill(wanted, edges)
        cut = cuts.get(store)
        if complete and cut is not None:  # the row already has all pins
            await store.delete(FOLLOWING_APPLIED, {id_row(viewer_id): [CUT]}, cut.stamp)

    await together([on_side(store, fill) for store in stores.feeds])


async def was_cut(stores: Stores, viewer_id: int, cap: int) -> bool:
    """Whether a row may lack older cells. True if a side can't be read."""
    row = id_row(viewer_id)

    async def look(store: WideColumnStore) -> bool:
        if await cut_mark(store, row) is not None:
            return True
        # A row that was cut before marks existed is full.
        return len(await store.read(FOLLOWING, row, limit=cap)) >= cap

    found = await asyncio.gather(*(look(s) for s in stores.feeds), return_exceptions=True)
    return any(found)


async def ask_refill(stores: Stores, store: WideColumnStore, viewer_id: int, now: int) -> bool:
    """Post the job for a feed that is too short on one side, if it was cut and no job is under way.
    Raises StoreError. Returns whether a job was posted."""
    row = id_row(viewer_id)
    marks = await store.get(FOLLOWING_APPLIED, row, [CUT, REFILLED, ASKED])
    if CUT not in marks:
        return False
    asked, refilled = (marks[c].stamp if c in marks else 0 for c in (ASKED, REFILLED))
    if asked > refilled and now - asked < ASK_AGAIN:
        return False
    task = FeedShort(viewer_id=viewer_id, at=now)
    await ask(stores, store, FOLLOWING_APPLIED, viewer_id, task, now)
    return True


async def _edges(stores: Stores, viewer_id: int) -> dict[int, int]:
    """Followed user or board → the version of the viewer's edge."""
    users, boards = await asyncio.gather(
        *(followed(stores, FOLLOWS[kind], [viewer_id]) for kind in (Kind.USER, Kind.BOARD))
    )
    return {edge.to_id: edge.version for edge in (*users[viewer_id], *boards[viewer_id])}


async def _cuts(stores: Stores, viewer_id: int) -> dict[WideColumnStore, Cell]:
    row = id_row(viewer_id)
    found = await asyncio.gather(
        *(cut_mark(store, row) for store in stores.feeds), return_exceptions=True
    )
    pairs = zip(stores.feeds, found, strict=True)
    return {store: cell for store, cell in pairs if isinstance(cell, Cell)}


class _Side:
    """One side of a viewer's row."""

    def __init__(
        self,
        stores: Stores,
        store: WideColumnStore,
        viewer_id: int,
        settings: FeedSettings,
        clock: Callable[[], int],
    ) -> None:
        self._stores, self._store = stores, store
        self._row, self._settings, self._clock = id_row(viewer_id), settings, clock

    async def fill(self, wanted: Mapping[bytes, int], edges: Collection[int]) -> None:
        """Write the missing cells. `wanted`: column → the version of its cause's edge."""
        cells = await read_row(self._store, FOLLOWING, self._row)
        rest = [cell for cell in cells if cell.column not in wanted]
        await self._remove_dead(rest, edges)
        there = {cell.column for cell in cells}
        missing = {column: v for column, v in wanted.items() if column not in there}
        for leap in (0, *LEAPS):
            stamp = await self._next_stamp(leap)
            if not missing:
                break
            by_version: dict[int, dict[bytes, bytes]] = defaultdict(dict)
            for column, version in missing.items():
                by_version[version][column] = b""
            for version, some in by_version.items():
                await self._store.put(FOLLOWING, {self._row: some}, follow_stamp(version, stamp))
            shown = await self._store.get(FOLLOWING, self._row, list(missing))
            missing = {column: v for column, v in missing.items() if column not in shown}
        await trim_following(self._store, self._row, self._settings.following_cap)

    async def _next_stamp(self, leap: int) -> int:
        """A time later than every earlier run's, whatever the clock says, so that the later run's
        cells remain."""
        marks = await self._store.get(FOLLOWING_APPLIED, self._row, [REFILLED])
        last = marks[REFILLED].stamp if REFILLED in marks else 0
        stamp = max(1, self._clock() + leap, last + 1)
        await self._store.put(FOLLOWING_APPLIED, {self._row: {REFILLED: b""}}, stamp)
        return stamp

    async def _remove_dead(self, cells: Sequence[Cell], edges: Collection[int]) -> None:
        """Remove the cells of pins that were deleted, hidden or moved away from their cause, and of
        causes that are not followed. Each cell is removed at its own stamp: a pin that returns is
        written with a higher stamp."""
        columns = {cell.column: parse_following(cell.column) for cell in cells}
        pins = await public_pins(self._stores, {column.pin_id for column in columns.values()})

        def alive(cell: Cell) -> bool:
            _, pin_id, cause = columns[cell.column]
            pin = pins.get(pin_id)
            return pin is not None and cause in edges and cause in (pin.owner_id, pin.board_id)

        dead = (cell for cell in cells if not alive(cell))
        await remove(self._store, FOLLOWING, self._row, dead)
