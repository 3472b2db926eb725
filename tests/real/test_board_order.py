"""Boards in MySQL and Redis: everything that changes them at once, and exact halves of gaps."""

import asyncio
import random
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pymysql
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
from tests.scale import nightly_unless, scaled

pytestmark = pytest.mark.anyio
SOME = [
    pytest.param(way, marks=nightly_unless(way in ("by turns", "at the bottom"))) for way in WAYS
]
"""The ways to halve a gap: `make test` tries the others against SQLite only. MySQL must have room
for as many digits in the middle of a board and at its end."""
SECONDS = [
    pytest.param(second, marks=nightly_unless(second == "the anchor's move")) for second in SECOND
]
"""The writes beside a drag: `make test` tries the others against SQLite only."""


@pytest.fixture(scope="module")
async def stores(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stores]:
    directory: Path = tmp_path_factory.mktemp("real")
    async with gateway_on(real_settings(stack, directory, first_shard(stack))) as gateway:
        yield gateway.stores
        await settle()


@pytest.mark.parametrize("seed", range(scaled(1, 3)))
async def test_whatever_is_done_at_once_has_an_order_that_explains_every_answer_and_page(
    stores: Stores, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(arrange, "CHUNK", 2)
    history = History(_people(stores), random.Random(seed))
    await history.begin()
    await history.run(clients=8, calls=14)
    await history.check()
    assert history.refused < len(history.calls) / 2


@pytest.mark.parametrize("second", SECONDS)
async def test_a_drag_and_another_write_end_as_one_after_the_other(
    stores: Stores, stack: Stack, second: str
) -> None:
    with waits_for_locks(stack) as waits:

        async def halted(write: "asyncio.Task[Any]") -> None:
            while not write.done() and not await asyncio.to_thread(waits):
                pass

        assert await interleave(_people(stores), SECOND[second], halted) > 20


@contextmanager
def waits_for_locks(stack: Stack) -> Iterator[Callable[[], bool]]:
    """A function that tells whether a transaction waits for a row's lock on a server."""
    name, password = (stack.settings[f"mysql.{part}"] for part in ("user", "password"))
    with ExitStack() as opened:
        servers = [
            opened.enter_context(
                pymysql.connect(
                    host="127.0.0.1",
                    port=server.port,
                    user=name,
                    password=password,
                    connect_timeout=300,
                )
            )
            for server in stack.services.values()
            if isinstance(server, MariaDB)
        ]

        def waits() -> bool:
            found = 0
            for server in servers:
                with server.cursor() as cursor:
                    cursor.execute("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'")
                    [(_, count)] = cursor.fetchall()
                    found += int(count)
            return found > 0

        yield waits


@pytest.mark.parametrize("way", SOME)
async def test_a_milliseconds_gap_takes_83_drags_and_no_row_is_spread(
    stores: Stores, way: str
) -> None:
    await halve(stores, _people(stores), way)


def _people(stores: Stores) -> People:
    return People(stores, prefix=f"u{secrets.token_hex(4)}_")
