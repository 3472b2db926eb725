"""A user's own data over HTTP: from `requestMyData` to the file, and who is refused."""

import io
import itertools
import json
import time
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio.to_thread
import httpx
import pytest
from click.testing import CliRunner
from PIL import Image
from starlette.types import ASGIApp

from datasources.clocks import now_ms
from datasources.errors import StoreUnavailable
from datasources.protocols import Job, Stores
from feed_engine.outbox.completion import settle
from feed_engine.outbox.jobs import run_job
from feed_engine.own_data.requests import KEPT_FOR
from gateway.app import create_site
from gateway.cli import main
from gateway.settings import read_settings
from gateway.site.installation import install
from gateway.site.runtime import running
from gateway.uploads import addresses, exports
from resolvers import data_exports
from tests.pinway_process import Serving

pytestmark = pytest.mark.anyio
STATE = "dataExport { state requestedAt readyAt expiresAt bytes url }"
VIEWER = f"{{ viewer {{ id {STATE} }} }}"
REQUEST = (
    "mutation { requestMyData(input: {}) { "
    f"user {{ {STATE} }} errors {{ code message field retryAfter }} }} }}"
)


class Person:
    """A signed-in client of a gateway in this process."""

    def __init__(self, app: ASGIApp, stores: Stores) -> None:
        transport = httpx.ASGITransport(app, client=("127.0.0.1", 1234))  # type: ignore[arg-type]
        self.http = httpx.AsyncClient(transport=transport, base_url="http://localhost:8000")
        self.stores, self.id, self.name = stores, "", ""

    async def ask(self, query: str, **variables: Any) -> Any:
        answer = await self.http.post("/graphql", json={"query": query, "variables": variables})
        found = answer.json()
        assert "errors" not in found, found["errors"]
        return found["data"]

    async def sign_up(self, name: str) -> "Person":
        made = await self.ask(
            f'mutation {{ signUp(input: {{username: "{name}"}}) {{ token user {{ id }} }} }}'
        )
        self.http.headers["authorization"] = f"Bearer {made['signUp']['token']}"
        self.id, self.name = made["signUp"]["user"]["id"], name
        return self

    async def ready(self) -> Any:
        """The complete file, after a request."""
        asked = (await self.ask(REQUEST))["requestMyData"]
        assert asked["errors"] == []
        assert asked["user"]["dataExport"]["state"] == "PENDING"
        await settle()
        for row in await self.stores.shards.outbox.pending(now_ms() + 60_000, 100):
            await run_job(self.stores, Job(row.shard, row.id))
        return (await self.ask(VIEWER))["viewer"]["dataExport"]


class Site:
    """A gateway over embedded stores in the directory `data`."""

    def __init__(self, data: Path, app: ASGIApp, stores: Stores) -> None:
        self.data, self._app, self._stores = data, app, stores
        self._numbers = itertools.count(1)

    @asynccontextmanager
    async def person(self) -> AsyncIterator[Person]:
        """A new user."""
        person = Person(self._app, self._stores)
        async with person.http:
            yield await person.sign_up(f"person{next(self._numbers)}")


def picture() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (60, 40), "teal").save(file, "PNG")
    return file.getvalue()


