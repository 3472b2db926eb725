"""Turns of the event loop stay short during an attack: however many requests a client sends at the
same time, all of them together do about as much in one turn as one request does.

The work is counted in store calls. `python -m bench.abuse` measures the time that an honest client
waits, during many more attacks.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from typing import Any

import orjson
import pytest

from bench.abuse.attacks.shapes import counts, pages_of_pins
from bench.call_counts import Counts
from feed_engine.feeds.settings import Feeds
from gateway.app import create_site
from gateway.http.endpoint import Answer
from gateway.settings import Auth, Settings
from gateway.site.runtime import Runtime
from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio
ATTACKERS = 90
"""Concurrent requests; beyond 100 they are refused at once."""
ATTACKS = {
    "operations as dear as allowed": pages_of_pins(30),
    "counts of all users": counts(100),
    "cheap reads": "{ users(first: 1) { edges { node { id } } } }",
}
HONEST = (
    "{ users(first: 10) { edges { node { id boards { edges { node { name pinCount } } } } } } }"
)


class World:
    """A gateway's endpoint over counted stores."""

    def __init__(self, gateway: Gateway) -> None:
        self.counts = Counts()
        feeds = gateway.runtime.feeds
        stores = self.counts.of(gateway.stores)
        runtime = Runtime(stores, Feeds(stores, feeds.pools_race, feeds.feeds_race))
        app: Any = create_site(Settings(auth=Auth(secret="s" * 32)), runtime).public
        self._answer = app.answering(b"/graphql", {b"host": b"localhost"})

    def ask(self, query: str, address: str) -> Awaitable[Answer]:
        body = orjson.dumps({"query": query})
        answer: Awaitable[Answer] = self._answer(
            {b"content-type": b"application/json"}, body, address
        )
        return answer

    async def crowded(self, attack: str, attackers: int) -> tuple[int, list[Answer]]:
        """The most store calls in one turn of the event loop, and the answers. Each call represents
        work for which all other requests wait."""
        self.counts.clear()
        tasks = [asyncio.ensure_future(self.ask(attack, "10.0.0.66")) for _ in range(attackers)]
        most = before = 0
        while not all(task.done() for task in tasks):
            await asyncio.sleep(0)
            calls = self.counts.calls.total()
            most, before = max(most, calls - before), calls
        return most, [task.result() for task in tasks]


@pytest.fixture(scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with embedded_gateway(tmp_path_factory.mktemp("data")) as gateway:
        await gateway.sign_up(*(f"user{number}" for number in range(20)))
        for number in range(20):
            board = await gateway.board(f"user{number}", "A board")
            await gateway.pin(f"user{number}", board, "A pin")
        world = World(gateway)
        for query in ATTACKS.values():
            await world.ask(query, "10.0.0.1")  # known, and in the caches
        yield world


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("operations as dear as allowed", marks=pytest.mark.nightly),
        "counts of all users",
        "cheap reads",
    ],
)
async def test_many_requests_of_a_client_crowd_a_turn_no_more_than_one(
    world: World, name: str
) -> None:
    alone, _ = await world.crowded(ATTACKS[name], 1)
    together, answers = await world.crowded(ATTACKS[name], ATTACKERS)
    assert together <= alone + 5
    assert {answer.status for answer in answers} <= {200, 429}
