"""`extensions.stale` has the shards that an operation read from slaves."""

import asyncio

import orjson
import pytest

from datasources.staleness import Collecting, mark
from gateway.execution.executor import Result
from gateway.execution.staleness import told_stale

pytestmark = pytest.mark.anyio


async def test_tasks_of_an_operation_mark_stale_shards_for_that_operation_alone() -> None:
    async def operation(*shards: int) -> dict[int, int]:
        with Collecting() as stale:
            await asyncio.gather(*(asyncio.create_task(read(shard)) for shard in shards))
        return stale

    async def read(shard: int) -> None:
        await asyncio.sleep(0)
        mark({shard}, 1_000 + shard)

    mark({9}, 1)  # outside of an operation
    one, other = await asyncio.gather(operation(1, 2), operation(3))
    assert (one, other) == ({1: 1_001, 2: 1_002}, {3: 1_003})


def test_the_extension_has_the_shards_and_the_earliest_time() -> None:
    result = Result([b"{}"], [])
    result.extend(told_stale({4: 1_700_000_000_500, 3: 1_700_000_001_000}))
    result.extend(b'{"cost":{"estimate":1}}')
    assert orjson.loads(result.body()) == {
        "data": {},
        "extensions": {
            "stale": {"shards": [3, 4], "since": "2023-11-14T22:13:20.500Z"},
            "cost": {"estimate": 1},
        },
    }
