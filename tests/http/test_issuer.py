"""Tokens of another issuer over the endpoint."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.http.issuer_keys import AGAIN
from tests.http.test_admin import client, site
from tests.issuer import ALL, NAME, signed

pytestmark = pytest.mark.anyio
SIGNING = 'mutation { signUp(input: {username: "ann"}) { token user { id } } }'


def settings(keys: str) -> dict[str, Any]:
    return {"auth.issuer": NAME, "auth.keys": keys}


async def viewer(c: httpx.AsyncClient, authorization: str) -> httpx.Response:
    query = {"query": "{ viewer { username } }"}
    return await c.post("/graphql", json=query, headers={"authorization": authorization})


async def test_a_token_of_the_issuer_and_one_of_the_gateway_name_the_same_viewer(
    tmp_path: Path,
) -> None:
    keys = tmp_path / "keys.json"
    keys.write_bytes(ALL)
    async with site(tmp_path / "data", settings(str(keys))) as found, client(found.public) as c:
        signing = (await c.post("/graphql", json={"query": SIGNING})).json()["data"]["signUp"]
        for authorization in (
            f"Bearer {signing['token']}",
            signed(sub=signing["user"]["id"]),
        ):
            answer = await viewer(c, authorization)
            assert answer.json() == {"data": {"viewer": {"username": "ann"}}}
        refused = await viewer(c, signed(sub=signing["user"]["id"], iss="https://other.example"))
        assert refused.status_code == 401
        assert refused.json()["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"


async def test_clients_stay_signed_in_while_the_issuer_was_never_reached(tmp_path: Path) -> None:
    nowhere = "http://127.0.0.1:1/"
    async with site(tmp_path, settings(nowhere)) as found, client(found.public) as c:
        answer = await viewer(c, signed())
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == str(int(AGAIN))
        assert answer.json()["errors"][0]["extensions"]["code"] == "UNAVAILABLE"
        assert (await c.post("/graphql", json={"query": "{ __typename }"})).status_code == 200
