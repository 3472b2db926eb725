"""Creates, repins, changes and deletes pins.

A pin is on its board's shard, so one transaction covers the pin and its place. Every change of a
pin locks its board first.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import msgspec
from msgspec import UNSET

from datasources import records
from datasources.clocks import now_ms
from datasources.errors import StoreCorrupt
from datasources.ids import Kind
from datasources.mappings import Edge, EdgeKey, ListKey, Mapping
from datasources.protocols import ShardTx, Stores
from datasources.records import Board, Pin
from feed_engine.feeds.affinity import SAVE
from feed_engine.live import events
from feed_engine.live.events import BoardEvent, PinEvent, order_version
from feed_engine.ordering import order
from feed_engine.outbox.change import AnyTask, PinHidden, PinLiked, PinSaved, TextChanged
from feed_engine.transactions import access
from feed_engine.transactions.commit import Mutation, Outcome, Rows, Saved, mutate, row_of
from feed_engine.transactions.edit import edit
from feed_engine.transactions.inputs import NewPin, PinChange, Repin, Target
from feed_engine.transactions.on_boards import board_id_of, lock_on_board, may_delete, may_edit
from feed_engine.transactions.results import PinWritten
from feed_engine.writes.affinities import learn
from feed_engine.writes.pin_rows import is_public, published, put_owned, put_public
from feed_engine.writes.section_rows import IN_SECTION, check_section, enter, leave


async def create_pin(
    stores: Stores, viewer_id: int, new: NewPin, *, key: str | None = None, at: int | None = None
) -> PinWritten:
    """Create a pin on top of a board that the viewer owns or collaborates on, and on top of one of
    the board's sections if `new` names one. `at` is epoch ms; the default is now. Raises BadInput
    (also for a section that is not on the board), NotFound, Forbidden."""
    new = new.checked()
    pin = Pin(
        created=at if at is not None else now_ms(),
        board_id=new.board_id,
        owner_id=viewer_id,
        title=new.title,
        description=new.description,
        link=new.link,
        image=new.image,
        interest_ids=new.interest_ids,
        section_id=new.section_id or None,
    )

    async def prepare() -> None:
        await access.check_interests(stores, new.interest_ids)

    async def work(tx: ShardTx, _: None) -> Outcome[PinWritten]:
        return await _save(Rows(tx), tx, viewer_id, pin, [])

    shard = access.home(stores, Kind.BOARD, new.board_id)
    _check_kind(stores, pin.section_id)
    mutation = Mutation("createPin", shard, viewer_id, key, new)
    return await mutate(stores, mutation, prepare, work, _written(stores, pin.section_id))


async def repin(
    stores: Stores,
    viewer_id: int,
    pin_id: int,
    board_id: int,
    section_id: int | None = None,
    *,
    key: str | None = None,
    at: int | None = None,
) -> PinWritten:
    """Copy a pin that the viewer sees to a board that the viewer owns or collaborates on, as
    `create_pin` puts a new pin; that pin is the copy's source. Raises BadInput, NotFound,
    Forbidden."""
    created = at if at is not None else now_ms()

    async def prepare() -> tuple[Pin, list[AnyTask]]:
        source, board = await access.find_pin(stores, viewer_id, pin_id)
        tasks: list[AnyTask] = []
        if not board.secret:
            tasks.append(PinLiked(viewer_id=viewer_id, pin_id=pin_id, at=created))
        return source, tasks

    async def work(tx: ShardTx, found: tuple[Pin, list[AnyTask]]) -> Outcome[PinWritten]:
        source, tasks = found
        pin = Pin(
            created=created,
            board_id=board_id,
            owner_id=viewer_id,
            title=source.title,
            description=source.description,
            link=source.link,
            image=source.image,
            source_id=source.id,
            root_id=source.root_of_repins,
            interest_ids=source.interest_ids,
            section_id=section_id,
        )
        rows = Rows(tx)
        await learn(tx, rows, viewer_id, source, SAVE, created)
        outcome = await _save(
            rows, tx, viewer_id, pin, tasks, of_other=source.owner_id != viewer_id
        )
        return replace(outcome, toward=source.owner_id)

    shard = access.home(stores, Kind.BOARD, board_id)
    _check_kind(stores, section_id)
    given = Repin(pin_id=pin_id, board_id=board_id, section_id=section_id or UNSET)
    mutation = Mutation("repin", shard, viewer_id, key, given)
    return await mutate(stores, mutation, prepare, work, _written(stores, section_id))


async def update_pin(
    stores: Stores, viewer_id: int, pin_id: int, wanted: PinChange, *, key: str | None = None
) -> Pin:
    """Change a pin that the viewer added, as a member of its board. Raises BadInput, NotFound,
    Forbidden."""
    fields = wanted.fields()

    async def prepare() -> int:
        await access.check_interests(stores, fields.get("interest_ids", ()))
        return await board_id_of(stores, Pin, pin_id)

    async def work(tx: ShardTx, board_id: int) -> Outcome[Pin]:
        board, pin, raw = await lock_on_board(tx, Pin, viewer_id, board_id, pin_id, may_edit)
        changes = {name: it for name, it in fields.items() if it != getattr(pin, name)}
        rows, tasks = Rows(tx), list[AnyTask]()
        whole = {**changes, "flips": board.flips} if changes else {}
        before = await order_version(tx, board.id)
        after = await edit(tx, pin, raw, whole)
        if set(after.interest_ids) != set(pin.interest_ids):
            # The same place under a higher version, which the rows of interests need.
            placed = await _replace_row(tx, rows, pin, active=True)
            left = [id for id in pin.interest_ids if id not in after.interest_ids]
            await put_public(rows, after, board, placed, left=left)
            if is_public(after, board):  # to reach the pools of its new interests' followers
                tasks.append(published(after, at=now_ms()))
        told: list[events.Event] = []
        if changes:
            version = await order_version(tx, board.id)
            told = [
                BoardEvent(
                    board_id=board.id,
                    change=events.BoardChange.EDITED,
                    pin_id=pin_id,
                    before=before if version > before else 0,
                    version=version if version > before else 0,
                    section_id=pin.section_id or 0,
                ),
                PinEvent(pin_id=pin_id, change=events.PinChange.EDITED),
            ]
        if not tasks and is_public(after, board) and changes.keys() & {"title", "description"}:
            tasks.append(TextChanged(object_ids=(pin_id,)))
        following = rows.change(objects=[pin_id], tasks=tasks, events=told)
        return Outcome(after, Saved(id=pin_id), following, durable=bool(changes))

    async def again(saved: Saved) -> Pin:
        return await access.recall(stores, Pin, saved.id)

    shard, given = access.home(stores, Kind.PIN, pin_id), Target(id=pin_id, change=wanted)
    mutation = Mutation("updatePin", shard, viewer_id, key, given)
    return await mutate(stores, mutation, prepare, work, again)


async def delete_pin(stores: Stores, viewer_id: int, pin_id: int, *, key: str | None = None) -> Pin:
    """Delete a pin that the viewer added, or that is on a board of the viewer. Returns the inactive
    pin. Raises NotFound, Forbidden."""

    async def prepare() -> int:
        return await board_id_of(stores, Pin, pin_id)

    async def work(tx: ShardTx, board_id: int) -> Outcome[Pin]:
        board, pin, raw = await lock_on_board(tx, Pin, viewer_id, board_id, pin_id, may_delete)
        rows, before = Rows(tx), await order_version(tx, board.id)
        after = await deactivate(tx, rows, board, pin, raw)
        tasks: list[AnyTask] = [] if board.secret else [PinHidden(pin_id=pin_id)]
        told: list[events.Event] = [
            await removed(tx, board.id, pin_id, before),
            PinEvent(pin_id=pin_id, change=events.PinChange.EDITED),
        ]
        following = rows.change(objects=[pin_id], tasks=tasks, events=told)
        return Outcome(after, Saved(id=pin_id), following)

    async def again(saved: Saved) -> Pin:
        return await access.recall(stores, Pin, saved.id)

    shard, given = access.home(stores, Kind.PIN, pin_id), Target(id=pin_id)
    mutation = Mutation("deletePin", shard, viewer_id, key, given, takes_back=True)
    return await mutate(stores, mutation, prepare, work, again)


_BARE = {"title": "", "description": "", "link": None, "image": None}


async def deactivate(
    tx: ShardTx, rows: Rows, board: Board, pin: Pin, raw: bytes, *, strip: bool = False
) -> Pin:
    """Deactivate the pin and all its rows; with `strip`, also remove its texts and its picture. The
    board is locked. Returns the inactive pin."""
    changes = {"active": False, "section_id": None, **(_BARE if strip else {})}
    after = await edit(tx, pin, raw, changes)
    await leave(tx, rows, pin)
    placed = await _replace_row(tx, rows, pin, active=False)
    await put_owned(rows, after, board, placed)
    await put_public(rows, after, board, placed)
    return after


async def removed(tx: ShardTx, board_id: int, pin_id: int, before: int) -> BoardEvent:
    """The event of a pin that left its board, whose order version was `before`."""
    return BoardEvent(
        board_id=board_id,
        change=events.BoardChange.REMOVED,
        pin_id=pin_id,
        before=before,
        version=await order_version(tx, board_id),
    )


async def _save(
    rows: Rows,
    tx: ShardTx,
    viewer_id: int,
    pin: Pin,
    tasks: list[AnyTask],
    *,
    of_other: bool = False,
) -> Outcome[PinWritten]:
    """Store a new pin on top of its board, and on top of its section. `of_other`: it was saved from
    another user's pin."""
    board, _ = await access.lock_shared_board(tx, viewer_id, pin.board_id)
    if pin.section_id is not None:
        await check_section(tx, pin.section_id, board)
    key = ListKey(Mapping.BOARD_HAS_PINS, board.id)
    before = (await tx.head(key)).version
    top = await tx.top(key)
    pin = msgspec.structs.replace(pin, flips=board.flips)
    pin = msgspec.structs.replace(pin, id=await tx.insert(Kind.PIN, records.encode(pin)))
    sequence = order.top(pin.created, top.sequence if top else None)
    placed = Edge(board.id, pin.id, sequence, 1, era=await tx.era(key))
    await rows.put(Mapping.BOARD_HAS_PINS, placed)
    in_section = None
    if pin.section_id is not None:
        in_section = await enter(tx, rows, pin.section_id, pin)
    await put_owned(rows, pin, board, placed)
    if is_public(pin, board):
        await put_public(rows, pin, board, placed)
        tasks = [published(pin), *tasks, *([PinSaved(pin_id=pin.id)] if of_other else [])]
    saved = Saved(id=pin.id, row=row_of(placed), era=placed.era)
    told = BoardEvent(
        board_id=board.id,
        change=events.BoardChange.SAVED,
        pin_id=pin.id,
        before=before,
        version=await order_version(tx, board.id),
        section_id=pin.section_id or 0,
    )
    written = PinWritten(pin, placed, in_section)
    return Outcome(written, saved, rows.change(tasks=tasks, events=[told]))


