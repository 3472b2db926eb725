"""Boards in MySQL and Redis: everything that changes them at once, and exact halves of gaps."""

import asyncio
import random
import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from datasources.protocols import Stores
from deploy.stack import Stack
from deploy.stack.mariadb import MariaDB
from feed_engine.ordering import arrange
from feed_engine.outbox.completion import settle
from tests.drags import WAYS, halve
from tests.gateways import gateway_on
from tests.interleaving import SECOND, interleave
from tests.linearizability import History
from tests.people import People
from tests.real.configurations import first_shard, real_settings

pytestmark = pytest.mark.anyio
SOME = [
    pytest.param(way, marks=[] if way in ("by turns", "at the bottom") else [pytest.mark.nightly])
    for way in WAYS
]
"""The ways to halve a gap: `make test` tries the others against SQLite only. MySQL must have room
for as many digits in the middle of a board and at its end."""


@pytest.fixture(scope="module")
async def stores(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stores]:
    directory: Path = tmp_path_factory.mktemp("real")
    async with gateway_on(real_settings(stack, directory, first_shard())) as gateway:
        yield gateway.stores
        await settle()


@pytest.mark.parametrize("seed", range(3))
async def test_whatever_is_done_at_once_has_an_order_that_explains_every_answer_and_page(
    stores: Stores, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(arrange, "CHUNK", 2)
    history = History(_people(stores), random.Random(seed))
    await history.begin()
    await history.run(clients=8, calls=14)
    await history.check()
    assert history.refused < len(history.calls) / 2


@pytest.mark.parametrize("second", SECOND)
async def test_a_drag_and_another_write_end_as_one_after_the_other(
    stores: Stores, stack: Stack, second: str
) -> None:
    masters = [it for it in stack.services.values() if isinstance(it, MariaDB)]
    waits = "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'"

    async def halted(write: "asyncio.Task[Any]") -> None:
        while not write.done():
            told = (asyncio.to_thread(master.query, waits) for master in masters)
            if any(int(line.split()[1]) for line in await asyncio.gather(*told)):
                return

    assert await interleave(_people(stores), SECOND[second], halted) > 20


@pytest.mark.parametrize("way", SOME)
async def test_a_milliseconds_gap_takes_83_drags_and_no_row_is_spread(
    stores: Stores, way: str
) -> None:
    await halve(stores, _people(stores), way)


def _people(stores: Stores) -> People:
    return People(stores, prefix=f"u{secrets.token_hex(4)}_")
