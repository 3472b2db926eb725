"""Documents that were made to keep a gateway busy, or to fill its memory, do neither."""

import asyncio
import gc
import tracemalloc
from collections.abc import Callable
from threading import Event
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from bench.abuse.attacks.shapes import SHAPES, fan_out, merging
from gateway.documents.reader import ERRORS, Read
from gateway.execution.client_errors import MESSAGE
from gateway.execution.collector import short_passes
from gateway.execution.executor import Executor
from gateway.settings import Http, Settings
from gateway.site.executors import new_executor
from tests.scale import scaled

pytestmark = pytest.mark.anyio
CONTEXT: Any = SimpleNamespace(fault=None, again=lambda: False, viewer_id=None, asked=None)
MIB = 1024**2
REFUSED = scaled(15, 60)
"""The number of refused documents. The memory that they may leave is in proportion to it."""

FAN_OUT, MERGING = fan_out("1"), merging()


async def errors(executor: Executor, query: str) -> list[dict[str, Any]]:
    result = await executor.run(query, None, None, CONTEXT)
    found: list[dict[str, Any]] = orjson.loads(result.body()).get("errors", [])
    return found


async def test_fragments_that_fan_out_are_refused_before_anything_is_compiled() -> None:
    executor = new_executor(Settings())
    assert len(FAN_OUT) < 900
    await errors(executor, "{ __typename }")
    gc.collect()
    tracemalloc.start()
    try:
        found = await errors(executor, FAN_OUT)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert {error["extensions"]["code"] for error in found} == {"GRAPHQL_VALIDATION_FAILED"}
    assert "selections" in found[0]["message"]
    assert "at most 2,000" in found[0]["message"]
    assert peak < 4 * MIB


async def test_documents_that_are_refused_leave_next_to_nothing() -> None:
    executor = new_executor(Settings())
    await errors(executor, MERGING)
    gc.collect()
    tracemalloc.start()
    try:
        for n in range(REFUSED):
            assert await errors(executor, MERGING + " " * n)
        peak = tracemalloc.get_traced_memory()[1]
        gc.collect()
        left = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert executor.stats.documents == 0
    assert peak < REFUSED / 60 * 24 * MIB
    assert left < REFUSED / 60 * MIB


async def test_refused_documents_leave_nothing_to_a_collector_that_sets_aside_what_lives() -> None:
    executor = new_executor(Settings())
    text = SHAPES["few unknown fields"](1_900)
    await errors(executor, text)
    with short_passes():
        tracemalloc.start()
        try:
            for n in range(REFUSED // 5):
                assert await errors(executor, text + " " * n)
            most, tries = REFUSED / 60 * 2 * MIB, 1_000
            while (left := tracemalloc.get_traced_memory()[0]) >= most and tries:
                tries -= 1
                await asyncio.sleep(0.01)  # the thread that read the last document frees it
        finally:
            tracemalloc.stop()
    assert left < most


@pytest.mark.parametrize("shape", SHAPES)
async def test_every_shape_is_answered_in_few_words_within_bounds(shape: str) -> None:
    executor = new_executor(Settings())
    document = await executor.documents.read(SHAPES[shape](5_000))
    assert len(document.errors) <= ERRORS + 1
    for error in document.errors:
        assert len(error.message) <= MESSAGE + len("...")
        assert error.nodes is None
    if document.errors:
        assert executor.stats.documents == 0
    else:
        assert executor.stats.bytes == document.bytes < 8 * MIB


async def test_known_documents_are_answered_while_a_new_one_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    executor = new_executor(Settings())
    assert await errors(executor, "{ __typename }") == []
    reader, begun, go_on = executor.documents._reader, asyncio.Event(), Event()
    loop, read = asyncio.get_running_loop(), reader.read

    def held(text: str, pause: Callable[[], None] | None = None) -> Read:
        loop.call_soon_threadsafe(begun.set)
        go_on.wait()
        return read(text, pause)

    monkeypatch.setattr(reader, "read", held)
    reading = asyncio.ensure_future(errors(executor, MERGING))
    await begun.wait()
    for _ in range(20):
        assert await errors(executor, "{ __typename }") == []
    assert not reading.done()
    go_on.set()
    assert await reading


async def test_a_document_that_is_read_too_long_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    executor = new_executor(Settings(http=Http(request_timeout=0.01)))
    go_on, read = Event(), executor.documents._reader.read

    def held(text: str, pause: Callable[[], None] | None = None) -> Read:
        go_on.wait()
        return read(text, pause)

    monkeypatch.setattr(executor.documents._reader, "read", held)
    (error,) = await errors(executor, MERGING)
    go_on.set()
    assert error["extensions"]["code"] == "TIMEOUT"
    assert not executor.documents._reading
