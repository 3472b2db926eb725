"""Interests for tests. Imports make them: no mutation does."""

from datasources.protocols import Stores
from datasources.records import Interest
from feed_engine.transactions import access
from gateway.operate.imports.unique_names import SLUGS
from tests.importing.files import take


async def create_interest(stores: Stores, name: str, slug: str) -> Interest:
    """The interest with this slug, which is imported if it doesn't exist."""
    report = await take(stores, {"type": "interest", "key": slug, "name": name, "slug": slug})
    assert not report.bad
    holders = await stores.shards.mod.find(SLUGS, [slug])
    return await access.recall(stores, Interest, holders[slug])
