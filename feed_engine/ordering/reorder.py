"""Moving a pin on its board: to the midpoint between its new neighbors, one row written."""

from datasources.errors import BadInput
from datasources.ids import Kind
from datasources.mappings import Edge, EdgeKey, ListKey, ListMove, Mapping
from datasources.protocols import ShardTx, Stores
from feed_engine.live.events import BoardChange, BoardEvent
from feed_engine.ordering import placement
from feed_engine.ordering.respace import with_room
from feed_engine.ordering.spacing import SPACING, Spacing
from feed_engine.outbox.change import AnyTask, change
from feed_engine.transactions import access
from feed_engine.transactions.commit import (
    Mutation,
    Outcome,
    Saved,
    mutate,
    nothing,
    now_ms,
    row_of,
)
from feed_engine.transactions.inputs import Reorder
from feed_engine.transactions.results import Crossed, Reordered


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

    The anchors are the pins directly above and below the drop as the client saw them, newest first.
    One anchor is enough. If other pins have come between the two anchors, the pin goes directly
    below the first. Moving a pin to its own place changes nothing. Raises BadInput (no anchor
    given, pins that are not on the board or not distinct), Crossed (both anchors given, and in the
    opposite order now; it names the pin's present neighbors), NotFound, Forbidden. A lack of room
    is never an error.
    """
    given = Reorder(
        board_id=board_id, pin_id=pin_id, before_pin_id=before_pin_id, after_pin_id=after_pin_id
    )
    if before_pin_id is None and after_pin_id is None:
        raise BadInput(
            "Give beforePinId, afterPinId or both: the pin's new neighbors", "beforePinId"
        )
    placement.check_distinct(pin_id, before_pin_id, after_pin_id)

    async def work(tx: ShardTx, _: None) -> Outcome[Reordered]:
        await access.lock_shared_board(tx, viewer_id, board_id)
        return await put_at(tx, given, at if at is not None else now_ms(), spacing)

    async def again(saved: Saved) -> Reordered:
        return Reordered(saved.edge(), saved.version, saved.above_id, saved.below_id)

    shard = access.home(stores, Kind.BOARD, board_id)
    mutation = Mutation("reorderPin", shard, viewer_id, key, given)
    return await with_room(stores, lambda: mutate(stores, mutation, nothing, work, again), spacing)


async def put_at(tx: ShardTx, given: Reorder, now: int, spacing: Spacing) -> Outcome[Reordered]:
    """Place a pin of the board at its anchors. The board is locked."""
    key = ListKey(Mapping.BOARD_HAS_PINS, given.board_id)
    named_ids = (given.pin_id, given.before_pin_id, given.after_pin_id)
    # one round trip for all rows
    await tx.edges([EdgeKey(*key, id) for id in named_ids if id is not None])
    moved = await placement.on_board(tx, key, given.pin_id, "pinId")
    named = await placement.anchors(tx, key, given.before_pin_id, given.after_pin_id)
    if named.crossed:
        raise await crossed(tx, key, moved, *named.crossed)
    gap = await placement.gap_at(tx, key, named)
    if moved in gap:
        return await stayed(tx, key, moved)
    before = (await tx.head(key)).version
    placed = await placement.place(tx, key, moved, gap, now, spacing)
    edge = moved._replace(
        sequence=placed.sequence, version=moved.version + 1, era=await tx.era(key)
    )
    await tx.put_edge(key.mapping, edge)
    version = (await tx.head(key)).version
    result = Reordered(edge, version, *(row and row.to_id for row in gap))
    moves = []
    if version == before + 1:  # nothing else changed
        moves.append(ListMove(key, edge.to_id, moved.sequence, edge.sequence, version))
    told = BoardEvent(
        board_id=given.board_id,
        change=BoardChange.REORDERED,
        pin_id=given.pin_id,
        before=before,
        version=version,
        above_id=result.above_id or 0,
    )
    return _outcome(key, result, placed.tasks, moves, [told], durable=True)


async def crossed(tx: ShardTx, key: ListKey, moved: Edge, before: Edge, after: Edge) -> Crossed:
    """The error for anchors that are in the opposite order."""
    above_id, below_id = await placement.neighbors(tx, key, moved)
    names = [f"pin {id}" if id else "nothing" for id in (above_id, below_id)]
    return Crossed(
        f"Pin {before.to_id} stands below pin {after.to_id} now, and nothing was moved: pin "
        f"{moved.to_id} has {names[0]} above it and {names[1]} below. Load the board again",
        "beforePinId",
        above_id=above_id,
        below_id=below_id,
        version=(await tx.head(key)).version,
    )


async def stayed(tx: ShardTx, key: ListKey, row: Edge) -> Outcome[Reordered]:
    """The result for a pin that is already at its place."""
    edge = row._replace(era=await tx.era(key))
    around = await placement.neighbors(tx, key, row)
    result = Reordered(edge, (await tx.head(key)).version, *around)
    return _outcome(key, result, [], [], [], durable=False)


def _outcome(
    key: ListKey,
    result: Reordered,
    tasks: list[AnyTask],
    moves: list[ListMove],
    events: list[BoardEvent],
    *,
    durable: bool,
) -> Outcome[Reordered]:
    saved = Saved(
        row=row_of(result.edge),
        era=result.edge.era,
        version=result.version,
        above_id=result.above_id,
        below_id=result.below_id,
    )
    lists = [] if moves else [key]
    return Outcome(
        result, saved, change(lists=lists, moves=moves, tasks=tasks, events=events), durable
    )
