"""Creates the interests that pins belong to; for imports and the demo's content."""

from datasources import records
from datasources.ids import Kind
from datasources.protocols import ShardTx, Stores
from datasources.records import Interest
from feed_engine.outbox.change import change
from feed_engine.transactions import access
from feed_engine.transactions.commit import Mutation, Outcome, Saved, mutate, nothing, now_ms
from feed_engine.transactions.inputs import NewInterest

NAMESPACE = "interest"
NOBODY = 0


async def create_interest(
    stores: Stores, name: str, slug: str, *, description: str = "", at: int | None = None
) -> Interest:
    """The interest with this slug; created if it doesn't exist. Raises BadInput."""
    new = NewInterest(name=name, slug=slug, description=description).checked()
    holders = await stores.shards.mod.find(NAMESPACE, [new.slug])
    if new.slug in holders:
        return await access.recall(stores, Interest, holders[new.slug])

    async def work(tx: ShardTx, _: None) -> Outcome[None]:
        interest = Interest(
            created=at if at is not None else now_ms(),
            name=new.name,
            slug=new.slug,
            description=new.description,
        )
        id = await tx.insert(Kind.INTEREST, records.encode(interest))
        following = change(claims=[(NAMESPACE, new.slug, id)])
        return Outcome(None, Saved(id=id), following)

    async def again(_: Saved) -> None:
        return None

    shard = stores.shards.objects.topology().place(new.slug)
    await mutate(stores, Mutation("createInterest", shard, NOBODY, None, new), nothing, work, again)
    holders = await stores.shards.mod.find(NAMESPACE, [new.slug])
    return await access.recall(stores, Interest, holders[new.slug])
