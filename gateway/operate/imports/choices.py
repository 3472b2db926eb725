"""Loads blocks, mutes and preferences, on the shards of the viewers who chose them. What a viewer
chose here since an earlier import stays.

Blocks are loaded before all that they hide, so that two users whom a block keeps apart see nothing
of each other during an import either.
"""

from collections.abc import AsyncIterator
from functools import partial

from datasources import records
from datasources.ids import Kind, shard_of
from datasources.mappings import REVERSE, SEQUENCE_STEP, Edge, EdgeKey, ListKey, Mapping
from datasources.protocols import ShardTx
from datasources.records import Pin
from datasources.together import together
from feed_engine.feeds.follow_edges import FOLLOWS
from feed_engine.transactions import blocks
from feed_engine.writes import members
from feed_engine.writes.block_tasks import end_follows, end_follows_between
from feed_engine.writes.members import FIELDS
from gateway.operate.imports.choice_lists import LISTS, TUNED_LISTS
from gateway.operate.imports.load import Load, Row, batches, batches_by, patiently

_ROWS = 500  # choices in a transaction
_FOLLOWS = 5000  # follows that are checked at once
_PAIRS_AT_ONCE = 8  # pairs of users that are kept apart at the same time
_BLOCKS = Mapping.USER_BLOCKS_USERS
_ENDED = (FOLLOWS[Kind.USER], FOLLOWS[Kind.BOARD], *(REVERSE[mapping] for mapping in FIELDS))
"""The lists of a user whose entries a block may end."""
_FOLLOWED = (
    "SELECT u.id AS a, t.id, t.id FROM follows f JOIN users u ON u.key = f.follower "
    "JOIN users t ON t.key = f.target WHERE f.kind = 'user' ORDER BY a",
    "SELECT u.id AS a, t.id, o.id FROM follows f JOIN users u ON u.key = f.follower "
    "JOIN boards t ON t.key = f.target JOIN users o ON o.key = t.owner "
    "WHERE f.kind = 'board' ORDER BY a",
)
"""Followers, what they follow, and the users to whom that belongs."""


async def load_blocks(load: Load) -> None:
    """Load blocks, and end the follows and memberships that the stores have between the two users,
    as `blockUser` does."""
    async for rows in _load(load, "block", "user"):
        there = await _stored(load, [EdgeKey(_BLOCKS, row.from_id, row.to_id) for row in rows])
        await load.rows([(REVERSE[_BLOCKS], edge.reversed()) for edge in there])
        ids = {id for edge in there for id in (edge.from_id, edge.to_id)}
        await load.forget_objects([blocks.cache_key(id) for id in sorted(ids)])
        await _end_between(load, [edge for edge in there if edge.active])


async def load_preferences(load: Load) -> None:
    """Load mutes, hidden pins, and what viewers see less and more of."""
    for what, *kinds in (
        ("mute", "user"),
        ("hide", "pin"),
        ("preference", "user", "board", "interest"),
    ):
        for kind in kinds:
            async for _ in _load(load, what, kind):
                pass


async def end_blocked_follows(load: Load) -> None:
    """End the imported follows of users who are kept apart. The blocks are read after the follows
    were written, and a block ends follows after it was written: so one of the two sees the other.
    """
    for sql in _FOLLOWED:
        for batch in batches(load.spool.rows(sql), _FOLLOWS):
            lists = [
                ListKey(mapping, id) for id in {row[0] for row in batch} for mapping in blocks.LISTS
            ]
            heads = await patiently(partial(load.stores.shards.mappings.heads, lists))
            apart = {key.from_id for key, head in heads.items() if head.size}
            pairs = dict[tuple[int, int], list[int]]()
            for follower_id, target_id, user_id in batch:
                if follower_id in apart:
                    pairs.setdefault((follower_id, user_id), []).append(target_id)
            keys = [key for pair in pairs for key in blocks.keys(*pair)]
            held = {(it.from_id, it.to_id) for it in await _stored(load, keys) if it.active}
            await together(
                [
                    patiently(partial(end_follows, load.stores, *pair, target_ids))
                    for pair, target_ids in pairs.items()
                    if pair in held
                ],
                at_a_time=_PAIRS_AT_ONCE,
            )


