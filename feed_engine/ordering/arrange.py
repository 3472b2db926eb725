"""Puts many pins of a board in a given order, as if each were dragged below the pin before it.

The first transaction checks all pins and stores the plan in the outbox. Then transactions of
bounded size follow. Each moves some pins of the plan to their places, and stores the progress in
the same commit. So each pin is placed once, whether the request completes the plan or a job does
after the process died. Pins that other users move in the meantime stay where those users put them.

Pins that go into one gap share it evenly, so that thousands of pins don't use it up.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import msgspec

from datasources.clocks import now_ms
from datasources.errors import BadInput, StoreCorrupt, StoreError, Unfinished
from datasources.ids import Kind
from datasources.mappings import SEQUENCE_STEP, Edge, EdgeKey, ListKey, Mapping
from datasources.protocols import Job, OutboxRow, ShardTx, Stores
from datasources.records import Board
from feed_engine.live.events import BoardChange, BoardEvent, messages_of, order_version
from feed_engine.ordering import order, placement
from feed_engine.ordering.respace import with_room
from feed_engine.ordering.spacing import SPACING, Spacing
from feed_engine.outbox.change import KIND as CHANGE
from feed_engine.outbox.change import Advance, WholeRow, change, encode
from feed_engine.outbox.completion import keep
from feed_engine.transactions import access
from feed_engine.transactions.commit import Mutation, Outcome, Saved, mutate, nothing
from feed_engine.transactions.inputs import Arrange

KIND = "arrange"  # the kind of the outbox rows
MOST = 10_000  # pins in one call
READ = 64  # rows in a read
CHUNK = 256  # pins of the plan in a transaction
PINS_A_WRITE = 100  # pins that count as one write for quotas
NAMED = 5  # wrong ids that an error names
ON_BOARD = Mapping.BOARD_HAS_PINS


class Plan(msgspec.Struct, frozen=True):
    """The payload: pins from the top down, to be placed directly below one pin or directly above
    another (0: not named)."""

    board_id: int
    pin_ids: tuple[int, ...]
    before_id: int
    after_id: int


_PLAN = msgspec.json.Decoder(Plan)


async def reorder_pins(
    stores: Stores,
    viewer_id: int,
    board_id: int,
    pin_ids: Sequence[int],
    before_pin_id: int | None = None,
    after_pin_id: int | None = None,
    *,
    key: str | None = None,
    spacing: Spacing = SPACING,
) -> int:
    """Place the pins together, the first on top: directly below `before_pin_id`; or, if it is None,
    directly above `after_pin_id`; or, if both are None, on top of the board. Returns the board's
    order version.

    Nothing is changed unless all pins can be placed. Raises BadInput (too many pins, none, a pin
    named twice, pins that are not on the board), Conflict (anchors in the opposite order now),
    NotFound, Forbidden. After the first transaction it raises Unfinished if the rest is left to a
    job.
    """
    given = Arrange(
        board_id=board_id,
        pin_ids=tuple(pin_ids),
        before_pin_id=before_pin_id,
        after_pin_id=after_pin_id,
    )
    _check(given)

    async def work(tx: ShardTx, _: None) -> Outcome[int]:
        await access.lock_shared_board(tx, viewer_id, board_id)
        lists = ListKey(ON_BOARD, board_id)
        found = await tx.edges([EdgeKey(*lists, pin_id) for pin_id in given.pin_ids])
        on_it = {edge.to_id for edge in found.values() if edge.active}
        if absent := [pin_id for pin_id in given.pin_ids if pin_id not in on_it]:
            raise BadInput(f"Not on board {board_id}: {_names(absent)}", "pinIds")
        named = await placement.anchors(tx, lists, before_pin_id, after_pin_id)
        named.check_order()
        plan = Plan(board_id, given.pin_ids, before_pin_id or 0, after_pin_id or 0)
        id = await tx.post(KIND, msgspec.json.encode(plan))
        extra = 1 + len(given.pin_ids) // PINS_A_WRITE
        return Outcome(id, Saved(id=id), change(), durable=False, extra=extra)

    async def again(saved: Saved) -> int:
        return saved.id

    shard = access.home(stores, Kind.BOARD, board_id)
    mutation = Mutation("reorderPins", shard, viewer_id, key, given)
    outbox_id = await mutate(stores, mutation, nothing, work, again)
    try:
        await asyncio.shield(keep(complete(stores, Job(shard, outbox_id), spacing)))
    except StoreError as error:
        raise Unfinished(
            "The order is kept and will be completed, but not all pins are in their places yet. "
            "Send it again with the same idempotency key for the answer."
        ) from error
    lists = ListKey(ON_BOARD, board_id)
    return (await stores.shards.mappings.heads([lists]))[lists].version


async def complete(stores: Stores, job: Job, spacing: Spacing) -> None:
    """Complete a plan, and remove its row. Another process may be doing the same work."""
    # A gap that was widened must have room for all pins of a plan, and keep `threshold` bisections
    # in each part.
    room = spacing.threshold + MOST.bit_length() + 2
    spacing = replace(spacing, room=max(spacing.room, room))

    async def some() -> _Step | None:
        return await stores.shards.objects.transact(
            job.shard, lambda tx: _some(tx, job.outbox_id, now_ms(), spacing)
        )

    more = True
    while more:
        step = await with_room(stores, some, spacing)
        if step is None:
            return
        more = step.more
        await stores.mapping_cache.drop([ListKey(ON_BOARD, step.board_id)])
        if step.told is not None:
            name = f"{job.shard}:{job.outbox_id}:{step.told.version}"
            await stores.broadcasts.publish(name, messages_of([step.told]))
    await stores.shards.outbox.finish(job.shard, job.outbox_id)


async def rearranged(
    stores: Stores,
    task: WholeRow,
    cursor: bytes | None,
    advance: Advance,
    *,
    spacing: Spacing = SPACING,
) -> None:
    """The job that completes a plan's row."""
    await complete(stores, Job(task.row.shard, task.row.id), spacing)


