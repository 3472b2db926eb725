"""Creates, renames, reorders and deletes the sections of boards, and moves pins into them.

A section is on its board's shard. Every change of a section, and of the pins in it, locks the board
first, so the sections of a board need no other lock.
"""

from contextlib import suppress
from typing import NamedTuple

import msgspec

from datasources import records
from datasources.clocks import now_ms
from datasources.errors import BadInput, StoreCorrupt, StoreError
from datasources.ids import Kind, decoy
from datasources.mappings import Edge, EdgeKey, ListKey, Mapping
from datasources.protocols import ShardTx, Stores
from datasources.records import Pin, Section
from feed_engine.live import events
from feed_engine.live.events import BoardEvent, Event, PinEvent, edited
from feed_engine.ordering import order, placement, reorder
from feed_engine.ordering.respace import with_room
from feed_engine.ordering.spacing import SPACING, Spacing
from feed_engine.outbox.change import AnyTask, SectionDeleted
from feed_engine.transactions import access
from feed_engine.transactions.commit import (
    Mutation,
    Outcome,
    Outdated,
    Rows,
    Saved,
    mutate,
    nothing,
    row_of,
)
from feed_engine.transactions.edit import edit
from feed_engine.transactions.hold import Hold
from feed_engine.transactions.inputs import (
    MoveToSection,
    NewSection,
    ReorderSection,
    SectionName,
    Target,
)
from feed_engine.transactions.on_boards import board_id_of, lock_on_board, may_order
from feed_engine.transactions.results import (
    PinInSection,
    Reordered,
    SectionReordered,
    SectionWritten,
)
from feed_engine.writes.section_rows import IN_SECTION, check_section, leave

MOST = 500
"""Sections that a board may have."""
ON_BOARD = Mapping.BOARD_HAS_SECTIONS


async def create_section(
    stores: Stores, viewer_id: int, new: NewSection, *, key: str | None = None
) -> SectionWritten:
    """Create a section on top of the sections of a board. Raises BadInput (also if the board has
    MOST sections), NotFound, Forbidden."""
    new = new.checked()

    async def work(tx: ShardTx, _: None) -> Outcome[SectionWritten]:
        board, _raw = await access.lock_shared_board(tx, viewer_id, new.board_id)
        lists = ListKey(ON_BOARD, board.id)
        if (await tx.head(lists)).size >= MOST:
            raise BadInput(
                f"A board can't have more than {MOST} sections: delete one first.", "boardId"
            )
        top = await tx.top(lists)
        section = Section(
            created=now_ms(),
            board_id=board.id,
            name=new.name,
            flips=board.flips,
        )
        id = await tx.insert(Kind.SECTION, records.encode(section))
        section = msgspec.structs.replace(section, id=id)
        sequence = order.top(section.created, top.sequence if top else None)
        rows, edge = Rows(tx), Edge(board.id, id, sequence, 1, era=await tx.era(lists))
        await rows.put(ON_BOARD, edge)
        saved = Saved(id=id, row=row_of(edge), era=edge.era)
        following = rows.change(events=[edited(board.id)])
        return Outcome(SectionWritten(section, edge), saved, following)

    async def again(saved: Saved) -> SectionWritten:
        return SectionWritten(await access.recall(stores, Section, saved.id), saved.edge())

    shard = access.home(stores, Kind.BOARD, new.board_id)
    mutation = Mutation("createSection", shard, viewer_id, key, new)
    return await mutate(stores, mutation, nothing, work, again)


async def rename_section(
    stores: Stores, viewer_id: int, section_id: int, name: str, *, key: str | None = None
) -> Section:
    """Give a section of a board another name. Raises BadInput, NotFound, Forbidden."""
    new = SectionName(section_id=section_id, name=name).checked()

    async def prepare() -> int:
        return await board_id_of(stores, Section, section_id)

    async def work(tx: ShardTx, board_id: int) -> Outcome[Section]:
        board, section, raw = await lock_on_board(
            *(tx, Section, viewer_id, board_id, section_id), may_order
        )
        changed = new.name != section.name
        changes = {"name": new.name, "flips": board.flips} if changed else {}
        after = await edit(tx, section, raw, changes)
        told = [edited(board_id)] if changed else []
        following = Rows(tx).change(objects=[section_id], events=told)
        return Outcome(after, Saved(id=section_id), following, durable=changed)

    async def again(saved: Saved) -> Section:
        return await access.recall(stores, Section, saved.id)

    shard = access.home(stores, Kind.SECTION, section_id)
    mutation = Mutation("renameSection", shard, viewer_id, key, new)
    return await mutate(stores, mutation, prepare, work, again)


