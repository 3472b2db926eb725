"""The relay's first page, for tests."""

from datasources.protocols import Stores
from feed_engine.outbox.relay import relay_page


async def relay_once(stores: Stores, *, older_than: float) -> int:
    """Queue the jobs of the first page of due rows. Returns the number of rows."""
    return (await relay_page(stores, older_than=older_than, behind={})).rows
