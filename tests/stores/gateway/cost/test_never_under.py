"""The estimate of an operation is never lower than what it reads, calls and makes."""

import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from bench.abuse.attacks.random_operations import Drawn
from bench.call_counts import Counts
from datasources.valkey import ValkeyServer
from feed_engine.feeds.settings import Feeds
from feed_engine.related.build import build
from feed_engine.search.build import build as build_index
from gateway.cost.rules import LEAF
from gateway.demo.fill import demo_viewer_id
from gateway.settings import read_settings
from gateway.site.runtime import Runtime
from resolvers.context import Context
from resolvers.scan_limit import MOST_A_REQUEST
from schema import schema
from tests.demo import copy_demo
from tests.embedded_stores import flush
from tests.gateways import Gateway, gateway_on
from tests.scale import seeds

pytestmark = pytest.mark.anyio
BLOCKS = 4  # calls and rows, at most, by which a request reads its viewer's two lists of blocks
OPERATIONS = 240


@pytest.fixture(scope="module")
async def demo(
    filled_demo: Path, valkey: ValkeyServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[Gateway, Counts, dict[str, list[str]]]]:
    """The demo's content behind counted stores, and some of its ids by type."""
    await flush(valkey)
    directory = copy_demo(filled_demo, tmp_path_factory.mktemp("demo") / "data")
    settings = read_settings(
        options={
            "data_dir": directory,
            "jobs.run": False,
            "stores.mapping_cache": valkey.url(0),
            "limits.profile": "trusted",
            "limits.max_cost": 0,
        },
    )
    async with gateway_on(settings) as gateway:
        viewer = await demo_viewer_id(gateway.stores)
        assert viewer is not None
        gateway.people["demo"] = viewer
        pages = await gateway.data(
            "{ User: users(first: 50) { edges { node { id } } } "
            "Board: boards(first: 50) { edges { node { id } } } "
            "Pin: pins(first: 100) { edges { node { id comments(first: 2) "
            "{ edges { node { id } } } } } } "
            "Interest: interests { edges { node { id } } } }"
        )
        ids = {name: [e["node"]["id"] for e in page["edges"]] for name, page in pages.items()}
        ids["Comment"] = [
            edge["node"]["id"]
            for pin in pages["Pin"]["edges"]
            for edge in pin["node"]["comments"]["edges"]
        ]
        ids["Section"] = await sections(gateway)
        counts = Counts()
        stores, races = counts.of(gateway.stores), gateway.runtime.feeds
        feeds = Feeds(stores, races.pools_race, races.feeds_race)
        walks = gateway.runtime.walks
        assert walks is not None
        await build(gateway.stores, walks.path)
        search = gateway.runtime.search
        assert search is not None
        await build_index(gateway.stores, search)
        gateway.runtime = Runtime(stores, feeds, walks=walks, search=search)
        yield gateway, counts, ids


async def sections(gateway: Gateway) -> list[str]:
    """Sections of some boards, with most of the boards' pins in them."""
    found = await gateway.data(
        "{ boards(first: 8) { edges { node { id owner { id username } "
        "pins(first: 20) { edges { node { id } } } } } } }"
    )
    ids = []
    for edge in found["boards"]["edges"]:
        board = edge["node"]
        name = board["owner"]["username"]
        gateway.people.setdefault(name, int(board["owner"]["id"]))
        parts = [await gateway.section(name, board["id"], part) for part in ("one", "two")]
        for number, pin in enumerate(board["pins"]["edges"]):
            await gateway.mutate(
                name,
                "movePinToSection",
                "pin { id }",
                pinId=pin["node"]["id"],
                sectionId=parts[number % 2],
            )
        ids += parts
    return ids


def made(data: Any) -> float:
    """The objects and leaves of a response, as the estimate counts them."""
    if isinstance(data, dict):
        return 1 + sum(made(value) for value in data.values())
    if isinstance(data, list):
        return sum(made(item) for item in data)
    return LEAF


@pytest.mark.parametrize("seed", seeds(2, 16))
async def test_estimates_are_never_under(
    demo: tuple[Gateway, Counts, dict[str, list[str]]], valkey: ValkeyServer, seed: int
) -> None:
    gateway, counts, ids = demo
    drawing, compared = random.Random(seed), 0
    for number in range(OPERATIONS // 4):
        drawn = Drawn(schema._schema, drawing, ids)
        query = drawn.query()
        document = gateway.executor.documents.get(query)
        assert not document.errors, (query, document.errors)
        operation: Any = document.operation(None)
        estimate = operation.estimate.amount(drawn.variables)
        if estimate.rows > 60_000:
            continue  # no more than takes a moment to run
        if number % 2:
            await forget(gateway, valkey)
        counts.clear()
        viewer_id = gateway.people["demo"] if drawing.random() < 0.5 else None
        context = Context(
            *(gateway.stores, gateway.runtime.feeds, viewer_id, "http://pinway.test", str),
            walks=gateway.runtime.walks,
            search=gateway.runtime.search,
        )
        result = await gateway.executor.run(query, drawn.variables, None, context)
        response = orjson.loads(result.body())
        further = MOST_A_REQUEST - context.scanning.left
        told = (query, drawn.variables, estimate, dict(counts.calls), counts.entries, further)
        most = estimate.calls + further + (BLOCKS if viewer_id else 0)
        assert counts.calls.total() <= most, told
        rows = estimate.rows + 8 * further + (BLOCKS if viewer_id else 0)
        assert counts.entries + made(response["data"]) <= rows + 1e-6, told
        compared += further == 0
    assert compared > OPERATIONS // 4 // 2


@pytest.mark.parametrize("text", ["the", "a", "python", "design", "pin"])
async def test_the_estimates_of_searches_are_never_under(
    demo: tuple[Gateway, Counts, dict[str, list[str]]], valkey: ValkeyServer, text: str
) -> None:
    gateway, counts, _ = demo
    node = "node { __typename ... on Pin { id } ... on Board { id } ... on User { id } }"
    page = f"edges {{ cursor highlights {{ field parts {{ text matched }} }} {node} }}"
    for query in (
        f'{{ search(text: "{text}", first: 100) {{ {page} }} }}',
        f'{{ search(text: "{text}", first: 2) {{ {page} }} }}',
        f'{{ suggest(prefix: "{text}", first: 40) {{ text parts {{ text matched }} {node} }} }}',
        f'{{ suggest(prefix: "{text}") {{ text parts {{ text matched }} {node} }} }}',
    ):
        operation: Any = gateway.executor.documents.get(query).operation(None)
        estimate = operation.estimate.amount({})
        await forget(gateway, valkey)
        counts.clear()
        data = await gateway.data(query)
        told = (query, estimate, dict(counts.calls), counts.entries)
        assert counts.calls.total() <= estimate.calls, told
        assert counts.entries + made(data) <= estimate.rows + 1e-6, told
        assert data.get("search", {"edges": True})["edges"], "something is found"


async def forget(gateway: Gateway, valkey: ValkeyServer) -> None:
    """Start with empty caches."""
    await flush(valkey)
    await gateway.stores.object_cache.close()  # one in process has nothing to close but its values
