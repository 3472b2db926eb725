"""The log: one line for a request, JSON by setting, the request's id on every line, no secrets."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from graphql import GraphQLError

from datasources.recording import current
from gateway.execution.executor import Result, refused
from gateway.settings import Settings
from gateway.telemetry.logs import request_id, request_lines, start_logging
from gateway.telemetry.requests import Requests

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@pytest.fixture(autouse=True)
def unchanged_logging() -> Iterator[None]:
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    yield
    root.handlers[:], root.level = before, level
    request_id.set("")


def observed(**settings: Any) -> tuple[Requests, io.StringIO]:
    file = io.StringIO()
    chosen = Settings(log_format="json", **settings)
    lines = request_lines(chosen, "worker 1", file)
    return Requests(lines=lines, slow_seconds=chosen.slow_seconds), file


def told(file: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.getvalue().splitlines()]


def answered() -> Result:
    return Result([b"{}"], [])


def test_a_request_has_one_line_and_its_id_goes_back() -> None:
    requests, file = observed(slow_seconds=0.0)
    request = requests.begin({b"x-request-id": b"abc-1", b"authorization": b"Bearer geheim"})
    request.viewer_id = 7
    head = requests.end(request, answered(), 200, 0.0123)
    assert head == b"x-request-id: abc-1\r\n"
    [line] = told(file)
    assert line.pop("timestamp")
    assert line == {
        "event": "request",
        "level": "info",
        "process": "worker 1",
        "request_id": "abc-1",
        "ms": 12.3,
        "status": 200,
        "viewer": "7",
    }
    assert "geheim" not in file.getvalue()
    assert current() is None


@pytest.mark.parametrize("given", [b"", b"a b", b"a\r\nset-cookie: x", b"x" * 129, b"\xff"])
def test_a_request_id_that_is_not_fit_is_replaced(given: bytes) -> None:
    requests, file = observed()
    head = requests.end(requests.begin({b"x-request-id": given}), answered(), 200, 0.0)
    [line] = told(file)
    assert head == b"x-request-id: %b\r\n" % line["request_id"].encode()
    assert given.decode("latin-1") != line["request_id"]
    other = requests.begin({})
    assert other.id != line["request_id"]


def test_errors_are_told_by_code_and_a_trace_by_its_id() -> None:
    requests, file = observed()
    request = requests.begin({b"traceparent": f"00-{TRACE}-{SPAN}-01".encode()})
    problem = GraphQLError("no", extensions={"code": "FORBIDDEN"})
    requests.end(request, refused(problem, problem), 200, 0.0)
    [line] = told(file)
    assert line["errors"] == {"FORBIDDEN": 2}
    assert line["trace_id"] == TRACE


def test_a_slow_operation_tells_its_calls() -> None:
    requests, file = observed(slow_seconds=0.5)
    quick = requests.begin({})
    requests.end(quick, answered(), 200, 0.4)
    slow = requests.begin({})
    above = current()
    assert above is not None
    above.begin("store", "objects.get").end()
    above.begin("store", "objects.get").end()
    above.begin("store", "mappings.pages").end("timeout")
    requests.end(slow, answered(), 200, 0.6)
    lines = told(file)
    assert [line["event"] for line in lines] == ["request", "request", "slow operation"]
    named = sorted(call.rsplit(" ", 2)[0] for call in lines[2]["calls"])
    assert named == ["mappings.pages (timeout) x1", "objects.get x2"]


def test_lines_are_left_out_by_the_level() -> None:
    assert request_lines(Settings(log_level="error", slow_seconds=0.0)) is None
    requests, file = observed(log_level="warning", slow_seconds=0.5)
    requests.end(requests.begin({}), answered(), 200, 0.1)
    requests.end(requests.begin({}), answered(), 200, 0.9)
    assert [line["event"] for line in told(file)] == ["slow operation"]


def test_every_line_is_json_with_the_requests_id(capsys: pytest.CaptureFixture[str]) -> None:
    start_logging(Settings(log_format="json"), "worker 2")
    Requests().begin({b"x-request-id": b"id-9"})
    try:
        raise ValueError("broken")
    except ValueError:
        logging.getLogger("pinway.a").exception("it failed %d times", 3)
    line = json.loads(capsys.readouterr().err)
    assert (line["event"], line["request_id"]) == ("it failed 3 times", "id-9")
    assert (line["level"], line["logger"], line["process"]) == ("error", "pinway.a", "worker 2")
    assert "ValueError: broken" in line["exception"]


def test_on_a_terminal_lines_are_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    start_logging(Settings())
    logging.getLogger("pinway").warning("the queue %s", "is away")
    out = capsys.readouterr().err
    assert "the queue is away" in out
    assert "{" not in out
