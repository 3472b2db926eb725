"""Moves a pin between two boards of one owner: one transaction, because both boards are on the
owner's shard. The owner may move every pin; a collaborator on both boards, the pins they added.

No reader may see the pin on both boards, or on neither. Readers that request both boards get them
as of one moment, from the cache or from the shard (`loaders.lists`). Both boards are held from
before the move until its commit (`feed_engine.transactions.hold`), so the cache never has one board
as before the move and the other as after it.
"""

from contextlib import suppress

import msgspec

from datasources.clocks import now_ms
from datasources.errors import Forbidden, StoreCorrupt, StoreError
from datasources.ids import Kind
from datasources.mappings import Edge, EdgeKey, ListKey, Mapping
from datasources.protocols import ShardTx, Stores
from datasources.records import Board, Pin
from feed_engine.live import events
from feed_engine.live.events import BoardEvent, order_version
from feed_engine.ordering import placement, reorder
from feed_engine.ordering.respace import with_room
from feed_engine.ordering.spacing import SPACING, Spacing
from feed_engine.outbox.change import AnyTask, PinArrived, PinHidden
from feed_engine.transactions import access
from feed_engine.transactions.commit import Mutation, Outcome, Outdated, Rows, Saved, mutate
from feed_engine.transactions.edit import edit
from feed_engine.transactions.hold import Hold
from feed_engine.transactions.inputs import Move
from feed_engine.transactions.on_boards import lock_on_board, may_move, may_order
from feed_engine.transactions.results import PinMoved, Reordered
from feed_engine.writes.pin_rows import is_public, published, put_public
from feed_engine.writes.pins import removed
from feed_engine.writes.section_rows import leave

ON_BOARD = Mapping.BOARD_HAS_PINS


async def move_pin(
    stores: Stores,
    viewer_id: int,
    pin_id: int,
    board_id: int,
    before_pin_id: int | None = None,
    after_pin_id: int | None = None,
    *,
    key: str | None = None,
    at: int | None = None,
    spacing: Spacing = SPACING,
) -> PinMoved:
    """Move a pin to another board of its board's owner: on top, or where `reorder_pin` would put
    it. A pin that is already on that board is reordered; without anchors it stays at its place.

    Raises BadInput, Conflict (anchors that are in the opposite order now), NotFound, Forbidden.
    """
    placement.check_distinct(ON_BOARD, pin_id, before_pin_id, after_pin_id)
    given = Move(
        pin_id=pin_id, board_id=board_id, before_pin_id=before_pin_id, after_pin_id=after_pin_id
    )
    now = at if at is not None else now_ms()
    shard = access.home(stores, Kind.PIN, pin_id)
    hold = Hold(stores, shard)

    async def prepare() -> int:
        _, source = await access.find_pin(stores, viewer_id, pin_id)
        target = await access.find_board(stores, viewer_id, board_id)
        if not (source.has_member(viewer_id) and target.has_member(viewer_id)):
            raise Forbidden(
                "Only its owner, and collaborators on both boards, may move a pin to another board."
            )
        if source.owner_id != target.owner_id:
            raise Forbidden(
                "A pin moves only between boards of one owner: save it to the other board, and "
                "delete it here."
            )
        await hold.give_up()  # the hold of an earlier attempt
        if source.id != board_id:
            await hold.take([ListKey(ON_BOARD, id) for id in (source.id, board_id)])
        return source.id

    async def work(tx: ShardTx, source_id: int) -> Outcome[PinMoved]:
        if source_id != board_id and not await hold.release(tx):
            raise Outdated  # the transaction took so long that a job released the hold
        boards = {id: await access.lock_any(tx, Board, id) for id in sorted({source_id, board_id})}
        right = may_order if source_id == board_id else may_move
        source, pin, raw = await lock_on_board(tx, Pin, viewer_id, source_id, pin_id, right)
        target, _ = access.shared_board(boards[board_id], viewer_id, board_id)
        if source_id == board_id:
            return await _within(tx, given, pin, now, spacing)
        rows = Rows(tx)
        versions = [await order_version(tx, id) for id in (source_id, board_id)]
        placed, tasks = await _place(tx, rows, given, source, target, now, spacing)
        await leave(tx, rows, pin)
        there = {"board_id": target.id, "flips": target.flips, "section_id": None}
        after = await edit(tx, pin, raw, there)
        objects = [pin_id]
        if source.cover_pin_id == pin_id and (held_board := boards[source_id]) is not None:
            await edit(tx, held_board[0], held_board[1], {"cover_pin_id": None})
            objects.append(source_id)
        # A change of the old board's `flips` may not have reached the pin's rows yet: they are
        # written here.
        if source.secret != target.secret or source.flips:
            await put_public(rows, after, target, placed.edge)
            if is_public(after, target):
                tasks.append(published(after, at=now))
            elif not source.secret:
                tasks.append(PinHidden(pin_id=pin_id))
        elif is_public(after, target):
            tasks.append(PinArrived(pin_id=pin_id, board_id=board_id, at=now))
        left = (await tx.head(ListKey(ON_BOARD, source_id))).version
        result = PinMoved(after, source_id, left, placed)
        told: list[events.Event] = [
            await removed(tx, source_id, pin_id, versions[0]),
            BoardEvent(
                board_id=board_id,
                change=events.BoardChange.SAVED,
                pin_id=pin_id,
                before=versions[1],
                version=placed.version,
                above_id=placed.above_id or 0,
            ),
            events.PinEvent(pin_id=pin_id, change=events.PinChange.EDITED),
        ]
        following = rows.change(objects=objects, tasks=tasks, events=told)
        return Outcome(result, _saved(result), following)

    async def again(saved: Saved) -> PinMoved:
        await hold.give_up()
        pin = await access.recall(stores, Pin, pin_id)
        return PinMoved(pin, saved.from_id, saved.from_version, reorder.reordered(saved))

    mutation = Mutation("movePin", shard, viewer_id, key, given)
    try:
        return await with_room(
            stores, lambda: mutate(stores, mutation, prepare, work, again), spacing
        )
    except BaseException:
        with suppress(StoreError):  # otherwise a job gives it up
            await hold.give_up()
        raise


