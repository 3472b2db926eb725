"""Jobs that a reader requests to fill a row that is too short.

A mark beside the row keeps other readers from posting the same job while it is under way.
"""

from datasources.ids import shard_of
from datasources.protocols import ShardTx, Stores, Table, WideColumnStore
from feed_engine.feeds.rows import id_row
from feed_engine.outbox.change import AnyTask, Change, change
from feed_engine.transactions.commit import commit

ASKED = b"\x03"
"""The column of the row's mark. Its stamp is the epoch ms at which the job was last requested."""
ASK_AGAIN = 60_000  # ms after which an unfinished job is requested again


async def ask(
    stores: Stores, store: WideColumnStore, marks: Table, owner_id: int, task: AnyTask, now: int
) -> None:
    """Mark the row of a user or an interest on one side, and post the job. Raises StoreError."""
    await store.put(marks, {id_row(owner_id): {ASKED: b""}}, max(1, now))

    async def work(tx: ShardTx) -> Change:
        return change(tasks=[task])

    await commit(stores, shard_of(owner_id), work)