async def _load(load: Load, what: str, kind: str) -> AsyncIterator[list[Edge]]:
    """Write the choices of one type about one kind of objects. Yields the rows of each batch, as
    the file has them."""
    chosen = f"choices WHERE what = '{what}' AND kind = '{kind}'"
    done, total = 0, load.spool.count(chosen)
    waiting = (
        "SELECT c.line, c.viewer, c.mapping, v.id AS viewer_id, t.id, c.created FROM choices c "
        f"JOIN users v ON v.key = c.viewer JOIN {kind}s t ON t.key = c.target "
        f"WHERE c.what = '{what}' AND c.kind = '{kind}' ORDER BY viewer_id, c.created, c.n"
    )
    for shard, batch in batches_by(load.spool.rows(waiting), lambda row: shard_of(row[3]), _ROWS):
        choosing = _Choosing(batch, await _pictures(load, batch) if kind == "pin" else {})
        await load.transact(shard, choosing.work)
        load.count_new(what, choosing.new)
        for line, viewer, mapping in choosing.left_out:
            most, those = LISTS[mapping]
            load.complaints.add(line, f"viewer {viewer!r} has {most} {those} here already")
        await load.forget_lists([(mapping, edge) for _, _, mapping, edge in choosing.rows])
        yield [edge for *_, edge in choosing.rows]
        done += len(batch)
        load.step(f"{what}s", done, total, f"{what}s")
    if total:
        load.report.loaded[what] = load.report.loaded.get(what, 0) + total


class _Choosing:
    """Choices of viewers of one shard. `new` of them were not there before; `left_out` are the
    lines for which the viewers' lists have no room."""

    def __init__(self, batch: list[Row], pictures: dict[int, int]) -> None:
        self.rows = [
            (
                line,
                viewer,
                Mapping(mapping),
                Edge(viewer_id, pictures.get(id) or id, created * SEQUENCE_STEP, 1),
            )
            for line, viewer, mapping, viewer_id, id, created in batch
        ]
        self.new = 0
        self.left_out: list[tuple[int, str, Mapping]] = []

    async def work(self, tx: ShardTx) -> None:
        self.new, self.left_out = 0, []
        lists = dict.fromkeys(ListKey(mapping, edge.from_id) for _, _, mapping, edge in self.rows)
        sizes = {key: (await tx.head(key)).size for key in lists}
        wanted = [key for _, _, mapping, edge in self.rows for key in _alike(mapping, edge)]
        there = {*await tx.edges(wanted)}
        for line, viewer, mapping, edge in self.rows:
            alike, key = _alike(mapping, edge), ListKey(mapping, edge.from_id)
            if not there.isdisjoint(alike):
                continue
            if sizes[key] >= LISTS[mapping][0]:
                self.left_out.append((line, viewer, mapping))
                continue
            await tx.put_edge(mapping, edge)
            there.add(EdgeKey(*key, edge.to_id))
            sizes[key] += 1
            self.new += 1


def _alike(mapping: Mapping, edge: Edge) -> list[EdgeKey]:
    """The rows of which a viewer has one at most."""
    mappings = TUNED_LISTS if mapping in TUNED_LISTS else (mapping,)
    return [EdgeKey(it, edge.from_id, edge.to_id) for it in mappings]


async def _pictures(load: Load, batch: list[Row]) -> dict[int, int]:
    """The first pins of the chains of repins, by the ids of the pins."""
    ids = list({row[4] for row in batch})
    stored = await patiently(partial(load.stores.shards.objects.get, ids))
    pins = records.decode_each(Kind.PIN, stored)
    return {id: pin.root for id, pin in pins.items() if isinstance(pin, Pin)}


async def _end_between(load: Load, held: list[Edge]) -> None:
    """End the follows and memberships between users whom blocks keep apart."""
    lists = [ListKey(it, id) for edge in held for id in edge[:2] for it in _ENDED]
    heads = await patiently(partial(load.stores.shards.mappings.heads, lists)) if lists else {}
    busy = {key.from_id for key, head in heads.items() if head.size}

    async def end(one_id: int, other_id: int, at: int) -> None:
        await members.end_between(load.stores, one_id, other_id)
        await end_follows_between(load.stores, one_id, other_id, at)

    await together(
        [
            patiently(partial(end, edge.from_id, edge.to_id, edge.sequence // SEQUENCE_STEP))
            for edge in held
            if not busy.isdisjoint(edge[:2])
        ],
        at_a_time=_PAIRS_AT_ONCE,
    )


async def _stored(load: Load, keys: list[EdgeKey]) -> list[Edge]:
    """The rows that the stores have, active or not."""
    found = await patiently(partial(load.stores.shards.mappings.edges, keys)) if keys else {}
    return list(found.values())
