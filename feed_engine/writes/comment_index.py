"""The index of comments by author: its rows, its readers, and the work that indexes older comments.

A comment is on its pin's shard, and its row in the author's list is on the author's shard. Each
write of a comment writes both. Earlier versions of Pinway did not, so each shard has a mark that
says whether the index has all of its comments: a row from the id of no user to the id of no
comment, whose sequence is the comment up to which all are indexed, and which is active when all
are. A mark is written after the rows of its comments, on all shards. A new shard gets a complete
mark. The comments of shards without a complete mark are found by reading all of them.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from itertools import groupby

from datasources import records
from datasources.ids import MAX_LOCAL, Kind, compose, local_of, shard_of
from datasources.mappings import Edge, EdgeKey, ListKey, Mapping
from datasources.protocols import ShardStore, ShardTx, Stores
from datasources.records import Comment
from feed_engine.outbox.change import Change
from feed_engine.transactions import access
from feed_engine.transactions.commit import Rows, commit

COMMENTS = 500  # comments that are read at a time
_INDEX = Mapping.USER_WROTE_COMMENTS
_BY_INDEX = "i"
"""The start of a place in the index. A place among all comments is a number."""
Save = Callable[[str], Awaitable[None]]


async def put_rows(rows: Rows, comment: Comment, edge: Edge) -> None:
    """Write a comment's row under its pin, and the row in its author's list."""
    await rows.put(Mapping.PIN_HAS_COMMENTS, edge)
    await rows.put(_INDEX, by_author(comment, edge))


def by_author(comment: Comment, edge: Edge) -> Edge:
    """The row in the author's list. `edge`: the row under the pin."""
    return edge._replace(from_id=comment.author_id)


async def comments_of(
    stores: Stores, user_id: int, place: str, save: Save
) -> AsyncIterator[dict[int, list[Comment]]]:
    """A user's comments by their shards, deleted or not: by the index and, on shards that are not
    indexed, among all comments. `place`: a place that `save` got, or "". Raises StoreError."""
    missing = await not_indexed(stores.shards)
    if not place.startswith(_BY_INDEX):
        async for rows in _all_comments(stores, missing, int(place or 0)):
            yield _by_shard(dict(rows), user_id)
            await save(str(rows[-1][0]))
    key, left_out = ListKey(_INDEX, user_id), {*missing}
    after = int(place.removeprefix(_BY_INDEX)) if place.startswith(_BY_INDEX) else 0
    while ids := await _listed(stores, key, after):
        wanted = [id for id in ids if shard_of(id) not in left_out]
        yield _by_shard(await stores.shards.objects.get(wanted) if wanted else {}, user_id)
        after = ids[-1]
        await save(f"{_BY_INDEX}{after}")


async def not_indexed(shards: ShardStore) -> list[int]:
    """The shards whose comments are not all in the index, ascending. Raises StoreError."""
    listed = shards.objects.topology().open_shards
    found = await shards.mappings.edges([_mark(shard) for shard in listed])
    return [it for it in listed if (row := found.get(_mark(it))) is None or not row.active]


async def mark_new(shards: ShardStore, new: Collection[int]) -> None:
    """Mark the index of new shards as complete, except of shards that have comments. Raises
    StoreError. No gateway of a version without the index may write to these shards."""
    empty, first = sorted(new), 0
    while first < len(empty):
        before = compose(empty[first], Kind.COMMENT, 1) - 1
        found = await shards.objects.list(Kind.COMMENT, before, 1)
        if not found:
            break
        shard = shard_of(found[0][0])
        first = bisect_left(empty, shard)
        if empty[first : first + 1] == [shard]:
            empty.pop(first)
    await _complete(shards, empty)


