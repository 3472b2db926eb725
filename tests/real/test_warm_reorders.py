"""A cached board stays in the caches when its pins are dragged: readers need no shard."""

import secrets
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deploy.stack import Stack
from gateway.site.runtime import Runtime
from tests.gateways import Gateway
from tests.real.configurations import both
from tests.real.test_round_trips import Counted

pytestmark = pytest.mark.anyio
PAGE = """query($id: ID!, $after: String) { board(id: $id) { pinCount cover { id }
    pins(first: 4, after: $after) { edges { cursor node { id title } } } } }"""


async def _pins(reader: Gateway, board: str, after: str | None = None) -> list[str]:
    read = await reader.data(PAGE, id=board, after=after)
    assert read["board"]["pinCount"] == 9
    return [edge["node"]["id"] for edge in read["board"]["pins"]["edges"]]


async def test_the_next_page_after_a_drag_costs_no_read_of_the_shards(
    stack: Stack, tmp_path: Path
) -> None:
    async with both(stack, tmp_path) as gateways:
        for gateway in gateways:
            await _drag_and_read(gateway)


async def _drag_and_read(gateway: Gateway) -> None:
    ann = f"ann_{secrets.token_hex(4)}"  # the servers may have names of earlier runs
    await gateway.sign_up(ann)
    board = await gateway.board(ann, "Board")
    pins = [await gateway.pin(ann, board, str(number)) for number in range(9)][::-1]
    trips: Counter[str] = Counter()
    shards: Any = Shards(gateway.stores.shards, trips)
    stores = gateway.stores._replace(shards=shards)
    feeds = replace(gateway.runtime.feeds, stores=stores)
    reader = Gateway(Runtime(stores, feeds), gateway.executor, gateway.people)
    await gateway.settle()
    await _pins(reader, board)
    after = (await reader.data(PAGE, id=board))["board"]["pins"]["edges"][-1]["cursor"]
    await _pins(reader, board, after)
    trips.clear()
    for moved, anchor in ((8, 0), (0, 5), (3, 4), (7, 1)):
        dragged, below = pins[moved], pins[anchor]
        await gateway.mutate(
            ann, "reorderPin", "orderVersion", boardId=board, pinId=dragged, beforePinId=below
        )
        pins.remove(dragged)
        pins.insert(pins.index(below) + 1, dragged)
        assert await _pins(reader, board) == pins[:4]
    assert not trips


class Shards:
    """Shards whose reads are counted."""

    def __init__(self, shards: Any, trips: Counter[str]) -> None:
        self._shards = shards
        self.mappings = Counted(shards.mappings, "mappings", trips)
        self.mod = Counted(shards.mod, "mod", trips)
        self.objects = Objects(shards.objects, "objects", trips)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shards, name)


class Objects(Counted):
    def topology(self) -> Any:
        return self._store.topology()
