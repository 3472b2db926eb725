"""Metrics of the process itself: how late its event loop is, how long the garbage collector stops
it, its memory and descriptors."""

import asyncio
import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from prometheus_client import GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector, CollectorRegistry

from datasources.latencies import CALL_BOUNDS, Latencies
from gateway.observe import histograms

LOOK_SECONDS = 0.25
"""Seconds between two measurements of the event loop's delay."""


class ProcessHealth(Collector):
    """The delays of one process, from its event loop and its garbage collector."""

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self.lag = Latencies(CALL_BOUNDS)
        self.pauses = [Latencies(CALL_BOUNDS) for _ in range(3)]
        self._began = 0.0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Measure inside the block, which runs in an event loop."""
        loop = asyncio.get_running_loop()
        timer: asyncio.TimerHandle | None = None

        def look(due: float) -> None:
            nonlocal timer
            self.lag.add(max(0.0, loop.time() - due))
            ask()

        def ask() -> None:
            nonlocal timer
            due = loop.time() + LOOK_SECONDS
            timer = loop.call_at(due, look, due)

        gc.callbacks.append(self.collected)
        ask()
        try:
            yield
        finally:
            gc.callbacks.remove(self.collected)
            if timer is not None:
                timer.cancel()

    def collected(self, phase: str, info: dict[str, Any]) -> None:
        """Called at the start and the end of each pass of the garbage collector."""
        if phase == "start":
            self._began = self._clock()
        else:
            self.pauses[info["generation"]].add(self._clock() - self._began)

    def collect(self) -> Iterable[Metric]:
        """`pinway_event_loop_lag_seconds`, `pinway_gc_pause_seconds{generation}`."""
        lag = HistogramMetricFamily(
            "pinway_event_loop_lag_seconds",
            f"Seconds that the event loop came late to a timer, measured each {LOOK_SECONDS:g} s: "
            "every request waits that long for each of its steps.",
        )
        histograms.add(lag, [], self.lag)
        pauses = HistogramMetricFamily(
            "pinway_gc_pause_seconds",
            "Seconds that passes of the garbage collector stopped the process.",
            labels=["generation"],
        )
        for generation, latencies in enumerate(self.pauses):
            histograms.add(pauses, [str(generation)], latencies)
        yield from (lag, pauses)


def register_process(registry: CollectorRegistry) -> None:
    """Add the usual metrics of a Python process: `process_*` and `python_*`."""
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    GCCollector(registry=registry)