async def delete_section(
    stores: Stores, viewer_id: int, section_id: int, *, key: str | None = None
) -> Section:
    """Delete a section of a board. Its pins stay on the board, in no section. Returns
    the inactive section. Raises NotFound, Forbidden."""

    async def prepare() -> int:
        return await board_id_of(stores, Section, section_id)

    async def work(tx: ShardTx, board_id: int) -> Outcome[Section]:
        _, section, raw = await lock_on_board(
            *(tx, Section, viewer_id, board_id, section_id), may_order
        )
        rows = Rows(tx)
        after = await deactivate(tx, rows, section, raw)
        tasks: list[AnyTask] = []
        if (await tx.head(ListKey(IN_SECTION, section_id))).size:
            tasks.append(SectionDeleted(section_id=section_id))
        following = rows.change(objects=[section_id], tasks=tasks, events=[edited(board_id)])
        return Outcome(after, Saved(id=section_id), following)

    async def again(saved: Saved) -> Section:
        return await access.recall(stores, Section, saved.id)

    shard, given = access.home(stores, Kind.SECTION, section_id), Target(id=section_id)
    mutation = Mutation("deleteSection", shard, viewer_id, key, given, takes_back=True)
    return await mutate(stores, mutation, prepare, work, again)


async def deactivate(
    tx: ShardTx, rows: Rows, section: Section, raw: bytes, *, strip: bool = False
) -> Section:
    """Deactivate a locked section and its row; with `strip`, also remove its name. The board is
    locked. Returns the inactive section."""
    after = await edit(tx, section, raw, {"active": False, **({"name": ""} if strip else {})})
    await tx.head(ListKey(ON_BOARD, section.board_id))
    row = await tx.edge(EdgeKey(ON_BOARD, section.board_id, section.id))
    if row is None:
        raise StoreCorrupt(f"section {section.id} is not on its board {section.board_id}")
    await rows.put(ON_BOARD, row._replace(version=row.version + 1, active=False))
    return after


async def reorder_section(
    stores: Stores,
    viewer_id: int,
    section_id: int,
    before_section_id: int | None = None,
    after_section_id: int | None = None,
    *,
    key: str | None = None,
    spacing: Spacing = SPACING,
) -> SectionReordered:
    """Put a section directly below `before_section_id` or, if that is None, directly above
    `after_section_id`, as `reorder_pin` does with pins. Raises BadInput, Crossed, NotFound,
    Forbidden."""
    given = ReorderSection(
        section_id=section_id,
        before_section_id=before_section_id,
        after_section_id=after_section_id,
    )
    if before_section_id is None and after_section_id is None:
        raise BadInput(
            "Give beforeSectionId, afterSectionId or both: the section's new neighbors",
            "beforeSectionId",
        )
    placement.check_distinct(ON_BOARD, section_id, before_section_id, after_section_id)

    async def prepare() -> int:
        return await board_id_of(stores, Section, section_id)

    async def work(tx: ShardTx, board_id: int) -> Outcome[SectionReordered]:
        _, section, _raw = await lock_on_board(
            *(tx, Section, viewer_id, board_id, section_id), may_order
        )
        put = await reorder.put_at(
            *(tx, ListKey(ON_BOARD, board_id), section_id, before_section_id, after_section_id),
            now=now_ms(),
            spacing=spacing,
        )
        return Outcome(
            SectionReordered(section, put.result),
            reorder.saved_of(put.result),
            put.change([edited(board_id)] if put.moved else []),
            durable=put.moved,
        )

    async def again(saved: Saved) -> SectionReordered:
        section = await access.recall(stores, Section, section_id)
        return SectionReordered(section, reorder.reordered(saved))

    shard = access.home(stores, Kind.SECTION, section_id)
    mutation = Mutation("reorderSection", shard, viewer_id, key, given)
    return await with_room(stores, lambda: mutate(stores, mutation, prepare, work, again), spacing)


class _Found(NamedTuple):
    """The board and the section of a pin, before it is locked."""

    board_id: int
    section_id: int | None


