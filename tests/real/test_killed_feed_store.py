"""HBase, the primary feed store, is killed while a user scrolls in a browser.

`make test` has both halves apart: a browser whose primary feed store stops answering
(tests/outside/test_web_standby.py), and clusters that die and hang under load (tests/drills).
"""

import asyncio
from pathlib import Path

import pytest

from deploy.stack import Stack
from gateway.settings import changed
from tests.gateways import gateway_on
from tests.outside import primary_outage
from tests.real.configurations import first_shard, real_settings
from tests.servers import redis_url, start

pytestmark = [pytest.mark.anyio, pytest.mark.nightly]
PINS = 75  # three visits' new pins
DATABASE = 9  # in Redis: the jobs of this test only


async def test_scrolling_goes_on_over_the_standby_when_hbase_is_killed(
    stack: Stack, tmp_path: Path
) -> None:
    settings = changed(
        real_settings(stack, tmp_path, first_shard(stack)),
        {"jobs.run": True, "stores.queue": redis_url(stack, DATABASE)},
    )

    async def kill() -> None:
        for name in ("hbase-primary-thrift", "hbase-primary"):
            await asyncio.to_thread(stack.services[name].kill)

    try:
        async with gateway_on(settings) as found:
            seen = await primary_outage.scroll(found, settings, PINS, kill)
    finally:
        await asyncio.to_thread(start, stack, "clusters")
    primary_outage.check(seen, PINS)
