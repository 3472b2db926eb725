"""The task after an account was deleted: it ends the user's boards, follows, likes, comments,
feeds, memberships of others' boards, and pins on them.

Each step walks through lists that become shorter by it, so a killed job continues there. A
step that runs twice changes nothing. Blocks and private lists end later (`account_erasure`): nobody
sees them.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

from datasources.clocks import now_ms
from datasources.errors import StoreCorrupt
from datasources.ids import Kind, shard_of
from datasources.mappings import (
    REVERSE,
    Edge,
    EdgeKey,
    ListKey,
    Mapping,
    PageRequest,
    lists_of_kind,
)
from datasources.protocols import ShardTx, Stores, Table, WideColumnStore
from datasources.records import Board, Comment, Pin
from feed_engine.feeds.dual import write_both
from feed_engine.feeds.follow_edges import FOLLOWS
from feed_engine.feeds.rows import (
    FOLLOWING,
    FOLLOWING_APPLIED,
    MATERIALIZED,
    POOLS,
    POOLS_APPLIED,
    SHOWN,
    Source,
    id_row,
    pool_row,
)
from feed_engine.feeds.wide import read_row, remove
from feed_engine.live.events import BoardEvent, edited, order_version
from feed_engine.outbox.change import (
    AccountDeleted,
    AccountErased,
    Advance,
    AnyTask,
    BoardDeleted,
    Change,
    PinHidden,
    Unfollowed,
)
from feed_engine.transactions import access, blocks
from feed_engine.transactions.commit import Rows, commit
from feed_engine.writes import boards, comments, members, pins
from feed_engine.writes.comment_index import Save, comments_of
from feed_engine.writes.edges import events_of
from feed_engine.writes.uploads import erase_pictures

BOARDS = 50  # boards in a transaction
EDGES = 200  # edges that are ended together
PAGE = 1000  # rows of a list that are read together
SHARED_PINS = 100  # pins in a transaction
_OWN = tuple(
    mapping
    for mapping in lists_of_kind(Kind.USER)
    if mapping in REVERSE and mapping not in blocks.LISTS
)
FORWARD = {reverse: forward for forward, reverse in REVERSE.items()}
T = TypeVar("T", AccountDeleted, AccountErased)
Step = Callable[[Stores, T, str, Save], Awaitable[None]]
"""Does a step from a place ("": from the start), and saves the places that it comes to."""


async def account_deleted(
    stores: Stores, task: AccountDeleted, cursor: bytes | None, advance: Advance
) -> None:
    """End all that is left of the account."""
    await run_steps(STEPS, stores, task, cursor, advance)


async def run_steps(
    steps: Sequence[Step[T]], stores: Stores, task: T, cursor: bytes | None, advance: Advance
) -> None:
    """Run the steps. The cursor is a step's number and the step's own place."""
    number, _, place = (cursor or b"0 ").decode().partition(" ")
    first = int(number)
    for at, step in enumerate(steps[first:], first):
        save = _saving(at, advance)
        if at > first:
            place = ""
            await save(place)
        await step(stores, task, place, save)


def _saving(step: int, advance: Advance) -> Save:
    async def save(place: str) -> None:
        await advance(f"{step} {place}".encode())

    return save


async def end_boards(stores: Stores, user_id: int, at: int) -> None:
    """Delete the user's boards, with their texts. Tasks delete the pins on them."""
    request, before = PageRequest(ListKey(Mapping.USER_HAS_BOARDS, user_id), BOARDS), list[int]()
    while True:
        [listed] = await stores.shards.mappings.pages([request])
        if not listed:
            return
        ids = sorted(row.to_id for row in listed)
        if ids == before:
            raise StoreCorrupt(f"user {user_id} has boards that are not active: {ids[:10]}")
        before = ids

        async def work(tx: ShardTx, ids: list[int] = ids) -> Change:
            rows, tasks, told = Rows(tx), list[AnyTask](), list[int]()
            for id in ids:
                found = await access.lock_any(tx, Board, id)
                if found is None:
                    raise StoreCorrupt(f"user {user_id} has board {id}, which does not exist")
                if found[0].active:
                    await boards.deactivate(tx, rows, *found, {"name": "", "description": ""})
                    tasks.append(BoardDeleted(board_id=id, at=at, strip=True))
                    told.append(id)
            return rows.change(objects=ids, tasks=tasks, events=[edited(id) for id in told])

        await commit(stores, shard_of(user_id), work)


