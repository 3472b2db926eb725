"""Cache-Control and Vary of answers to GET: public for strangers' complete answers alone."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.documents.automatic import digest_of
from tests.http.test_admin import client, site

pytestmark = pytest.mark.anyio
NEVER = "private, no-store"
PAGE = "{ interests(first: 5) { edges { cursor } } }"
USER = '{ user(username: "ann") { username boards { edges { node { name } } } } }'
SIGN_UP = 'mutation { signUp(input: {username: "ann"}) { token } }'
VARY = "Accept, Accept-Encoding, Authorization"


async def kept(c: httpx.AsyncClient, query: str, **headers: str) -> str:
    response = await c.get("/graphql", params={"query": query}, headers=headers)
    assert response.headers["vary"].startswith(VARY)
    assert len(response.headers.get_list("vary")) == 1
    return response.headers["cache-control"]


@pytest.fixture
async def public(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with site(tmp_path, {"http.public_max_age": 120}) as found, client(found.public) as c:
        yield c


async def token_of(c: httpx.AsyncClient) -> dict[str, str]:
    answer = await c.post("/graphql", json={"query": SIGN_UP})
    assert "cache-control" not in answer.headers
    return {"authorization": f"Bearer {answer.json()['data']['signUp']['token']}"}


async def test_a_strangers_answer_is_public_for_its_hints_within_the_setting(
    public: httpx.AsyncClient,
) -> None:
    await token_of(public)
    assert await kept(public, PAGE) == "public, max-age=120"  # the hint says 300
    assert await kept(public, USER) == "public, max-age=60"
    hash_ = {"persistedQuery": {"version": 1, "sha256Hash": digest_of(PAGE)}}
    params: dict[str, Any] = {"extensions": json.dumps(hash_)}
    missing = await public.get("/graphql", params=params)
    assert missing.headers["cache-control"] == NEVER
    await public.get("/graphql", params={**params, "query": PAGE})
    hashed = await public.get("/graphql", params=params)
    assert hashed.headers["cache-control"] == "public, max-age=120"


async def test_an_answer_to_a_signed_in_viewer_is_never_public(public: httpx.AsyncClient) -> None:
    token = await token_of(public)
    for query in (PAGE, USER, "{ viewer { id } }"):
        assert await kept(public, query, **token) == NEVER
    assert await kept(public, PAGE, authorization="Bearer wrong") == NEVER
    assert await kept(public, PAGE, authorization="Basic YTpi") == NEVER


async def test_errors_and_extensions_are_never_kept(public: httpx.AsyncClient) -> None:
    for query in (
        "{ nothing }",
        "{",
        "{ interests { edges { cursor } } users(first: 1000) { edges { cursor } } }",
        "{ interests(first: 1000) { edges { cursor } } }",
        SIGN_UP,
        "{ viewer { id } }",
        "{ homeFeed { edges { cursor } } }",
        "{ __schema { queryType { name } } }",
    ):
        assert await kept(public, query) == NEVER, query
    assert await kept(public, PAGE, **{"x-pinway-cost": "1"}) == NEVER
    assert await kept(public, PAGE, **{"x-pinway-trace": "1"}) == NEVER
    other_site = {"sec-fetch-site": "cross-site", "user-agent": "Mozilla/5.0"}
    assert await kept(public, PAGE, **other_site) == NEVER


async def test_nothing_is_public_unless_the_setting_says_so(tmp_path: Path) -> None:
    async with site(tmp_path) as found, client(found.public) as c:
        assert await kept(c, PAGE) == NEVER


async def test_origins_with_permissions_have_answers_of_their_own(tmp_path: Path) -> None:
    origin = "https://app.example"
    async with (
        site(tmp_path, {"http.public_max_age": 120, "http.allowed_origins": (origin,)}) as found,
        client(found.public) as c,
    ):
        for headers in ({}, {"origin": origin}):
            response = await c.get("/graphql", params={"query": PAGE}, headers=headers)
            assert response.headers["cache-control"] == "public, max-age=120"
            assert response.headers["vary"] == f"{VARY}, Origin"
