"""The keys of an issuer at a real HTTPS address, which changes them, fails and is slow."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from datasources.errors import Unauthenticated
from gateway.http import issuer_keys
from gateway.http.issuer import Issuer
from gateway.http.issuer_keys import AGAIN, FRESH, IssuerKeys
from tests import certificates
from tests.certificates import Certificates
from tests.issuer import NAME, OTHER, PRIVATE, USER, key_set, member, signed

pytestmark = pytest.mark.anyio
OLD = member("ES256", PRIVATE["ES256"], "ES256")
NEW = member("ES256", OTHER, "new")


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Site:
    """An HTTPS server with a set of keys. `answer` is a whole HTTP response, or None for an answer
    that comes one byte at a time and never ends."""

    def __init__(self) -> None:
        self.answer: bytes | None = http(key_set(OLD))
        self.asked: list[str] = []
        self.address = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await reader.readuntil(b"\r\n\r\n")
            self.asked.append(request.split()[1].decode())
            if self.answer is None:
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n")
                while not writer.is_closing():
                    writer.write(b" ")
                    await writer.drain()
                    await asyncio.sleep(0.01)
            else:
                writer.write(self.answer)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


def http(body: bytes, status: str = "200 OK", **headers: str) -> bytes:
    """A whole HTTP response."""
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", "connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return certificates.made_in(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
async def site(made: Certificates, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    monkeypatch.setenv("SSL_CERT_FILE", str(made.ca))
    async with served(Site(), made) as found:
        yield found


@asynccontextmanager
async def served(site: Site, made: Certificates) -> AsyncIterator[Site]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(made.certificate, made.key)
    async with await asyncio.start_server(site.serve, "127.0.0.1", 0, ssl=context) as server:
        site.address = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield site


class Reader:
    """An issuer whose keys are at a site."""

    def __init__(self, site: Site) -> None:
        self.clock = Clock()
        self.keys = IssuerKeys(f"{site.address}/keys", clock=self.clock)
        self._issuer = Issuer(NAME, self.keys, "sub")

    async def accepts(self, **claims: Any) -> bool:
        try:
            token = await self._issuer.read(signed(**claims))
        except Unauthenticated:
            return False
        return token is not None and token.viewer_id == USER

    async def read_again(self) -> None:
        """Wait until the set that is no longer fresh is read."""
        self.clock.now += FRESH
        self.keys.refresh()
        reading = self.keys._reading
        assert reading is not None
        await reading


async def test_keys_rotate_over_tls(site: Site) -> None:
    reader = Reader(site)
    assert await reader.accepts()
    site.answer = http(key_set(OLD, NEW), cache_control="max-age=86400")
    assert not await reader.accepts(private=OTHER, kid="new")  # read less than 10 seconds ago
    reader.clock.now += AGAIN
    assert await reader.accepts(private=OTHER, kid="new")
    assert await reader.accepts()
    site.answer = http(key_set(NEW))
    await reader.read_again()
    assert not await reader.accepts()
    assert await reader.accepts(private=OTHER, kid="new")


@pytest.mark.parametrize(
    "answer",
    [
        http(b"", "500 Internal Server Error"),
        http(b"", "304 Not Modified"),
        http(b"<html>", "200 OK", content_type="text/html"),
        http(b"", "302 Found", location="/keys"),
        http(b"", "302 Found", location="http://127.0.0.1:1/keys"),
        b"",
    ],
    ids=["500", "304", "a page", "a loop of redirects", "a redirect without TLS", "no answer"],
)
async def test_keys_outlive_a_fault_of_the_issuer(site: Site, answer: bytes) -> None:
    reader = Reader(site)
    assert await reader.accepts()
    site.answer = answer
    await reader.read_again()
    assert len(site.asked) > 1
    assert await reader.accepts()
    site.answer = http(key_set(NEW))
    await reader.read_again()
    assert not await reader.accepts()


async def test_a_redirect_to_another_https_server_is_followed(
    site: Site, made: Certificates
) -> None:
    async with served(Site(), made) as other:
        other.answer = http(key_set(NEW))
        site.answer = http(b"", "307 Temporary Redirect", location=f"{other.address}/moved")
        assert await Reader(site).accepts(private=OTHER, kid="new")
        assert other.asked == ["/moved"]


async def test_a_server_of_another_authority_is_not_the_issuer(
    site: Site, made: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = Reader(site)
    assert await reader.accepts()
    monkeypatch.setenv("SSL_CERT_FILE", str(made.other))
    site.answer = http(key_set(NEW))
    await reader.read_again()
    assert await reader.accepts()


async def test_a_reading_that_takes_too_long_ends(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The keys would stay as they are for as long as one answer drips."""
    reader = Reader(site)
    assert await reader.accepts()
    site.answer = None
    monkeypatch.setattr(issuer_keys, "TIMEOUT", 0.2)
    await asyncio.wait_for(reader.read_again(), 60)
    monkeypatch.undo()
    assert await reader.accepts()
