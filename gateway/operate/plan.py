"""Capacity estimates with their formulas: `pinway plan`.

The model is a page of arithmetic, written to be read. It says how much of each resource a load
needs, and which resource runs out first as the load grows.
"""

import math
from typing import NamedTuple

DAY = 86_400
FULL = 0.6
"""The share of a resource that is planned for. Above it, waiting times grow fast."""

VISIT_MS = 25.8
"""Milliseconds of a gateway core for the first page of a visit on real servers: the gateway
composes it from pools."""
PAGE_MS = 4.62
"""Milliseconds of a gateway core for any other page, on real servers."""
COMMITS_A_SERVER = 341
"""Durable transactions a second of one shard server."""
DELIVERIES_A_WORKER = 11_820
"""Deliveries a second of one worker on one core. A delivery is one pin to one follower's feed and
pool, on both sides, when both are at their caps. Measured on the embedded stores."""
VISIT_JOB_MS = 3.76
"""Milliseconds of a worker's core for the job of a visit. Measured on the embedded stores."""
CELLS_A_SERVER = 14_260
"""Cells a second that one small HBase server writes in batches, on a busy machine."""
PIN_BYTES = 1_062
"""Bytes of a pin on its shards, in SQLite: the object, its mapping rows and their indexes."""

# bench/results has each constant above. The constants below are calculated or assumed.
SERVER_FACTOR = 2
"""Assumed: the pages of a MySQL server that are partly full, and its binary log."""
CELL_BYTES = 61
"""Calculated: bytes of a feed's cell as HBase stores a KeyValue: lengths 8, row 2 + 8, family 1 +
1, column 24, time 8, type 1, and its place in a block."""
FEED_CELLS = 1_000
"""Cells in a user's following feed; pools and materialized feed together have as many."""
CELLS_A_DELIVERY = 4
"""Calculated: cells of a side: a pin's cells in a full feed and a full pool, and the markers that
remove the oldest cells."""
CELLS_A_VISIT = 50
"""Calculated: cells of a side: 25 pins that go from the pools to the materialized feed."""
COMMITS_A_PIN = 3
"""A pin's transaction, the rows on other shards, the removal of its outbox row."""
COMMITS_A_VISIT = 3
"""The visit's transaction, the note that both sides have it, the removal of its outbox row."""
SERVER_BYTES = 1 << 40
"""Bytes of a shard server's disk that are planned for."""


class Demand(NamedTuple):
    """The load: users, their pins and follows, and the pages they read. See `pinway plan
    --help`."""

    users: int
    pins_per_day: int
    follows: int
    pages_per_day: int = 20
    visits_per_day: int = 5
    years: int = 2
    peak: float = 3.0


class Line(NamedTuple):
    """A figure, and its formula with the numbers filled in."""

    name: str
    value: float
    unit: str
    formula: str


def plan(demand: Demand) -> list[Line]:
    """The estimates, in the order of their dependencies."""
    users, peak = demand.users, demand.peak
    pages = users * demand.pages_per_day / DAY * peak
    visits = users * demand.visits_per_day / DAY * peak
    pins = demand.pins_per_day / DAY * peak
    deliveries = pins * demand.follows
    later = max(pages - visits, 0)
    cores = (visits * VISIT_MS + later * PAGE_MS) / 1000
    gateways = _servers(cores, 1)
    commits = pins * COMMITS_A_PIN + visits * COMMITS_A_VISIT
    stored = demand.pins_per_day * 365 * demand.years * PIN_BYTES * SERVER_FACTOR
    by_commits, by_bytes = _servers(commits, COMMITS_A_SERVER), math.ceil(stored / SERVER_BYTES)
    work = deliveries / DELIVERIES_A_WORKER + visits * VISIT_JOB_MS / 1000
    workers = _servers(work, 1)
    cells = deliveries * CELLS_A_DELIVERY + visits * CELLS_A_VISIT
    clusters = _servers(cells, CELLS_A_SERVER)
    feeds = users * FEED_CELLS * 2 * CELL_BYTES
    lines = [
        Line(
            "pages at peak",
            pages,
            "/s",
            f"{users:,} users * {demand.pages_per_day} pages a day / {DAY:,} s * {peak:g} peak",
        ),
        Line(
            "visits at peak",
            visits,
            "/s",
            f"{users:,} users * {demand.visits_per_day} visits a day / {DAY:,} s * {peak:g} peak",
        ),
        Line(
            "gateway cores",
            gateways,
            "core" if gateways == 1 else "cores",
            f"({visits:,.4g} visits/s * {VISIT_MS:g} ms + {later:,.4g} other pages/s * "
            f"{PAGE_MS:g} ms) / {FULL:g}",
        ),
        Line(
            "pins at peak",
            pins,
            "/s",
            f"{demand.pins_per_day:,} pins a day / {DAY:,} s * {peak:g} peak",
        ),
        Line(
            "shard servers",
            max(by_commits, by_bytes),
            "masters, each with a slave",
            f"the larger of {commits:,.4g} commits/s ({COMMITS_A_PIN} a pin, {COMMITS_A_VISIT} a "
            f"visit) / ({COMMITS_A_SERVER} * {FULL:g}) = {by_commits:,} and "
            f"{stored / 2**40:,.3g} TiB / 1 TiB = {by_bytes:,}",
        ),
        Line(
            "storage of shards",
            stored / 2**30,
            "GiB, on master and slave each",
            f"{demand.pins_per_day:,} pins a day * 365 * {demand.years} years * {PIN_BYTES:,} "
            f"bytes * {SERVER_FACTOR}",
        ),
        Line(
            "fan-out at peak",
            deliveries,
            "deliveries/s",
            f"{pins:,.4g} pins/s * {demand.follows:,} followers of an author, on average",
        ),
        Line(
            "workers",
            workers,
            "processes of one core",
            f"({deliveries:,.4g} deliveries/s / {DELIVERIES_A_WORKER:,} + {visits:,.4g} visits/s * "
            f"{VISIT_JOB_MS:g} ms) / {FULL:g}",
        ),
        Line(
            "feed servers",
            clusters,
            "region servers on each side",
            f"({deliveries:,.4g} deliveries/s * {CELLS_A_DELIVERY} cells + {visits:,.4g} visits/s "
            f"* {CELLS_A_VISIT} cells) / ({CELLS_A_SERVER:,} a server * {FULL:g})",
        ),
        Line(
            "storage of feeds",
            feeds / 2**30,
            "GiB on each side, before HDFS makes copies",
            f"{users:,} users * {FEED_CELLS:,} cells * 2 (feed and pools) * {CELL_BYTES} bytes",
        ),
    ]
    planned = {line.name: line.value for line in lines}
    used = {
        "gateway cores": cores / planned["gateway cores"],
        "commits of shard servers": commits / (planned["shard servers"] * COMMITS_A_SERVER),
        "disks of shard servers": stored / (planned["shard servers"] * SERVER_BYTES),
        "workers": work / planned["workers"],
        "feed servers": cells / (planned["feed servers"] * CELLS_A_SERVER),
    }
    return [*lines, _first(used)]


def _servers(load: float, of_one: float) -> int:
    return max(1, math.ceil(load / (of_one * FULL)))


def _first(used: dict[str, float]) -> Line:
    """The resource with the least room left, by the share of each that is used at peak."""
    name = max(used, key=lambda resource: used[resource])
    return Line(
        f"breaks first: {name}",
        1 / used[name],
        "times this load, on the servers above",
        "1 / the highest use at peak: "
        + ", ".join(f"{resource} {share:.1%}" for resource, share in used.items()),
    )
