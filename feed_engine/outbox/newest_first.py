"""The order in which fan-outs reach a side after an outage: newest first.

While a side is unavailable, each fan-out does its work on the other side and fails. It is tried
again after growing pauses. So when the side returns, the fan-outs come in any order: after an
outage of an hour, the oldest is as likely to come as the newest. A fan-out that comes then first
does some newer fan-outs that lack the same side, and is itself tried again later, until no newer
fan-outs are left.

A job takes one fan-out at a time: the newest that no other job of this process is doing. So
concurrent jobs all work on the newest fan-outs, instead of each in a different part of the queue.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import msgspec

from datasources.protocols import Outbox, OutboxRow, Stores
from feed_engine.feeds.lanes import lacking

LISTED = 500  # fan-outs in a listing: many more than jobs run at once
LISTED_FOR = 2.0  # seconds for which this process uses a listing
IN_PLACE = 8  # newer fan-outs that a late fan-out does in its place

_Age = tuple[int, int, int]


class Progress(msgspec.Struct, frozen=True, omit_defaults=True):
    """The current task of an outbox row, and that task's own cursor."""

    task: int = 0
    cursor: bytes | None = None


@dataclass(slots=True)
class _Listed:
    """The fan-outs that lack a side, from the last listing of an outbox, and the rows that this
    process is doing."""

    until: float = 0.0  # on the monotonic clock
    rows: list[OutboxRow] = field(default_factory=list)  # newest first
    # rows older than this may exist and were not listed; None: all rows were listed
    oldest: _Age | None = None
    doing: set[_Age] = field(default_factory=set)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def newest(self, row: OutboxRow, side: str) -> OutboxRow | None:
        """The newest fan-out that lacks the side, is newer than this row, and isn't being done."""
        for other in self.rows:
            if (age := _age(other)) <= _age(row):
                return None
            if age not in self.doing and _side(other) == side:
                return other
        return None


_PROGRESS = msgspec.json.Decoder(Progress)
_listed: WeakKeyDictionary[Outbox, _Listed] = WeakKeyDictionary()


@contextmanager
def doing(stores: Stores, row: OutboxRow) -> Iterator[None]:
    """Inside the block, no other job of this process does the row in place of its own."""
    now, age = _of(stores).doing, _age(row)
    mine = age not in now
    now.add(age)
    try:
        yield
    finally:
        if mine:
            now.discard(age)


@asynccontextmanager
async def newest_to_do(stores: Stores, row: OutboxRow) -> AsyncIterator[OutboxRow | None]:
    """The newest fan-out that is newer than this one and lacks the same side. The block does it.
    None if there is none."""
    side, listed = _side(row), _of(stores)
    while side is not None and (other := await _next(stores, listed, row, side)) is not None:
        listed.rows.remove(other)
        with doing(stores, other):
            found = await stores.shards.outbox.load(other.shard, other.id)
            if found is not None and _side(found) == side:
                yield found
                return
    yield None


async def is_late(stores: Stores, row: OutboxRow) -> bool:
    """Whether newer fan-outs that lack the same side are waiting, or another job is doing this row
    in place of its own."""
    side, listed = _side(row), _of(stores)
    if side is None:
        return False
    return await _next(stores, listed, row, side) is not None or _age(row) in listed.doing


async def _next(stores: Stores, listed: _Listed, row: OutboxRow, side: str) -> OutboxRow | None:
    async with listed.turn:  # concurrent jobs share a listing
        if time.monotonic() >= listed.until:
            await _list(stores, listed)
        found = listed.newest(row, side)
        if found is None and listed.oldest is not None and _age(row) < listed.oldest:
            await _list(stores, listed)
            found = listed.newest(row, side)
        return found


async def _list(stores: Stores, listed: _Listed) -> None:
    begun = await stores.shards.outbox.begun(LISTED)
    listed.rows = [row for row in begun if _side(row) is not None]
    listed.oldest = _age(begun[-1]) if len(begun) == LISTED else None
    listed.until = time.monotonic() + LISTED_FOR


def _of(stores: Stores) -> _Listed:
    return _listed.setdefault(stores.shards.outbox, _Listed())


def _age(row: OutboxRow) -> _Age:
    return row.created, row.shard, row.id


def _side(row: OutboxRow) -> str | None:
    """The side that a fan-out lacked when it failed, if the other side was done."""
    if row.cursor is None:
        return None
    try:
        cursor = _PROGRESS.decode(row.cursor).cursor
    except msgspec.MsgspecError:
        return None
    return None if cursor is None else lacking(cursor)
