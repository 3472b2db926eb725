"""Behind real proxies, with the lines of docs/how-to/proxy.md and with the plainest lines: a
stranger is a stranger, and two clients are two clients."""

import re
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.http.this_machine import closed
from gateway.server.connections import Connection, Connections
from gateway.server.process import Server
from gateway.settings import Http, Settings, read_settings
from tests.http.test_admin import SIGN_UP, site
from tests.outside import proxies
from tests.outside.proxies import Certificate, free_port, replaced
from tests.unit.gateway.server.apps import running

pytestmark = pytest.mark.anyio
PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "proxy.md").read_text()
FOLDER = "/etc/ssl/pins.example"
GATEWAY = "127.0.0.1:8000"
Run = Callable[[str, Path, int], AbstractContextManager[None]]


def block(language: str) -> str:
    """The page's lines in this language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return str(found)


@dataclass(frozen=True)
class Kind:
    """A proxy with some lines. `port` is the text that names the proxy's port in them."""

    run: Run
    lines: str
    port: dict[str, str]
    names_clients: bool
    by_tls: bool = True
    changes: dict[str, str] = field(default_factory=dict)


CADDY_PORT = {"pins.example {": "https://pins.example:{port} {\n    bind 127.0.0.1"}
PLAIN_HAPROXY = """
defaults
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 30s
listen pins
    bind 127.0.0.1:81
    server pinway 127.0.0.1:8000
"""
PLAIN_NGINX = "server { listen 127.0.0.1:81; location / { proxy_pass http://127.0.0.1:8000; } }"
WITH_HOST = PLAIN_NGINX.replace("proxy_pass", "proxy_set_header Host $host; proxy_pass")
PLAIN_PORT = {"127.0.0.1:81": "127.0.0.1:{port}"}
KINDS = {
    "nginx": Kind(
        proxies.nginx, block("nginx"), {"listen 443 ssl": "listen 127.0.0.1:{port} ssl"}, True
    ),
    "HAProxy": Kind(
        proxies.haproxy, block("haproxy"), {"bind :443": "bind 127.0.0.1:{port}"}, True
    ),
    "Caddy": Kind(proxies.caddy, block("caddyfile"), CADDY_PORT, True),
    "plain nginx": Kind(proxies.nginx, PLAIN_NGINX, PLAIN_PORT, False, by_tls=False),
    "plain nginx with Host": Kind(proxies.nginx, WITH_HOST, PLAIN_PORT, False, by_tls=False),
    "plain HAProxy": Kind(proxies.haproxy, PLAIN_HAPROXY, PLAIN_PORT, False, by_tls=False),
    "plain Caddy": Kind(
        proxies.caddy,
        "http://127.0.0.1:81 {\n    bind 127.0.0.1\n    reverse_proxy 127.0.0.1:8000\n}",
        {"http://127.0.0.1:81": "http://:{port}"},
        True,
        by_tls=False,
    ),
}


class Counted(Connections):
    """Counts the connections that were admitted."""

    count = 0

    def admit(self, connection: Connection) -> str | None:
        self.count += 1
        return super().admit(connection)


@dataclass
class World:
    """A gateway with a demo viewer, and a proxy in front of it."""

    kind: Kind
    gateway: str
    proxy: str
    connections: Counted
    certificate: Certificate

    def client(self, address: str, host: str = "pins.example") -> httpx.AsyncClient:
        """A client of the proxy, at an address of its own."""
        verify: Any = True
        if self.kind.by_tls:
            verify = ssl.create_default_context(cafile=str(self.certificate.certificate))
        transport = httpx.AsyncHTTPTransport(local_address=address, verify=verify)
        return httpx.AsyncClient(
            transport=transport, base_url=self.proxy, headers={"host": host}, timeout=60
        )

    async def ask(self, one: httpx.AsyncClient, method: str, path: str, **given: Any) -> Any:
        extensions = {"sni_hostname": "pins.example"} if self.kind.by_tls else {}
        return await one.request(method, path, extensions=extensions, **given)

    async def told(self, one: httpx.AsyncClient) -> set[str]:
        """The paths that told the client what strangers must not know."""
        found = set()
        for path, secret in (
            ("/metrics", "pinway_"),
            ("/statusz", "Pinway status"),
            ("/statusz.json", '"stores"'),
            ("/readyz", "required"),
            ("/healthz", "process"),
            ("/graphiql/boot.json", '"token":"'),
            ("/web/boot.json", '"demoViewer":"'),
        ):
            answer = await self.ask(one, "GET", path)
            if secret in answer.text:
                found.add(path)
        answer = await self.ask(one, "POST", "/web/sign-in", json={"username": "ann"})
        return found | ({"/web/sign-in"} if "token" in answer.text else set())

    async def makes_account(self, name: str, address: str, **headers: str) -> bool:
        query = f'mutation {{ signUp(input: {{username: "{name}"}}) {{ user {{ id }} }} }}'
        async with self.client(address) as one:
            sent = {key.replace("_", "-"): value for key, value in headers.items()}
            answer = await self.ask(one, "POST", "/graphql", json={"query": query}, headers=sent)
        return answer.json()["data"]["signUp"]["user"] is not None


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    proxies.ensure()
    return Certificate.make(tmp_path_factory.mktemp("certificate"))