async def _boards(stores: Stores, task: AccountDeleted, place: str, save: Save) -> None:
    await end_boards(stores, task.user_id, task.at)


async def _edges(stores: Stores, task: AccountDeleted, place: str, save: Save) -> None:
    """End the user's likes, follows and other edges with a reverse row."""
    for mapping in _OWN:
        while edges := await _page(stores, ListKey(mapping, task.user_id)):
            await _end(stores, mapping, edges)


async def _followers(stores: Stores, task: AccountDeleted, place: str, save: Save) -> None:
    """End the follows of the user and of the user's boards."""
    lists = [ListKey(Mapping.USER_FOLLOWED_BY_USERS, task.user_id)]
    async for board_id in all_of(stores, ListKey(Mapping.USER_HAS_BOARDS, task.user_id)):
        lists.append(ListKey(Mapping.BOARD_FOLLOWED_BY_USERS, board_id))
    for key in lists:
        while edges := await _page(stores, key):
            for some in by_shard(edge.reversed() for edge in edges).values():
                await _end(stores, FORWARD[key.mapping], some)


async def _comments(stores: Stores, task: AccountDeleted, place: str, save: Save) -> None:
    """Delete the user's comments."""
    async for found in comments_of(stores, task.user_id, place, save):
        for shard, some in found.items():
            ids = [comment.id for comment in some if comment.active]
            if not ids:
                continue

            async def work(tx: ShardTx, ids: list[int] = ids) -> Change:
                rows, told = Rows(tx), list[Comment]()
                for id in ids:
                    kept = await access.lock_any(tx, Comment, id)
                    if kept is not None and kept[0].active:
                        told.append(await comments.deactivate(tx, rows, *kept, {"text": ""}))
                return rows.change(objects=ids, events=[comments.deleted(it) for it in told])

            await commit(stores, shard, work)


async def _feeds(stores: Stores, task: AccountDeleted, place: str, save: Save) -> None:
    """Remove the user's feeds, pools, visits and events."""
    row = id_row(task.user_id)
    of_feeds = [(table, row) for table in (MATERIALIZED, SHOWN, FOLLOWING, FOLLOWING_APPLIED)]
    pools = [(POOLS, pool_row(task.user_id, source)) for source in Source]
    await write_both(stores.feeds, lambda store: remove_rows(store, of_feeds))
    await write_both(stores.pools, lambda store: remove_rows(store, [*pools, (POOLS_APPLIED, row)]))

    async def erase(tx: ShardTx) -> None:
        await tx.erase_visits(task.user_id)
        await tx.delete_events(task.user_id)

    await stores.shards.objects.transact(shard_of(task.user_id), erase)


async def _pictures(stores: Stores, task: AccountDeleted, place: str, save: Save) -> None:
    """Remove the pictures that the user uploaded."""
    await erase_pictures(stores, task.user_id)


async def _notifications(stores: Stores, task: AccountDeleted, place: str, save: Save) -> None:
    """Remove the user's notifications, and the notifications of the user's acts."""
    user_id = task.user_id
    await stores.shards.objects.transact(
        shard_of(user_id), lambda tx: tx.erase_notifications(user_id)
    )
    for shard in stores.shards.objects.topology().open_shards:
        if place and shard < int(place):
            continue
        await save(str(shard))
        await stores.shards.objects.transact(shard, lambda tx: tx.erase_acts(user_id))


async def _reports(stores: Stores, task: AccountDeleted, place: str, save: Save) -> None:
    """Remove the reports that the user made. They are on the shards of what is reported."""
    for shard in stores.shards.objects.topology().open_shards:
        if place and shard < int(place):
            continue
        await save(str(shard))
        while await stores.shards.objects.transact(
            shard, lambda tx: tx.erase_reports_by(task.user_id, EDGES)
        ):
            pass


async def _memberships(stores: Stores, task: AccountDeleted, place: str, save: Save) -> None:
    """End the user's memberships of others' boards, and invitations to them."""
    await members.end_of(stores, task.user_id)


