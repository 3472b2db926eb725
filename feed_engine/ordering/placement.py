"""Places a pin on a board, between two other pins or on top, by writing one row.

The nearest rows bound the gap. Deleted rows count: their sequences are taken.
"""

from typing import NamedTuple

from datasources.errors import BadInput, Conflict
from datasources.mappings import Edge, EdgeKey, ListKey
from datasources.protocols import ShardTx
from feed_engine.ordering import order
from feed_engine.ordering.respace import Step, make_room, next_row
from feed_engine.ordering.spacing import Spacing
from feed_engine.outbox.change import AnyTask, Respace


class Anchors(NamedTuple):
    """The rows that a client names: the row directly above the drop, and the row directly below
    it."""

    before: Edge | None
    after: Edge | None

    @property
    def crossed(self) -> tuple[Edge, Edge] | None:
        """The two anchors, if they are in the opposite order now."""
        before, after = self
        return (before, after) if before and after and before.sequence < after.sequence else None

    def check_order(self) -> None:
        """Raises Conflict if the anchors are in the opposite order now."""
        if self.crossed:
            before, after = self.crossed
            raise Conflict(
                f"Pin {before.to_id} stands below pin {after.to_id} now, and nothing was moved. "
                "Load the board again",
                "beforePinId",
            )


class Gap(NamedTuple):
    """The place for a pin: the active rows above and below, None at an end of the board."""

    above: Edge | None
    below: Edge | None


class Placed(NamedTuple):
    """A free sequence, and the respacing that the gap needs if it became narrow."""

    sequence: int
    tasks: list[AnyTask]


def check_distinct(pin_id: int, before_pin_id: int | None, after_pin_id: int | None) -> None:
    """Raises BadInput for anchors that are invalid on any board."""
    if pin_id == before_pin_id:
        raise BadInput("beforePinId is the moved pin itself: give another", "beforePinId")
    if pin_id == after_pin_id:
        raise BadInput("afterPinId is the moved pin itself: give another", "afterPinId")
    if before_pin_id is not None and before_pin_id == after_pin_id:
        raise BadInput(
            "beforePinId and afterPinId are the same pin: give one of them", "afterPinId"
        )


async def on_board(tx: ShardTx, key: ListKey, pin_id: int, field: str) -> Edge:
    """The row of a pin that is on the board. Raises BadInput."""
    row = await tx.edge(EdgeKey(key.mapping, key.from_id, pin_id))
    if row is None or not row.active:
        raise BadInput(f"Pin {pin_id} is not on board {key.from_id}", field)
    return row


async def anchors(
    tx: ShardTx, key: ListKey, before_pin_id: int | None, after_pin_id: int | None
) -> Anchors:
    """The anchors' rows. Locks the list. Raises BadInput."""
    before = after = None
    if before_pin_id is not None:
        before = await on_board(tx, key, before_pin_id, "beforePinId")
    if after_pin_id is not None:
        after = await on_board(tx, key, after_pin_id, "afterPinId")
    return Anchors(before, after)


async def gap_at(tx: ShardTx, key: ListKey, named: Anchors) -> Gap:
    """The gap directly below `before`; without it, directly above `after`; without either, on
    top."""
    if named.before is not None:
        return Gap(named.before, await next_active(tx.below, key, named.before))
    if named.after is not None:
        return Gap(await next_active(tx.above, key, named.after), named.after)
    top = await tx.top(key)
    while top is not None and not top.active:
        top = await tx.below(key, top.sequence)
    return Gap(None, top)


async def neighbors(tx: ShardTx, key: ListKey, row: Edge) -> tuple[int | None, int | None]:
    """The ids of the pins directly above and below a row on the board."""
    above = await next_active(tx.above, key, row)
    below = await next_active(tx.below, key, row)
    return above and above.to_id, below and below.to_id


async def next_active(step: Step, key: ListKey, row: Edge) -> Edge | None:
    found = await step(key, row.sequence)
    while found is not None and not found.active:
        found = await step(key, found.sequence)
    return found


async def place(
    tx: ShardTx, key: ListKey, moved: Edge, gap: Gap, now: int, spacing: Spacing
) -> Placed:
    """A free sequence in a gap for the row `moved`. If the gap has none, a few other rows are
    respaced. Raises Crowded, from `squeeze_in`."""
    lower, upper = await _bounds(tx, key, moved, gap)
    sequence = _between(lower, upper, now)
    if sequence is None:
        return await squeeze_in(tx, key, moved, lower, upper, spacing)
    asks = upper is not None and spacing.asks(
        lower.sequence if lower else 0, sequence, upper.sequence
    )
    return Placed(sequence, [await _respace(tx, key, sequence)] if asks else [])


async def squeeze_in(
    tx: ShardTx,
    key: ListKey,
    moved: Edge,
    lower: Edge | None,
    upper: Edge | None,
    spacing: Spacing,
) -> Placed:
    """A place between two rows that have hardly any room: other rows are respaced. Raises Crowded
    when that takes more rows than a transaction may rewrite (see `with_room`)."""
    sequence = await make_room(tx, key, moved, lower, upper, spacing)
    return Placed(sequence, [await _respace(tx, key, sequence)])


async def _respace(tx: ShardTx, key: ListKey, sequence: int) -> Respace:
    return Respace(board_id=key.from_id, around=str(sequence), era=await tx.era(key))


async def _bounds(
    tx: ShardTx, key: ListKey, moved: Edge, gap: Gap
) -> tuple[Edge | None, Edge | None]:
    """The nearest rows below and above, without the moved pin's own row (of an earlier stay)."""
    if gap.above is not None:
        return await next_row(tx.below, key, gap.above, moved.to_id), gap.above
    top = await tx.top(key)
    if top is not None and top.to_id == moved.to_id:
        top = await tx.below(key, top.sequence)
    return top, None


def _between(lower: Edge | None, upper: Edge | None, now: int) -> int | None:
    if upper is None:
        return order.top(now, lower.sequence if lower else None)
    if lower is None:
        return order.bottom(upper.sequence)
    return order.bisect(lower.sequence, upper.sequence)
