"""Loads likes and follows: both directions, each sorted by the shards of its rows."""

from functools import partial

from datasources.mappings import REVERSE, SEQUENCE_STEP, Edge, EdgeKey, Mapping
from gateway.operate.imports.load import Load, batches, patiently

_FOLLOWS = {
    "user": Mapping.USER_FOLLOWS_USERS,
    "board": Mapping.USER_FOLLOWS_BOARDS,
    "interest": Mapping.USER_FOLLOWS_INTERESTS,
}
_A_BATCH = 4  # rows here are small compared with objects


async def load_likes(load: Load) -> None:
    pairs = (
        "SELECT u.id AS a, p.id AS b, l.created FROM likes l "
        "JOIN users u ON u.key = l.user JOIN pins p ON p.key = l.pin"
    )
    total = load.spool.count("likes")
    await _both_ways(load, "like", Mapping.USER_LIKES_PINS, pairs, 0, total)
    load.report.loaded["like"] = total


async def load_follows(load: Load) -> None:
    done, total = 0, load.spool.count("follows")
    for kind, mapping in _FOLLOWS.items():
        pairs = (
            "SELECT u.id AS a, t.id AS b, f.created FROM follows f "
            f"JOIN users u ON u.key = f.follower JOIN {kind}s t ON t.key = f.target "
            f"WHERE f.kind = '{kind}'"
        )
        done = await _both_ways(load, "follow", mapping, pairs, done, total)
    load.report.loaded["follow"] = total


async def _both_ways(
    load: Load, what: str, mapping: Mapping, pairs: str, done: int, total: int
) -> int:
    size, stage = load.options.batch * _A_BATCH, f"{what}s"
    for rows in batches(load.spool.rows(f"{pairs} ORDER BY a, b"), size):
        edges = [Edge(a, b, created * SEQUENCE_STEP, 1) for a, b, created in rows]
        keys = [EdgeKey(mapping, edge.from_id, edge.to_id) for edge in edges]
        known = await patiently(partial(load.stores.shards.mappings.edges, keys))
        await load.rows([(mapping, edge) for edge in edges])
        load.count_new(what, len(keys) - len(known))
        done += len(rows)
        load.step(stage, done, total, stage)
    for rows in batches(load.spool.rows(f"{pairs} ORDER BY b, a"), size):
        edges = [Edge(b, a, created * SEQUENCE_STEP, 1) for a, b, created in rows]
        await load.rows([(REVERSE[mapping], edge) for edge in edges])
    return done
