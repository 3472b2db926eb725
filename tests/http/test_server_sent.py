"""GraphQL over server-sent events: the distinct connections mode of graphql-sse."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from tests.live_gateways import LASTS, Events, LiveGateway, live_gateway

pytestmark = pytest.mark.anyio
BOARD = "subscription($id: ID!) { boardChanged(boardId: $id) { kind pin { title } } }"
GRAPHQL_JSON = "application/graphql-response+json"
EVENTS = {"accept": "text/event-stream"}


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[LiveGateway]:
    async with live_gateway(tmp_path, {"http.max_streams_per_client": 3}) as gateway:
        await gateway.sign_up("ann", "bob")
        yield gateway


@pytest.fixture
async def http(gateway: LiveGateway) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(timeout=60, headers=EVENTS) as client:
        yield client


async def test_each_event_of_a_subscription_is_sent_and_the_end_too(gateway: LiveGateway) -> None:
    board = await gateway.board("ann", "first")
    async with gateway.events(BOARD, "bob", id=board) as events:
        assert events.response.status_code == 200
        headers = events.response.headers
        assert headers["content-type"] == "text/event-stream; charset=utf-8"
        assert "no-store" in headers["cache-control"]
        name, data = await events.event()
        assert (name, data["data"]["boardChanged"]["kind"]) == ("next", "STARTED")
        await gateway.pin("ann", board, "a")
        name, data = await events.event()
        assert data == {"data": {"boardChanged": {"kind": "SAVED", "pin": {"title": "a"}}}}
        await gateway.mutate("ann", "updateBoard", "board { id }", boardId=board, secret=True)
        assert await events.event() == ("complete", None)
        assert await events.next() == ("end", None)


async def test_a_subscription_can_be_sent_by_get(
    gateway: LiveGateway, http: httpx.AsyncClient
) -> None:
    board = await gateway.board("ann", "first")
    query = f'subscription {{ boardChanged(boardId: "{board}") {{ kind }} }}'
    async with http.stream("GET", gateway.url, params={"query": query}) as response:
        name, data = await Events(response).event()
    assert (name, data) == ("next", {"data": {"boardChanged": {"kind": "STARTED"}}})


@pytest.mark.parametrize(
    ("accept", "answered"),
    [
        ("text/event-stream, multipart/mixed", "text/event-stream"),
        ("TEXT/Event-Stream;q=0.9, application/json;q=0.8", "text/event-stream"),
        (f"{GRAPHQL_JSON}, application/json, text/event-stream, multipart/mixed", GRAPHQL_JSON),
        ("text/event-stream;q=0.5, application/json", "application/json"),
        ("text/event-stream;q=0, application/json;q=0.1", "application/json"),
    ],
)
async def test_a_client_that_would_rather_have_json_gets_it(
    gateway: LiveGateway, http: httpx.AsyncClient, accept: str, answered: str
) -> None:
    body = {"query": "{ __typename }"}
    response = await http.post(gateway.url, json=body, headers={"accept": accept})
    assert response.headers["content-type"].startswith(answered)


async def test_queries_and_mutations_have_one_result(gateway: LiveGateway) -> None:
    create = 'mutation { createBoard(input: {name: "x"}) { board { name } } }'
    for query, data in (
        ("{ viewer { username } }", {"viewer": {"username": "ann"}}),
        (create, {"createBoard": {"board": {"name": "x"}}}),
    ):
        async with gateway.events(query, "ann") as events:
            assert await events.event() == ("next", {"data": data})
            assert await events.event() == ("complete", None)
            assert await events.next() == ("end", None)


async def test_a_mutation_by_get_is_refused(gateway: LiveGateway, http: httpx.AsyncClient) -> None:
    query = 'mutation { createBoard(input: {name: "x"}) { board { name } } }'
    params, headers = {"query": query}, gateway.bearer("ann")
    async with http.stream("GET", gateway.url, params=params, headers=headers) as response:
        events = Events(response)
        name, data = await events.event()
        assert name == "next"
        assert data["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"
        assert "data" not in data
        assert await events.event() == ("complete", None)


async def test_a_page_of_another_site_can_not_begin_a_stream_by_get(
    gateway: LiveGateway, http: httpx.AsyncClient
) -> None:
    headers = {"sec-fetch-site": "cross-site"}
    answer = await http.get(gateway.url, params={"query": "{ __typename }"}, headers=headers)
    assert answer.status_code == 403
    simple = {"content-type": "text/plain"}
    answer = await http.post(gateway.url, content='{"query":"{ __typename }"}', headers=simple)
    assert answer.status_code == 415


async def test_errors_come_as_a_result(gateway: LiveGateway) -> None:
    async with gateway.events("{ nonsense }") as events:
        name, data = await events.event()
        assert name == "next"
        assert data["errors"][0]["extensions"]["code"] == "GRAPHQL_VALIDATION_FAILED"
        assert await events.event() == ("complete", None)


async def test_a_wrong_token_is_refused_before_the_stream(
    gateway: LiveGateway, http: httpx.AsyncClient
) -> None:
    headers = {"authorization": "Bearer no"}
    answer = await http.post(gateway.url, json={"query": "{ __typename }"}, headers=headers)
    assert answer.status_code == 401
    assert answer.json()["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"


async def test_a_token_that_expires_ends_the_stream(
    gateway: LiveGateway, http: httpx.AsyncClient
) -> None:
    board = await gateway.board("ann", "secret", secret=True)
    sent = {"query": BOARD, "variables": {"id": board}}

    async def kinds(seconds: float) -> list[str]:
        """The kind of each event, or its name, until the stream ends."""
        headers = {"authorization": f"Bearer {gateway.token('ann', seconds=seconds)}"}
        found = list[str]()
        async with http.stream("POST", gateway.url, json=sent, headers=headers) as response:
            events = Events(response)
            while (event := await events.event()) != ("end", None):
                name, data = event
                if data is None:
                    found.append(name)
                elif "errors" in data:
                    found.append(data["errors"][0]["extensions"]["code"])
                else:
                    found.append(data["data"]["boardChanged"]["kind"])
        return found

    for seconds in LASTS:
        found = await kinds(seconds)
        if "STARTED" in found:  # before the token has expired
            break
    assert found == ["STARTED", "UNAUTHENTICATED", "complete"]


async def test_a_quiet_stream_has_comments(tmp_path: Path) -> None:
    async with live_gateway(tmp_path, {"http.keep_alive": 0.01}) as gateway:
        await gateway.sign_up("ann")
        board = await gateway.board("ann", "first")
        async with gateway.events(BOARD, id=board) as events:
            assert (await events.event())[0] == "next"
            for _ in range(3):
                assert await events.next() == ("", None)


async def test_a_client_that_leaves_ends_its_stream(gateway: LiveGateway) -> None:
    board = await gateway.board("ann", "first")
    live = gateway.runtime.live
    assert live is not None
    async with gateway.events(BOARD, id=board) as events:
        await events.event()
        assert live.streams == 1
    async with asyncio.timeout(60):
        while live.streams:  # noqa: ASYNC110 nobody tells
            await asyncio.sleep(0)


@asynccontextmanager
async def pipelined(
    tmp_path: Path,
) -> AsyncIterator[tuple[LiveGateway, asyncio.StreamReader, asyncio.StreamWriter]]:
    """A stream, on whose connection a further request waits for the end of the stream."""
    async with live_gateway(tmp_path, {"http.keep_alive": 0.01}) as gateway:
        await gateway.sign_up("ann")
        board = await gateway.board("ann", "first")
        body = json.dumps({"query": BOARD, "variables": {"id": board}})
        asked = (
            "POST /graphql HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/event-stream\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n{body}"
        )
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
        writer.write(asked.encode() * 2)
        async with asyncio.timeout(60):
            await reader.readuntil(b"event: next\n")
            yield gateway, reader, writer
        writer.close()


async def test_a_client_that_leaves_ends_its_stream_before_a_request_that_waits(
    tmp_path: Path,
) -> None:
    async with pipelined(tmp_path) as (gateway, _, writer):
        live = gateway.runtime.live
        assert live is not None
        assert live.streams == 1
        writer.close()
        while live.streams:  # noqa: ASYNC110 nobody tells
            await asyncio.sleep(0)


async def test_a_stopping_gateway_breaks_a_stream_before_a_request_that_waits(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with pipelined(tmp_path) as (gateway, reader, _):
        assert gateway.server is not None
        gateway.server.should_exit = True
        while await reader.read(1 << 16):
            pass
    assert "timeout graceful shutdown exceeded" not in caplog.text


async def test_a_client_may_have_a_bounded_number_of_streams(
    gateway: LiveGateway, http: httpx.AsyncClient
) -> None:
    board = await gateway.board("ann", "first")
    sent = {"query": BOARD, "variables": {"id": board}}
    headers = {"x-forwarded-for": "203.0.113.9"}
    opened = []
    for _ in range(3):
        asked = http.build_request("POST", gateway.url, json=sent, headers=headers)
        opened.append(await http.send(asked, stream=True))
    answer = await http.post(gateway.url, json=sent, headers=headers)
    assert answer.status_code == 429
    assert answer.json()["errors"][0]["extensions"]["code"] == "RATE_LIMITED"
    for response in opened:
        await response.aclose()


async def test_a_stopping_gateway_breaks_its_streams(gateway: LiveGateway) -> None:
    board = await gateway.board("ann", "first")
    async with gateway.events(BOARD, id=board) as events:
        await events.event()
        assert gateway.server is not None
        gateway.server.should_exit = True
        with pytest.raises(httpx.RemoteProtocolError):  # not complete: the client comes again
            await events.event()


async def test_another_origin_gets_its_headers_on_a_stream(tmp_path: Path) -> None:
    origin = "https://app.example"
    async with live_gateway(tmp_path, {"http.allowed_origins": (origin,)}) as gateway:
        headers = {**EVENTS, "origin": origin}
        async with httpx.AsyncClient(timeout=60) as client:
            answer = await client.post(
                gateway.url, json={"query": "{ __typename }"}, headers=headers
            )
        assert answer.headers["access-control-allow-origin"] == origin
        assert "event: complete" in answer.text
