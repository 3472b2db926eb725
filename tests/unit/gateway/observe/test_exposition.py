"""Metrics as text: the same bytes as from Prometheus' own writer, in slices, and small."""

import asyncio

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from gateway.observe.answers import MOST_NAMES, NAME, Served
from gateway.observe.exposition import SLICE, of_workers, written
from gateway.observe.metrics import HttpCollector, new_registry

pytestmark = pytest.mark.anyio
MOST_BYTES = 750_000


def full() -> CollectorRegistry:
    """Metrics with as many names of operations, as long as a client can make them."""
    served = Served()
    for number in range(10 * MOST_NAMES):
        for type_ in ("query", "mutation"):
            served.ran(type_, f"{number:0{NAME}}", 0.001)
            served.ran(type_, f"{number:0190000}", 0.001)
    for status in (200, 400, 429):
        served.add(status, 0.001, ["TIMEOUT"])
    return new_registry(HttpCollector(served))


async def test_the_text_is_prometheus_own() -> None:
    registry = full()
    text, own = await written(registry.collect()), generate_latest(registry)
    mine, theirs = (
        [line for line in each.splitlines() if not line.startswith((b"process_", b"python_gc"))]
        for each in (text, own)
    )
    assert mine == theirs


async def test_metrics_stay_small_and_other_tasks_go_on_while_they_are_written() -> None:
    registry, turns = full(), 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    text = await written(registry.collect())
    samples = sum(not line.startswith(b"#") for line in text.splitlines())
    assert samples > 10 * SLICE
    assert turns >= samples / SLICE
    assert len(text) < MOST_BYTES
    turns = 0
    merged = await of_workers(dict.fromkeys(range(1, 5), text))
    assert turns >= 4 * samples / (10 * SLICE) - 4
    counting.cancel()
    assert len(merged) < 5 * MOST_BYTES


async def test_workers_texts_are_joined_by_family() -> None:
    first = b'# HELP a_total A.\n# TYPE a_total counter\na_total{b="} 1"} 1.0\n'
    second = first + b"# HELP c C.\n# TYPE c gauge\nc 2.0\n# HELP d D.\n# TYPE d gauge\n"
    merged = (await of_workers({1: first, 2: second, 3: None})).decode()
    families = {one.name: one for one in text_string_to_metric_families(merged)}
    assert families.keys() == {"pinway_worker_up", "a", "c", "d"}
    assert [sample.labels for sample in families["a"].samples] == [
        {"b": "} 1", "worker": "1"},
        {"b": "} 1", "worker": "2"},
    ]
    assert [(s.labels, s.value) for s in families["c"].samples] == [({"worker": "2"}, 2.0)]
    assert families["a"].documentation == "A."
    assert families["a"].type == "counter"
    assert merged.count("# TYPE a_total counter") == 1
