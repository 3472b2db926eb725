"""The task long after an account was deleted: it removes all that is left from the stores, and
frees the user's keys: names, e-mail addresses and subjects.

The user's id stays: an inactive user without a name, and the block that refuses the user's tokens.
Repins of the user's pins by others keep the number of their source.

Pins that the user added to others' boards are removed, with all rows that these boards and their
sections have of them, and pins that others added to the user's.
Objects and rows are removed one part at a time, each together with all that refers to it, and the
row through which it is found goes last. So a killed job finds the rest again.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Container, Iterable, Sequence
from functools import partial
from itertools import groupby

from datasources import records
from datasources.ids import MAX_LOCAL, Kind, compose, kind_of, shard_of
from datasources.mappings import (
    REVERSE,
    SEQUENCE_STEP,
    Edge,
    EdgeKey,
    ListKey,
    Mapping,
    lists_of_kind,
)
from datasources.protocols import ShardTx, Stores, Table, WideColumnStore
from datasources.records import Board, Comment, Pin, User
from feed_engine.feeds.dual import write_both
from feed_engine.feeds.rows import (
    FOLLOWING_APPLIED,
    POOLS,
    POOLS_APPLIED,
    POPULARITY,
    id_row,
    interest_row,
    popular_row,
)
from feed_engine.feeds.smart import pools
from feed_engine.feeds.wide import read_row, remove
from feed_engine.outbox.change import AccountDeleted, AccountErased, Advance, Change, change
from feed_engine.transactions import access, blocks
from feed_engine.transactions.commit import commit
from feed_engine.transactions.edit import edit
from feed_engine.transactions.key_kinds import KINDS
from feed_engine.writes.account_tasks import (
    FORWARD,
    Step,
    account_deleted,
    all_of,
    by_shard,
    remove_rows,
    run_steps,
)
from feed_engine.writes.comment_index import Save, by_author, comments_of

ROWS = 200  # rows that are removed together
PAGE = 500  # rows that are looked at together
_MIRRORS = {**REVERSE, **FORWARD}
_TO_USERS = (Mapping.USER_SEES_LESS, Mapping.USER_SEES_MORE, Mapping.USER_HAS_AFFINITIES)
_ONE_WAY = {
    Mapping.USER_MUTES_USERS: (Kind.USER,),
    **dict.fromkeys(_TO_USERS, (Kind.USER, Kind.BOARD)),
    Mapping.USER_HIDES_PINS: (Kind.PIN,),
    Mapping.INTEREST_HAS_PINS: (Kind.PIN,),
}
"""Lists whose rows have no reverse rows, and the kinds of the user's objects that they may have."""
_CONTENTS = (Mapping.PIN_HAS_COMMENTS, Mapping.BOARD_HAS_SECTIONS)
"""Lists of objects that are removed with the object that has the list."""
_FOLLOWED_BY = Mapping.USER_FOLLOWED_BY_USERS, Mapping.BOARD_FOLLOWED_BY_USERS
_PIN_LISTS = Mapping.USER_HAS_PUBLIC_PINS, Mapping.USER_HAS_PINS
_BOARD_LISTS = Mapping.USER_HAS_PUBLIC_BOARDS, Mapping.USER_HAS_BOARDS


async def account_erased(
    stores: Stores, task: AccountErased, cursor: bytes | None, advance: Advance
) -> None:
    """Remove all that is left of the account."""
    await run_steps(STEPS, stores, task, cursor, advance)


async def _ended(stores: Stores, task: AccountErased, place: str, save: Save) -> None:
    """End the edges and comments of writes that were on their way when the account was
    deleted."""

    async def advance(cursor: bytes) -> None:
        await save(cursor.decode())

    again = AccountDeleted(user_id=task.user_id, at=task.at)
    await account_deleted(stores, again, place.encode() or None, advance)