async def index_comments(stores: Stores, on_comments: Callable[[int], None]) -> int:
    """Index the comments of all shards that are not indexed, while others read and write. A call
    after an interruption skips the comments that are indexed. `on_comments` is told the number of
    comments so far. Returns the number. Raises StoreError.

    No gateway of a version without the index may run: it would write comments without their rows.
    """
    missing, done = await not_indexed(stores.shards), 0
    if not missing:
        return done
    first = _mark(missing[0])
    begun = (await stores.shards.mappings.edges([first])).get(first)
    async for page in _all_comments(stores, missing, begun.sequence if begun is not None else 0):
        for shard, rows in groupby(page, lambda row: shard_of(row[0])):
            passed = bisect_left(missing, shard)
            await _complete(stores.shards, missing[:passed])
            missing = missing[passed:]
            stored = dict(rows)
            await commit(stores, shard, _indexing(stored))
            await _mark_up_to(stores.shards, max(stored))
        done += len(page)
        on_comments(done)
    await _complete(stores.shards, missing)
    return done


def _indexing(stored: dict[int, bytes]) -> Callable[[ShardTx], Awaitable[Change]]:
    """Indexes comments of one shard. The locks make other changes of these comments wait: their
    rows have later versions. A damaged comment is in no list of its author."""
    decoded = records.decode_each(Kind.COMMENT, stored)
    ids = [id for id, found in decoded.items() if isinstance(found, Comment)]

    async def work(tx: ShardTx) -> Change:
        rows = Rows(tx)
        for id in ids:
            found = await access.lock_any(tx, Comment, id)
            if found is None:
                continue  # it was erased
            edge = await tx.edge(EdgeKey(Mapping.PIN_HAS_COMMENTS, found[0].pin_id, id))
            if edge is not None:
                await rows.put(_INDEX, by_author(found[0], edge))
        return rows.change()

    return work


async def _mark_up_to(shards: ShardStore, comment_id: int) -> None:
    """Mark a shard's index as complete up to a comment. The rows of these comments on other shards
    must be there: their transaction alone does not put them there, and a process may die in
    between."""
    mark = _mark(shard_of(comment_id))[1:]
    version = local_of(comment_id)
    up_to = Edge(*mark, sequence=comment_id, version=version, active=False)
    await shards.mappings.apply([(_INDEX, up_to)])


async def _complete(shards: ShardStore, done: Sequence[int]) -> None:
    """Mark the index of some shards as complete."""
    marks = [Edge(*_mark(shard)[1:], sequence=0, version=MAX_LOCAL + 1) for shard in done]
    if marks:
        await shards.mappings.apply([(_INDEX, mark) for mark in marks])


def _mark(shard: int) -> EdgeKey:
    """The mark's row. Its version grows with the comments that are indexed."""
    nobody, no_comment = (compose(shard, it, MAX_LOCAL) for it in (Kind.USER, Kind.COMMENT))
    return EdgeKey(_INDEX, nobody, no_comment)


async def _all_comments(
    stores: Stores, shards: Sequence[int], after: int
) -> AsyncIterator[list[tuple[int, bytes]]]:
    """All comments of some shards, in pages. `shards` are ascending."""
    wanted = {*shards}
    while True:
        at = bisect_left(shards, shard_of(after))
        if at == len(shards):
            return
        after = max(after, compose(shards[at], Kind.COMMENT, 1) - 1)
        listed = await stores.shards.objects.list(Kind.COMMENT, after, COMMENTS)
        if rows := [row for row in listed if shard_of(row[0]) in wanted]:
            yield rows
        if len(listed) < COMMENTS:
            return
        after = listed[-1][0]


async def _listed(stores: Stores, key: ListKey, after: int) -> list[int]:
    """The comments of an author's list after one, active or not, in order of their ids."""

    async def work(tx: ShardTx) -> list[Edge]:
        return await tx.rows_of(key, after, COMMENTS)

    rows = await stores.shards.objects.transact(shard_of(key.from_id), work)
    return [row.to_id for row in rows]


def _by_shard(stored: dict[int, bytes], user_id: int) -> dict[int, list[Comment]]:
    found = defaultdict[int, list[Comment]](list)
    for id, comment in records.decode_each(Kind.COMMENT, stored).items():
        if isinstance(comment, Comment) and comment.author_id == user_id:
            found[shard_of(id)].append(comment)
    return found
