"""Jobs keep the rows of feeds within the limits that the settings give."""

import pytest

from datasources.protocols import Job
from feed_engine import writes
from feed_engine.feeds.rows import FOLLOWING, POOLS, Source, id_row, interest_row, pool_row
from feed_engine.feeds.settings import DEFAULTS, FeedSettings
from feed_engine.feeds.wide import read_row
from feed_engine.outbox.completion import settle
from feed_engine.outbox.jobs import run_job
from gateway.settings import Feeds, Settings
from gateway.site.runtime import feed_settings
from tests.feeds import Feeding, feeding, valkey

__all__ = ["feeding", "valkey"]
pytestmark = pytest.mark.anyio
TWO = FeedSettings(following_cap=2, pool_cap=2, interest_cap=2)


async def run_all(feeding: Feeding, settings: FeedSettings) -> None:
    await settle()
    while rows := await feeding.pending():
        for row in rows:
            await run_job(feeding.stores, Job(row.shard, row.id), settings=settings)


@pytest.mark.parametrize("follows_first", [True, False])
async def test_jobs_cut_rows_to_the_caps(feeding: Feeding, follows_first: bool) -> None:
    """New pins are cut by their own jobs, older ones by the job of the follow."""
    viewer, owner, interest = await feeding.user(), await feeding.user(), await feeding.interest()
    board = await feeding.board(owner)
    if follows_first:
        await feeding.follow(viewer, owner.id)
        await run_all(feeding, TWO)
    for number in range(6):
        new = writes.NewPin(board_id=board.id, title="a pin", interest_ids=(interest.id,))
        await writes.create_pin(feeding.stores, owner.id, new, at=1_700_000_000_000 + number)
    await run_all(feeding, TWO)
    if not follows_first:
        await feeding.follow(viewer, owner.id)
        await run_all(feeding, TWO)
    for feeds, pools in zip(feeding.stores.feeds, feeding.stores.pools, strict=True):
        rows = [
            (feeds, FOLLOWING, id_row(viewer.id)),
            (pools, POOLS, pool_row(viewer.id, Source.FOLLOWED)),
            (pools, POOLS, interest_row(interest.id)),
        ]
        for store, table, row in rows:
            assert len(await read_row(store, table, row)) == 2


def test_an_installation_has_the_settings_limits() -> None:
    assert feed_settings(Settings()) == DEFAULTS
    given = Feeds(oldest_days=30, following_cap=200, pool_cap=300, popular_cap=400)
    found = feed_settings(Settings(feeds=given))
    assert (found.following_cap, found.pool_cap, found.interest_cap) == (200, 300, 300)
    assert (found.popular_cap, found.floor) == (400, -10.0)
