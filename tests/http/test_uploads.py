"""Uploads over HTTP: from `createUpload` to a pin that everybody sees."""

import asyncio
import io
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image
from starlette.types import ASGIApp

from datasources.errors import StoreUnavailable
from datasources.protocols import Stores
from gateway.app import create_site
from gateway.settings import Settings, read_settings
from gateway.site.installation import install
from gateway.site.runtime import running
from gateway.uploads import addresses
from tests.embedded_stores import drain
from tests.pinway_process import Serving

pytestmark = pytest.mark.anyio
CREATE = "mutation($key: String) { createUpload(input: {idempotencyKey: $key}) { url expires } }"
PIN = (
    "mutation($board: ID!, $image: ImageInput!) "
    "{ createPin(input: {boardId: $board, image: $image}) { "
    "pin { image { url width height dominantColor } } errors { message } } }"
)


def picture(color: str = "teal", size: tuple[int, int] = (600, 400), format: str = "PNG") -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, color).save(file, format)
    return file.getvalue()


class Client:
    """A signed-in client of a gateway in this process."""

    def __init__(self, app: ASGIApp, stores: Stores, settings: Settings) -> None:
        transport = httpx.ASGITransport(app, client=("127.0.0.1", 1234))  # type: ignore[arg-type]
        self.http = httpx.AsyncClient(transport=transport, base_url="http://localhost:8000")
        self.stores, self.settings = stores, settings

    async def ask(self, query: str, **variables: Any) -> Any:
        answer = await self.http.post("/graphql", json={"query": query, "variables": variables})
        found = answer.json()
        assert "errors" not in found, found["errors"]
        return found["data"]

    async def upload(self, key: str | None = None) -> str:
        return str((await self.ask(CREATE, key=key))["createUpload"]["url"])

    async def sent(self, content: bytes) -> dict[str, Any]:
        answer = await self.http.put(await self.upload(), content=content)
        assert answer.status_code == 201, answer.text
        return dict(answer.json())


@pytest.fixture(scope="module")
async def client(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Client]:
    data = tmp_path_factory.mktemp("data")
    origin = "https://app.example"
    settings = read_settings(options={"data_dir": data, "http.allowed_origins": [origin]})
    await install(settings, lambda progress: None)
    async with running(settings, jobs=False) as runtime:
        client = Client(create_site(settings, runtime).public, runtime.stores, settings)
        made = await client.ask('mutation { signUp(input: {username: "ann"}) { token } }')
        client.http.headers["authorization"] = f"Bearer {made['signUp']['token']}"
        yield client
        await client.http.aclose()


