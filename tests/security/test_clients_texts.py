"""A client's texts are cut, or left out, wherever they stay: metrics, the log, and spans."""

import io
import json
import logging
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.app import create_site
from gateway.observe import logs
from gateway.observe.answers import FURTHER, NAME
from gateway.observe.requests import MOST_STATE
from gateway.settings import read_settings
from gateway.site.runtime import running
from tests.http.test_admin import client
from tests.otlp import collecting

pytestmark = pytest.mark.anyio
TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
LENGTH = 9_000
"""Characters of each text that the client sends."""
LINE = 2_000
"""Bytes of a line of the log, at most."""
SIGN_UP = """mutation %s($key: String) { %s: signUp(input: {username: "ann", idempotencyKey: $key})
  { user { id } errors { code } } }"""
HEADERS = (
    *("user-agent", "apollographql-client-name", "apollographql-client-version"),
    *("x-apollo-operation-name", "x-apollo-operation-id", "x-apollo-operation-type"),
    *("x-request-id", "baggage", "sentry-trace", "referer", "origin", "cookie", "from", "via"),
    *("accept-language", "if-none-match", "x-forwarded-host", "x-pinway-cost", "x-pinway-trace"),
    *("graphql-client-name", "graphql-client-version", "x-hasura-role", "idempotency-key"),
)
"""Headers that servers of GraphQL read, and that clients send."""


def text(place: int) -> str:
    """A long text that says in which place the client sent it."""
    return f"m{place:03}" * (LENGTH // 4)


def found(content: str) -> dict[int, int]:
    """The length of the longest text from each place in the content."""
    runs: dict[int, int] = {}
    for match in re.finditer(r"(?:m\d{3}){3,}", content):
        place = int(match[0][1:4])
        runs[place] = max(runs.get(place, 0), len(match[0]))
    return runs


def requests() -> Iterator[tuple[str, dict[str, Any]]]:
    """Requests with a long text in each place, by what the place is."""

    def post(query: str, **more: Any) -> dict[str, Any]:
        return {"method": "POST", "url": "/graphql", "json": {"query": query, **more}}

    yield "the operation's name", post(f"query {text(1)} {{ __typename }}")
    yield "a name that is sent beside", post("{ __typename }", operationName=text(2))
    yield "an alias", post(f"{{ {text(3)}: __typename }}")
    yield "a field", post(f"{{ {text(4)} }}")
    yield "an argument's value", post(f'{{ user(username: "{text(5)}") {{ id }} }}')
    yield (
        "a variable",
        post(f"query($v: ID!) {{ {text(6)}: pin(id: $v) {{ id }} }}", variables={"v": text(7)}),
    )
    yield "a variable's name", post(f"query(${text(8)}: ID!) {{ pin(id: ${text(8)}) {{ id }} }}")
    yield "a fragment", post(f"{{ ...{text(9)} }} fragment {text(9)} on Query {{ __typename }}")
    yield "a directive", post(f"{{ __typename @{text(10)} }}")
    yield "a mutation", post(SIGN_UP % (text(11), text(12)), variables={"key": text(13)})
    yield "what is no GraphQL", post(text(14))
    yield "an extension", post("{ __typename }", extensions={text(15): text(16)})
    yield "a path", {"method": "GET", "url": f"/{text(17)}"}
    yield "a file", {"method": "GET", "url": f"/graphiql/{text(18)}"}
    yield "a picture", {"method": "GET", "url": f"/images/{text(19)}.svg"}
    yield "a parameter", {"method": "GET", "url": f"/graphql?{text(20)}={text(21)}"}
    yield "a method", {"method": text(22), "url": "/graphql"}
    yield "a host", {"method": "GET", "url": "/graphql/", "headers": {"host": text(23)}}
    yield "a user", {"method": "POST", "url": "/web/sign-in", "json": {"username": text(24)}}
    for name in ("accept", "authorization", "content-type", "tracestate", "x-forwarded-for"):
        one = post(f"query Of{name.replace('-', '')} {{ __typename }}")
        one["headers"] = {name: f"a={text(25)}" if name == "tracestate" else text(25)}
        yield f"the header {name}", one
    for number, name in enumerate(HEADERS, 30):
        one = post("query Named { __typename }")
        yield f"the header {name}", {**one, "headers": {name: text(number)}}
    yield "a header", {**post("query Named { __typename }"), "headers": {text(90): text(91)}}


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """Everything that is logged, as JSON."""
    file, root = io.StringIO(), logging.getLogger()
    before, level = list(root.handlers), root.level
    monkeypatch.setattr(sys, "stderr", file)
    monkeypatch.setattr(logging.getLogger("httpx"), "level", logging.WARNING)
    yield file
    root.handlers[:], root.level = before, level


async def test_each_text_is_bounded_wherever_it_stays(tmp_path: Path, log: io.StringIO) -> None:
    with collecting() as collector:
        settings = read_settings(
            options={
                "data_dir": tmp_path,
                "telemetry.traces": collector.endpoint,
                "telemetry.log_format": "json",
                "auth.demo_viewer": "ann",
                "telemetry.slow_seconds": 1e-9,
            },
        )
        logs.start_logging(settings)
        async with running(settings, jobs=False, create=lambda progress: None) as runtime:
            site = create_site(settings, runtime)
            async with client(site.public, traceparent=TRACE) as stranger:
                statuses = await _send_all(stranger, log)
            # Foreign hosts look like a proxy, so only the operators' application tells this now.
            async with client(site.admin) as operator:
                metrics = (await operator.get("/metrics")).text
                page = (await operator.get("/statusz.json")).text
                states = (await operator.get("/readyz")).text
    assert len(statuses) > 40
    assert found(metrics) == found(page) == found(states) == {}
    assert f'operation="{FURTHER}"' in metrics
    spans = found(json.dumps(collector.spans))
    assert spans
    assert max(spans.values()) <= max(NAME, MOST_STATE)
    assert not found(repr(runtime.calls.latencies))


async def _send_all(stranger: httpx.AsyncClient, log: io.StringIO) -> dict[str, int]:
    """Send each request. Returns the statuses."""
    statuses: dict[str, int] = {}
    for place, request in requests():
        before = log.tell()
        answer = await stranger.request(**request)
        statuses[place] = answer.status_code
        assert answer.status_code < 500, (place, answer.text[:200])
        assert not found(str(answer.headers)), place
        log.seek(before)
        for line in log.read().splitlines():
            assert len(line) <= LINE, (place, line[:300])
            assert all(length <= NAME for length in found(line).values()), (place, line[:300])
            json.loads(line)
    return statuses
