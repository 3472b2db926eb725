"""Jobs that a reader asks for, to fill a row which was found short.

The row's mark keeps other readers from posting the same job again while it is on its way.
"""

from datasources.ids import shard_of
from datasources.protocols import ShardTx, Stores, Table, WideColumnStore
from feed_engine.feeds.rows import id_row
from feed_engine.outbox.change import AnyTask, Change, change
from feed_engine.transactions.commit import commit

ASKED = b"\x03"
"""Column of the row's marks; the stamp: epoch ms of when the job was last asked for."""
ASK_AGAIN = 60_000  # ms, while the job isn't done


async def ask(
    stores: Stores, store: WideColumnStore, marks: Table, owner_id: int, task: AnyTask, now: int
) -> None:
    """Mark the row of a user or an interest on one side, and post the job. Raises StoreError."""
    await store.put(marks, {id_row(owner_id): {ASKED: b""}}, max(1, now))

    async def work(tx: ShardTx) -> Change:
        return change(tasks=[task])

    await commit(stores, shard_of(owner_id), work)