async def _lists_of_others(stores: Stores, task: AccountErased, place: str, save: Save) -> None:
    """Remove the rows that other users and interests have of the user and the user's objects. Only
    their own lists have them, so all shards are searched."""
    user_id, own = task.user_id, {task.user_id, *await _pins_of(stores, task.user_id)}
    own |= {id async for id in all_of(stores, ListKey(Mapping.USER_HAS_BOARDS, user_id))}
    for searched in stores.shards.objects.topology().open_shards:
        if place and searched < int(place):
            continue
        await save(str(searched))
        for mapping, kinds in _ONE_WAY.items():
            for kind in kinds:
                if kind is Kind.USER:
                    targets = range(user_id, user_id + 1)
                    await _remove_into(stores, mapping, searched, targets, own)
                    continue
                for shard in sorted({shard_of(id) for id in own if kind_of(id) is kind}):
                    targets = range(compose(shard, kind, 1), compose(shard, kind, MAX_LOCAL) + 1)
                    await _remove_into(stores, mapping, searched, targets, own)


async def _remove_into(
    stores: Stores, mapping: Mapping, shard: int, targets: range, own: set[int]
) -> None:
    async for rows in _rows_into(stores, mapping, shard, targets, own):
        await _remove(stores, mapping, rows)


async def _rows_into(
    stores: Stores, mapping: Mapping, shard: int, targets: range, own: Container[int]
) -> AsyncIterator[list[Edge]]:
    """The rows of a shard whose to ids are in a range and among the user's, in pages."""
    after: EdgeKey | None = None
    while rows := await stores.shards.mappings.rows_into(mapping, shard, targets, after, PAGE):
        yield [row for row in rows if row.to_id in own]
        after = EdgeKey(mapping, rows[-1].from_id, rows[-1].to_id)


async def _comments(stores: Stores, task: AccountErased, place: str, save: Save) -> None:
    """Remove the user's comments under all pins."""
    async for found in comments_of(stores, task.user_id, place, save):
        for shard, some in found.items():
            keys = [EdgeKey(Mapping.PIN_HAS_COMMENTS, it.pin_id, it.id) for it in some]
            await _erase_listed(stores, shard, keys)


async def _erase_listed(stores: Stores, shard: int, keys: Sequence[EdgeKey]) -> None:
    """Remove objects of one shard with their own lists, and their rows in the lists of the objects
    they are on."""
    ids = [key.to_id for key in keys]
    for id in ids:
        for mapping in lists_of_kind(kind_of(id)):
            await _clear(stores, ListKey(mapping, id))

    async def work(tx: ShardTx) -> Change:
        await tx.erase_edges(keys)
        await tx.erase(ids)
        await tx.erase_reports_of(ids)
        await tx.erase_lists(ids)
        return change(objects=ids, lists=[ListKey(key.mapping, key.from_id) for key in keys])

    await commit(stores, shard, work)


async def _pools(stores: Stores, task: AccountErased, place: str, save: Save) -> None:
    """Remove the user's pins from the pools of their interests."""
    interests = set[int]()
    async for pin in _stored_pins(stores, task.user_id):
        interests.update(pin.interest_ids)
    for id in sorted(interests):
        await write_both(stores.pools, partial(_remove_dead, stores, interest_row(id)))


async def _remove_dead(stores: Stores, row: bytes, store: WideColumnStore) -> None:
    await pools.remove_dead(stores, store, row)


async def _places(stores: Stores, task: AccountErased, place: str, save: Save) -> None:
    """Remove the rows that others' boards and their sections have of the user's pins, also of pins
    that came to another board or section. A pin stays on boards of one owner, so they are on the
    pin's shard."""
    on_others = defaultdict[int, set[int]](set)
    boards = {id async for id in all_of(stores, ListKey(Mapping.USER_HAS_BOARDS, task.user_id))}
    async for pin in _stored_pins(stores, task.user_id):
        if pin.board_id not in boards:
            on_others[shard_of(pin.id)].add(pin.id)
    for shard, own in sorted(on_others.items()):
        targets = range(min(own), max(own) + 1)
        await _remove_into(stores, Mapping.SECTION_HAS_PINS, shard, targets, own)
        async for rows in _rows_into(stores, Mapping.BOARD_HAS_PINS, shard, targets, own):
            for board_id, some in groupby(rows, lambda row: row.from_id):
                await _remove_from_board(stores, board_id, [row.to_id for row in some])


async def _remove_from_board(stores: Stores, board_id: int, pin_ids: Sequence[int]) -> None:
    """Remove the rows that a board has of deleted pins. None of them is its cover any more."""
    key = ListKey(Mapping.BOARD_HAS_PINS, board_id)

    async def work(tx: ShardTx) -> Change:
        found = await access.lock_any(tx, Board, board_id)
        if found is not None and found[0].cover_pin_id in pin_ids:
            await edit(tx, *found, {"cover_pin_id": None})
        await tx.erase_edges([EdgeKey(*key, pin_id) for pin_id in pin_ids])
        return change(objects=[board_id], lists=[key])

    await commit(stores, shard_of(board_id), work)


