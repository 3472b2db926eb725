"""New visits of the home feed, which the gateway composes from pools, beside a visit that is named
again, which it reads."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from bench.execution.apps.real import FIRST_VISIT
from bench.execution.contenders import REAL_OURS, REAL_STOCK, real_contenders
from bench.execution.measures import real_requests
from bench.execution.requests import Request
from bench.execution.servers import Server, running
from bench.rows import Row

PAGE = "home feed"
NAMED_ROUNDS, VISITS = 10, 8


class Costs(NamedTuple):
    """Milliseconds of the server's processor time for a request: of a visit that is named again, of
    a viewer's first visit, of a new visit of a viewer who had two, and of a new visit after VISITS
    others of the same viewer."""

    named: float
    first: float
    new: float
    late: float


def embedded(python: Path, folder: Path) -> list[Row]:
    """New visits on the embedded stores with the demo content."""
    made = folder / "stores"
    requests = real_requests(python, made)
    found: dict[str, Costs] = {}
    for name in (REAL_OURS, REAL_STOCK):
        own = folder / name.replace(" ", "-")
        shutil.copytree(made, own)
        contender = real_contenders(python, {REAL_OURS: own, REAL_STOCK: own}, PAGE)[name]
        with running(contender, folder / "servers.log") as server:
            found[name] = costs(server, requests)
    ours, stock = found[REAL_OURS], found[REAL_STOCK]
    return [
        *rows("on the real path", ours),
        Row(
            "new visit on the real path, over stock",
            stock.new / ours.new,
            "x",
            versus=f"strawberry on the same stores: {stock.new:.1f} ms against {ours.new:.1f}",
        ),
    ]


def costs(server: Server, requests_of: Mapping[str, list[Request]]) -> Costs:
    """Measure. `requests_of`: page or FIRST_VISIT → a request for each viewer. The requests of PAGE
    name a visit."""
    requests = requests_of[PAGE]
    new = [_without_visit(request) for request in requests]
    for request in requests:
        server.ask(request)
    named = _milliseconds(server, requests, NAMED_ROUNDS)
    first = _milliseconds(server, requests_of[FIRST_VISIT])
    later = _milliseconds(server, new)
    for _ in range(VISITS - 1):
        for request in new:
            server.ask(request)
    return Costs(named, first, later, _milliseconds(server, new))


def rows(where: str, found: Costs) -> list[Row]:
    told = f"{found.new:.2f} ms of processor time against {found.named:.2f}"
    late = f"{found.late:.2f} ms against {found.new:.2f}"
    unit = "ms of processor time"
    return [
        Row(f"first visit of a viewer {where}: cost", found.first, unit),
        Row(f"new visit {where}: cost", found.new, unit),
        Row(f"visit named again {where}: cost", found.named, unit),
        Row(
            f"first visit of a viewer {where}, over one named again",
            found.first / found.named,
            "x",
            versus=f"{found.first:.2f} ms of processor time against {found.named:.2f}",
        ),
        Row(
            f"new visit {where}, over one named again",
            found.new / found.named,
            "x",
            versus=told,
        ),
        Row(
            f"new visit {where} after {VISITS} others, over the first of them",
            found.late / found.new,
            "x",
            "<= 1.1",
            late,
        ),
    ]


def _without_visit(request: Request) -> Request:
    body = json.loads(request.body)
    del body["variables"]["id"]
    return Request(request.authorization, json.dumps(body).encode())


def _milliseconds(server: Server, requests: list[Request], rounds: int = 1) -> float:
    before = server.cpu_seconds()
    for _ in range(rounds):
        for request in requests:
            answer = server.ask(request)
            assert b'"errors":[{"message' not in answer, answer[:500]
    return 1000 * (server.cpu_seconds() - before) / (rounds * len(requests))
