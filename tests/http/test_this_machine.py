"""Behind a proxy on this machine a stranger is a stranger, also if the proxy hides its clients."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from starlette.requests import Request
from starlette.types import Scope

from gateway.app import Site
from gateway.http.this_machine import ThisMachine, closed
from gateway.operate import doctor
from gateway.server.process import serve
from gateway.settings import Http, Settings, read_settings
from gateway.site.installation import install
from tests.happened import happened
from tests.http.test_admin import SIGN_UP, STRANGER, client, site

pytestmark = pytest.mark.anyio
SECRET = "s" * 32
HERE = {"host": "localhost:8000"}


def sent(
    here: ThisMachine, headers: dict[str, str], peer: str = "127.0.0.1", version: str = "1.1"
) -> bool:
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "headers": pairs, "client": (peer, 1), "http_version": version}
    return here.sent(Request(scope))


def refuses(
    here: ThisMachine, headers: dict[str, str], peer: str = "127.0.0.1", version: str = "1.1"
) -> bool:
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "headers": pairs, "client": (peer, 1), "http_version": version}
    return here.refuses(scope)


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "LOCALHOST:8000", "127.0.0.1", "127.0.0.1:8000", "[::1]", "[::1]:8000"),
        "localhost:",
    ],
)
@pytest.mark.parametrize("peer", ["127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.1"])
def test_a_request_of_this_machine_is_recognized(host: str, peer: str) -> None:
    assert sent(ThisMachine(Settings()), {"host": host}, peer)


def test_the_address_on_which_the_gateway_listens_is_this_machine() -> None:
    for host, named in (("127.0.0.2", "127.0.0.2:80"), ("::1", "[::1]:80")):
        assert sent(ThisMachine(Settings(http=Http(host=host))), {"host": named}, host)


@pytest.mark.parametrize(
    "header",
    [
        *(
            "Forwarded",
            "Via",
            "X-Real-IP",
            "X-Forwarded-For",
            "X-Forwarded-Proto",
            "True-Client-IP",
        ),
        *("X-Forwarded-Host", "X-Forwarded-Anything", "CF-Connecting-IP", "X-Client-IP"),
    ],
)
def test_a_proxy_that_names_its_clients_is_recognized_and_closes_nothing(header: str) -> None:
    here = ThisMachine(Settings())
    assert not sent(here, {**HERE, header.lower(): "127.0.0.1"})
    assert not sent(here, {"host": "pins.example", header.lower(): "127.0.0.1"}, version="1.0")
    assert sent(here, HERE)


@pytest.mark.parametrize(
    ("headers", "version"),
    [
        ({**HERE, "connection": "close"}, "1.0"),
        ({"connection": "Close, x"}, "1.0"),
        ({}, "1.1"),
        ({"http.host": "pins.example"}, "1.1"),
        ({"http.host": "pins.example:8000"}, "1.1"),
        ({"http.host": "localhost.pins.example"}, "1.1"),
        ({"http.host": "localhost:8000:80"}, "1.1"),
        ({"http.host": "192.168.1.5"}, "1.1"),
        ({"http.host": ""}, "1.1"),
        ({"http.host": "x" * 500 + "\x1b"}, "1.1"),
    ],
)
def test_behind_a_proxy_that_hides_its_clients_nobody_is_on_this_machine(
    headers: dict[str, str], version: str, caplog: pytest.LogCaptureFixture
) -> None:
    here = ThisMachine(Settings())
    assert sent(here, HERE)
    with caplog.at_level(logging.WARNING, "pinway"):
        for _ in range(3):
            assert not sent(here, headers, version=version)
            assert not sent(here, HERE), "a stranger may name this machine"
    (told,) = caplog.messages
    for word in ("X-Forwarded-For", "http.public_url", "http.admin_port", "docs/how-to/proxy.md"):
        assert word in told
    assert "\x1b" not in told
    assert len(told) < 600


BROWSERS = [
    {"user-agent": "Mozilla/5.0 (X11)"},
    {"user-agent": "x", "accept-language": "en"},
    {"origin": "http://pins.example:8000"},
    {"referer": "http://pins.example:8000/"},
]


@pytest.mark.parametrize("headers", BROWSERS)
def test_a_page_of_another_site_is_refused_and_closes_nothing(
    headers: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    """The name of such a site resolves to this machine, so requests are for another host."""
    here = ThisMachine(Settings())
    with caplog.at_level(logging.WARNING, "pinway"):
        for _ in range(3):
            assert refuses(here, {"host": "pins.example:8000", **headers})
            assert not sent(here, {"host": "pins.example:8000", **headers})
            assert sent(here, {**HERE, **headers})
            assert not refuses(here, {**HERE, **headers})
    (told,) = caplog.messages
    assert "public_url" in told
    assert "'pins.example:8000'" in told


@pytest.mark.parametrize("headers", BROWSERS)
def test_browsers_are_served_where_their_host_is_expected(headers: dict[str, str]) -> None:
    foreign = {"host": "pins.example", **headers}
    for settings in (
        Settings(http=Http(public_url="https://pins.example")),
        Settings(http=Http(host="0.0.0.0")),
        Settings(http=Http(allowed_hosts=("pins.example",))),
    ):
        assert not refuses(ThisMachine(settings), foreign)
    here = ThisMachine(Settings())
    assert not refuses(here, {**foreign, "x-forwarded-for": STRANGER})
    assert not refuses(here, foreign, STRANGER)
    assert sent(here, HERE)
    assert not refuses(here, foreign, version="1.0"), "plain nginx"
    assert not sent(here, HERE)
    assert not refuses(here, foreign)


@pytest.mark.parametrize("headers", [HERE, {}, {**HERE, "connection": "keep-alive"}])
def test_a_tool_that_speaks_http_1_0_gets_nothing_and_closes_nothing(
    headers: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    """`ab`, `curl -0` and simple probes send no `Connection: close`, unlike nginx."""
    here = ThisMachine(Settings())
    with caplog.at_level(logging.WARNING, "pinway"):
        assert not sent(here, headers, version="1.0")
        pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
        scope: Scope = {"type": "http", "headers": pairs, "client": ("127.0.0.1", 1)}
        scope["http_version"] = "1.0"
        assert not here.refuses(scope)
        assert not here.sent(Request(scope))
        assert not here.sent_with(dict(scope["headers"]), "127.0.0.1")
        assert sent(here, HERE)
    assert caplog.messages == []


def test_another_machine_is_never_this_one_and_closes_nothing() -> None:
    here = ThisMachine(Settings())
    for headers in (HERE, {}, {"host": "pins.example"}):
        assert not sent(here, headers, STRANGER)
        assert not sent(here, headers, "2001:db8::1", "1.0")
    assert sent(here, HERE)


@pytest.mark.parametrize(
    ("values", "is_public"),
    [
        ({"http.public_url": "https://pins.example"}, True),
        ({"http.public_url": "https://localhost.pins.example"}, True),
        ({"http.public_url": "http://localhost:8000"}, False),
        ({"http.public_url": "http://127.0.0.1:8000"}, False),
        ({"http.public_url": "http://[::1]:8000"}, False),
        ({"http.host": "0.0.0.0"}, True),
        ({"http.host": "::"}, True),
        ({"http.host": "203.0.113.5"}, True),
        ({"http.host": "pins.example"}, True),
        ({"http.host": "localhost"}, False),
        ({"http.host": "127.0.0.2"}, False),
    ],
)
def test_where_a_public_address_is_set_nobody_is_on_this_machine(
    values: dict[str, str], is_public: bool
) -> None:
    settings = read_settings(options=values)
    assert sent(ThisMachine(settings), HERE) is not is_public
    assert (closed(settings) is not None) is is_public
    assert closed(read_settings(options={**values, "http.admin_port": 9})) is None


async def told(one: httpx.AsyncClient) -> dict[str, object]:
    """The things that the client is told, and that strangers must not know."""
    found: dict[str, object] = {
        path: (await one.get(path)).text
        for path in ("/metrics", "/statusz", "/statusz.json")
        if (await one.get(path)).status_code != 404
    }
    for path in ("/readyz", "/healthz"):
        if (answer := (await one.get(path)).json()) != {"status": "ok"}:
            found[path] = answer
    boot = await one.get("/graphiql/boot.json")
    if boot.status_code == 200 and boot.json()["token"]:
        found["token"] = boot.json()["token"]
    web = await one.get("/web/boot.json")
    if web.status_code == 200 and web.json()["demoViewer"]:
        found["demoViewer"] = web.json()
    signed = await one.post("/web/sign-in", json={"username": "ann"})
    if signed.status_code == 200:
        found["sign-in"] = signed.json()
    return found


ALL = {
    *("/metrics", "/statusz", "/statusz.json", "/readyz", "/healthz"),
    *("token", "demoViewer", "sign-in"),
}


@asynccontextmanager
async def with_ann(
    directory: Path, values: Mapping[str, object] | None = None
) -> AsyncIterator[Site]:
    async with site(directory, values) as found:
        async with client(found.public) as one:
            await one.post("/graphql", json={"query": SIGN_UP})
        yield found


async def test_a_stranger_behind_a_proxy_is_told_nothing(tmp_path: Path) -> None:
    async with with_ann(tmp_path) as found:
        async with client(found.public) as local:
            assert (await told(local)).keys() == ALL
        for headers in ({"x_forwarded_for": STRANGER}, {"host": "pins.example"}, {}):
            async with client(found.public, **headers) as stranger:
                assert await told(stranger) == {}, headers


async def test_a_page_that_strangers_load_shows_the_proxy(tmp_path: Path) -> None:
    async with with_ann(tmp_path, {"http.web": True}) as found:
        async with client(found.public, host="pins.example") as stranger:
            await stranger.get("/web/boot.json")
        async with client(found.public) as local:
            assert await told(local) == {}


async def test_a_page_of_another_site_reads_nothing_and_takes_nothing_away(tmp_path: Path) -> None:
    async with with_ann(tmp_path, {"http.web": True}) as found:
        headers = {"host": "pins.example", "accept_language": "en"}
        async with client(found.public, **headers) as page:
            for path in ("/", "/graphql?query={__typename}", "/web/boot.json", "/healthz"):
                answer = await page.get(path)
                assert (answer.status_code, "public_url" in answer.text) == (421, True), path
            assert (await page.post("/graphql", json={"query": "{viewer{id}}"})).status_code == 421
        async with client(found.public) as local:
            assert (await told(local)).keys() == ALL


async def test_a_page_of_another_site_reads_nothing_of_the_operators(tmp_path: Path) -> None:
    paths = ("/metrics", "/statusz", "/statusz.json", "/readyz", "/healthz")
    async with site(tmp_path, {"http.admin_port": 9}) as found:
        for headers, status in (
            ({"host": "pins.example", "accept_language": "en"}, 421),
            ({"host": "pins.example"}, 200),
            ({"host": "127.0.0.1:9", "accept_language": "en"}, 200),
            ({"host": "x.example", "accept_language": "en", "x_forwarded_for": "10.0.0.1"}, 200),
        ):
            async with client(found.admin, **headers) as one:
                assert {(await one.get(path)).status_code for path in paths} == {status}, headers
    async with (
        site(tmp_path, {"http.admin_port": 9, "http.admin_host": "0.0.0.0"}) as found,
        client(found.admin, host="pins.example", accept_language="en") as one,
    ):
        assert (await one.get("/metrics")).status_code == 200


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_an_operation_of_a_stranger_shows_the_proxy(tmp_path: Path, method: str) -> None:
    parameters = {"query": "{ __typename }"}
    async with with_ann(tmp_path) as found:
        async with client(found.public, host="pins.example") as stranger:
            given = {"json": parameters} if method == "POST" else {"params": parameters}
            await stranger.request(method, "/graphql", **given)  # type: ignore[arg-type]
        async with client(found.public) as local:
            assert await told(local) == {}


@pytest.mark.parametrize(
    ("headers", "is_closed"),
    [
        ("host: pins.example", True),
        ("host: pins.example\r\nx-forwarded-for: 203.0.113.5", False),
        ("host: LOCALHOST:80", False),
    ],
)
async def test_an_operation_that_the_server_answers_itself_shows_the_proxy(
    tmp_path: Path, headers: str, is_closed: bool
) -> None:
    settings, ready = (
        read_settings(options={"data_dir": tmp_path, "jobs.run": False, "http.port": 0}),
        asyncio.Event(),
    )
    await install(settings, lambda progress: None)
    body = '{"query": "{ __typename }"}'
    with socket.create_server(("127.0.0.1", 0)) as public:
        serving = asyncio.create_task(serve(settings, public, on_ready=ready.set))
        await happened(ready, serving)
        address = public.getsockname()
        reader, writer = await asyncio.open_connection(*address)
        writer.write(
            f"POST /graphql HTTP/1.1\r\n{headers}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\n\r\n{body}".encode()
        )
        assert b" 200 " in await reader.readline()
        writer.close()
        async with httpx.AsyncClient() as local:
            answer = await local.get(f"http://127.0.0.1:{address[1]}/metrics")
        assert (answer.status_code == 404) is is_closed
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


async def test_in_production_the_public_port_tells_nobody(tmp_path: Path) -> None:
    values = {"production": True, "auth.secret": SECRET, "auth.demo_viewer": ""}
    async with with_ann(tmp_path, values) as found, client(found.public) as local:
        assert await told(local) == {}


async def test_a_public_gateway_gives_no_demo_tokens(tmp_path: Path) -> None:
    async with (
        with_ann(tmp_path, {"http.public_url": "https://pins.example"}) as found,
        client(found.public) as local,
    ):
        assert await told(local) == {}


def test_a_gateway_says_what_nobody_gets_and_what_to_set(tmp_path: Path) -> None:
    production = {"production": True, "auth.secret": SECRET, "data_dir": tmp_path}
    line = closed(read_settings(options=production))
    assert line is not None
    assert line.startswith(
        "production is on, and there is no http.admin_port: nobody gets /metrics"
    )
    assert "Set http.admin_port" in line
    assert closed(read_settings(options={**production, "http.admin_port": 9})) is None
    assert closed(read_settings()) is None
    details = [finding.detail for finding in doctor.of_host(read_settings(options=production))]
    assert any("no http.admin_port" in detail for detail in details)


async def test_the_line_is_logged_when_the_gateway_starts(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    values = {"production": True, "auth.secret": SECRET, "data_dir": tmp_path, "jobs.run": False}
    settings, ready = read_settings(options=values), asyncio.Event()
    with socket.create_server(("127.0.0.1", 0)) as public:
        with caplog.at_level(logging.WARNING, "pinway"):
            serving = asyncio.create_task(serve(settings, public, on_ready=ready.set))
            await happened(ready, serving)
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
    assert caplog.messages.count(closed(settings) or "") == 1
