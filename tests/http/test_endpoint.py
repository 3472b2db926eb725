"""The GraphQL endpoint over HTTP: methods, media types, statuses, tokens; GraphiQL's page."""

import asyncio
import gzip
import os
import socket
import time
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import jwt
import orjson
import pytest
from starlette.types import ASGIApp

from gateway.app import create_site
from gateway.http.requests import Refused, read_json
from gateway.server.process import Server
from gateway.settings import Settings, read_settings
from gateway.site.runtime import Runtime, running

pytestmark = pytest.mark.anyio
GRAPHQL_JSON = "application/graphql-response+json"
SIGN_UP = 'mutation { signUp(input: {username: "ann"}) { user { id } token } }'


@dataclass
class Endpoint:
    app: ASGIApp
    http: httpx.AsyncClient
    settings: Settings
    token: str
    runtime: Runtime

    async def post(self, body: Any, **headers: str) -> httpx.Response:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.http.post("/graphql", json=body, headers=sent)


class ToPort(httpx.AsyncHTTPTransport):
    """Sends all requests to one local port, whatever their host."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self._port = port

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        request.url = request.url.copy_with(scheme="http", host="127.0.0.1", port=self._port)
        return await super().handle_async_request(request)


@asynccontextmanager
async def reached(app: ASGIApp, by: str) -> AsyncIterator[httpx.AsyncBaseTransport]:
    """Transports to the application: directly as ASGI, or through our own server."""
    if by == "asgi":
        yield httpx.ASGITransport(app)
        return
    server = Server(app)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield ToPort(listener.getsockname()[1])
        finally:
            server.should_exit = True
            await serving


@pytest.fixture(scope="module", params=["asgi", "server"])
async def endpoint(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Endpoint]:
    directory: Path = tmp_path_factory.mktemp("data")
    settings = read_settings(
        options={
            "data_dir": directory,
            "auth.demo_viewer": "ann",
            "http.max_body_bytes": 10_000,
            "limits.query_depth": 6,
            "http.allowed_origins": ("https://app.example",),
        },
    )
    async with running(settings, jobs=False, create=lambda progress: None) as runtime:
        app = create_site(settings, runtime).public
        async with (
            reached(app, request.param) as transport,
            httpx.AsyncClient(transport=transport, base_url="http://localhost") as http,
        ):
            answer = await http.post("/graphql", json={"query": SIGN_UP})
            token = answer.json()["data"]["signUp"]["token"]
            yield Endpoint(app, http, settings, token, runtime)


@pytest.fixture
async def doubted(endpoint: Endpoint) -> AsyncIterator[httpx.AsyncClient]:
    """A gateway of its own for requests with foreign hosts. Such requests look as if a
    proxy sent them that hides its clients, so the gateway then takes nobody for this machine."""
    app = create_site(endpoint.settings, endpoint.runtime).public
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        yield http


def codes(response: httpx.Response) -> list[str]:
    return [error["extensions"]["code"] for error in response.json()["errors"]]


async def test_redirects_go_to_a_path_and_never_to_the_host_that_was_sent(
    doubted: httpx.AsyncClient,
) -> None:
    for path in ("/graphiql", "/graphql/"):
        for method in ("GET", "POST"):
            response = await doubted.request(
                method, path, headers={"host": "evil.example", "x-forwarded-proto": "https"}
            )
            if response.status_code != 405:
                assert (response.status_code, response.headers["location"]) == (307, "/graphql")
    response = await doubted.get("/graphql/", params={"query": "{ __typename }"})
    followed = await doubted.get(response.headers["location"])
    assert followed.json() == {"data": {"__typename": "Query"}}
    for path in ("/images", "/metrics/", "/statusz.json/", "/pin", "/web"):
        response = await doubted.get(path)
        assert response.status_code == 404, path
        assert "location" not in response.headers


async def test_an_unknown_address_answers_a_page_with_a_way_back_or_json(
    endpoint: Endpoint,
) -> None:
    for path in ("/nothing", "/graphiql/nothing", "/web/nothing", "/images/nothing", "/a/b/<c>"):
        page = await endpoint.http.get(path, headers={"accept": "text/html,*/*;q=0.8"})
        assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
        assert '<a href="/">' in page.text
        assert "<c>" not in page.text
        assert "default-src 'none'" in page.headers["content-security-policy"]
        other = await endpoint.http.get(path, headers={"accept": "*/*"})
        assert other.status_code == 404
        assert codes(other) == ["NOT_FOUND"]
        assert other.headers["vary"] == page.headers["vary"] == "Accept"
    posted = await endpoint.http.post("/nothing", headers={"accept": "text/html"})
    assert codes(posted) == ["NOT_FOUND"]


async def test_no_cache_keeps_the_answer_to_a_get(endpoint: Endpoint) -> None:
    token = {"authorization": f"Bearer {endpoint.token}"}
    for query, headers in (
        ("{ __typename }", {}),
        ("{ viewer { id } }", token),
        ("{ nothing }", {}),
        (SIGN_UP, {}),
    ):
        answer = await endpoint.http.get("/graphql", params={"query": query}, headers=headers)
        assert answer.headers["cache-control"] == "private, no-store"
    for path in ("/healthz", "/readyz", "/metrics", "/statusz.json"):
        answer = await endpoint.http.get(path)
        assert answer.headers["cache-control"] == "no-store", path


async def test_a_head_runs_no_operation(endpoint: Endpoint) -> None:
    before = (await endpoint.http.get("/metrics")).text
    for query in ("{ __typename }", SIGN_UP.replace("ann", "eve"), "{"):
        answer = await endpoint.http.head("/graphql", params={"query": query})
        assert answer.status_code == 405
        assert answer.headers["allow"] == "GET, POST"
        assert answer.content == b""
    assert (await endpoint.http.head("/graphql")).status_code == 405
    after = (await endpoint.http.get("/metrics")).text
    name = "pinway_operation_duration_seconds_count"
    assert [line for line in after.splitlines() if line.startswith(name)] == [
        line for line in before.splitlines() if line.startswith(name)
    ]
    page = await endpoint.http.head("/graphql", headers={"accept": "text/html"})
    whole = await endpoint.http.get("/graphql", headers={"accept": "text/html"})
    assert (page.status_code, page.content) == (200, b"")
    assert page.headers["content-length"] == whole.headers["content-length"]


async def test_a_compressed_body_is_refused_with_words(endpoint: Endpoint) -> None:
    body = gzip.compress(b'{"query": "{ __typename }"}')
    for coding in ("gzip", "GZIP", "br", "gzip, identity", "x" * 5_000):
        headers = {"content-type": "application/json", "content-encoding": coding}
        answer = await endpoint.http.post("/graphql", content=body, headers=headers)
        assert answer.status_code == 415
        assert answer.headers["accept-encoding"] == "identity"
        [error] = answer.json()["errors"]
        assert f"without content-encoding: {coding.lower()[:20]}" in error["message"]
        assert len(error["message"]) < 150
    for coding in ("identity", "identity, identity", ""):
        plain = await endpoint.post({"query": "{ __typename }"}, content_encoding=coding)
        assert plain.json() == {"data": {"__typename": "Query"}}
    answer = await endpoint.http.post(
        "/graphql",
        content=body,
        headers=[
            ("content-type", "application/json"),
            ("content-encoding", "identity"),
            ("content-encoding", "gzip"),
        ],
    )
    assert answer.status_code == 415


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(b'{"query": "{ __typename }"}')),
        ("deflate", zlib.compress(b'{"query": "{ __typename }"}')),
        ("zstd", b"\x28\xb5\x2f\xfd\x24\x1b"),
    ],
    ids=["gzip", "deflate", "zstd"],
)
async def test_a_compressed_body_is_recognized_without_its_header(
    endpoint: Endpoint, coding: str, body: bytes
) -> None:
    headers = {"content-type": "application/json"}
    answer = await endpoint.http.post("/graphql", content=body, headers=headers)
    assert (answer.status_code, answer.headers["accept-encoding"]) == (415, "identity")
    assert answer.json()["errors"][0]["message"] == f"send the body as plain JSON, not as {coding}"


async def test_a_post_answers_json(endpoint: Endpoint) -> None:
    response = await endpoint.post({"query": "{ viewer { id } }"})
    assert (response.status_code, response.json()) == (200, {"data": {"viewer": None}})
    assert response.headers["content-type"] == "application/json; charset=utf-8"


async def test_the_newer_media_type_is_answered_in_kind(endpoint: Endpoint) -> None:
    response = await endpoint.post({"query": "{ __typename }"}, accept=GRAPHQL_JSON)
    assert response.headers["content-type"] == f"{GRAPHQL_JSON}; charset=utf-8"


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        ("*/*", "application/json"),
        ("text/html, application/json;q=0.5", "application/json"),
        (f"application/json;q=0.5, {GRAPHQL_JSON}", GRAPHQL_JSON),
        (f"{GRAPHQL_JSON}, application/json, text/event-stream, multipart/mixed", GRAPHQL_JSON),
    ],
)
async def test_the_preferred_media_type_wins(endpoint: Endpoint, accept: str, media: str) -> None:
    response = await endpoint.post({"query": "{ __typename }"}, accept=accept)
    assert response.headers["content-type"].startswith(media + ";")


@pytest.mark.parametrize("accept", ["image/png", "multipart/mixed;deferSpec=20220824"])
async def test_a_client_that_takes_neither_is_told_what_there_is(
    endpoint: Endpoint, accept: str
) -> None:
    response = await endpoint.post({"query": "{ __typename }"}, accept=accept)
    assert response.status_code == 406
    assert "application/json" in response.json()["errors"][0]["message"]


async def test_a_get_runs_a_query_and_refuses_a_mutation(endpoint: Endpoint) -> None:
    good = await endpoint.http.get("/graphql", params={"query": "{ __typename }"})
    assert good.json() == {"data": {"__typename": "Query"}}
    bad = await endpoint.http.get("/graphql", params={"query": SIGN_UP.replace("ann", "eve")})
    assert (bad.status_code, bad.headers["allow"]) == (405, "POST")
    found = await endpoint.post({"query": '{ user(username: "eve") { id } }'})
    assert found.json() == {"data": {"user": None}}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'"x"',
        b"5",
        b"null",
        b"[1]",
        b"{}",
        b'[{"query": "{__typename}"}]',
        b'{"query": 5}',
        b'{"query": "{__typename}", "variables": []}',
        b'{"query": "{__typename}", "variables": "x"}',
        b'{"query": "{__typename}", "operationName": 7}',
        b'{"query": "{__typename}", "extensions": []}',
        b"\xff\xfe",
    ],
)
async def test_a_body_of_another_form_is_refused_with_words(
    endpoint: Endpoint, body: bytes
) -> None:
    response = await endpoint.http.post(
        "/graphql", content=body, headers={"content-type": "application/json"}
    )
    assert response.status_code == 400
    assert codes(response) == ["BAD_USER_INPUT"]
    assert "Traceback" not in response.text


async def test_a_body_of_another_type_is_refused(endpoint: Endpoint) -> None:
    for media in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        response = await endpoint.http.post(
            "/graphql", content=b"{}", headers={"content-type": media}
        )
        assert response.status_code == 415


async def test_a_body_that_comes_in_pieces_is_read_whole(endpoint: Endpoint) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for piece in (b'{"query": ', b'"{ __type', b'name }"}'):
            yield piece

    response = await endpoint.http.post(
        "/graphql", content=pieces(), headers={"content-type": "application/json"}
    )
    assert response.json() == {"data": {"__typename": "Query"}}


async def test_a_client_that_leaves_amid_its_body_is_answered_nothing(endpoint: Endpoint) -> None:
    messages = [
        {"type": "http.request", "body": b'{"query": ', "more_body": True},
        {"type": "http.disconnect"},
    ]
    sent: list[Any] = []

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/graphql", "headers": headers}
    await endpoint.app(scope, receive, send)
    assert sent == []


async def test_other_methods_are_refused(endpoint: Endpoint) -> None:
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "QUERY"):
        response = await endpoint.http.request(method, "/graphql")
        assert response.status_code == 405, method
        assert response.headers["allow"] == "GET, POST"
        assert codes(response) == ["BAD_USER_INPUT"]


async def test_a_browser_may_ask_first_whether_it_may_call(endpoint: Endpoint) -> None:
    headers = {"origin": "https://app.example", "access-control-request-method": "POST"}
    response = await endpoint.http.options("/graphql", headers=headers)
    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] == "https://app.example"


async def test_a_body_beyond_the_limit_is_refused(endpoint: Endpoint) -> None:
    response = await endpoint.post({"query": "{ __typename }" + " " * 20_000})
    assert response.status_code == 413


@pytest.mark.parametrize("values", [[{}] * 2_001, [0] * 4_001, {str(n): 0 for n in range(4_001)}])
async def test_a_body_of_too_many_values_is_refused(values: Any) -> None:
    body = orjson.dumps({"query": "{ __typename }", "variables": {"a": values}})
    with pytest.raises(Refused) as refused:
        read_json(body, 1_000_000, 4_000)
    assert refused.value.status == 413


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("{ viewer { ", "GRAPHQL_PARSE_FAILED"),
        ("{ nothing }", "GRAPHQL_VALIDATION_FAILED"),
        ("query($a: Int!) { users(first: $a) { edges { cursor } } }", "BAD_USER_INPUT"),
        ("query A { __typename } query B { __typename }", "BAD_USER_INPUT"),
    ],
)
async def test_what_cannot_run_is_400_in_the_newer_type_and_200_in_the_older(
    endpoint: Endpoint, query: str, code: str
) -> None:
    for accept, status in ((GRAPHQL_JSON, 400), ("application/json", 200)):
        response = await endpoint.post({"query": query}, accept=accept)
        assert (response.status_code, codes(response)) == (status, [code])
        assert "data" not in response.json()


async def test_an_operation_too_deep_is_refused_however_its_fragments_fan_out(
    endpoint: Endpoint,
) -> None:
    levels = "".join(
        f"fragment F{i} on User {{ followers {{ edges {{ node {{ {f'...F{i + 1} ' * 2} }} }} }} }}"
        for i in range(24)
    )
    query = f"{{ viewer {{ ...F0 }} }} {levels} fragment F24 on User {{ id }}"
    response = await endpoint.post({"query": query})
    assert set(codes(response)) == {"GRAPHQL_VALIDATION_FAILED"}
    assert "deep" in response.json()["errors"][0]["message"]


async def test_a_token_names_the_viewer(endpoint: Endpoint) -> None:
    response = await endpoint.post(
        {"query": "{ viewer { username } }"}, authorization=f"Bearer {endpoint.token}"
    )
    assert response.json() == {"data": {"viewer": {"username": "ann"}}}


async def test_a_token_that_is_not_valid_is_401_and_never_nobody(endpoint: Endpoint) -> None:
    secret, now = endpoint.settings.secret, int(time.time())
    subject = jwt.decode(endpoint.token, options={"verify_signature": False})["sub"]
    good = {"sub": subject, "aud": "pinway", "exp": now + 60}
    forged = [
        "nonsense",
        jwt.encode(good, "another secret, as long as it takes to be one", "HS256"),
        jwt.encode(good, None, "none"),
        jwt.encode(good | {"exp": now - 1}, secret, "HS256"),
        jwt.encode(good | {"aud": "other"}, secret, "HS256"),
        jwt.encode(good | {"sub": "12"}, secret, "HS256"),
        jwt.encode({"aud": "pinway", "exp": now + 60}, secret, "HS256"),
    ]
    for token in forged:
        response = await endpoint.post(
            {"query": "{ viewer { username } }"}, authorization=f"Bearer {token}"
        )
        assert (response.status_code, codes(response)) == (401, ["UNAUTHENTICATED"]), token


async def test_writing_without_a_token_is_unauthenticated(endpoint: Endpoint) -> None:
    query = 'mutation { createBoard(input: {name: "x"}) { board { id } errors { code } } }'
    response = await endpoint.post({"query": query})
    assert codes(response) == ["UNAUTHENTICATED"]


async def test_a_browser_gets_graphiql_from_our_own_files(endpoint: Endpoint) -> None:
    page = await endpoint.http.get("/graphql", headers={"accept": "text/html,*/*;q=0.8"})
    assert page.headers["content-type"].startswith("text/html")
    assert "://" not in page.text.replace("http://www.w3.org", "")
    boot = (await endpoint.http.get("/graphiql/boot.json")).json()
    assert boot["viewer"] == "ann"
    assert len(boot["tabs"]) == 8
    for tab in boot["tabs"]:
        answer = await endpoint.post({"query": tab["query"], "variables": {}})
        assert "GRAPHQL_VALIDATION_FAILED" not in answer.text, tab["title"]


async def test_the_demo_token_is_kept_from_other_host_names(
    endpoint: Endpoint, doubted: httpx.AsyncClient
) -> None:
    own = await doubted.get("/graphiql/boot.json", headers={"host": "127.0.0.1:8123"})
    assert own.json()["token"]
    for host in ("evil.example", "localhost.evil.example", "127.0.0.1.nip.example:8000"):
        boot = await doubted.get("/graphiql/boot.json", headers={"host": host})
        assert boot.json()["token"] is None


async def test_only_allowed_origins_may_call_from_a_browser(endpoint: Endpoint) -> None:
    for origin, allowed in (("https://app.example", True), ("https://evil.example", False)):
        response = await endpoint.post({"query": "{ __typename }"}, origin=origin)
        assert ("access-control-allow-origin" in response.headers) is allowed


async def test_health_and_readiness_answer(endpoint: Endpoint) -> None:
    alive = await endpoint.http.get("/healthz")
    assert alive.json() == {"status": "ok", "process": os.getpid()}
    ready = await endpoint.http.get("/readyz")
    assert (ready.status_code, ready.json()["required"]) == (200, {})


async def test_metrics_count_every_request_and_what_the_executor_did(endpoint: Endpoint) -> None:
    async def counted() -> dict[str, float]:
        lines = (await endpoint.http.get("/metrics")).text.splitlines()
        samples = (line.rpartition(" ") for line in lines if not line.startswith("#"))
        return {name: float(value) for name, _, value in samples}

    def requests(status: int, below: str = "") -> str:
        if not below:
            return f'pinway_http_request_duration_seconds_count{{status="{status}"}}'
        return f'pinway_http_request_duration_seconds_bucket{{le="{below}",status="{status}"}}'

    query = {"query": "{ viewer { id counted: username } }"}
    await endpoint.post({"query": 1}, accept=GRAPHQL_JSON)
    before = await counted()
    for _ in range(3):
        await endpoint.post(query)
    await endpoint.post({"query": 1}, accept=GRAPHQL_JSON)
    after = await counted()
    grown = {name: value - before.get(name, 0.0) for name, value in after.items()}
    assert (grown[requests(200)], grown[requests(400)]) == (3, 1)
    assert after[requests(200, "+Inf")] == after[requests(200)]
    assert grown["pinway_executor_hits_total"] == 2
    assert grown["pinway_executor_misses_total"] == 1
    assert grown["pinway_executor_documents"] == 1
    assert grown["pinway_executor_fallbacks_total"] == 0
    assert after["pinway_executor_document_bytes"] > 0


def test_our_own_server_answers_operations_the_short_way(endpoint: Endpoint) -> None:
    app: Any = endpoint.app
    here = {b"host": b"localhost"}
    assert app.answering(b"/graphql", here) is not None
    assert app.answering(b"/graphql", here | {b"origin": b"https://app.example"}) is None  # CORS
    assert app.answering(b"/graphql", {b"host": b"pins.example"}) is None  # perhaps by a proxy
    assert app.answering(b"/graphql?query=x", here) is None
    assert app.answering(b"/metrics", here) is None
