"""The content of the operators' page `/statusz`: the state of the stores, and some metrics of all
workers of this gateway."""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from gateway.observe.state import State

STATIC = Path(__file__).parents[1] / "static" / "statusz"
HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "cache-control": "no-cache",
}
_SAMPLE = re.compile(r"(\w+)(?:\{(.*)\})? (\S+)")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_SUMMED = {
    "pinway_http_request_duration_seconds_count": "status",
    "pinway_errors_total": "code",
    "pinway_operations_refused_total": "reason",
    "pinway_http_refused_total": "reason",
    "pinway_cache_hits_total": "cache",
    "pinway_cache_misses_total": "cache",
    "pinway_executor_documents": "",
    "pinway_executor_hits_total": "",
    "pinway_executor_misses_total": "",
    "pinway_http_connections": "",
    "pinway_job_duration_seconds_count": "outcome",
    "process_resident_memory_bytes": "",
}
"""Metrics that are summed over workers, by this label."""
_OF_FEEDS = ("latency_seconds", "cutoff_seconds", "mode", "forced")
_FEED = "pinway_feed_"
_CIRCUIT = "pinway_cache_circuit_mode"
_WORST_FIRST = ("avoided", "returning", "well")


class Sample(NamedTuple):
    """One line of metrics."""

    name: str
    labels: dict[str, str]
    value: float


def samples(text: str) -> Iterator[Sample]:
    """The samples that the page shows."""
    for line in text.splitlines():
        if line.startswith(("#", "python_")) or "_bucket{" in line:
            continue
        found = _SAMPLE.fullmatch(line)
        if found is not None:
            name, labels, value = found.groups()
            if name in _SUMMED or name.startswith((_FEED, "pinway_worker_up", _CIRCUIT)):
                yield Sample(name, dict(_LABEL.findall(labels or "")), float(value))


def content(state: State, text: str) -> dict[str, Any]:
    """The page's content. `text` has the metrics of all workers. Times are in seconds."""
    sums: dict[str, dict[str, float]] = {name: defaultdict(float) for name in _SUMMED}
    feeds: dict[str, list[Sample]] = defaultdict(list)
    modes: dict[tuple[str, str], set[str]] = defaultdict(set)
    workers = []
    for sample in samples(text):
        if sample.name in _SUMMED:
            sums[sample.name][sample.labels.get(_SUMMED[sample.name], "")] += sample.value
        elif sample.name == "pinway_worker_up":
            workers.append({"worker": sample.labels["worker"], "up": bool(sample.value)})
        elif sample.name == _CIRCUIT:
            modes[sample.labels["cache"], sample.labels["server"]].add(sample.labels["mode"])
        elif sample.name.removeprefix(_FEED) in _OF_FEEDS:
            feeds[sample.labels["store"]].append(sample)
    return {
        "at": state.at,
        "ready": state.ready,
        "stores": [{"name": name, **about} for name, about in state.stores.items()],
        "queue": [lane._asdict() for lane in state.lanes] if state.lanes is not None else None,
        "outbox": _outbox(state),
        "replication": [{"server": name, "seconds": lag} for name, lag in state.lags.items()],
        "feeds": {store: _feed(of_store) for store, of_store in sorted(feeds.items())},
        "circuits": [
            {"cache": cache, "server": server, "mode": min(found, key=_WORST_FIRST.index)}
            for (cache, server), found in sorted(modes.items())
        ],
        "workers": workers,
        "sums": sums,
    }


def _outbox(state: State) -> dict[str, Any] | None:
    backlog = state.backlog
    if backlog is None:
        return None
    age = 0.0 if backlog.oldest is None else max(0.0, state.at - backlog.oldest / 1000)
    return {
        "rows": backlog.rows,
        "parked": backlog.parked,
        "set_aside": backlog.set_aside,
        "oldest": age,
        "unreachable": sorted(backlog.lost),
    }


def _feed(of_store: list[Sample]) -> dict[str, Any]:
    """A feed store as the slowest worker sees it."""
    sides: dict[str, dict[str, Any]] = {
        side: {"modes": [], "forced": False, "latency": {}} for side in ("primary", "standby")
    }
    cutoff = 0.0
    for name, labels, value in of_store:
        match name.removeprefix(_FEED):
            case "cutoff_seconds":
                cutoff = max(cutoff, value)
            case "mode":
                sides[labels["side"]]["modes"].append(labels["mode"])
            case "forced":
                sides[labels["side"]]["forced"] |= bool(value)
            case "latency_seconds":
                latency, quantile = sides[labels["side"]]["latency"], labels["quantile"]
                latency[quantile] = max(latency.get(quantile, 0.0), value)
    for side in sides.values():
        modes = side.pop("modes")
        side["mode"] = next((mode for mode in modes if mode != "well"), "well")
    return {"cutoff": cutoff, "sides": sides}
