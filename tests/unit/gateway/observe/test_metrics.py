"""Metrics of the state and of the process: unknown values have no sample, and no value is +Inf."""

import asyncio
import gc
import math
import random
from types import SimpleNamespace
from typing import Any, cast

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from datasources.cache_lists import CacheLists, begun, first_list, turned
from datasources.circuit import CircuitState, Mode
from datasources.protocols import Backlog, GenerationState, Lane, Reading, Sides
from feed_engine.feeds.counts import FeedCounts
from feed_engine.speculation import Race
from gateway.observe.answers import ANONYMOUS, FURTHER, MOST_NAMES, NAME, Served
from gateway.observe.frequent_names import CANDIDATES, Frequent
from gateway.observe.health import NOT_READ, PASSED_BY
from gateway.observe.metrics import FeedCollector, FeedRowCollector
from gateway.observe.process import LOOK_SECONDS, ProcessHealth
from gateway.observe.state import State, StateCollector
from gateway.observe.statusz import content
from gateway.observe.stores import CacheListCollector, CircuitCollector, GenerationCollector


def samples(collector: Collector) -> dict[tuple[str, ...], float]:
    registry = CollectorRegistry()
    registry.register(collector)
    return {
        (sample.name, *(f"{k}={v}" for k, v in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(generate_latest(registry).decode())
        for sample in family.samples
    }


def test_what_could_not_be_learned_has_no_sample() -> None:
    told = samples(StateCollector(State(at=100.0)))
    assert told == {("pinway_ready",): 0.0}


def test_the_rows_of_popular_pins_and_the_horizon_of_shown_pins_are_told() -> None:
    counts = FeedCounts(popular_moved=3, shown_forgotten=5)
    counts.popular_writes[2] = 7
    told = samples(FeedRowCollector(counts, shown_days=2))
    written = {name: value for name, value in told.items() if value}
    assert written == {
        ("pinway_popular_writes_total", "row=2"): 7.0,
        ("pinway_popular_moved_total",): 3.0,
        ("pinway_shown_horizon_seconds",): 172_800.0,
        ("pinway_shown_forgotten_total",): 5.0,
    }
    assert len(told) == len(counts.popular_writes) + 3


def test_the_state_is_told_in_seconds_and_rows() -> None:
    state = State(
        at=100.0,
        stores={"queue": {"state": "well"}, "feeds_primary": {"state": "no answer", "costs": "-"}},
        ready=True,
        lanes=[Lane("high", 3, 2.5), Lane("normal", 1, None)],
        backlog=Backlog(7, 2, 1, 40_000, {}),
        lags={"MySQL001B": 1.0, "MySQL002B": None},
    )
    assert samples(StateCollector(state)) == {
        ("pinway_ready",): 1.0,
        ("pinway_store_up", "store=queue"): 1.0,
        ("pinway_store_up", "store=feeds_primary"): 0.0,
        ("pinway_queue_jobs", "priority=high"): 3.0,
        ("pinway_queue_jobs", "priority=normal"): 1.0,
        ("pinway_queue_oldest_age_seconds", "priority=high"): 2.5,
        ("pinway_queue_oldest_age_seconds", "priority=normal"): 0.0,
        ("pinway_outbox_rows",): 7.0,
        ("pinway_outbox_parked_rows",): 2.0,
        ("pinway_outbox_set_aside_rows",): 1.0,
        ("pinway_outbox_oldest_age_seconds",): 60.0,
        ("pinway_replication_running", "server=MySQL001B"): 1.0,
        ("pinway_replication_running", "server=MySQL002B"): 0.0,
        ("pinway_replication_lag_seconds", "server=MySQL001B"): 1.0,
    }


def test_a_cache_that_answers_and_may_not_be_read_is_up() -> None:
    stores = {
        "mapping_cache": {"state": f"its server {NOT_READ}: it was shut", "costs": "-"},
        "object_cache": {"state": f"a:1 {PASSED_BY}; its last failure: no answer", "costs": "-"},
    }
    told = samples(StateCollector(State(at=100.0, stores=stores)))
    assert told["pinway_store_up", "store=mapping_cache"] == 1.0
    assert told["pinway_store_up", "store=object_cache"] == 0.0


def test_latencies_that_were_not_measured_have_no_sample() -> None:
    async def idle() -> dict[tuple[str, ...], float]:
        nothing = Sides(None, None)  # type: ignore[arg-type]
        return samples(FeedCollector({"feeds": Race(nothing, cutoff=0.05, deadline=2.0)}))

    told = asyncio.run(idle())
    assert not [key for key in told if key[0] == "pinway_feed_latency_seconds"]
    assert all(math.isfinite(value) for value in told.values())


@pytest.mark.parametrize("generation", [0, 1, 2])
def test_a_pass_of_the_collector_is_measured(generation: int) -> None:
    now = iter([10.0, 10.25])
    health = ProcessHealth(clock=lambda: next(now))
    health.collected("start", {"generation": generation})
    health.collected("stop", {"generation": generation})
    name = "pinway_gc_pause_seconds_sum"
    assert samples(health)[name, f"generation={generation}"] == 0.25


def test_the_loop_is_watched_inside_the_block_alone() -> None:
    async def watch() -> ProcessHealth:
        health, before = ProcessHealth(), len(gc.callbacks)
        with health.watching():
            assert len(gc.callbacks) == before + 1
            await asyncio.sleep(1.5 * LOOK_SECONDS)
        assert len(gc.callbacks) == before
        return health

    health = asyncio.run(watch())
    assert samples(health)[("pinway_event_loop_lag_seconds_count",)] >= 1


def test_operations_without_a_name_and_with_a_long_name_are_counted_together() -> None:
    served = Served()
    served.ran("mutation", None, 0.001)
    served.ran("query", "", 0.001)
    for number in range(3):
        served.ran("query", f"Q{number}" + "x" * NAME, 0.001)
    served.ran("query", "x" * NAME, 0.001)
    assert {key: sum(each.counts) for key, each in served.operations.items()} == {
        ("mutation", ANONYMOUS): 1,
        ("query", ANONYMOUS): 1,
        ("query", FURTHER): 3,
        ("query", "x" * NAME): 1,
    }


def test_the_first_names_do_not_keep_the_most_frequent_names_out() -> None:
    served = Served()
    for number in range(40 * MOST_NAMES):
        served.ran("query", f"Attack{number % (2 * MOST_NAMES)}", 0.001)
    for number in range(200 * MOST_NAMES):
        served.ran("query", f"Client{number % 20}", 0.001)
    assert {("query", f"Client{number}") for number in range(20)} <= served.operations.keys()
    assert len(served.operations) <= MOST_NAMES + 3


def test_a_flood_of_new_names_does_not_displace_a_name_that_is_kept() -> None:
    served = Served()
    for _ in range(5):
        served.ran("query", "Client", 0.001)
    for number in range(50_000):
        served.ran("query", f"Attack{number}", 0.001)
        if number % 5_000 == 0:
            served.ran("query", "Client", 0.001)
    assert sum(served.operations["query", "Client"].counts) == 15


def test_the_time_of_all_names_only_grows() -> None:
    served, names = Served(), random.Random(5)
    for number in range(20_000):
        served.ran("query", f"Q{int(names.expovariate(0.01))}", 0.5)
        if number % 1_000 == 0:
            assert sum(sum(each.counts) for each in served.operations.values()) == number + 1
    assert sum(each.seconds for each in served.operations.values()) == 10_000.0


def test_the_names_that_may_be_kept_later_are_bounded() -> None:
    frequent: Frequent[str] = Frequent(10, lambda name: None)
    for number in range(10_000):
        frequent.add(f"{number}")
        frequent.add(f"{number % 1_000}")
        assert len(frequent) <= 10
        assert frequent.candidates <= CANDIDATES * 10 + 1


def test_the_status_page_sums_workers_and_shows_the_slowest() -> None:
    text = """# HELP pinway_errors_total Errors.
pinway_errors_total{code="TIMEOUT",worker="1"} 2.0
pinway_errors_total{code="TIMEOUT",worker="2"} 3.0
pinway_worker_up{worker="1"} 1.0
pinway_worker_up{worker="2"} 0.0
pinway_feed_cutoff_seconds{store="feeds",worker="1"} 0.02
pinway_feed_cutoff_seconds{store="feeds",worker="2"} 0.05
pinway_feed_mode{mode="well",side="primary",store="feeds",worker="1"} 1.0
pinway_feed_mode{mode="avoided",side="primary",store="feeds",worker="2"} 1.0
pinway_feed_latency_seconds{quantile="0.99",side="primary",store="feeds",worker="1"} 0.3
pinway_feed_latency_seconds{quantile="0.99",side="primary",store="feeds",worker="2"} 0.1
pinway_cache_circuit_mode{cache="object_cache",mode="well",server="a:1",worker="1"} 1.0
pinway_cache_circuit_mode{cache="object_cache",mode="avoided",server="a:1",worker="2"} 1.0
pinway_cache_circuit_mode{cache="object_cache",mode="well",server="b:1",worker="2"} 1.0
pinway_store_call_duration_seconds_bucket{le="0.1",store="queue"} 7.0
process_resident_memory_bytes 1e+06
"""
    shown = content(State(at=9.0, backlog=Backlog(2, 1, 0, 4_000, {})), text)
    assert shown["sums"]["pinway_errors_total"] == {"TIMEOUT": 5.0}
    assert shown["sums"]["process_resident_memory_bytes"] == {"": 1e6}
    assert [worker["up"] for worker in shown["workers"]] == [True, False]
    feeds = shown["feeds"]["feeds"]
    assert feeds["cutoff"] == 0.05
    assert feeds["sides"]["primary"] == {
        "latency": {"0.99": 0.3},
        "forced": False,
        "mode": "avoided",
    }
    assert [(one["server"], one["mode"]) for one in shown["circuits"]] == [
        ("a:1", "avoided"),
        ("b:1", "well"),
    ]
    outbox = {"rows": 2, "parked": 1, "set_aside": 0, "oldest": 5.0, "unreachable": []}
    assert shown["outbox"] == outbox
    assert (shown["queue"], shown["ready"]) == (None, False)


def test_the_reading_of_each_server_of_a_cache_is_told() -> None:
    states = [GenerationState("mapping_cache", Reading.SHUT, raised=2, unleased=30, shuts=True)]
    stores: Any = SimpleNamespace(generations=SimpleNamespace(states=lambda: states))
    assert samples(GenerationCollector(stores)) == {
        ("pinway_cache_generation_reading", "reading=shut", "server=mapping_cache"): 1.0,
        ("pinway_cache_generation_raised_total", "server=mapping_cache"): 2.0,
        ("pinway_cache_generation_shuts", "server=mapping_cache"): 1.0,
        ("pinway_cache_generation_unleased_total", "server=mapping_cache"): 30.0,
    }
    stores.generations = None
    assert not samples(GenerationCollector(stores))


def test_the_list_of_memcached_servers_is_told() -> None:
    lists = begun(first_list(["a:1"]), ["b:1"])
    stores: Any = SimpleNamespace(object_cache=SimpleNamespace(lists=lists))
    for found, number, changing in ((lists, 1, 1), (CacheLists(turned(lists).read), 2, 0)):
        stores.object_cache.lists = found
        assert samples(CacheListCollector(stores)) == {
            ("pinway_cache_list_number",): number,
            ("pinway_cache_list_changing",): changing,
        }
    assert not samples(CacheListCollector(cast(Any, SimpleNamespace(object_cache=None))))


def test_the_circuit_of_each_server_of_a_cache_is_told() -> None:
    states = [
        CircuitState("a:1", Mode.AVOIDED, "no answer", openings=2, passed=30, refused=4, owed=5),
        CircuitState("b:1", Mode.WELL, "", openings=0, passed=0, refused=0, owed=0),
    ]
    caches: Any = SimpleNamespace(
        object_cache=SimpleNamespace(circuits=lambda: states), mapping_cache=SimpleNamespace()
    )
    told = {key: value for key, value in samples(CircuitCollector(caches)).items() if value}
    avoided = ("cache=object_cache", "server=a:1")
    assert told == {
        ("pinway_cache_circuit_mode", "cache=object_cache", "mode=avoided", "server=a:1"): 1.0,
        ("pinway_cache_circuit_mode", "cache=object_cache", "mode=well", "server=b:1"): 1.0,
        ("pinway_cache_circuit_openings_total", *avoided): 2.0,
        ("pinway_cache_circuit_passed_total", *avoided): 30.0,
        ("pinway_cache_circuit_refused_total", *avoided): 4.0,
        ("pinway_cache_circuit_owed", *avoided): 5.0,
    }
