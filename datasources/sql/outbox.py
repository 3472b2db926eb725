"""Work that follows a commit: `datasources.protocols.Outbox` over SQL."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from itertools import islice, zip_longest
from typing import Any, NamedTuple

from datasources.errors import StoreError
from datasources.protocols import Backlog, Due, OutboxEntry, OutboxRow, Parked, Places
from datasources.sql import codecs
from datasources.sql.engine import Part, Row, Session
from datasources.sql.router import Router
from datasources.sql.turns import of_turn

SHARDS_AT_A_TIME = 512
FIRST_ROWS = 16
MAX_ATTEMPTS = 32_767  # what the column holds
SET_ASIDE = 2**62  # an epoch ms after all other due times
NEVER = -(2**63)  # an epoch ms before all due times

_Row = tuple[OutboxRow, int]  # with the epoch ms at which it was due
_DUE_COLUMNS = f"{codecs.OUTBOX_COLUMNS}, due"
# One range of the index on `due`, which ends with the id.
_DUE = (
    "FROM {db}.outbox WHERE due < ? AND due >= ? AND (due > ? OR id > ?) ORDER BY due, id LIMIT ?"
)


class _Counts(NamedTuple):
    """The counts of a shard's rows, as in Backlog, and the reason of a parked row."""

    rows: int
    parked: int
    aside: int
    oldest: int | None
    reason: bytes | None


class _Removal:
    """Rows of a shard that are removed in one transaction."""

    task: asyncio.Task[None]

    def __init__(self) -> None:
        self.ids: list[int] = []


