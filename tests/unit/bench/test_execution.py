"""The benchmark of the executor compares the same work for all contenders, and its rows say which
goals hold."""

import json
import sys
from pathlib import Path

import httpx
import pytest

from bench.execution import environment, feed, inprocess, memory, shapes
from bench.execution.apps import floor
from bench.execution.data import VIEWERS, body, expected
from bench.execution.openloop import percentile
from bench.execution.servers import BenchError
from bench.rows import Row, table
from gateway.settings import Settings
from gateway.site.executors import executor_of

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("first", [1, 50])
async def test_every_python_contender_gives_the_expected_answer(first: int) -> None:
    executor = executor_of(feed.build(), Settings())
    for viewer in (0, 1, VIEWERS - 1):
        wanted = expected(viewer, first)
        context = feed.stock_context(viewer)
        answers = {
            "floor": await floor.answer(viewer, first),
            "stock": await inprocess.stock(feed.build(), body(first), lambda c=context: c)(),
            "ours": await inprocess.ours(
                executor, body(first), lambda viewer=viewer: feed.our_context(viewer)
            )(),
        }
        answers["stock"] = json.dumps(
            json.loads(answers["stock"]), separators=(",", ":"), ensure_ascii=False
        ).encode()
        assert answers == dict.fromkeys(answers, wanted)


async def test_the_gateways_endpoint_gives_the_expected_answer() -> None:
    headers = {"content-type": "application/json", "authorization": "Bearer 7"}
    from bench.execution.apps import ours  # it changes the collector's settings

    try:
        transport = httpx.ASGITransport(ours.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://a") as client:
            answer = await client.post("/graphql", content=body(50), headers=headers)
    finally:
        ours._passes.__exit__(None, None, None)
    assert (answer.status_code, answer.content) == (200, expected(7, 50))


async def test_all_shapes_have_the_same_answer_from_all_contenders() -> None:
    assert len(await inprocess.measure_shapes(0.0, 1)) == len(shapes.OPERATIONS)


async def test_all_plans_whose_memory_is_measured_are_in_the_cache() -> None:
    found = await memory.measure_memory(20)
    assert (found["plans"], found["counted"] > 0) == (20, True)


def test_viewers_have_pages_of_their_own() -> None:
    assert len({expected(viewer, 50) for viewer in range(VIEWERS)}) == VIEWERS


def test_a_row_says_whether_its_goal_holds() -> None:
    rows = [
        Row("faster", 1.25, "x", ">= 1.2", "a peer"),
        Row("slower", 1.19, "x", ">= 1.2", "a peer"),
        Row("late", 6.5, "", "<= 6"),
        Row("told", 7.0, "MiB"),
    ]
    assert [row.holds for row in rows] == [True, False, False, None]
    assert [line.split()[0] for line in table(rows).splitlines()[1:]] == [
        *("faster", "slower", "late", "told"),
    ]


def test_percentiles_are_of_the_values_themselves() -> None:
    values = [float(n) for n in range(1, 1001)]
    assert (percentile(values, 0.5), percentile(values, 0.99)) == (501.0, 991.0)


def test_nothing_is_measured_when_compiled_code_is_wanted_and_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(environment, "compiled", lambda interpreter: False)
    monkeypatch.setattr(environment, "WANTED", True)
    with pytest.raises(BenchError, match="make bench NAME=execution"):
        environment.python(None)
    monkeypatch.setattr(environment, "WANTED", False)
    assert environment.python(None) == Path(sys.executable)
