"""Pages of other sites: what a browser sends for them unasked is refused, and CORS is the API's."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from gateway.app import create_site
from gateway.settings import Http, read_settings
from gateway.site.runtime import running

pytestmark = pytest.mark.anyio
ALLOWED = "https://app.example"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0"
QUERY = {"query": "{ __typename }"}


@pytest.fixture(scope="module")
async def http(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[httpx.AsyncClient]:
    settings = read_settings(
        options={
            "data_dir": tmp_path_factory.mktemp("data"),
            "http.allowed_origins": (ALLOWED,),
            "http.allowed_headers": (*Http().allowed_headers, "x-own"),
        }
    )
    async with running(settings, jobs=False, create=lambda progress: None) as runtime:
        transport = httpx.ASGITransport(
            create_site(settings, runtime).public, raise_app_exceptions=False
        )
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            yield client


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site", "user-agent": FIREFOX},
        {"sec-fetch-site": "cross-site", "content-type": "text/plain; x=application/json"},
        {"sec-fetch-site": "cross-site", "origin": "https://evil.example"},
        {"user-agent": FIREFOX},
    ],
)
async def test_a_get_that_another_sites_page_can_send_is_refused(
    http: httpx.AsyncClient, headers: dict[str, str]
) -> None:
    answer = await http.get("/graphql", params=QUERY, headers=headers)
    assert answer.status_code == 403
    (error,) = answer.json()["errors"]
    assert error["extensions"]["code"] == "FORBIDDEN"
    assert "graphql-require-preflight" in error["message"]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"sec-fetch-mode": "cors", "user-agent": "node"},
        {"sec-fetch-site": "same-origin", "user-agent": FIREFOX},
        {"sec-fetch-site": "none", "user-agent": FIREFOX},
        {"sec-fetch-site": "cross-site", "graphql-require-preflight": "1"},
        {"sec-fetch-site": "cross-site", "apollo-require-preflight": "true"},
        {"sec-fetch-site": "cross-site", "content-type": "application/json"},
        {"sec-fetch-site": "cross-site", "origin": ALLOWED},
        {"user-agent": FIREFOX, "x-apollo-operation-name": "Q"},
    ],
)
async def test_all_other_gets_are_answered(
    http: httpx.AsyncClient, headers: dict[str, str]
) -> None:
    answer = await http.get("/graphql", params=QUERY, headers=headers)
    assert answer.json() == {"data": {"__typename": "Query"}}


async def test_what_graphql_clients_send_passes_the_preflight(http: httpx.AsyncClient) -> None:
    wanted = "apollographql-client-name, apollographql-client-version, authorization, traceparent"
    ask = {
        "origin": ALLOWED,
        "access-control-request-method": "POST",
        "access-control-request-headers": f"{wanted}, content-type, x-apollo-operation-name",
    }
    assert (await http.options("/graphql", headers=ask)).status_code == 200
    refused = await http.options("/graphql", headers={**ask, "origin": "https://evil.example"})
    assert refused.status_code == 400
    odd = await http.options("/graphql", headers={**ask, "access-control-request-headers": "x-odd"})
    assert odd.status_code == 400


async def test_a_header_that_the_settings_name_passes_the_preflight(
    http: httpx.AsyncClient,
) -> None:
    asked = {"access-control-request-method": "POST", "access-control-request-headers": "x-own"}
    assert (await http.options("/graphql", headers={**asked, "origin": ALLOWED})).status_code == 200


async def test_only_the_api_answers_other_origins(http: httpx.AsyncClient) -> None:
    origin = {"origin": ALLOWED}
    for answer in (
        await http.post("/graphql", json=QUERY, headers=origin),
        await http.get("/graphql", params=QUERY, headers=origin),
    ):
        assert answer.headers["access-control-allow-origin"] == ALLOWED
    for path in ("/metrics", "/readyz", "/healthz", "/graphiql/boot.json"):
        answer = await http.get(path, headers=origin)
        assert answer.status_code == 200
        assert "access-control-allow-origin" not in answer.headers


async def test_answers_say_what_they_vary_by_and_that_they_are_what_they_say(
    http: httpx.AsyncClient,
) -> None:
    for answer in (
        await http.post("/graphql", json=QUERY),
        await http.post("/graphql", json=QUERY, headers={"origin": ALLOWED}),
        await http.post("/graphql", json={"query": 1}),
    ):
        assert answer.headers["vary"] == "Accept, Accept-Encoding, Origin"
        assert answer.headers["x-content-type-options"] == "nosniff"
    got = await http.get("/graphql", params=QUERY)
    assert got.headers["vary"] == "Accept, Accept-Encoding, Authorization, Origin"
    assert got.headers["x-content-type-options"] == "nosniff"
    page = await http.get("/graphql", headers={"accept": "text/html"})
    assert page.headers["vary"] == "Accept, Accept-Encoding"
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    own = await http.get("/graphiql/index.html")
    assert own.headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in own.headers["content-security-policy"]


async def test_a_fault_is_answered_as_graphql_and_logged(
    http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*arguments: Any) -> Any:
        raise RuntimeError("a secret detail")

    monkeypatch.setattr("gateway.http.endpoint.read_json", fails)
    monkeypatch.setattr("gateway.http.endpoint.read_query_string", fails)
    monkeypatch.setattr("gateway.observe.admin.readiness", fails)
    for answer in (
        await http.post("/graphql", json=QUERY),
        await http.get("/graphql", params=QUERY),
        await http.get("/readyz"),
    ):
        assert answer.status_code == 500
        assert answer.headers["content-type"].startswith("application/json")
        (error,) = answer.json()["errors"]
        assert error["extensions"] == {"code": "INTERNAL"}
        assert "secret" not in answer.text
    assert [str(r.exc_info[1]) for r in caplog.records if r.exc_info][:2] == ["a secret detail"] * 2
