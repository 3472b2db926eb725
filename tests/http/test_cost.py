"""The answers that tell a client an operation's cost."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from gateway.app import create_site
from gateway.settings import Auth, Limits, Settings
from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio
DEAR = "{ users(first: 100) { edges { node { pins(first: 100) { edges { node { id } } } } } } }"


@pytest.fixture(scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path_factory.mktemp("data")) as gateway:
        yield gateway


async def post(
    gateway: Gateway, body: dict[str, Any], headers: dict[str, str] | None = None, **limits: Any
) -> httpx.Response:
    app = create_site(
        Settings(auth=Auth(secret="s" * 32), limits=Limits(**limits)), gateway.runtime
    ).public
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        return await client.post("/graphql", json=body, headers=headers)


async def test_an_operation_above_the_bound_is_refused_and_says_why(gateway: Gateway) -> None:
    accept = {"accept": "application/graphql-response+json"}
    response = await post(gateway, {"query": DEAR}, accept)
    assert response.status_code == 400
    [error] = response.json()["errors"]
    assert "data" not in response.json()
    assert error["extensions"]["code"] == "COST_EXCEEDED"
    assert error["extensions"]["bound"] == 50_000
    assert str(error["extensions"]["estimate"]) in error["message"]
    assert error["extensions"]["estimate"] > 60_000


async def test_the_bound_is_a_setting_and_zero_is_none(gateway: Gateway) -> None:
    assert "data" in (await post(gateway, {"query": DEAR}, max_cost=0)).json()
    assert "data" in (await post(gateway, {"query": DEAR}, max_cost=100_000)).json()
    few = {"query": "{ users(first: 5) { edges { node { id } } } }"}
    assert "errors" in (await post(gateway, few, max_cost=10)).json()


@pytest.mark.parametrize("asks", ["header", "extension"])
async def test_the_cost_is_told_when_it_is_asked(gateway: Gateway, asks: str) -> None:
    body: dict[str, Any] = {"query": "{ viewer { id } }"}
    headers = {"x-pinway-cost": "1"} if asks == "header" else {}
    if asks == "extension":
        body["extensions"] = {"cost": True}
    response = await post(gateway, body, headers)
    assert response.json() == {
        "data": {"viewer": None},
        "extensions": {"cost": {"estimate": 7, "bound": 50_000}},
    }
    refused = await post(gateway, body | {"query": DEAR}, headers)
    assert refused.json()["extensions"]["cost"]["estimate"] > 60_000
    invalid = await post(gateway, body | {"query": "{ nothing }"}, headers)
    assert "extensions" not in invalid.json()


async def test_it_is_not_told_unasked(gateway: Gateway) -> None:
    response = await post(gateway, {"query": "{ viewer { id } }", "extensions": {"cost": 1}})
    assert response.json() == {"data": {"viewer": None}}
