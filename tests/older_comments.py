"""Comments as an earlier version of Pinway left them: not in the index of comments by author."""

from datasources.mappings import EdgeKey, Mapping
from datasources.protocols import ShardTx, Stores

_INDEX = Mapping.USER_WROTE_COMMENTS


async def forget_index(stores: Stores) -> None:
    """Remove all rows of the index and all marks."""
    for shard in stores.shards.objects.topology().open_shards:

        async def work(tx: ShardTx, shard: int = shard) -> None:
            everything = range(1 << 62)
            rows = await stores.shards.mappings.rows_into(_INDEX, shard, everything, None, 10_000)
            await tx.erase_edges([EdgeKey(_INDEX, row.from_id, row.to_id) for row in rows])

        await stores.shards.objects.transact(shard, work)
