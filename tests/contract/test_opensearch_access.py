"""The search store in OpenSearch over TLS, with a user and a password, through a proxy in front of
the server that has both."""

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

import pytest

from datasources import opensearch
from datasources.errors import StoreUnavailable
from datasources.factory import open_search
from datasources.protocols import SearchRequest, SearchStore
from deploy.stack import Stack
from tests.certificates import Certificates, made_in
from tests.contract.search_stores import PATIENT
from tests.contract.test_search_store import build, found, titles

pytestmark = pytest.mark.anyio

PASSWORD = "s/e:cret%"
AUTHORIZATION = b"Basic " + base64.b64encode(f"me:{PASSWORD}".encode())
REFUSED = b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 12\r\n\r\nUnauthorized"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return made_in(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
async def address(engines: Stack, files: Certificates) -> AsyncIterator[str]:
    """`HOST:PORT` of a proxy that requires TLS and the password for each connection."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(files.certificate, files.key)

    async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await source.read(65_536):
                target.write(data)
                await target.drain()
        target.close()

    async def serve(client: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError):
            head = await client.readuntil(b"\r\n\r\n")
            if b"Authorization: " + AUTHORIZATION not in head:
                answers.write(REFUSED)
                answers.close()
                return
            port = engines.services["opensearch"].port
            server, requests = await asyncio.open_connection("127.0.0.1", port)
            requests.write(head.replace(AUTHORIZATION, b"none"))
            await asyncio.gather(copy(client, requests), copy(server, answers))

    async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context) as proxy:
        yield f"127.0.0.1:{proxy.sockets[0].getsockname()[1]}"


def opened(url: str, monkeypatch: pytest.MonkeyPatch) -> SearchStore:
    def patient(cluster: opensearch.Cluster) -> opensearch.OpenSearch:
        return real(cluster, deadline=PATIENT)

    real = opensearch.OpenSearch
    with monkeypatch.context() as changed:
        changed.setattr(opensearch, "OpenSearch", patient)
        store = open_search(url)
    assert store is not None
    return store


async def test_a_user_over_tls_searches_and_builds(
    address: str, files: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    login, prefix = "me:s%2Fe%3Acret%25", f"t{token_hex(8)}"
    url = f"opensearch+tls://{login}@{address}/{prefix}?ssl_ca_certs={files.ca}&shards=3"
    store = opened(url, monkeypatch)
    await build(store, *titles("oak", "elm", "oak leaf"))
    assert await found(store, "oak") == [1, 3]
    assert await found(store, "oak", limit=1) == [1]
    assert (await store.status()).documents == 3
    await store.close()


@pytest.mark.parametrize(
    ("login", "host", "authority", "told"),
    [
        ("me:XsecretX@", "127.0.0.1", "ca", "refuses the user and the password"),
        ("", "127.0.0.1", "ca", "refuses the user and the password"),
        ("me:XsecretX@", "127.0.0.1", "other", "ertificate"),
        ("me:XsecretX@", "localhost", "ca", "ertificate"),
    ],
)
async def test_a_wrong_login_or_certificate_is_told_without_the_password(
    address: str,
    files: Certificates,
    monkeypatch: pytest.MonkeyPatch,
    login: str,
    host: str,
    authority: str,
    told: str,
) -> None:
    where = address.replace("127.0.0.1", host)
    ca: Path = getattr(files, authority)
    store = opened(f"opensearch+tls://{login}{where}/x?ssl_ca_certs={ca}", monkeypatch)
    with pytest.raises(StoreUnavailable, match=told) as caught:
        await store.search(SearchRequest("oak", 10))
    assert "XsecretX" not in str(caught.value)
    await store.close()
