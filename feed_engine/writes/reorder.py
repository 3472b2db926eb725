"""Moving a pin on its board: to the midpoint between its new neighbours, one row written."""

from datasources.errors import BadInput
from datasources.ids import Kind
from datasources.mappings import Edge, EdgeKey, ListKey, Mapping
from datasources.protocols import ShardTx, Stores
from feed_engine import order
from feed_engine.change import AnyTask, Respace, change
from feed_engine.spacing import SPACING, Spacing
from feed_engine.writes import access
from feed_engine.writes.commit import Mutation, Outcome, Saved, mutate, nothing, now_ms, row_of
from feed_engine.writes.inputs import Reorder
from feed_engine.writes.respace import Step, make_room, with_room
from feed_engine.writes.results import Crossed, Reordered


async def reorder_pin(
    stores: Stores,
    viewer_id: int,
    board_id: int,
    pin_id: int,
    before_pin_id: int | None = None,
    after_pin_id: int | None = None,
    *,
    key: str | None = None,
    at: int | None = None,
    spacing: Spacing = SPACING,
) -> Reordered:
    """Put a pin directly below `before_pin_id` or, if that is None, directly above `after_pin_id`.

    The two are the pins directly above and below the drop as the client saw them, newest first;
    one is enough. Others may have come between them since: the pin then goes below the first.
    Moving a pin to where it is changes nothing. Raises BadInput (neither anchor given, pins that
    are not on the board or not distinct), Crossed (both given, and in the opposite order now: it
    names the pin's present neighbours), NotFound, Forbidden. It never fails for lack of room.
    """
    given = Reorder(
        board_id=board_id, pin_id=pin_id, before_pin_id=before_pin_id, after_pin_id=after_pin_id
    )
    _check_distinct(given)

    async def work(tx: ShardTx, _: None) -> Outcome[Reordered]:
        await access.lock_own_board(tx, viewer_id, board_id)
        return await _move(tx, given, at if at is not None else now_ms(), spacing)

    async def again(saved: Saved) -> Reordered:
        return Reordered(saved.edge(), saved.version, saved.above_id, saved.below_id)

    shard = access.home(stores, Kind.BOARD, board_id)
    mutation = Mutation("reorderPin", shard, viewer_id, key, given)
    return await with_room(stores, lambda: mutate(stores, mutation, nothing, work, again), spacing)


def _check_distinct(given: Reorder) -> None:
    if given.before_pin_id is None and given.after_pin_id is None:
        raise BadInput("Give beforePinId, afterPinId or both: where shall it go?", "beforePinId")
    if given.pin_id == given.before_pin_id:
        raise BadInput("beforePinId is the moved pin itself: give another", "beforePinId")
    if given.pin_id == given.after_pin_id:
        raise BadInput("afterPinId is the moved pin itself: give another", "afterPinId")
    if given.before_pin_id == given.after_pin_id:
        raise BadInput(
            "beforePinId and afterPinId are the same pin: give one of them", "afterPinId"
        )


async def _move(tx: ShardTx, given: Reorder, now: int, spacing: Spacing) -> Outcome[Reordered]:
    key = ListKey(Mapping.BOARD_HAS_PINS, given.board_id)
    await tx.head(key)
    moved = await _on_board(tx, key, given.pin_id, "pinId")
    before = after = None
    if given.before_pin_id is not None:
        before = await _on_board(tx, key, given.before_pin_id, "beforePinId")
    if given.after_pin_id is not None:
        after = await _on_board(tx, key, given.after_pin_id, "afterPinId")
    if before and after and before.sequence < after.sequence:
        raise await _crossed(tx, key, moved, before, after)
    if before is not None:
        above: Edge | None = before
        below = await _next_active(tx.below, key, before)
    else:
        assert after is not None
        above, below = await _next_active(tx.above, key, after), after
    if moved in (above, below):
        return await _unchanged(tx, key, moved)
    # The gap is bounded by the nearest rows, deleted ones included: their sequences are taken.
    if before is not None:
        lower, upper = await tx.below(key, before.sequence), above
    else:
        lower, upper = below, await tx.above(key, below.sequence) if below else None
    sequence = _between(lower, upper, now)
    tight = sequence is None
    if sequence is None:
        sequence = await make_room(tx, key, moved, lower, upper, spacing)
    elif upper is not None:
        tight = spacing.asks(lower.sequence if lower else 0, sequence, upper.sequence)
    edge = moved._replace(sequence=sequence, version=moved.version + 1, era=await tx.era(key))
    await tx.put_edge(key.mapping, edge)
    task = Respace(board_id=key.from_id, around=str(sequence), era=edge.era)
    tasks: list[AnyTask] = [task] if tight else []
    return await _outcome(tx, key, edge, above, below, tasks, durable=True)


async def _crossed(tx: ShardTx, key: ListKey, moved: Edge, before: Edge, after: Edge) -> Crossed:
    above = await _next_active(tx.above, key, moved)
    below = await _next_active(tx.below, key, moved)
    names = [f"pin {edge.to_id}" if edge else "nothing" for edge in (above, below)]
    return Crossed(
        f"Pin {before.to_id} stands below pin {after.to_id} now, and nothing was moved: pin "
        f"{moved.to_id} has {names[0]} above it and {names[1]} below. Load the board again",
        "beforePinId",
        above_id=above and above.to_id,
        below_id=below and below.to_id,
        version=(await tx.head(key)).version,
    )


async def _on_board(tx: ShardTx, key: ListKey, pin_id: int, field: str) -> Edge:
    row = await tx.edge(EdgeKey(key.mapping, key.from_id, pin_id))
    if row is None or not row.active:
        raise BadInput(f"Pin {pin_id} is not on board {key.from_id}", field)
    return row


async def _next_active(step: Step, key: ListKey, row: Edge) -> Edge | None:
    found = await step(key, row.sequence)
    while found is not None and not found.active:
        found = await step(key, found.sequence)
    return found


def _between(lower: Edge | None, upper: Edge | None, now: int) -> int | None:
    if upper is None:
        return order.top(now, lower.sequence if lower else None)
    if lower is None:
        return order.bottom(upper.sequence)
    return order.bisect(lower.sequence, upper.sequence)


async def _unchanged(tx: ShardTx, key: ListKey, moved: Edge) -> Outcome[Reordered]:
    above = await _next_active(tx.above, key, moved)
    below = await _next_active(tx.below, key, moved)
    stayed = moved._replace(era=await tx.era(key))
    return await _outcome(tx, key, stayed, above, below, [], durable=False)


async def _outcome(
    tx: ShardTx,
    key: ListKey,
    edge: Edge,
    above: Edge | None,
    below: Edge | None,
    tasks: list[AnyTask],
    *,
    durable: bool,
) -> Outcome[Reordered]:
    version = (await tx.head(key)).version
    above_id, below_id = above and above.to_id, below and below.to_id
    saved = Saved(
        row=row_of(edge), era=edge.era, version=version, above_id=above_id, below_id=below_id
    )
    result = Reordered(edge, version, above_id, below_id)
    return Outcome(result, saved, change(lists=[key], tasks=tasks), durable)