async def _within(
    tx: ShardTx, given: Move, pin: Pin, now: int, spacing: Spacing
) -> Outcome[PinMoved]:
    """The result for a pin that is already on that board."""
    key, before, after = ListKey(ON_BOARD, pin.board_id), given.before_pin_id, given.after_pin_id
    await tx.head(key)
    if before is None and after is None:
        put = await reorder.stayed(tx, key, await placement.row_in(tx, key, pin.id, "pinId"))
    else:
        put = await reorder.put_at(tx, key, pin.id, before, after, now=now, spacing=spacing)
    done = reorder.outcome(put)
    result = PinMoved(pin, pin.board_id, done.result.version, done.result)
    return Outcome(result, _saved(result), done.change, done.durable)


async def _place(
    tx: ShardTx,
    rows: Rows,
    given: Move,
    source: Board,
    target: Board,
    now: int,
    spacing: Spacing,
) -> tuple[Reordered, list[AnyTask]]:
    """Remove the pin's row from the old board, and add a row to the new board."""
    there = (given.pin_id, given.before_pin_id, given.after_pin_id)
    on_target = [EdgeKey(ON_BOARD, target.id, id) for id in there if id is not None]
    here = EdgeKey(ON_BOARD, source.id, given.pin_id)
    await tx.edges([here, *on_target])  # rows of both lists in one order, in two round trips
    row = await tx.edge(here)
    if row is None or not row.active:
        raise StoreCorrupt(f"pin {given.pin_id} is not on its board {source.id}")
    key = ListKey(ON_BOARD, target.id)
    named = await placement.anchors(tx, key, given.before_pin_id, given.after_pin_id)
    named.check_order()
    gap = await placement.gap_at(tx, key, named)
    old = await tx.edge(EdgeKey(ON_BOARD, target.id, given.pin_id))  # the row of an earlier stay
    old = old or Edge(target.id, given.pin_id, 0, 0, active=False)
    placed = await placement.place(tx, key, old, gap, now, spacing)
    # The sum with the boards' `flips` must grow: it is the version of the rows elsewhere.
    version = max(old.version, row.version + source.flips - target.flips) + 1
    edge = old._replace(
        sequence=placed.sequence, version=version, active=True, era=await tx.era(key)
    )
    await rows.put(ON_BOARD, row._replace(version=row.version + 1, active=False))
    await rows.put(ON_BOARD, edge)
    above_id, below_id = (around and around.to_id for around in gap)
    order_version = (await tx.head(key)).version
    return Reordered(edge, order_version, above_id, below_id), placed.tasks


def _saved(moved: PinMoved) -> Saved:
    placed = reorder.saved_of(moved.placed)
    return msgspec.structs.replace(placed, from_id=moved.from_id, from_version=moved.from_version)
