"""`python -m bench.telemetry [--quick]`: the processor time that telemetry adds to a request, in
this process. Prints a table at the end, and writes bench/results/telemetry.json.

A page of a viewer's boards is requested from the endpoint repeatedly, over embedded stores. The
contenders take turns within each round. A figure is the median over the rounds of each contender's
time divided by the time of the endpoint without telemetry. So a machine that changes its speed
affects a whole round.
"""

import argparse
import asyncio
import io
import logging
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from bench.rows import Row, table, write
from gateway.app import create_site
from gateway.execution.executor import Result
from gateway.http.endpoint import GraphQLEndpoint
from gateway.http.requests import Headers
from gateway.observe.logs import request_lines
from gateway.observe.requests import Observed, Requests
from gateway.observe.tracing import Tracer
from gateway.settings import read_settings
from gateway.site.installation import install
from gateway.site.runtime import running

_NOBODY = "http://127.0.0.1:9/v1/traces"
JSON = {b"content-type": b"application/json"}
PAGE = "query Page { viewer { username boards(first: 20) { edges { node { id name } } } } }"


class Nowhere(io.StringIO):
    """A log that is not kept."""

    def write(self, text: str) -> int:
        return len(text)


class Nothing(Requests):
    """An endpoint without telemetry: no id, no line, no trace."""

    _none = Observed("")

    def begin(self, headers: Headers) -> Observed:
        return self._none

    def end(self, request: Observed, result: Result, status: int, seconds: float) -> bytes:
        return b""


async def main(rounds: int, requests: int) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        settings = read_settings(
            options={
                "data_dir": Path(folder),
                "limits.rate_cost": 0,
                "limits.writes_per_day": 0,
                "limits.max_running": 0,
                "telemetry.log_level": "warning",
            },
        )
        await install(settings, lambda progress: None)
        json_lines = request_lines(
            read_settings(options={"telemetry.log_format": "json"}), "", Nowhere()
        )
        unsampled, sampled = Tracer(_NOBODY, 0.0), Tracer(_NOBODY, 1.0)
        contenders = {
            "without telemetry": Nothing(),
            "traces and log off": Requests(),
            "a line of JSON a request": Requests(lines=json_lines),
            "slow operations": Requests(lines=None, slow_seconds=3600),
            "traces, none sampled": Requests(tracer=unsampled),
            "traces, every one sampled": Requests(tracer=sampled),
        }
        async with running(settings, jobs=False) as runtime:
            site: Any = create_site(settings, runtime)
            endpoint: GraphQLEndpoint = site.public._endpoint
            headers = await _sign_up(endpoint)
            times = await _measure(endpoint, headers, contenders, rounds, requests)
        await asyncio.gather(unsampled.close(), sampled.close())
    return _rows(times)


async def _sign_up(endpoint: GraphQLEndpoint) -> Headers:
    """The headers of a new user with twenty boards."""

    async def ask(query: str, headers: Headers) -> Any:
        answer = await endpoint.answer(headers, orjson.dumps({"query": query}))
        return orjson.loads(b"".join(answer.parts))["data"]

    signed = await ask('mutation { signUp(input: {username: "ann"}) { token } }', JSON)
    headers = JSON | {b"authorization": b"Bearer " + signed["signUp"]["token"].encode()}
    for number in range(20):
        made = f'mutation {{ createBoard(input: {{name: "b{number}"}}) {{ board {{ id }} }} }}'
        await ask(made, headers)
    return headers


async def _measure(
    endpoint: GraphQLEndpoint,
    headers: Headers,
    contenders: dict[str, Requests],
    rounds: int,
    requests: int,
) -> dict[str, list[float]]:
    body = orjson.dumps({"query": PAGE})
    times: dict[str, list[float]] = {name: [] for name in contenders}
    clock: Callable[[], float] = time.process_time
    for _ in range(rounds):
        for name, observed in contenders.items():
            endpoint._requests = observed
            began = clock()
            for _ in range(requests):
                await endpoint.answer(headers, body)
            times[name].append((clock() - began) / requests * 1e6)
    return times


def _rows(times: dict[str, list[float]]) -> list[Row]:
    (plain, of_plain), *others = times.items()
    rows = [Row(f"a request {plain}", statistics.median(of_plain), "µs")]
    for name, measured in others:
        ratios = [one / base for one, base in zip(measured, of_plain, strict=True)]
        goal = "<= 1.02" if name == "traces and log off" else ""
        rows.append(Row(name, statistics.median(ratios), "x", goal, plain))
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.telemetry", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="rough figures, in seconds")
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL + 1)  # there is no collector
    quick = parser.parse_args().quick
    found = asyncio.run(main(*((15, 20) if quick else (60, 40))))
    if not quick:
        write("telemetry", found)
    print(table(found))
