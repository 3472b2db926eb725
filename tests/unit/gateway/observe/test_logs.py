"""The log: one line for a request, JSON by setting, the request's id on every line, no secrets."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from graphql import GraphQLError, OperationType

from datasources.recording import current
from gateway.documents.cache import PreparedOperation
from gateway.execution.executor import Result, refused
from gateway.observe.answers import NAME
from gateway.observe.logs import MOST, MOST_OF_ERROR, request_id, request_lines, start_logging
from gateway.observe.requests import Requests
from gateway.observe.volume import ADDRESSES, LINES_A_SECOND, OF_MANY, Volume
from gateway.settings import Settings, Telemetry

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@pytest.fixture(autouse=True)
def unchanged_logging() -> Iterator[None]:
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    yield
    root.handlers[:], root.level = before, level
    request_id.set("")


def observed(volume: Volume | None = None, **telemetry: Any) -> tuple[Requests, io.StringIO]:
    file = io.StringIO()
    chosen = Settings(telemetry=Telemetry(log_format="json", **telemetry))
    lines = request_lines(chosen, "worker 1", file)
    requests = Requests(lines=lines, slow_seconds=chosen.telemetry.slow_seconds, volume=volume)
    return requests, file


def ran(name: str) -> Result:
    """The result of an operation with this name."""
    result = answered()
    result.operation = PreparedOperation(OperationType.QUERY, name, None, None)  # type: ignore[arg-type]
    return result


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


def test_the_name_of_an_operation_is_cut() -> None:
    requests, file = observed()
    requests.end(requests.begin({}), ran("x" * NAME), 200, 0.0)
    requests.end(requests.begin({}), ran("y" * 190_000), 200, 0.0)
    short, long = (line["operation"] for line in told(file))
    assert (short, long) == ("x" * NAME, "y" * NAME + "...")


def test_one_address_has_a_bounded_number_of_lines_in_a_second() -> None:
    now = 100.0
    requests, file = observed(Volume(lambda: now), slow_seconds=5.0)

    def serve(address: str, count: int, seconds: float = 0.0) -> None:
        for _ in range(count):
            request = requests.begin({})
            request.address = address
            requests.end(request, answered(), 200, seconds)

    serve("192.0.2.1", LINES_A_SECOND + 70)
    serve("192.0.2.2", LINES_A_SECOND + 5)
    assert len(told(file)) == 2 * LINES_A_SECOND
    serve("192.0.2.3", 1)  # another address has its own lines
    serve("192.0.2.1", 1, seconds=6.0)  # a slow operation is always told
    serve("", OF_MANY * LINES_A_SECOND + 9)  # a proxy that names no client has more
    assert [line["event"] for line in told(file)[2 * LINES_A_SECOND :][:2]] == [
        "request",
        "slow operation",
    ]
    assert len(told(file)) == (2 + OF_MANY) * LINES_A_SECOND + 2
    now += 1.0
    serve("192.0.2.1", 1)
    left_out, request = told(file)[-2:]
    assert left_out["event"] == "lines of requests were left out"
    assert (left_out["requests"], left_out["addresses"]) == (85, 3)
    assert left_out["most"] == "192.0.2.1"
    assert request["event"] == "request"


def test_many_addresses_have_a_bounded_number_of_lines_together() -> None:
    volume = Volume(lambda: 0.0)
    volume.next_second()
    may = [volume.may(f"address {number}") for number in range(ADDRESSES + 2 * LINES_A_SECOND)]
    assert sum(may) == ADDRESSES + LINES_A_SECOND


@pytest.mark.parametrize("log_format", ["json", "text"])
def test_every_text_of_a_line_is_bounded(
    log_format: str, capsys: pytest.CaptureFixture[str]
) -> None:
    start_logging(Settings(telemetry=Telemetry(log_format=log_format)))
    try:
        raise ValueError("x" * 500_000)
    except ValueError:
        logging.getLogger("pinway").exception("%s", "y" * 500_000)
    written = capsys.readouterr().err
    assert written.count("x") + written.count("y") >= MOST_OF_ERROR
    assert len(written) < MOST + MOST_OF_ERROR + 1_000
    assert "ValueError" in written


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
    assert request_lines(Settings(telemetry=Telemetry(log_level="error", slow_seconds=0.0))) is None
    requests, file = observed(log_level="warning", slow_seconds=0.5)
    requests.end(requests.begin({}), answered(), 200, 0.1)
    requests.end(requests.begin({}), answered(), 200, 0.9)
    assert [line["event"] for line in told(file)] == ["slow operation"]


def test_every_line_is_json_with_the_requests_id(capsys: pytest.CaptureFixture[str]) -> None:
    start_logging(Settings(telemetry=Telemetry(log_format="json")), "worker 2")
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


def test_the_lines_of_a_network_are_bounded() -> None:
    """The owner of a /48 has 65,536 addresses (networks of 64 bits)."""
    volume = Volume(lambda: 0.0)
    volume.next_second()
    addresses = [f"2001:db8:0:{n % 256 << 8:x}::/64" for n in range(3_000)]
    assert sum(map(volume.may, addresses)) == 16 * LINES_A_SECOND
    household = [f"2001:db8:1:{n % 256:x}::/64" for n in range(3_000)]
    assert sum(map(volume.may, household)) == 4 * LINES_A_SECOND
    assert volume.may("2001:db8:2:1::/64")


def test_what_a_network_left_out_is_told() -> None:
    now = 0.0
    volume = Volume(lambda: now)
    volume.next_second()
    for n in range(20 * LINES_A_SECOND):
        volume.may(f"2001:db8:0:{n % 256 << 8:x}::/64")
    now = 2.0
    told = volume.next_second()
    assert told is not None
    assert told.requests == 4 * LINES_A_SECOND
    assert told.most.startswith("2001:db8:0:")
    assert volume.next_second() is None
