"""A queue that never answers: no read and no write waits for it."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from feed_engine.outbox import completion
from tests.gateways import embedded_gateway

pytestmark = pytest.mark.anyio
HOME = "{ homeFeed(first: 5) { visitId edges { node { title } } } }"


async def test_reads_and_writes_are_answered_while_no_job_can_be_queued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call of the queue waits until the test ends it. The work is then still in the outbox."""
    never = asyncio.Event()
    calls = 0

    async def hangs(*args: Any, **options: Any) -> None:
        nonlocal calls
        calls += 1
        await never.wait()

    async with embedded_gateway(tmp_path) as gateway:
        await gateway.sign_up("ann", "bob")
        board = await gateway.board("ann", "Tea")
        await completion.settle()
        monkeypatch.setattr(gateway.stores.queue, "enqueue", hangs)
        pin = await gateway.pin("ann", board, "Gyokuro")
        await gateway.mutate("bob", "followUser", "user { id }", userId=str(gateway.people["ann"]))
        await gateway.data(HOME, "bob")
        found = await gateway.data(
            "query($id: ID!) { node(id: $id) { ... on Pin { title } } }", "bob", id=pin
        )
        assert found["node"]["title"] == "Gyokuro"
        assert calls >= 2
        assert (await gateway.stores.shards.outbox.backlog()).rows >= 2
        never.set()
        await completion.settle()
