"""Adds a viewer's likes and saves to the viewer's affinities, in the transaction of the write."""

from datasources.ids import shard_of
from datasources.mappings import SEQUENCE_STEP, Edge, EdgeKey, ListKey, Mapping
from datasources.protocols import ShardTx
from datasources.records import Pin
from feed_engine.feeds.affinity import changed, level_of
from feed_engine.feeds.preferences import subjects
from feed_engine.transactions.commit import Rows


async def learn(tx: ShardTx, rows: Rows, viewer_id: int, pin: Pin, weight: float, at: int) -> None:
    """Add a weight to the viewer's affinities to what the pin belongs to, as of an epoch ms. A
    negative weight withdraws an earlier one of that moment. Own pins teach nothing."""
    mapping = Mapping.USER_HAS_AFFINITIES
    if pin.owner_id == viewer_id or shard_of(viewer_id) != tx.shard:
        return
    keys = [EdgeKey(mapping, viewer_id, id) for id in dict.fromkeys(subjects(pin))]
    await tx.head(ListKey(mapping, viewer_id))
    there = await tx.edges(keys)
    for key in keys:
        row = there.get(key)
        before = level_of(row) if row is not None and row.active else None
        level = changed(before, weight, at)
        kept = before if level is None else level
        if kept is None:
            continue
        version = row.version + 1 if row is not None else 1
        sequence, active = SEQUENCE_STEP * kept, level is not None
        await rows.put(mapping, Edge(viewer_id, key.to_id, sequence, version, active))