class _Step(NamedTuple):
    """One transaction of a plan: the board, whether pins are left, and what it changed."""

    board_id: int
    more: bool
    told: BoardEvent | None


async def _some(tx: ShardTx, outbox_id: int, now: int, spacing: Spacing) -> _Step | None:
    """Move some pins of the plan to their places. Returns None if the plan has already been
    completed elsewhere."""
    row = await tx.owed(outbox_id)
    if row is None:
        return None
    plan = plan_of(row)
    start, end = int(row.cursor or 0), len(plan.pin_ids)
    board = await access.lock_any(tx, Board, plan.board_id)
    if start < end and board is not None and board[0].active:
        before = await order_version(tx, plan.board_id)
        start = await _Chunk(tx, plan, start, now, spacing).arrange()
        await tx.advance(outbox_id, str(start).encode())
        told = BoardEvent(
            board_id=plan.board_id,
            change=BoardChange.PLACES,
            before=before,
            version=await order_version(tx, plan.board_id),
        )
        return _Step(plan.board_id, start < end, told if told.version > before else None)
    return _Step(plan.board_id, False, None)


class _Chunk:
    """The part of a plan that one transaction does."""

    def __init__(self, tx: ShardTx, plan: Plan, start: int, now: int, spacing: Spacing) -> None:
        self._tx, self._plan, self._start, self._now = tx, plan, start, now
        self._spacing = spacing
        self._key = ListKey(ON_BOARD, plan.board_id)
        self._upper: Edge | None = None  # the next pin goes directly below this row; None: on top
        self._below = deque[Edge]()  # rows below `_upper` that were read, nearest first
        self._reached = order.HIGHEST
        self._ended = False
        self._moved = set[int]()

    async def arrange(self) -> int:
        """Place this part's pins. Returns the index of the plan's next pin."""
        pins = self._plan.pin_ids[self._start : self._start + CHUNK]
        rows = await self._tx.edges([EdgeKey(*self._key, pin_id) for pin_id in pins])
        self._upper = await self._above()
        if self._upper is not None:
            self._reached = self._upper.sequence
        for number, pin_id in enumerate(pins, self._start):
            row = rows.get(EdgeKey(*self._key, pin_id))
            if row is None or not row.active:
                continue  # the pin was deleted or moved away in the meantime
            nearest = await self._nearest()
            if nearest is not None and nearest.to_id == pin_id:
                self._upper = self._below.popleft()
                continue
            sequence = self._share(nearest, len(self._plan.pin_ids) - number)
            if sequence is not None:
                await self._put(row, sequence)
            elif self._moved:
                return number
            else:
                placed = await placement.squeeze_in(
                    self._tx, self._key, row, nearest, self._upper, self._spacing
                )
                await self._put(row, placed.sequence)
                # the relay queues it
                await self._tx.post(CHANGE, encode(change(tasks=placed.tasks)))
                # the rows around were respaced, so the rows that were read are out of date
                return number + 1
        return self._start + len(pins)

    async def _above(self) -> Edge | None:
        """The row below which the first pin of this part goes: the pin before it in the plan. If
        that pin is no longer on the board, the row at which the plan begins."""
        for pin_id in reversed(self._plan.pin_ids[: self._start]):
            row = await self._tx.edge(EdgeKey(*self._key, pin_id))
            if row is not None and row.active:
                return row
        if self._plan.before_id:
            return await self._tx.edge(EdgeKey(*self._key, self._plan.before_id))
        if not self._plan.after_id:
            return None
        after = await self._tx.edge(EdgeKey(*self._key, self._plan.after_id))
        listed = set(self._plan.pin_ids)
        while after is not None:
            rows = await self._tx.rows_above(self._key, after.sequence, READ)
            for row in rows:
                if row.to_id not in listed:
                    return row
            after = rows[-1] if rows else None
        return None

    async def _nearest(self) -> Edge | None:
        """The next row below, active or not. Rows that were already placed are skipped."""
        while True:
            while self._below and self._below[0].to_id in self._moved:
                self._below.popleft()
            if self._below or self._ended:
                return self._below[0] if self._below else None
            rows = await self._tx.rows_below(self._key, self._reached, READ)
            self._below.extend(rows)
            self._ended = len(rows) < READ
            if rows:
                self._reached = rows[-1].sequence

    def _share(self, nearest: Edge | None, count: int) -> int | None:
        """The uppermost of `count` places that divide the gap evenly; None if the gap is too
        narrow."""
        if self._upper is not None:
            high = self._upper.sequence
        else:
            high = order.top(self._now, nearest.sequence if nearest else None)
        low = nearest.sequence if nearest else max(0, high - (count + 1) * SEQUENCE_STEP)
        if order.bisections(0, (high - low) // (count + 1)) < self._spacing.threshold:
            return None
        return low + (high - low) * count // (count + 1)

    async def _put(self, row: Edge, sequence: int) -> None:
        self._upper = row._replace(sequence=sequence, version=row.version + 1)
        await self._tx.put_edge(ON_BOARD, self._upper)
        self._moved.add(row.to_id)


def _check(given: Arrange) -> None:
    ids = given.pin_ids
    if not ids:
        raise BadInput("pinIds is empty: name the pins to put in order", "pinIds")
    if len(ids) > MOST:
        raise BadInput(
            f"pinIds has {len(ids)} entries: at most {MOST:,} at once. Send the rest in further "
            "calls, each with the last pin of the call before as beforePinId",
            "pinIds",
        )
    if twice := [pin_id for pin_id, count in Counter(ids).items() if count > 1]:
        raise BadInput(f"Named more than once: {_names(twice)}", "pinIds")
    for anchor, field in ((given.before_pin_id, "beforePinId"), (given.after_pin_id, "afterPinId")):
        if anchor in ids:
            raise BadInput(f"{field} is among pinIds: name a pin that stays", field)
    placement.check_distinct(ON_BOARD, 0, given.before_pin_id, given.after_pin_id)


def _names(ids: Sequence[int]) -> str:
    some = ", ".join(f"pin {id}" for id in ids[:NAMED])
    return f"{some} and {len(ids) - NAMED} more" if len(ids) > NAMED else some


def plan_of(row: OutboxRow) -> Plan:
    """The plan in an outbox row. Raises StoreCorrupt."""
    try:
        return _PLAN.decode(row.payload)
    except msgspec.MsgspecError as error:
        raise StoreCorrupt(f"outbox row {row.id} of shard {row.shard}: {error}") from error
