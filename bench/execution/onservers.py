"""The home feed on real servers: the gateway beside Mercurius, which makes the same store calls.

Both read a viewer's visits from MariaDB, the row of the materialized feed from HBase, and pins,
boards and users from memcached. All servers share the core of the load; the gateway and Mercurius
have a core to themselves, one after the other.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.execution import new_visits
from bench.execution.apps.real import SERVERS
from bench.execution.contenders import MERCURIUS_JIT, SERVERS_OURS, server_contenders
from bench.execution.measures import Effort, Rate, rates, real_requests, say
from bench.execution.requests import Request, Workload
from bench.execution.servers import LOAD_CORE, Contender, Server, running
from bench.execution.tail import Tail, tails
from bench.rows import Row
from datasources.topology import parse
from deploy.stack import Stack
from deploy.stack.layout import to_toml

SHARE = 0.6
PAGE, FEW = "home feed", 5
CALLS = "pinway_store_call_duration_seconds_count"


@dataclass(frozen=True)
class Found:
    """Requests a second, latencies while the gateway is busy for `SHARE` of the time, the store
    calls of a page of 50 pins and of a page of `FEW`, and the costs of new visits."""

    rates: dict[str, Rate]
    tails: dict[str, Tail]
    calls: tuple[float, float]
    visits: new_visits.Costs


def on_servers(python: Path, node: Path, effort: Effort, folder: Path) -> list[Row]:
    """Start all servers, and compare."""
    say("home feed on real servers")
    stack = Stack(folder / "servers")
    try:
        with _on_the_load_core():
            stack.up(say)
        return rows(_measured(stack, python, node, effort, folder))
    finally:
        stack.down()


def _measured(stack: Stack, python: Path, node: Path, effort: Effort, folder: Path) -> Found:
    made = folder / "on-servers"
    made.mkdir()
    (made / SERVERS).write_text(to_toml(stack.settings))
    peer = folder / "peer.json"
    peer.write_text(json.dumps(_addresses(stack)))
    requests_of = real_requests(python, made)
    requests = requests_of[PAGE]
    contenders = server_contenders(python, node, made, peer)
    workload = _workload(requests, contenders[0], folder)
    with running(contenders[0], folder / "servers.log") as server:
        calls = _calls(server, requests), _calls(server, [_shorter(each) for each in requests])
    found = rates(contenders, workload, effort, folder)
    late = tails(contenders, workload, SHARE, effort, folder)
    with running(contenders[0], folder / "servers.log") as server:
        visits = new_visits.costs(server, requests_of)
    return Found(found, {name: each.of_time for name, each in late.items()}, calls, visits)


def _workload(requests: list[Request], ours: Contender, folder: Path) -> Workload:
    """Checks that answers have the gateway's pins, boards and users. Cursors are each one's own."""
    with running(ours, folder / "servers.log") as server:
        answers = [_without_cursors(server.ask(request)) for request in requests]

    def check(number: int, answer: bytes) -> None:
        found, wanted = _without_cursors(answer), answers[number]
        assert found == wanted, _difference(found, wanted)

    return Workload(requests, check)


def _difference(found: Any, wanted: Any) -> str:
    """Both texts, from shortly before the place where they begin to differ."""
    texts = [json.dumps(each, sort_keys=True) for each in (found, wanted)]
    pairs = enumerate(zip(*texts, strict=False))
    first = next((at for at, (mine, other) in pairs if mine != other), 0)
    return " and ".join(text[max(0, first - 40) : first + 120] for text in texts)


def _shorter(request: Request) -> Request:
    body = json.loads(request.body)
    body["variables"]["first"] = FEW
    return Request(request.authorization, json.dumps(body).encode())


def _calls(server: Server, requests: list[Request]) -> float:
    """The store calls of a request, by the gateway's metrics, when the caches are warm."""
    for request in requests:
        server.ask(request)
    before = server.counted(CALLS)
    for request in requests:
        server.ask(request)
    return (server.counted(CALLS) - before) / len(requests)


def _without_cursors(answer: bytes) -> Any:
    response = json.loads(answer)
    assert not response.get("errors"), answer[:500]
    feed = response["data"]["homeFeed"]
    feed["pageInfo"] = {name: feed["pageInfo"][name] for name in ("hasNextPage", "hasPreviousPage")}
    feed["edges"] = [edge["node"] for edge in feed["edges"]]
    return feed


def _addresses(stack: Stack) -> dict[str, Any]:
    topology = parse(stack.topology_file.read_bytes())
    settings = stack.settings

    def at(url: str) -> dict[str, Any]:
        host, port = url.rpartition("/")[2].split(":")
        return {"host": host, "port": int(port)}

    return {
        "user": settings["mysql.user"],
        "password": settings["mysql.password"],
        "secret": settings["auth.secret"],
        "url": "http://localhost",
        "memcached": settings["stores.object_cache"].rpartition("/")[2],
        "hbase": at(settings["stores.feeds_primary"]),
        "shards": [
            {"range": shards.range, **at(topology.servers[shards.master])}
            for shards in topology.shards
        ],
    }


@contextmanager
def _on_the_load_core() -> Iterator[None]:
    """Processes that are started here run on the core of the load."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {int(LOAD_CORE)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def rows(found: Found) -> list[Row]:
    ours, theirs = found.rates[SERVERS_OURS], found.rates[MERCURIUS_JIT]
    late, peer = found.tails[SERVERS_OURS].middle, found.tails[MERCURIUS_JIT].middle
    told = f"{ours.per_cpu:,.0f} requests/s of a core against {theirs.per_cpu:,.0f}"
    name = f"{PAGE} on real servers"
    busy = f"busy {SHARE:.0%} of the time"
    made = [Row(name, ours.over(theirs), "x", ">= 1", f"{MERCURIUS_JIT}, same calls; {told}")]
    for which, of_ours, of_peer in (("p50", late.p50, peer.p50), ("p99", late.p99, peer.p99)):
        versus = (
            f"{MERCURIUS_JIT} {of_peer * 1e3:.1f} ms at {peer.rate:,.0f} requests/s, "
            f"ours {of_ours * 1e3:.1f} ms at {late.rate:,.0f}"
        )
        made.append(Row(f"{name}, {which}, {busy}", of_peer / of_ours, "x", ">= 1", versus))
    whole, few = found.calls
    measure = f"{name}, store calls of a page of 50 / of {FEW}"
    return [
        *made,
        Row(measure, round(whole) / round(few), "", "<= 1", f"{whole:.2f} and {few:.2f}"),
        *new_visits.rows("on real servers", found.visits),
    ]
