"""The web client over HTTP: its page, its files, and who may choose a demo user."""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from starlette.types import ASGIApp

from gateway.app import create_site
from gateway.http.web_client import SCREENS
from gateway.settings import read_settings
from gateway.site.runtime import running

pytestmark = pytest.mark.anyio
SIGN_UP = 'mutation { signUp(input: {username: "ann"}) { user { id } } }'
ANN = {"username": "Ann"}


@asynccontextmanager
async def app(
    directory: Path, values: Mapping[str, object] | None = None
) -> AsyncIterator[ASGIApp]:
    settings = read_settings(
        options={"data_dir": directory, "auth.demo_viewer": "ann", **(values or {})}
    )
    async with running(settings, jobs=False, create=lambda progress: None) as runtime:
        found = create_site(settings, runtime).public
        async with client(found) as http:
            await http.post("/graphql", json={"query": SIGN_UP})
        yield found


def client(app: ASGIApp, peer: str = "127.0.0.1", **headers: str) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app, client=(peer, 1234))  # type: ignore[arg-type]
    return httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers)


async def test_every_screen_is_the_page_which_loads_files_of_this_gateway_alone(
    tmp_path: Path,
) -> None:
    async with app(tmp_path) as found, client(found) as http:
        for screen in SCREENS:
            page = await http.get(re.sub(r"\{\w+\}", "1", screen))
            assert page.status_code == 200
            assert page.headers["content-type"].startswith("text/html")
            assert page.headers["cache-control"] == "no-cache"
            policy = page.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
        files = re.findall(r'(?:src|href)="([^"]+)"', page.text)
        assert len(files) >= 3
        for file in files:
            assert file.startswith("/web/")
            answer = await http.get(file)
            assert answer.status_code == 200
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert ("immutable" in answer.headers["cache-control"]) is ("/assets/" in file)


async def test_a_browser_on_this_machine_chooses_a_demo_user(tmp_path: Path) -> None:
    async with app(tmp_path) as found, client(found) as http:
        boot = await http.get("/web/boot.json")
        assert boot.json() == {"demoViewer": "ann"}
        assert boot.headers["cache-control"] == "no-store"
        answer = await http.post("/web/sign-in", json=ANN)
        token = answer.json()["token"]
        assert answer.headers["cache-control"] == "no-store"
        viewer = await http.post(
            "/graphql",
            json={"query": "{ viewer { username } }"},
            headers={"authorization": f"Bearer {token}"},
        )
        assert viewer.json()["data"] == {"viewer": {"username": "ann"}}


async def test_strangers_proxies_and_other_host_names_get_no_token(tmp_path: Path) -> None:
    async with app(tmp_path) as found:
        for one in (
            client(found, "203.0.113.5"),
            client(found, host="evil.example"),
            client(found, host="localhost.evil.example"),
            client(found, **{"x-forwarded-for": "127.0.0.1"}),
            client(found, forwarded="for=127.0.0.1"),
        ):
            async with one as stranger:
                assert (await stranger.get("/web/boot.json")).json() == {"demoViewer": None}
                refused = await stranger.post("/web/sign-in", json=ANN)
                assert refused.status_code == 403
                assert "token" not in refused.json()


async def test_without_a_demo_viewer_nobody_gets_a_token(tmp_path: Path) -> None:
    async with app(tmp_path, {"auth.demo_viewer": ""}) as found, client(found) as http:
        assert (await http.get("/web/boot.json")).json() == {"demoViewer": None}
        assert (await http.post("/web/sign-in", json=ANN)).status_code == 403


async def test_a_wrong_sign_in_says_what_is_wrong(tmp_path: Path) -> None:
    async with app(tmp_path) as found, client(found) as http:
        nobody = await http.post("/web/sign-in", json={"username": "nobody"})
        assert (nobody.status_code, nobody.json()) == (
            404,
            {"message": "There is no user 'nobody'."},
        )
        for body in (b"", b"[]", b'{"username": 1}'):
            answer = await http.post(
                "/web/sign-in", content=body, headers={"content-type": "application/json"}
            )
            assert answer.status_code == 400
        # What a form of another site's page can send.
        form = await http.post(
            "/web/sign-in", content=b"{}", headers={"content-type": "text/plain"}
        )
        assert form.status_code == 415
        long = await http.post("/web/sign-in", json={"username": "x" * 2_000})
        assert long.status_code == 413


async def test_without_the_web_client_the_root_leads_to_graphiql(tmp_path: Path) -> None:
    async with app(tmp_path, {"http.web": False}) as found, client(found) as http:
        assert (await http.get("/")).headers["location"] == "/graphql"
        assert (await http.get("/web/boot.json")).status_code == 404
        assert (await http.get("/following")).status_code == 404