@pytest.fixture(scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    data = tmp_path_factory.mktemp("data")
    settings = read_settings(options={"data_dir": data})
    await install(settings, lambda progress: None)
    async with running(settings, jobs=False) as runtime:
        yield Site(data, create_site(settings, runtime).public, runtime.stores)


@pytest.fixture
async def ann(site: Site) -> AsyncIterator[Person]:
    async with site.person() as person:
        yield person


async def code_of(answer: httpx.Response, status: int) -> Any:
    assert answer.status_code == status, answer.text
    assert "no-store" in answer.headers["cache-control"]
    return answer.json()["errors"][0]["extensions"]["code"]


async def test_a_file_is_requested_made_and_loaded_without_a_token(site: Site, ann: Person) -> None:
    assert (await ann.ask(VIEWER))["viewer"]["dataExport"] is None
    made = await ann.ready()
    assert made["state"] == "READY"
    assert made["requestedAt"] <= made["readyAt"] < made["expiresAt"]
    async with httpx.AsyncClient(transport=ann.http._transport) as browser:
        answer = await browser.get(made["url"])
        assert answer.status_code == 200
        head = await browser.head(made["url"])
    for headers in (answer.headers, head.headers):
        assert headers["content-type"] == "application/zip"
        day = made["requestedAt"][:10]
        assert headers["content-disposition"] == f'attachment; filename="pinway-data-{day}.zip"'
        assert headers["cache-control"] == "private, no-store"
        assert headers["content-length"] == str(len(answer.content))
    assert head.content == b""
    assert made["bytes"] == len(answer.content)
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        [account] = json.loads(archive.read("account.json"))
    assert account["id"] == ann.id


async def test_a_second_request_of_a_day_is_refused_with_the_time_of_the_next(
    ann: Person,
) -> None:
    made = await ann.ready()
    refused = (await ann.ask(REQUEST))["requestMyData"]
    assert refused["user"] is None
    [error] = refused["errors"]
    assert error["code"] == "QUOTA_EXCEEDED"
    assert "request it again from 20" in error["message"]
    assert 23 * 3600 < error["retryAfter"] <= 24 * 3600
    assert (await ann.ask(VIEWER))["viewer"]["dataExport"]["readyAt"] == made["readyAt"]


async def test_nobody_else_sees_a_request(site: Site, ann: Person) -> None:
    await ann.ready()
    query = f"query($id: ID!) {{ user(id: $id) {{ id {STATE} }} }}"
    async with site.person() as other:
        assert (await other.ask(query, id=ann.id))["user"] == {"id": ann.id, "dataExport": None}
        other.http.headers.pop("authorization")
        assert (await other.ask(query, id=ann.id))["user"] == {"id": ann.id, "dataExport": None}


async def test_altered_and_old_addresses_are_refused(
    site: Site, ann: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = (await ann.ready())["url"]
    owner, requested, expires, digest = url.rpartition("/")[2].split(".")
    uploaded = await ann.ask("mutation { createUpload(input: {}) { url } }")
    async with site.person() as other:
        theirs = (await other.ready())["url"].rpartition("/")[2].split(".")
        for forged in (
            f"{other.id}.{requested}.{expires}.{digest}",
            f"{owner}.{theirs[1]}.{theirs[2]}.{theirs[3]}",
            f"{owner}.{requested}.{int(expires) + 1}.{digest}",
            f"{owner}.{requested}0.{expires}.{digest}",
            uploaded["createUpload"]["url"].rpartition("/")[2],
            "x",
        ):
            answer = await ann.http.get(f"/exports/{forged}")
            assert await code_of(answer, 404) == "NOT_FOUND", forged
    put = await ann.http.put(f"/uploads/{url.rpartition('/')[2]}", content=b"x")
    assert put.status_code == 404
    stored = f"/images/uploads/{owner}/exports/{int(requested, 16):015}.zip"
    assert (await ann.http.get(stored)).status_code == 404
    later = time.time() + addresses.LASTS + 1
    monkeypatch.setattr(time, "time", lambda: later)
    assert await code_of(await ann.http.get(url), 410) == "NOT_FOUND"


async def test_a_file_is_not_given_after_its_end(
    ann: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await ann.ready()
    end = now_ms() + KEPT_FOR
    for module in (exports, data_exports):
        monkeypatch.setattr(module, "now_ms", lambda: end)
    assert await code_of(await ann.http.get(made["url"]), 410) == "NOT_FOUND"
    over = (await ann.ask(VIEWER))["viewer"]["dataExport"]
    assert (over["state"], over["url"], over["readyAt"]) == ("EXPIRED", None, made["readyAt"])


@pytest.mark.parametrize(
    "ending",
    [
        "mutation { signOutEverywhere(input: {}) { errors { code } } }",
        'mutation { deleteAccount(input: {username: "NAME"}) { errors { code } } }',
    ],
)
async def test_a_sign_out_everywhere_and_a_deletion_end_the_address(
    ann: Person, ending: str
) -> None:
    made = await ann.ready()
    [payload] = (await ann.ask(ending.replace("NAME", ann.name))).values()
    assert payload["errors"] == []
    assert await code_of(await ann.http.get(made["url"]), 410) == "NOT_FOUND"


async def test_a_store_that_is_away_is_told(ann: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    made, pictures = await ann.ready(), ann.stores.pictures

    async def away(*_: Any) -> None:
        raise StoreUnavailable("away")

    with monkeypatch.context() as patch:
        patch.setattr(pictures, "open", away)
        assert await code_of(await ann.http.get(made["url"]), 503) == "UNAVAILABLE"
    assert (await ann.http.get(made["url"])).status_code == 200


async def test_a_gateway_without_pictures_takes_no_request(tmp_path: Path) -> None:
    settings = read_settings(options={"data_dir": tmp_path, "stores.pictures": ""})
    await install(settings, lambda progress: None)
    async with running(settings, jobs=False) as runtime:
        site = Site(tmp_path, create_site(settings, runtime).public, runtime.stores)
        async with site.person() as bob:
            [error] = (await bob.ask(REQUEST))["requestMyData"]["errors"]
            assert error["code"] == "BAD_USER_INPUT"
            assert "ask its operators" in error["message"]
            assert (await bob.http.get("/exports/x")).status_code == 404


async def test_the_file_has_what_pinway_user_export_writes(tmp_path: Path) -> None:
    settings = read_settings(options={"data_dir": tmp_path / "data"})
    await install(settings, lambda progress: None)
    async with running(settings, jobs=False) as runtime:
        site = Site(tmp_path / "data", create_site(settings, runtime).public, runtime.stores)
        async with site.person() as ann, site.person() as bob:
            made = await ann.ask('mutation { createBoard(input: {name: "own"}) { board { id } } }')
            board = made["createBoard"]["board"]["id"]
            pin = "mutation($id: ID!) { createPin(input: {boardId: $id}) { pin { id } } }"
            pin_id = (await ann.ask(pin, id=board))["createPin"]["pin"]["id"]
            like = "mutation($id: ID!) { likePin(input: {pinId: $id}) { pin { id } } }"
            for person in (ann, bob):
                await person.ask(like, id=pin_id)
            upload = await ann.ask("mutation { createUpload(input: {}) { url } }")
            sent = await ann.http.put(upload["createUpload"]["url"], content=picture())
            assert sent.status_code == 201
            await ann.ask("{ homeFeed(first: 5) { visitId } }")
            await settle()
            content = (await ann.http.get((await ann.ready())["url"])).content
            name = ann.name
    file = tmp_path / "ann.jsonl"
    options = ["user", "export", str(file), "--username", name, "--data-dir", str(site.data)]
    done = await anyio.to_thread.run_sync(CliRunner().invoke, main, options)
    assert done.exit_code == 0, done.output
    written = [json.loads(line) for line in file.read_bytes().splitlines()]
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        given = [line for entry in archive.namelist() for line in json.loads(archive.read(entry))]
    # The user is notified of the file after it was written.
    later = [line for line in written if line.get("kind") == "DATA_READY"]
    assert len(later) == 1
    assert given == [line for line in written if line not in later]
    assert {line["type"] for line in given} >= {
        *("account", "board", "pin", "likes_pins", "notification", "visit", "uploaded_picture")
    }


def test_a_server_makes_the_file_and_sends_it(demo_gateway: Serving) -> None:
    asked = demo_gateway.ask(REQUEST)
    assert asked["data"]["requestMyData"]["errors"] == []
    deadline = time.monotonic() + 300
    while (made := demo_gateway.ask(VIEWER)["data"]["viewer"])["dataExport"]["state"] != "READY":
        assert time.monotonic() < deadline
        time.sleep(0.2)
    answer = httpx.get(made["dataExport"]["url"], timeout=300)
    assert (answer.status_code, len(answer.content)) == (200, made["dataExport"]["bytes"])
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        [account] = json.loads(archive.read("account.json"))
    assert account["id"] == made["id"]
