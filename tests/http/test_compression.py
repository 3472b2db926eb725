"""Answers are compressed if they have nothing that a stranger may not see."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.http import endpoint as endpoint
from tests.http.test_admin import client, site

pytestmark = pytest.mark.anyio
WHOLE = "{ __schema { types { name description fields { name description } } } }"
LARGEST = sorted(
    Path(endpoint.__file__).parent.glob("static/*/assets/*.js"),
    key=lambda path: path.stat().st_size,
)[-3:]
SIGN_UP = (
    "mutation($name: String!) { signUp(input: {username: $name}) { token user { "
    + " ".join(f"{'a' * 20}{n}: __typename" for n in range(90))
    + " } } }"
)


async def asked(c: httpx.AsyncClient, query: str, **more: Any) -> httpx.Response:
    return await c.post("/graphql", json={"query": query, "variables": more})


async def test_a_strangers_query_is_compressed_and_nothing_else(tmp_path: Path) -> None:
    async with site(tmp_path) as found, client(found.public, accept_encoding="gzip") as c:
        signed = await asked(c, SIGN_UP, name="ann")
        token = signed.json()["data"]["signUp"]["token"]
        assert int(signed.headers["content-length"]) > 2_000
        assert "content-encoding" not in signed.headers

        query = await asked(c, WHOLE)
        assert query.headers["content-encoding"] == "gzip"
        assert "Accept-Encoding" in query.headers["vary"]
        got = await c.get("/graphql", params={"query": WHOLE})
        assert got.headers["content-encoding"] == "gzip"
        assert got.headers["cache-control"] == "private, no-store"

        small = await asked(c, "{ __typename }")
        refused = await asked(c, "{ nothing }")
        of_viewer = await c.post(
            "/graphql", json={"query": WHOLE}, headers={"authorization": f"Bearer {token}"}
        )
        for answer in (small, refused, of_viewer):
            assert "content-encoding" not in answer.headers
            assert "Accept-Encoding" in answer.headers["vary"]
        assert of_viewer.json() == query.json() == got.json()

        plain = await c.post(
            "/graphql", json={"query": WHOLE}, headers={"accept-encoding": "identity"}
        )
        assert "content-encoding" not in plain.headers
        assert plain.json() == query.json()
        assert int(query.headers["content-length"]) < int(plain.headers["content-length"]) / 3


async def test_an_answer_that_would_take_long_is_sent_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "MOST", 10_000)
    async with site(tmp_path) as found, client(found.public, accept_encoding="gzip") as c:
        assert "content-encoding" not in (await asked(c, WHOLE)).headers


async def test_pages_and_scripts_are_compressed(tmp_path: Path) -> None:
    async with site(tmp_path) as found, client(found.public, accept_encoding="gzip") as c:
        page = await c.get("/graphql", headers={"accept": "text/html"})
        assert page.headers["content-encoding"] == "gzip"
        assert page.headers["vary"] == "Accept, Accept-Encoding"
        for path in LARGEST:
            answer = await c.get(f"/{path.parts[-3]}/assets/{path.name}")
            assert answer.headers["content-encoding"] == "gzip"
            assert "immutable" in answer.headers["cache-control"]
            assert answer.content == path.read_bytes()
            assert int(answer.headers["content-length"]) < path.stat().st_size / 3