async def move_pin_to_section(
    stores: Stores,
    viewer_id: int,
    pin_id: int,
    section_id: int | None,
    before_pin_id: int | None = None,
    after_pin_id: int | None = None,
    *,
    key: str | None = None,
    spacing: Spacing = SPACING,
) -> PinInSection:
    """Move a pin into a section of its board: on top, or where `reorder_pin` would put it among the
    section's pins. A pin that is already in the section is reordered; without anchors it stays at
    its place. With `section_id` None, the pin leaves its section. Its place on the board stays.

    Raises BadInput (a section that is not on the pin's board, wrong anchors), Conflict (anchors
    that are in the opposite order now), NotFound, Forbidden.
    """
    given = MoveToSection(
        pin_id=pin_id,
        section_id=section_id,
        before_pin_id=before_pin_id,
        after_pin_id=after_pin_id,
    )
    if section_id is None and (before_pin_id is not None or after_pin_id is not None):
        raise BadInput(
            "A pin without a section has no place among a section's pins: give sectionId, or "
            "neither beforePinId nor afterPinId",
            "sectionId",
        )
    placement.check_distinct(IN_SECTION, pin_id, before_pin_id, after_pin_id)
    shard = access.home(stores, Kind.PIN, pin_id)
    if section_id is not None:
        access.home(stores, Kind.SECTION, section_id)
    hold = Hold(stores, shard)

    async def check(tx: ShardTx, pin: Pin, target_id: int) -> None:
        board, _, _ = await lock_on_board(tx, Pin, viewer_id, pin.board_id, pin_id, may_order)
        await check_section(tx, target_id, board)

    async def prepare() -> _Found:
        await hold.give_up()  # the hold of an earlier attempt
        pin = (await access.read(stores, Pin, [pin_id])).get(pin_id)
        if pin is None:
            return _Found(decoy(pin_id, Kind.BOARD), None)
        source_id, target_id = pin.section_id, section_id
        if source_id is not None and target_id is not None and source_id != target_id:
            # Nobody holds sections among which they can't move the pin.
            await stores.shards.objects.transact(shard, lambda tx: check(tx, pin, target_id))
            await hold.take([ListKey(IN_SECTION, id) for id in (source_id, target_id)])
        return _Found(pin.board_id, source_id)

    async def work(tx: ShardTx, found: _Found) -> Outcome[PinInSection]:
        board, pin, raw = await lock_on_board(
            *(tx, Pin, viewer_id, found.board_id, pin_id), may_order
        )
        if pin.section_id != found.section_id:
            raise Outdated
        if hold.taken and not await hold.release(tx):
            raise Outdated  # the transaction took so long that a job released the hold
        now = now_ms()
        if section_id is not None:
            await check_section(tx, section_id, board)
        if section_id == pin.section_id:
            return await _within(tx, given, pin, now, spacing)
        rows, placed, tasks = Rows(tx), None, list[AnyTask]()
        await leave(tx, rows, pin)
        if section_id is not None:
            placed, tasks = await _place(tx, rows, given, section_id, now, spacing)
        after = await edit(tx, pin, raw, {"section_id": section_id, "flips": board.flips})
        result = PinInSection(after, pin.section_id, placed)
        following = rows.change(objects=[pin_id], tasks=tasks, events=_edited(after))
        return Outcome(result, _saved(result), following)

    async def again(saved: Saved) -> PinInSection:
        await hold.give_up()
        pin = await access.recall(stores, Pin, pin_id)
        placed = reorder.reordered(saved) if saved.row else None
        return PinInSection(pin, saved.from_id or None, placed)

    mutation = Mutation("movePinToSection", shard, viewer_id, key, given)
    try:
        return await with_room(
            stores, lambda: mutate(stores, mutation, prepare, work, again), spacing
        )
    except BaseException:
        with suppress(StoreError):  # otherwise a job gives it up
            await hold.give_up()
        raise


async def _within(
    tx: ShardTx, given: MoveToSection, pin: Pin, now: int, spacing: Spacing
) -> Outcome[PinInSection]:
    """The result for a pin that is already in that section, or in none."""
    before, after = given.before_pin_id, given.after_pin_id
    if pin.section_id is None:
        result = PinInSection(pin, None, None)
        return Outcome(result, _saved(result), Rows(tx).change(), durable=False)
    key = ListKey(IN_SECTION, pin.section_id)
    await tx.head(key)
    if before is None and after is None:
        put = await reorder.stayed(tx, key, await placement.row_in(tx, key, pin.id, "pinId"))
    else:
        put = await reorder.put_at(tx, key, pin.id, before, after, now=now, spacing=spacing)
    result = PinInSection(pin, pin.section_id, put.result)
    following = put.change(_edited(pin)[:1] if put.moved else [])
    return Outcome(result, _saved(result), following, durable=put.moved)


async def _place(
    tx: ShardTx,
    rows: Rows,
    given: MoveToSection,
    section_id: int,
    now: int,
    spacing: Spacing,
) -> tuple[Reordered, list[AnyTask]]:
    """Add the pin's row to the section."""
    key = ListKey(IN_SECTION, section_id)
    named = await placement.anchors(tx, key, given.before_pin_id, given.after_pin_id)
    named.check_order()
    gap = await placement.gap_at(tx, key, named)
    old = await tx.edge(EdgeKey(*key, given.pin_id))  # the row of an earlier stay
    old = old or Edge(section_id, given.pin_id, 0, 0, active=False)
    placed = await placement.place(tx, key, old, gap, now, spacing)
    edge = old._replace(
        sequence=placed.sequence, version=old.version + 1, active=True, era=await tx.era(key)
    )
    await rows.put(IN_SECTION, edge)
    above_id, below_id = (around and around.to_id for around in gap)
    version = (await tx.head(key)).version
    return Reordered(edge, version, above_id, below_id), placed.tasks


def _edited(pin: Pin) -> list[Event]:
    """The events of a pin that came to another section, or to another place in its section."""
    return [
        BoardEvent(
            board_id=pin.board_id,
            change=events.BoardChange.EDITED,
            pin_id=pin.id,
            section_id=pin.section_id or 0,
        ),
        PinEvent(pin_id=pin.id, change=events.PinChange.EDITED),
    ]


def _saved(moved: PinInSection) -> Saved:
    placed = Saved() if moved.placed is None else reorder.saved_of(moved.placed)
    return msgspec.structs.replace(placed, from_id=moved.from_id or 0)
