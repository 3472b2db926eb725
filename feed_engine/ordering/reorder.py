"""Moving an entry of an ordered list, such as a pin on its board: to the midpoint between its new
neighbors, one row written."""

from collections.abc import Sequence
from dataclasses import dataclass

from datasources.clocks import now_ms
from datasources.errors import BadInput
from datasources.ids import Kind
from datasources.mappings import Edge, EdgeKey, ListKey, ListMove, Mapping
from datasources.protocols import ShardTx, Stores
from feed_engine.live.events import BoardChange, BoardEvent, Event
from feed_engine.ordering import placement
from feed_engine.ordering.respace import with_room
from feed_engine.ordering.spacing import SPACING, Spacing
from feed_engine.outbox.change import AnyTask, Change, change
from feed_engine.transactions import access
from feed_engine.transactions.commit import Mutation, Outcome, Saved, mutate, nothing, row_of
from feed_engine.transactions.inputs import Reorder
from feed_engine.transactions.results import Crossed, Reordered

ON_BOARD = Mapping.BOARD_HAS_PINS


@dataclass(frozen=True, slots=True)
class Put:
    """An entry that a transaction put to its place. `before` is the list's version before; if not
    `moved`, the entry was at its place already. `lists` and `moves` are for the caches, `tasks` for
    jobs."""

    key: ListKey
    result: Reordered
    before: int
    moved: bool
    lists: Sequence[ListKey] = ()
    moves: Sequence[ListMove] = ()
    tasks: Sequence[AnyTask] = ()

    def change(self, events: Sequence[Event]) -> Change:
        """The work after the transaction."""
        return change(
            lists=list(self.lists),
            moves=list(self.moves),
            tasks=list(self.tasks),
            events=events,
        )


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
    placement.check_distinct(ON_BOARD, pin_id, before_pin_id, after_pin_id)
    lists = ListKey(ON_BOARD, board_id)

    async def work(tx: ShardTx, _: None) -> Outcome[Reordered]:
        await access.lock_shared_board(tx, viewer_id, board_id)
        now = at if at is not None else now_ms()
        put = await put_at(
            *(tx, lists, pin_id, before_pin_id, after_pin_id), now=now, spacing=spacing
        )
        return outcome(put)

    async def again(saved: Saved) -> Reordered:
        return reordered(saved)

    shard = access.home(stores, Kind.BOARD, board_id)
    mutation = Mutation("reorderPin", shard, viewer_id, key, given)
    return await with_room(stores, lambda: mutate(stores, mutation, nothing, work, again), spacing)


async def put_at(
    tx: ShardTx,
    key: ListKey,
    id: int,
    before_id: int | None,
    after_id: int | None,
    *,
    now: int,
    spacing: Spacing,
) -> Put:
    """Place an entry of a list at its anchors. The board of the list is locked. Raises BadInput,
    Crossed."""
    # one round trip for all rows
    await tx.edges([EdgeKey(*key, it) for it in (id, before_id, after_id) if it is not None])
    moved = await placement.row_in(tx, key, id, placement.NOUNS[key.mapping].moved)
    named = await placement.anchors(tx, key, before_id, after_id)
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
    alone = version == before + 1  # nothing else changed
    return Put(
        key=key,
        result=Reordered(edge, version, *(row and row.to_id for row in gap)),
        before=before,
        moved=True,
        lists=[] if alone else [key],
        moves=[ListMove(key, id, moved.sequence, edge.sequence, version)] if alone else [],
        tasks=placed.tasks,
    )


async def crossed(tx: ShardTx, key: ListKey, moved: Edge, before: Edge, after: Edge) -> Crossed:
    """The error for anchors that are in the opposite order."""
    noun = placement.NOUNS[key.mapping]
    above_id, below_id = await placement.neighbors(tx, key, moved)
    names = [f"{noun.entry} {id}" if id else "nothing" for id in (above_id, below_id)]
    return Crossed(
        f"{noun.named(before.to_id)} stands below {noun.entry} {after.to_id} now, and nothing was "
        f"moved: {noun.entry} {moved.to_id} has {names[0]} above it and {names[1]} below. Load the "
        "board again",
        noun.before,
        above_id=above_id,
        below_id=below_id,
        version=(await tx.head(key)).version,
    )


async def stayed(tx: ShardTx, key: ListKey, row: Edge) -> Put:
    """The result for an entry that is already at its place."""
    edge = row._replace(era=await tx.era(key))
    around = await placement.neighbors(tx, key, row)
    version = (await tx.head(key)).version
    return Put(key, Reordered(edge, version, *around), version, moved=False, lists=[key])


def outcome(put: Put) -> Outcome[Reordered]:
    """The outcome of a pin's move on its board."""
    told = BoardEvent(
        board_id=put.key.from_id,
        change=BoardChange.REORDERED,
        pin_id=put.result.edge.to_id,
        before=put.before,
        version=put.result.version,
        above_id=put.result.above_id or 0,
    )
    following = put.change([told] if put.moved else [])
    return Outcome(put.result, saved_of(put.result), following, durable=put.moved)


def saved_of(result: Reordered) -> Saved:
    """The stored form of a place."""
    return Saved(
        row=row_of(result.edge),
        era=result.edge.era,
        version=result.version,
        above_id=result.above_id,
        below_id=result.below_id,
    )


def reordered(saved: Saved) -> Reordered:
    """The place that `saved_of` stored."""
    return Reordered(saved.edge(), saved.version, saved.above_id, saved.below_id)