@asynccontextmanager
async def world(kind: Kind, folder: Path, certificate: Certificate) -> AsyncIterator[World]:
    connections = Counted(1_000, 100, lambda peer: peer == "127.0.0.1")
    settings = Settings(http=Http(idle_timeout=75))

    def server(application: Any) -> Server:
        return Server(application, settings, connections=connections)

    async with (
        site(folder / "data", {"limits.sign_ups_per_hour": 1}) as found,
        running(found.public, server) as (_, gateway),
    ):
        port = free_port()
        lines = replaced(
            kind.lines, {old: new.replace("{port}", str(port)) for old, new in kind.port.items()}
        )
        lines = replaced(lines, {GATEWAY: f"127.0.0.1:{gateway}"})
        if kind.by_tls:
            lines = replaced(lines, {FOLDER: str(certificate.folder)})
        with kind.run(lines, folder, port):
            scheme = "https" if kind.by_tls else "http"
            proxy = f"{scheme}://127.0.0.1:{port}"
            yield World(kind, f"http://127.0.0.1:{gateway}", proxy, connections, certificate)


@pytest.mark.parametrize("name", KINDS)
async def test_behind_a_proxy_strangers_are_strangers(
    name: str, tmp_path: Path, certificate: Certificate
) -> None:
    kind = KINDS[name]
    async with world(kind, tmp_path, certificate) as found:
        async with httpx.AsyncClient(base_url=found.gateway, timeout=60) as local:
            assert (await local.post("/graphql", json={"query": SIGN_UP})).status_code == 200
            direct = World(
                KINDS["plain nginx"], *[found.gateway] * 2, found.connections, certificate
            )
            assert len(await direct.told(local)) == 8, "this machine is told all"
        for host in ("pins.example", "localhost", "127.0.0.1:8000"):
            async with found.client("127.0.0.2", host) as stranger:
                assert await found.told(stranger) == set(), host
        async with found.client("127.0.0.2", "localhost") as stranger:
            stranger.headers["x-forwarded-for"] = "127.0.0.1"
            assert await found.told(stranger) == set()

        if kind.names_clients:
            assert await found.makes_account("two", "127.0.0.2")
            assert not await found.makes_account("again", "127.0.0.2")
            assert not await found.makes_account("forged", "127.0.0.2", x_forwarded_for="192.0.2.7")
            assert await found.makes_account("three", "127.0.0.3")
            assert not await found.makes_account("more", "127.0.0.3")
        if kind.by_tls:
            before = found.connections.count
            async with found.client("127.0.0.2") as one:
                for _ in range(12):
                    answer = await found.ask(
                        one, "POST", "/graphql", json={"query": "{__typename}"}
                    )
                    assert answer.json() == {"data": {"__typename": "Query"}}
                assert found.connections.count - before <= 4, "connections are kept"
                upgrade = {"connection": "upgrade", "upgrade": "websocket"}
                answer = await found.ask(one, "GET", "/graphql", headers=upgrade)
                assert answer.status_code in (200, 400, 501)
                answer = await found.ask(one, "GET", "/healthz")
                assert answer.json() == {"status": "ok"}


def test_the_pages_settings_are_settings(tmp_path: Path) -> None:
    path = tmp_path / "pinway.toml"
    path.write_text(block("toml"))
    settings = read_settings(
        path, {"production": True, "auth.secret": "s" * 32, "data_dir": tmp_path}
    )
    assert closed(settings) is None
    assert settings.http.admin_host == "127.0.0.1"
    kept = [int(seconds) for seconds in re.findall(r"keep-?alive(?:_timeout)? (\d+)s", PAGE)]
    assert len(kept) == 3
    assert max(kept) < settings.http.idle_timeout