async def _pins(stores: Stores, task: AccountErased, place: str, save: Save) -> None:
    """Remove the user's pins, and the pins on the user's boards, with their likes, and with the
    comments under them."""
    for pin_id in await _pins_of(stores, task.user_id):
        pins = await _stored(stores, pin_id)
        await write_both(stores.pools, partial(_unpopular, pin_id))
        for pin in pins:
            if pin.owner_id != task.user_id:  # a collaborator added it
                for mapping in _PIN_LISTS:
                    await _remove(stores, mapping, [Edge(pin.owner_id, pin_id, 0, 0)])
        lists = [EdgeKey(Mapping.BOARD_HAS_PINS, pin.board_id, pin.id) for pin in pins]
        await _erase(stores, task.user_id, pin_id, _PIN_LISTS, lists)


async def _pins_of(stores: Stores, user_id: int) -> list[int]:
    """The pins that the user added, and the pins on the user's boards, deleted or not."""
    found = {id: None async for id in all_of(stores, ListKey(Mapping.USER_HAS_PINS, user_id))}
    async for board_id in all_of(stores, ListKey(Mapping.USER_HAS_BOARDS, user_id)):
        async for id in all_of(stores, ListKey(Mapping.BOARD_HAS_PINS, board_id)):
            found[id] = None
    return list(found)


async def _stored_pins(stores: Stores, user_id: int) -> AsyncIterator[Pin]:
    """The pins of `_pins_of` that exist."""
    pin_ids = await _pins_of(stores, user_id)
    for at in range(0, len(pin_ids), PAGE):
        found = await stores.shards.objects.get(pin_ids[at : at + PAGE])
        for pin in records.decode_each(Kind.PIN, found).values():
            if isinstance(pin, Pin):
                yield pin


async def _stored(stores: Stores, pin_id: int) -> list[Pin]:
    """The pin, deleted or not, if it exists."""

    async def work(tx: ShardTx) -> list[Pin]:
        found = await access.lock_any(tx, Pin, pin_id)
        return [found[0]] if found else []

    return await stores.shards.objects.transact(shard_of(pin_id), work)


async def _unpopular(pin_id: int, store: WideColumnStore) -> None:
    """Remove the pin from the popular pool of one side, and its notes."""
    row = id_row(pin_id)
    for note in await read_row(store, POPULARITY, row):
        await store.delete(POOLS, {popular_row(pin_id): [note.value]}, note.stamp)
    await remove_rows(store, [(POPULARITY, row)])


async def _boards(stores: Stores, task: AccountErased, place: str, save: Save) -> None:
    """Remove the user's boards, with the follows of them."""
    async for board_id in all_of(stores, ListKey(Mapping.USER_HAS_BOARDS, task.user_id)):
        await _erase(stores, task.user_id, board_id, _BOARD_LISTS, [])


async def _erase(
    stores: Stores,
    user_id: int,
    id: int,
    listed_in: Iterable[Mapping],
    further: Sequence[EdgeKey],
) -> None:
    """Remove an object of the user, with its lists, and then its rows in the user's lists."""
    for mapping in lists_of_kind(kind_of(id)):
        key = ListKey(mapping, id)
        if mapping in _CONTENTS:
            while ids := [it async for it in all_of(stores, key)]:
                await _unlist_of_authors(stores, ids)
                await _erase_listed(stores, shard_of(id), [EdgeKey(*key, it) for it in ids])
        await _clear(stores, key)
    rows = [*further, *(EdgeKey(mapping, user_id, id) for mapping in listed_in)]
    # A pin on another user's board may be on another shard than the user's lists, which end later.
    rows = [key for key in rows if shard_of(key.from_id) == shard_of(id)]

    async def work(tx: ShardTx) -> Change:
        await tx.erase_edges(rows)
        await tx.erase([id])
        await tx.erase_reports_of([id])
        await tx.erase_lists([id])
        return change(objects=[id], lists=[ListKey(key.mapping, key.from_id) for key in rows])

    await commit(stores, shard_of(id), work)


