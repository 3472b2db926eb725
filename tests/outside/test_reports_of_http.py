"""Public bug reports of GraphQL servers and web servers, tried on a gateway's own server with the
bytes that a client sends. `reports.md` says what each report was."""

import asyncio
import gzip
import json
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.app import create_site
from gateway.server.process import Server
from gateway.settings import read_settings
from gateway.site.runtime import running

pytestmark = pytest.mark.anyio
JSON, NEWER = "application/json", "application/graphql-response+json"


@pytest.fixture(scope="module")
async def port(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[int]:
    settings = read_settings(options={"data_dir": tmp_path_factory.mktemp("data")})
    async with running(settings, jobs=False, create=lambda progress: None) as runtime:
        server = Server(create_site(settings, runtime).public)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            try:
                yield listener.getsockname()[1]
            finally:
                server.should_exit = True
                await serving


async def sent(port: int, request: bytes) -> tuple[int, bytes]:
    """The status and the body of the response. The connection is closed by the server, or after
    the first response."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        status, *lines = head.decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines if ": " in line)
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        return int(status.split()[1]), body
    finally:
        writer.close()


async def post(port: int, body: bytes, accept: str = JSON) -> tuple[int, Any]:
    head = (
        f"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: {JSON}\r\n"
        f"Accept: {accept}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    status, answer = await sent(port, head.encode() + body)
    return status, json.loads(answer)


TARGETS = {
    "encode/uvicorn#205": b"GET /graphql?at=76.9, 8.4 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "encode/uvicorn#1093": b"GET /a b c HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "encode/uvicorn#344": "GET /👽 HTTP/1.1\r\nHost: localhost\r\n\r\n".encode(),
    "benoitc/gunicorn#1023": b"PUT ///]ufd/: HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "encode/uvicorn#1296": b"MUX /graphql HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "encode/uvicorn#3062": b"POST /graphql HTTP/1.1\r\nHost: localhost\r\n"
    b"Content-Length: abc\r\n\r\n",
    "StoneLL1/resume-builder#1": b"POST /graphql HTTP/1.1\r\nHost: localhost\r\n"
    b"Content-Length: -5\r\n\r\n",
}


@pytest.mark.parametrize("name", TARGETS)
async def test_a_request_that_is_wrong_is_answered_as_the_clients_mistake(
    port: int, name: str
) -> None:
    """Neither a closed connection without an answer, which proxies turn into a 502, nor a 500."""
    status, _ = await sent(port, TARGETS[name])
    assert 400 <= status < 500


BODIES = {
    "apollographql/apollo-server#4078": b"",
    "apollographql/apollo-server#7465": b'{"query": "{ __typename }", "variables": "x"}',
    "apollographql/apollo-server#941": b'[{"query": "{ __typename }"}, {"query": "{ nope }"}]',
    "graphql/graphql-over-http#241": b'{"qeury": "{ __typename }"}',
    "graphql/graphql-over-http#241 (2)": b"NONSENSE",
    "graphql/graphql-over-http#288": b'{"query": "{ __typename }", "variables": [7]}',
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("accept", [JSON, NEWER])
async def test_a_body_that_is_no_request_is_400(port: int, name: str, accept: str) -> None:
    status, answer = await post(port, BODIES[name], accept)
    assert status == 400
    assert answer["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"
    assert "data" not in answer


VARIABLES = {
    "graphql/express-graphql#417": ("query ($a: ID!) { board(id: $a) { id } }", {"a": {}}),
    "apollographql/router#1561": (
        "query ($n: Int) { users(first: $n) { edges { cursor } } }",
        {"n": "hello"},
    ),
    "apollographql/apollo-server#6278": ("query ($a: ID!) { board(id: $a) { id } }", {}),
}


@pytest.mark.parametrize("name", VARIABLES)
async def test_wrong_variables_are_200_in_the_older_media_type_and_400_in_the_newer(
    port: int, name: str
) -> None:
    query, variables = VARIABLES[name]
    body = json.dumps({"query": query, "variables": variables}).encode()
    for accept, expected in ((JSON, 200), (NEWER, 400)):
        status, answer = await post(port, body, accept)
        assert status == expected
        assert answer["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"


async def test_the_connection_of_a_bad_request_is_not_mixed_up_with_the_next(port: int) -> None:
    """encode/uvicorn#344: requests through one proxy, some of them wrong."""
    good = json.dumps({"query": "{ __typename }"}).encode()

    async def one(n: int) -> tuple[int, Any]:
        if n % 3 == 0:
            return await sent(port, TARGETS["encode/uvicorn#344"])
        return await post(port, good)

    answers = await asyncio.gather(*(one(n) for n in range(30)))
    for n, (status, answer) in enumerate(answers):
        if n % 3:
            assert (status, answer) == (200, {"data": {"__typename": "Query"}})


HEADERS = {
    "apollo-server-integrations/apollo-server-integration-azure-functions#27": (
        "Content-Type: application/json; charset-utf8",
        b'{"query": "{ __typename }"}',
        200,
        '"__typename"',
    ),
    "apollographql/apollo-server#1841": ("Accept: */*", b"", 415, "send application/json"),
    "DataSQRL/sqrl#2168": (
        "Content-Type: application/json\r\nContent-Encoding: gzip\r\nAuthorization: Bearer x.y.z",
        gzip.compress(b'{"query": "{ __typename }"}', mtime=0),
        415,
        "content-encoding: gzip",
    ),
    "graphql-hive/graphql-yoga#1137": (
        "Content-Type: application/json",
        b'{"extensions": {"persistedQuery": {"version": 1, "sha256Hash": "0"}}}',
        200,
        "PersistedQueryNotFound",
    ),
    "mercurius-js/mercurius#571": (
        "Content-Type: application/json",
        b'{"query": "query Login($email: String!) { signIn(email: $email) { token } }"}',
        200,
        "Cannot query field 'signIn'",
    ),
}


@pytest.mark.parametrize("name", HEADERS)
async def test_a_request_is_answered_with_the_status_and_the_words_that_its_reporter_missed(
    port: int, name: str
) -> None:
    headers, body, expected, words = HEADERS[name]
    head = f"POST /graphql HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n"
    request = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    status, answer = await sent(port, request)
    assert status == expected
    assert words in answer.decode()