class SqlOutbox:
    """See Outbox."""

    def __init__(self, router: Router) -> None:
        self._router = router
        self._removals: dict[int, _Removal] = {}  # for each shard, the removal that takes more rows
        self._locks: dict[int, asyncio.Lock] = {}
        self._counts: dict[int, _Counts] = {}
        self._turn = 0

    async def load(self, shard: int, id: int) -> OutboxRow | None:
        try:
            place = self._router.place(shard)
        except KeyError:
            return None
        part = Part(place, codecs.OUTBOX_COLUMNS, "FROM {db}.outbox WHERE id = ?", (id,))
        [rows] = await self._router.read("outbox.load", [part])
        return codecs.outbox_row(shard, rows[0]) if rows else None

    async def pending(self, due_before: int, limit: int) -> list[OutboxRow]:
        found = await self.due(due_before, limit, behind={})
        for error in found.lost.values():
            raise error
        return list(found.rows)

    async def due(
        self, due_before: int, limit: int, *, behind: Places, turn: int | None = None
    ) -> Due:
        of_shards: dict[int, list[_Row]] = {}
        lost: dict[str, StoreError] = {}
        topology = self._router.topology
        waiting = topology.open_shards if turn is None else of_turn(topology, turn)
        # Each shard returns a few rows. Shards with more rows are asked again only if these are not
        # enough.
        most = max(FIRST_ROWS, -(-limit // len(waiting)))
        while True:
            for at in range(0, len(waiting), SHARDS_AT_A_TIME):
                some = waiting[at : at + SHARDS_AT_A_TIME]
                of_shards |= await self._due(some, due_before, min(most, limit), behind, lost)
            waiting = [shard for shard in waiting if len(of_shards.get(shard, ())) == most]
            if not waiting or most >= limit or sum(map(len, of_shards.values())) >= limit:
                break
            most *= 4
        # The longest due rows of each shard come first, so a long backlog on one shard does not
        # delay others.
        turns = zip_longest(*of_shards.values())
        rows = list(islice((row for turn in turns for row in turn if row is not None), limit))
        read_to = {row.shard: (due, row.id) for row, due in rows}
        return Due([row for row, _ in rows], {**behind, **read_to}, lost)

    async def advance(self, shard: int, id: int, cursor: bytes) -> None:
        async def run(session: Session) -> None:
            session.at_commit("UPDATE {db}.outbox SET progress = ? WHERE id = ?", (cursor, id))

        await self._router.write(shard, "outbox.advance", run)

    async def park(self, row: OutboxRow, reason: str, delay: int | None) -> None:
        # The cut may fall inside a character; the rest of that character is dropped.
        told = reason.encode()[: codecs.MAX_KEY].decode(errors="ignore").encode()
        attempts = min(row.attempts + 1, MAX_ATTEMPTS)
        due = SET_ASIDE if delay is None else self._router.clock() + delay

        async def run(session: Session) -> None:
            session.at_commit(
                "UPDATE {db}.outbox SET due = ?, attempts = ?, reason = ? WHERE id = ?",
                (due, attempts, told, row.id),
            )

        await self._router.write(row.shard, "outbox.park", run)

    async def parked(self) -> Parked:
        counts, _ = await self._count()
        reasons = (one.reason for one in counts if one.reason is not None)
        return Parked(sum(one.parked for one in counts), max(reasons, default=b"").decode())

    async def backlog(self) -> Backlog:
        counts, lost = await self._count()
        return Backlog(
            rows=sum(one.rows for one in counts),
            parked=sum(one.parked for one in counts),
            set_aside=sum(one.aside for one in counts),
            oldest=min((one.oldest for one in counts if one.oldest is not None), default=None),
            lost=lost,
        )

    async def _count(self) -> tuple[list[_Counts], dict[str, StoreError]]:
        """Count the rows of the next shards, and of shards that were never counted. Returns the
        counts of all shards of the servers that answered, and the errors of the others."""
        topology = self._router.topology
        next_ones = of_turn(topology, self._turn)
        self._turn += 1
        unknown = (shard for shard in topology.open_shards if shard not in self._counts)
        columns = (
            "COUNT(*), COALESCE(SUM(attempts > 0), 0), "
            f"COALESCE(SUM(due = {SET_ASIDE}), 0), MIN(created), MAX(reason)"
        )
        # Work that was posted for later is not late.
        rest, args = "FROM {db}.outbox WHERE attempts > 0 OR due <= ?", (self._router.clock(),)
        lost: dict[str, StoreError] = {}
        shards = list(dict.fromkeys((*next_ones, *unknown)))
        async with aclosing(
            self._read_each("outbox.backlog", columns, rest, args, shards=shards, lost=lost)
        ) as read:
            async for shard, [(rows, parked, aside, oldest, reason)] in read:
                first = None if oldest is None else int(oldest)
                self._counts[shard] = _Counts(int(rows), int(parked), int(aside), first, reason)
        known = (shard for shard in topology.open_shards if shard in self._counts)
        if lost:
            known = (shard for shard in known if self._router.place(shard).server not in lost)
        return [self._counts[shard] for shard in known], lost

    async def listing(self, limit: int, *, parked: bool) -> list[OutboxEntry]:
        where = "WHERE attempts > 0 " if parked else ""
        rest = f"FROM {{db}}.outbox {where}ORDER BY id LIMIT ?"
        listed: list[OutboxEntry] = []
        async with aclosing(
            self._read_each("outbox.listing", f"{_DUE_COLUMNS}, reason", rest, (limit,))
        ) as read:
            async for shard, rows in read:
                listed += [_entry(shard, row) for row in rows]
                if len(listed) >= limit:
                    break
        return listed[:limit]

    async def begun(self, limit: int) -> list[OutboxRow]:
        rest = "FROM {db}.outbox WHERE progress IS NOT NULL AND due < ? ORDER BY id DESC LIMIT ?"
        read = self._read_each("outbox.begun", codecs.OUTBOX_COLUMNS, rest, (SET_ASIDE, limit))
        found = [codecs.outbox_row(shard, row) async for shard, rows in read for row in rows]
        return sorted(found, key=lambda row: (-row.created, -row.id))[:limit]

    async def entry(self, shard: int, id: int) -> OutboxEntry | None:
        try:
            place = self._router.place(shard)
        except KeyError:
            return None
        rest = "FROM {db}.outbox WHERE id = ?"
        [rows] = await self._router.read(
            "outbox.entry", [Part(place, f"{_DUE_COLUMNS}, reason", rest, (id,))]
        )
        return _entry(shard, rows[0]) if rows else None

    async def revive(self, shard: int, id: int) -> None:
        async def run(session: Session) -> None:
            session.at_commit(
                "UPDATE {db}.outbox SET due = ?, attempts = 0, reason = NULL WHERE id = ?",
                (self._router.clock(), id),
            )

        await self._router.write(shard, "outbox.revive", run)

    async def finish(self, shard: int, id: int) -> None:
        # Rows that arrive during a removal are removed together with the next commit.
        removal = self._removals.get(shard)
        if removal is None:
            removal = self._removals[shard] = _Removal()
            removal.task = asyncio.create_task(self._remove(shard, removal.ids))
        removal.ids.append(id)
        await asyncio.shield(removal.task)

    async def _remove(self, shard: int, ids: list[int]) -> None:
        async with self._locks.setdefault(shard, asyncio.Lock()):
            del self._removals[shard]

            async def run(session: Session) -> None:
                for id in sorted(ids):
                    session.at_commit("DELETE FROM {db}.outbox WHERE id = ?", (id,))

            await self._router.write(shard, "outbox.finish", run)

    async def _read_each(
        self,
        operation: str,
        columns: str,
        rest: str,
        args: tuple[Any, ...] = (),
        *,
        shards: Sequence[int] | None = None,
        lost: dict[str, StoreError] | None = None,
    ) -> AsyncGenerator[tuple[int, Sequence[Row]], None]:
        """The rows of each shard (of `shards`, or of all) that can be reached, shard by shard. A
        failed server's error is added to `lost`, and the server is not asked again."""
        lost = {} if lost is None else lost
        shards = self._router.topology.open_shards if shards is None else shards
        for at in range(0, len(shards), SHARDS_AT_A_TIME):
            places = {shard: self._router.place(shard) for shard in shards[at:][:SHARDS_AT_A_TIME]}
            asked = {shard: place for shard, place in places.items() if place.server not in lost}
            parts = [Part(place, columns, rest, args) for place in asked.values()]
            read, failed = await self._router.read_reachable(operation, parts)
            lost |= failed
            for shard, rows in zip(asked, read, strict=True):
                if rows is not None:
                    yield shard, rows

    async def _due(
        self,
        shards: Sequence[int],
        due_before: int,
        limit: int,
        behind: Places,
        lost: dict[str, StoreError],
    ) -> dict[int, list[_Row]]:
        """Each shard's rows. A failed server's error is added to `lost`, and the server is not
        asked again."""
        asked, parts = [], []
        for shard in shards:
            place = self._router.place(shard)
            if place.server not in lost:
                due, id = behind.get(shard, (NEVER, 0))
                asked.append(shard)
                parts.append(Part(place, _DUE_COLUMNS, _DUE, (due_before, due, due, id, limit)))
        read, failed = await self._router.read_reachable("outbox.due", parts)
        lost |= failed
        return {
            shard: [(codecs.outbox_row(shard, row), due) for *row, due in rows]
            for shard, rows in zip(asked, read, strict=True)
            if rows is not None
        }


def _entry(shard: int, found: Row) -> OutboxEntry:
    *row, due, reason = found
    when = None if due >= SET_ASIDE else due
    return OutboxEntry(codecs.outbox_row(shard, row), when, (reason or b"").decode())