async def _unlist_of_authors(stores: Stores, ids: Sequence[int]) -> None:
    """Remove the rows of comments in their authors' lists. Afterwards, a comment is still found
    under its pin."""
    comment_ids = [id for id in ids if kind_of(id) is Kind.COMMENT]
    stored = await stores.shards.objects.get(comment_ids) if comment_ids else {}
    edges = [
        by_author(comment, Edge(comment.pin_id, id, 0, 0))
        for id, comment in records.decode_each(Kind.COMMENT, stored).items()
        if isinstance(comment, Comment)
    ]
    for some in by_shard(edges).values():
        await _remove(stores, Mapping.USER_WROTE_COMMENTS, some)


async def _user(stores: Stores, task: AccountErased, place: str, save: Save) -> None:
    """Remove the user's own lists, free the user's keys, and leave the id."""
    user_id = task.user_id
    user = await access.recall(stores, User, user_id)
    if not user.username:
        return  # it was done before
    for mapping in lists_of_kind(Kind.USER):
        await _clear(stores, ListKey(mapping, user_id))
    for kind in KINDS.values():
        for key in kind.all_of(user):
            await stores.shards.mod.release(kind.namespace, key, user_id)

    async def work(tx: ShardTx) -> Change:
        found = await access.lock_any(tx, User, user_id)
        assert found is not None
        cleared = {name: it for kind in KINDS.values() for name, it in kind.cleared().items()}
        await edit(tx, *found, {**cleared, "created": 0})
        await tx.erase_visits(user_id)
        await tx.erase_events(user_id)
        await tx.erase_notifications(user_id)
        await tx.erase_reports_of([user_id])
        await tx.erase_lists([user_id])
        await tx.erase_edges([EdgeKey(mapping, user_id, user_id) for mapping in blocks.LISTS])
        for mapping in blocks.LISTS:  # again, with a head of their own
            await tx.put_edge(mapping, Edge(user_id, user_id, task.at * SEQUENCE_STEP, 1))
        return change(objects=[user_id, blocks.cache_key(user_id)])

    await commit(stores, shard_of(user_id), work)


STEPS: tuple[Step[AccountErased], ...] = (
    _ended,
    _lists_of_others,
    _comments,
    _pools,
    _places,
    _pins,
    _boards,
    _user,
)


async def _clear(stores: Stores, key: ListKey) -> None:
    """Remove the rows of a list, and their reverse rows before them. The block that marks the
    account stays."""
    mirror = _MIRRORS.get(key.mapping)

    async def page(tx: ShardTx) -> list[Edge]:
        return await tx.rows_of(key, 0, ROWS + 1)

    while True:
        rows = await stores.shards.objects.transact(shard_of(key.from_id), page)
        if key.mapping in blocks.LISTS:
            rows = [row for row in rows if row.to_id != key.from_id]
        if not rows:
            return
        if key.mapping in _FOLLOWED_BY:
            follower_ids = [row.to_id for row in rows]
            for sides, table in ((stores.feeds, FOLLOWING_APPLIED), (stores.pools, POOLS_APPLIED)):
                await write_both(sides, partial(_unmark, table, follower_ids, key.from_id))
        if mirror is not None:
            for some in by_shard(row.reversed() for row in rows).values():
                await _remove(stores, mirror, some)
        await _remove(stores, key.mapping, rows)


async def _unmark(
    table: Table, follower_ids: Sequence[int], id: int, store: WideColumnStore
) -> None:
    """Remove from one side the marks that say what the follows of an object brought."""
    for follower_id in follower_ids:
        row = id_row(follower_id)
        await remove(store, table, row, (await store.get(table, row, [id_row(id)])).values())


async def _remove(stores: Stores, mapping: Mapping, edges: Sequence[Edge]) -> None:
    """Remove rows of one shard."""
    if not edges:
        return
    keys = [EdgeKey(mapping, edge.from_id, edge.to_id) for edge in edges]
    cached = [blocks.cache_key(key.from_id) for key in keys] if mapping in blocks.LISTS else []

    async def work(tx: ShardTx) -> Change:
        await tx.erase_edges(keys)
        return change(objects=cached, lists=[ListKey(mapping, key.from_id) for key in keys])

    await commit(stores, shard_of(edges[0].from_id), work)
