"""A drag that stops at each of its seams, while another write changes its board."""

import asyncio
from typing import Any

import pytest

from datasources.protocols import Stores
from tests.interleaving import SECOND, interleave
from tests.people import People

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("second", SECOND)
async def test_a_drag_and_another_write_end_as_one_after_the_other(
    stores: Stores, people: People, second: str
) -> None:
    engine: Any = stores.shards.objects._router.engine  # type: ignore[attr-defined]

    async def halted(write: "asyncio.Task[Any]") -> None:
        while not write.done() and not any(lock._waiters for lock in engine._turns.values()):
            await asyncio.wait([write], timeout=0)

    assert await interleave(people, SECOND[second], halted) > 20
