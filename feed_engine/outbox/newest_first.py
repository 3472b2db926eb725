"""The order in which fan-outs reach a side that was away: the newest first.

While a side is away, each fan-out does its work on the other side and fails; it is tried again
after growing pauses. So when the side is back, the fan-outs come in any order: the oldest of an
hour's outage as likely as the newest. A fan-out that comes then does some newer ones in its place,
which lack the same side, and is itself tried again later, until no newer ones are left.
"""

import time
from typing import NamedTuple
from weakref import WeakKeyDictionary

import msgspec

from datasources.protocols import Outbox, OutboxRow, Stores
from feed_engine.feeds.lanes import lacking

LISTED = 500  # fan-outs
LISTED_FOR = 2.0  # seconds, in which this process doesn't look for others
IN_PLACE = 8  # newer fan-outs that a late one does
SETTLED = 10_000  # ms: younger fan-outs may be under way on both sides


class Progress(msgspec.Struct, frozen=True, omit_defaults=True):
    """The task of an outbox row that is under way, and that task's own cursor."""

    task: int = 0
    cursor: bytes | None = None


class _Listed(NamedTuple):
    until: float
    rows: list[OutboxRow]  # the newest first


_PROGRESS = msgspec.json.Decoder(Progress)
_listed: WeakKeyDictionary[Outbox, _Listed] = WeakKeyDictionary()


async def newer_fan_outs(stores: Stores, row: OutboxRow) -> list[OutboxRow]:
    """The newest fan-outs that lack the same side as this one, and are newer. Each is named once:
    the caller does them, and where the caller fails, their own jobs do."""
    side = _side(row)
    if side is None:
        return []
    outbox, now = stores.shards.outbox, time.monotonic()
    listed = _listed.get(outbox)
    if listed is None or now >= listed.until:
        listed = _Listed(now + LISTED_FOR, await outbox.begun(LISTED))
        _listed[outbox] = listed
    settled = time.time_ns() // 1_000_000 - SETTLED
    found = [
        other
        for other in listed.rows
        if _age(row) < _age(other) and other.created <= settled and _side(other) == side
    ][:IN_PLACE]
    for other in found:
        listed.rows.remove(other)
    return found


def _age(row: OutboxRow) -> tuple[int, int, int]:
    return row.created, row.shard, row.id


def _side(row: OutboxRow) -> str | None:
    """The side that a fan-out lacks, if it lacks one and is done on the other."""
    if row.cursor is None:
        return None
    try:
        cursor = _PROGRESS.decode(row.cursor).cursor
    except msgspec.MsgspecError:
        return None
    return None if cursor is None else lacking(cursor)