async def test_a_picture_becomes_a_pin_that_everybody_sees(client: Client) -> None:
    image = await client.sent(picture())
    made = await client.ask('mutation { createBoard(input: {name: "own"}) { board { id } } }')
    pin = await client.ask(PIN, board=made["createBoard"]["board"]["id"], image=image)
    assert pin["createPin"]["errors"] == []
    stored = pin["createPin"]["pin"]["image"]
    assert stored["url"] == f"{client.settings.url}{image['url']}"
    assert (stored["width"], stored["height"]) == (600, 400)
    assert stored["dominantColor"] == image["dominantColor"] == "#008080"
    async with httpx.AsyncClient(transport=client.http._transport) as stranger:
        answer = await stranger.get(stored["url"])
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "image/webp"
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert Image.open(io.BytesIO(answer.content)).size == (600, 400)
        small = await stranger.get(stored["url"].replace("/600.webp", "/236.webp"))
        assert Image.open(io.BytesIO(small.content)).size == (236, 157)
        again = await stranger.get(stored["url"], headers={"if-none-match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


async def test_an_upload_may_be_sent_again_but_has_one_picture(client: Client) -> None:
    url = await client.upload()
    first = await client.http.put(url, content=picture("red"))
    again = await client.http.put(url, content=picture("red"))
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    other = await client.http.put(url, content=picture("blue"))
    assert other.status_code == 409
    assert other.json()["errors"][0]["extensions"]["code"] == "CONFLICT"


async def test_of_two_pictures_that_race_for_an_upload_one_is_stored(client: Client) -> None:
    url = await client.upload()
    answers = await asyncio.gather(
        *(client.http.put(url, content=picture(color)) for color in ("navy", "olive"))
    )
    assert sorted(answer.status_code for answer in answers) == [201, 409]


async def test_a_repeated_mutation_gives_the_same_upload(client: Client) -> None:
    urls = [await client.upload(key) for key in ("k" * 20, "k" * 20, None)]
    first, again, other = [url.rpartition("/")[2].split(".")[:2] for url in urls]
    assert first == again != other


@pytest.mark.parametrize(
    ("content", "status", "message"),
    [
        (b"<html>", 422, "this is not a picture"),
        (b"", 422, "send the picture's bytes"),
        (bytes(10_000_001), 413, "larger than 10,000,000 bytes"),
    ],
)
async def test_what_is_no_picture_is_refused_and_leaves_the_upload_free(
    client: Client, content: bytes, status: int, message: str
) -> None:
    url = await client.upload()
    answer = await client.http.put(url, content=content)
    assert answer.status_code == status
    assert message in answer.json()["errors"][0]["message"]
    assert (await client.http.put(url, content=picture())).status_code == 201


async def test_only_the_gateway_makes_addresses_and_only_for_a_while(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = await client.upload()
    owner, id, expires, digest = url.rpartition("/")[2].split(".")
    for forged in (
        f"{int(owner) + (1 << 46)}.{id}.{expires}.{digest}",
        f"{owner}.{id}0.{expires}.{digest}",
        f"{owner}.{id}.{int(expires) + 1}.{digest}",
        f"{owner}.{id}.{expires}.{digest[:-1]}",
        "x",
    ):
        answer = await client.http.put(f"/uploads/{forged}", content=picture())
        assert answer.status_code == 404
    later = time.time() + addresses.LASTS + 1
    monkeypatch.setattr(time, "time", lambda: later)
    answer = await client.http.put(url, content=picture())
    assert answer.status_code == 410
    assert "createUpload again" in answer.json()["errors"][0]["message"]


async def a_new_user(client: Client, name: str) -> Client:
    other = Client(client.http._transport.app, client.stores, client.settings)  # type: ignore[attr-defined]
    made = await other.ask(f'mutation {{ signUp(input: {{username: "{name}"}}) {{ token }} }}')
    other.http.headers["authorization"] = f"Bearer {made['signUp']['token']}"
    return other


def delete_account(name: str) -> str:
    return f'mutation {{ deleteAccount(input: {{username: "{name}"}}) {{ deletedUserId }} }}'


async def test_the_end_of_an_account_or_of_its_sessions_ends_its_uploads(client: Client) -> None:
    for name, end in (
        ("gone", delete_account("gone")),
        ("away", "mutation { signOutEverywhere(input: {}) { errors { message } } }"),
    ):
        user = await a_new_user(client, name)
        url = await user.upload()
        await user.ask(end)
        answer = await client.http.put(url, content=picture())
        assert answer.status_code == 410, name
        owner = url.rpartition("/")[2].partition(".")[0]
        assert client.stores.pictures is not None
        assert await client.stores.pictures.names(owner) == []


async def test_a_picture_that_arrives_while_its_account_is_deleted_is_not_kept(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    user, pictures = await a_new_user(client, "late"), client.stores.pictures
    assert pictures is not None
    url, put = await user.upload(), pictures.put

    async def late(name: str, content: bytes) -> None:
        monkeypatch.setattr(pictures, "put", put)
        await user.ask(delete_account("late"))
        await drain(client.stores)
        await put(name, content)

    monkeypatch.setattr(pictures, "put", late)
    assert (await client.http.put(url, content=picture())).status_code == 410
    assert await pictures.names(url.rpartition("/")[2].partition(".")[0]) == []


async def test_only_stored_sizes_are_served(client: Client) -> None:
    image = await client.sent(picture())
    folder = image["url"].rpartition("/")[0]
    for path in (
        f"{folder}/235.webp",
        f"{folder}/../uploads",
        folder.rpartition("/")[0] + "/uploads/1",
        f"{folder}/600.webp/x",
        "/images/uploads/..%2f..%2fauth_secret",
        "/images/uploads/" + "9" * 500,
    ):
        assert (await client.http.get(path)).status_code == 404, path


async def test_a_store_that_is_away_is_told_and_the_picture_may_come_again(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, pictures = await client.upload(), client.stores.pictures
    assert pictures is not None
    put = pictures.put

    async def away(*_: Any) -> None:
        raise StoreUnavailable("away")

    monkeypatch.setattr(pictures, "put", away)
    answer = await client.http.put(url, content=picture())
    assert answer.status_code == 503
    assert answer.json()["errors"][0]["extensions"]["code"] == "UNAVAILABLE"
    monkeypatch.setattr(pictures, "put", put)
    assert (await client.http.put(url, content=picture())).status_code == 201


async def test_pages_of_allowed_origins_may_upload(client: Client) -> None:
    url = await client.upload()
    for origin, allowed in (("https://app.example", True), ("https://evil.example", False)):
        asked = await client.http.options(
            url, headers={"origin": origin, "access-control-request-method": "PUT"}
        )
        assert (asked.status_code == 200) is allowed
        sent = await client.http.put(url, content=picture(), headers={"origin": origin})
        assert sent.headers.get("access-control-allow-origin") == (origin if allowed else None)


async def test_a_stranger_and_a_gateway_without_pictures_make_no_uploads(
    client: Client, tmp_path: Path
) -> None:
    async with httpx.AsyncClient(
        transport=client.http._transport, base_url="http://localhost:8000"
    ) as stranger:
        answer = (await stranger.post("/graphql", json={"query": CREATE})).json()
        assert answer["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"
    settings = read_settings(options={"data_dir": tmp_path, "stores.pictures": ""})
    await install(settings, lambda progress: None)
    async with running(settings, jobs=False) as runtime:
        without = Client(create_site(settings, runtime).public, runtime.stores, settings)
        made = await without.ask('mutation { signUp(input: {username: "bob"}) { token } }')
        without.http.headers["authorization"] = f"Bearer {made['signUp']['token']}"
        told = await without.ask(
            "mutation { createUpload(input: {}) { url errors { code message } } }"
        )
        assert told["createUpload"]["url"] is None
        assert "takes no pictures" in told["createUpload"]["errors"][0]["message"]
        assert (await without.http.get("/images/uploads/1/2/3.webp")).status_code == 404


def test_a_server_takes_a_larger_body_for_a_picture_than_for_an_operation(
    demo_gateway: Serving,
) -> None:
    made = demo_gateway.ask("mutation { createUpload(input: {}) { url } }")
    url = made["data"]["createUpload"]["url"]
    large = picture(size=(1100, 1100), format="PNG") + bytes(2_000_000)
    sent = httpx.put(url, content=large, timeout=300)
    assert sent.status_code == 201, sent.text
    seen = httpx.get(f"{demo_gateway.url}{sent.json()['url']}", timeout=300)
    assert Image.open(io.BytesIO(seen.content)).size == (1100, 1100)
    assert httpx.put(url, content=bytes(10_000_001), timeout=300).status_code == 413
    operation = httpx.post(f"{demo_gateway.url}/graphql", content=bytes(1_500_000), timeout=300)
    assert operation.status_code == 413