def _check_kind(stores: Stores, section_id: int | None) -> None:
    """Raises NotFound for an id that can't be a section's."""
    if section_id is not None:
        access.home(stores, Kind.SECTION, section_id)


async def _replace_row(tx: ShardTx, rows: Rows, pin: Pin, *, active: bool) -> Edge:
    """Write the pin's row on its board with the next version, at the same place."""
    await tx.head(ListKey(Mapping.BOARD_HAS_PINS, pin.board_id))
    row = await tx.edge(EdgeKey(Mapping.BOARD_HAS_PINS, pin.board_id, pin.id))
    if row is None:
        raise StoreCorrupt(f"pin {pin.id} is not on its board {pin.board_id}")
    placed = row._replace(version=row.version + 1, active=active)
    await rows.put(Mapping.BOARD_HAS_PINS, placed)
    return placed


def _written(stores: Stores, section_id: int | None) -> Callable[[Saved], Awaitable[PinWritten]]:
    """Repeats the answer of a pin that was saved into this section. Its row there is the row of
    now: the pin may have left the section since."""

    async def again(saved: Saved) -> PinWritten:
        pin, in_section = await access.recall(stores, Pin, saved.id), None
        if section_id is not None and pin.section_id == section_id:
            there = EdgeKey(IN_SECTION, section_id, pin.id)
            in_section = (await stores.shards.mappings.edges([there])).get(there)
        return PinWritten(pin, saved.edge(), in_section)

    return again