async def _shared_pins(stores: Stores, task: AccountDeleted, place: str, save: Save) -> None:
    """Delete the pins that the user added to others' boards. The pins on the user's own boards are
    deleted with the boards."""
    request: PageRequest | None = PageRequest(ListKey(Mapping.USER_HAS_PINS, task.user_id), PAGE)
    while request:
        [listed] = await stores.shards.mappings.pages([request])
        found = await access.read(stores, Pin, [row.to_id for row in listed])
        owned = await access.read(stores, Board, list({pin.board_id for pin in found.values()}))
        on_boards = defaultdict[int, list[int]](list)
        for pin in found.values():
            if pin.board_id in owned and owned[pin.board_id].owner_id != task.user_id:
                on_boards[pin.board_id].append(pin.id)
        for board_id, pin_ids in on_boards.items():
            for at in range(0, len(pin_ids), SHARED_PINS):
                await _delete_pins(stores, board_id, pin_ids[at : at + SHARED_PINS])
        if not on_boards:  # otherwise a pin may have moved to another board in the meantime
            request = request.next(listed)


async def _delete_pins(stores: Stores, board_id: int, pin_ids: list[int]) -> None:
    """Delete pins with their texts and pictures, as far as they are on the board."""

    async def work(tx: ShardTx) -> Change:
        rows, tasks, told = Rows(tx), list[AnyTask](), list[BoardEvent]()
        board = await access.lock_any(tx, Board, board_id)
        if board is None:
            raise StoreCorrupt(f"board {board_id}, which has pins, does not exist")
        for pin_id in pin_ids:
            found = await access.lock_any(tx, Pin, pin_id)
            if found is None or not found[0].active or found[0].board_id != board_id:
                continue
            before = await order_version(tx, board_id)
            await pins.deactivate(tx, rows, board[0], *found, strip=True)
            told.append(await pins.removed(tx, board_id, pin_id, before))
            if not board[0].secret:
                tasks.append(PinHidden(pin_id=pin_id))
        return rows.change(objects=pin_ids, tasks=tasks, events=told)

    await commit(stores, shard_of(board_id), work)


STEPS: tuple[Step[AccountDeleted], ...] = (
    *(_boards, _edges, _followers, _comments, _feeds),
    _pictures,
    _notifications,
    _reports,
    _memberships,
    _shared_pins,
)


async def remove_rows(store: WideColumnStore, rows: Iterable[tuple[Table, bytes]]) -> None:
    """Remove all cells of some rows from one side."""
    for table, row in rows:
        await remove(store, table, row, await read_row(store, table, row))


async def all_of(stores: Stores, key: ListKey) -> AsyncIterator[int]:
    """The to ids of a list's rows, active or not."""
    after = 0
    while True:

        async def page(tx: ShardTx, after: int = after) -> list[Edge]:
            return await tx.rows_of(key, after, PAGE)

        rows = await stores.shards.objects.transact(shard_of(key.from_id), page)
        for row in rows:
            yield row.to_id
        if len(rows) < PAGE:
            return
        after = rows[-1].to_id


def by_shard(edges: Iterable[Edge]) -> dict[int, list[Edge]]:
    """The edges by the shards of their from ids."""
    found = defaultdict[int, list[Edge]](list)
    for edge in edges:
        found[shard_of(edge.from_id)].append(edge)
    return found


async def _page(stores: Stores, key: ListKey) -> list[Edge]:
    [rows] = await stores.shards.mappings.pages([PageRequest(key, EDGES)])
    return rows


async def _end(stores: Stores, mapping: Mapping, edges: list[Edge]) -> None:
    """End edges of one shard, in both directions. The forward row decides, as in all writes of
    edges: if it has ended already, its reverse row is ended again."""
    keys = [EdgeKey(mapping, edge.from_id, edge.to_id) for edge in edges]

    async def work(tx: ShardTx) -> Change:
        rows, tasks, told = Rows(tx), list[AnyTask](), []
        found = await tx.edges(keys)
        for key in keys:
            edge = found.get(key)
            if edge is None:
                raise StoreCorrupt(f"{key} has a reverse row, but does not exist")
            if edge.active:
                edge = edge._replace(version=edge.version + 1, active=False)
                await rows.put(mapping, edge)
                told += events_of(mapping, edge)
                if mapping in FOLLOWS.values():
                    tasks.append(
                        Unfollowed(
                            viewer_id=key.from_id,
                            target_id=key.to_id,
                            version=edge.version,
                            at=now_ms(),
                        )
                    )
            await rows.put(REVERSE[mapping], edge.reversed())
        return rows.change(tasks=tasks, events=told)

    await commit(stores, shard_of(edges[0].from_id), work)
