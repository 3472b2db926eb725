"""Races of two real clusters whose callers are cancelled leave no call and no connection behind."""

import asyncio
import random
import uuid
from dataclasses import replace

import pytest

from datasources.protocols import Cell, Sides, Table, WideColumnStore
from deploy.stack import Stack
from feed_engine.speculation import ADAPTIVE, Race
from tests.contract.wide_columns import Relay, drop_tables, hbase
from tests.servers import hbase_primary, hbase_standby

pytestmark = pytest.mark.anyio
TABLE = Table(f"races_{uuid.uuid4().hex}")
CONNECTIONS = 3
EAGER = replace(ADAPTIVE, floor=0.0, ceiling=0.002, extra=1.0, warm=0.2, run_on=0.5)
"""A policy with which both sides are asked most of the time, and shadow calls run, too."""


@pytest.mark.parametrize("hung", [False, True], ids=["both answer", "the primary hangs"])
async def test_cancelled_callers_leave_no_connection_open_or_taken(
    clusters: Stack, hung: bool
) -> None:
    relays = [Relay(hbase_primary(clusters)), Relay(hbase_standby(clusters))]
    stores = []
    for relay in relays:
        await relay.start()
        stores.append(hbase(f"hbase://127.0.0.1:{relay.port}", CONNECTIONS, deadline=120))
        await stores[-1].create([TABLE])
        await stores[-1].put(TABLE, {b"row": {b"column": b"value"}}, 1)
    race = Race(Sides(*stores), cutoff=0.002, deadline=120, policy=EAGER)

    async def ask(store: WideColumnStore) -> list[Cell]:
        return await store.read(TABLE, b"row", limit=1)

    async def impatient() -> bool:
        try:
            async with asyncio.timeout(random.uniform(0, 0.05)):
                assert (await race(ask)).value == [Cell(b"column", b"value", 1)]
        except TimeoutError:
            return True
        return False

    if hung:
        relays[0].stall()
    cancelled = sum(
        [sum(await asyncio.gather(*(impatient() for _ in range(20)))) for _ in range(20)]
    )
    assert cancelled > CONNECTIONS
    await race.close()
    relays[0].flow()
    for relay, store in zip(relays, stores, strict=True):
        answers = await asyncio.gather(*(ask(store) for _ in range(2 * CONNECTIONS)))
        assert answers == [[Cell(b"column", b"value", 1)]] * len(answers)
        await relay.until_open(CONNECTIONS)
        await store.close()
        await relay.until_open(0)
        await relay.stop()
    for url in (hbase_primary(clusters), hbase_standby(clusters)):
        await drop_tables(url, [TABLE])
