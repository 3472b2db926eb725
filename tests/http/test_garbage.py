"""A request's objects are freed when it ends, by their reference counts.

The collector freezes objects that survive (`gateway/execution/collector.py`), so garbage in cycles
stays until the memory in use has doubled.
"""

import asyncio
import gc
from collections import Counter
from pathlib import Path

import pytest

from feed_engine.outbox.completion import settle
from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio
OWN = ("datasources", "feed_engine", "gateway", "graphql", "loaders", "resolvers", "schema")


QUERIES = {
    "home feed": "{ homeFeed { edges { node { id likeCount board { name } } } } }",
    "following feed": "{ followingFeed { edges { node { id owner { username } } } } }",
    "slices": "{ boards { edges { node { pins(first: 100) { edges { node { title likeCount board "
    "{ name } } } } } } } }",
    "abstract": "query($id: ID!) { node(id: $id) { id ... on Pin { title board { name } } } "
    "nodes(ids: [$id]) { id ... on Pin { title } } }",
    "type": 'query($n: Int = 3) { __type(name: "Pin") { name fields { name } } pins(first: $n) '
    "{ pageInfo { hasNextPage } } }",
    "introspection": "{ __schema { types { name fields @skip(if: false) { name } } } }",
    "wrong variable": "query($wrong: Int!) { pins(first: $wrong) { pageInfo { hasNextPage } } }",
    "wrong argument": "{ pins(first: 0) { pageInfo { hasNextPage } } }",
    "too dear": "{ users(first: 100) { edges { node { boards(first: 100) { edges { node { "
    "pins(first: 100) { edges { node { id } } } } } } } } } }",
    "mutation": 'mutation { createBoard(input: {name: "Kites"}) { board { id } errors { message } '
    "} }",
}


async def test_a_request_leaves_nothing_to_the_collector(tmp_path: Path) -> None:
    async with embedded_gateway(tmp_path) as gateway:
        pin = await fill(gateway)
        left = {}
        for name, query in QUERIES.items():
            await gateway.ask(query, "ben", id=pin)
            await settled()
            found = await garbage(gateway, query, pin)
            if found:
                left[name] = found
        assert left == {}


async def fill(gateway: Gateway) -> str:
    """300 pins, more than are resolved at once, of a followed user. Returns the id of a pin."""
    await gateway.sign_up("ann", "ben")
    await gateway.mutate("ben", "followUser", "user { id }", userId=str(gateway.people["ann"]))
    for name in ("Kites", "Boats", "Trains"):
        payload = await gateway.mutate("ann", "createBoard", "board { id }", name=name)
        pin = f'createPin(input: {{boardId: "{payload["board"]["id"]}", title: "One"}})'
        for _ in range(4):
            fields = "".join(f"p{n}: {pin} {{ pin {{ id }} }}" for n in range(25))
            made = await gateway.data(f"mutation {{ {fields} }}", "ann")
    return str(made["p0"]["pin"]["id"])


async def garbage(gateway: Gateway, query: str, pin: str) -> dict[str, int]:
    """Our own objects, and graphql-core's, that the collector finds after three requests."""
    gc.collect()
    gc.disable()
    try:
        for n in range(3):  # a new document each time, and then a known one
            await gateway.ask(query + " " * (n % 2), "ben", id=pin, wrong="three")
        await settled()
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        kinds = Counter(f"{type(it).__module__}.{type(it).__qualname__}" for it in gc.garbage)
        return {kind: number for kind, number in kinds.items() if kind.startswith(OWN)}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


async def settled() -> None:
    """Let the jobs of a visit run, and large lists be freed in slices."""
    await settle()
    for _ in range(50):
        await asyncio.sleep(0)
