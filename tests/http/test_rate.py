"""A client that spends too much, runs too much at once, or asks for too large a response."""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from starlette.types import ASGIApp

from gateway.app import create_site
from gateway.http.auth import Tokens
from gateway.http.peers import Proxies
from gateway.server.fairness.clients import Clients
from gateway.settings import Auth, Http, Limits, Settings
from gateway.site.executors import new_executor
from resolvers.context import Context
from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio
SECRET = "s" * 32
QUERY = {"query": "{ users(first: 100) { edges { node { id } } } }"}  # costs about 300
ONCE = {"max_cost": 500, "rate_burst": 1_000, "rate_cost": 1}


@pytest.fixture(scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path_factory.mktemp("data")) as gateway:
        await gateway.sign_up("ann", "bob")
        yield gateway


def app_of(gateway: Gateway, proxy: str = "127.0.0.1", **limits: Any) -> ASGIApp:
    settings = Settings(
        auth=Auth(secret=SECRET), http=Http(trusted_proxies=(proxy,)), limits=Limits(**limits)
    )
    return create_site(settings, gateway.runtime).public


async def post(
    app: ASGIApp, body: dict[str, Any], address: str, viewer: int | None = None, **headers: str
) -> httpx.Response:
    if viewer is not None:
        headers["authorization"] = f"Bearer {Tokens(SECRET, 1).issue(viewer)}"
    transport = httpx.ASGITransport(app, client=(address, 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://pinway.test") as client:
        return await client.post(
            "/graphql", json=body, headers={n.replace("_", "-"): v for n, v in headers.items()}
        )


async def test_a_client_that_spent_too_much_waits(gateway: Gateway) -> None:
    app = app_of(gateway, **ONCE)
    answers = [await post(app, QUERY, "10.1.0.1") for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    refused = answers[-1]
    [error] = refused.json()["errors"]
    assert error["extensions"]["code"] == "RATE_LIMITED"
    assert error["extensions"]["retryAfter"] == int(refused.headers["retry-after"]) > 100
    assert "data" not in refused.json()


async def test_addresses_and_viewers_are_clients_of_their_own(gateway: Gateway) -> None:
    app = app_of(gateway, **ONCE)
    ann, bob = gateway.people["ann"], gateway.people["bob"]
    for _ in range(4):
        await post(app, QUERY, "10.2.0.1")
        await post(app, QUERY, "10.2.0.2", ann)
    for address, viewer, status in (
        ("10.2.0.1", None, 429),
        ("10.2.0.3", None, 200),
        ("10.2.0.3", ann, 429),
        ("10.2.0.1", bob, 200),
    ):
        assert (await post(app, QUERY, address, viewer)).status_code == status, (address, viewer)


async def test_behind_a_trusted_proxy_the_client_is_whom_it_names(gateway: Gateway) -> None:
    app = app_of(gateway, **ONCE, proxy="10.3.0.1")
    for _ in range(4):
        answer = await post(app, QUERY, "10.3.0.1", x_forwarded_for="10.3.0.7")
    assert answer.status_code == 429
    answer = await post(app, QUERY, "10.3.0.1", x_forwarded_for="10.3.0.8")
    assert answer.status_code == 200
    for number in range(4):  # nobody else is believed
        answer = await post(app, QUERY, "10.3.0.9", x_forwarded_for=f"10.3.1.{number}")
    assert answer.status_code == 429


async def test_off_means_off(gateway: Gateway) -> None:
    app = app_of(gateway, **ONCE | {"rate_cost": 0})
    answers = [await post(app, QUERY, "10.4.0.1") for _ in range(10)]
    assert {answer.status_code for answer in answers} == {200}


async def test_operations_at_a_time_are_bounded_for_each_client(gateway: Gateway) -> None:
    app = app_of(gateway, max_running=2)
    here = [post(app, QUERY, "10.5.0.1") for _ in range(5)]
    there = [post(app, QUERY, "10.5.0.2") for _ in range(2)]
    answers = await asyncio.gather(*here, *there)
    assert [answer.status_code for answer in answers[5:]] == [200, 200]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused
    assert "2 operations" in refused[0].json()["errors"][0]["message"]
    assert refused[0].headers["retry-after"] == "1"
    assert (await post(app, QUERY, "10.5.0.1")).status_code == 200  # all have ended


async def test_a_response_has_a_largest_size(gateway: Gateway) -> None:
    app = app_of(gateway, max_response_bytes=50)
    answer = (await post(app, QUERY, "10.6.0.1")).json()
    assert answer["data"] is None
    assert answer["errors"][0]["extensions"]["code"] == "RESPONSE_TOO_LARGE"
    assert answer["errors"][0]["extensions"]["bound"] == 50
    assert "errors" not in (await post(app, {"query": "{ viewer { id } }"}, "10.6.0.1")).json()


async def test_long_texts_are_charged_when_they_were_made(gateway: Gateway) -> None:
    app = app_of(gateway, rate_cost=1, rate_burst=5_000, max_cost=5_000)
    board = await gateway.board("ann", "long")
    pin = await gateway.pin("ann", board, "long", description="x" * 5_000)
    fields = " ".join(f"a{number}: description" for number in range(90))
    query = {"query": f'{{ nodes(ids: ["{pin}", "{pin}"]) {{ ... on Pin {{ {fields} }} }} }}'}
    answers = [await post(app, query, "10.9.0.1", x_pinway_cost="1") for _ in range(8)]
    cost = answers[0].json()["extensions"]["cost"]["estimate"]
    assert cost < 200
    assert len(answers[0].content) > 900_000
    statuses = [answer.status_code for answer in answers]
    assert statuses[:3] == [200] * 3
    assert statuses[-1] == 429


async def test_refusals_are_counted_by_their_reason(gateway: Gateway) -> None:
    app = app_of(gateway, **ONCE, max_response_bytes=50)
    for _ in range(5):
        await post(app, QUERY, "10.7.0.1")
    await post(app, {"query": "{ a: homeFeed { visitId } b: homeFeed { visitId } }"}, "10.7.0.2")
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        text = (await client.get("/metrics")).text
    for reason, count in (("bytes", 3), ("rate", 2), ("cost", 1), ("running", 0)):
        assert f'pinway_operations_refused_total{{reason="{reason}"}} {count}.0' in text


async def test_reading_a_new_document_is_charged_by_its_characters(gateway: Gateway) -> None:
    app = app_of(gateway, rate_cost=1, rate_burst=5_000, max_cost=5_000)
    documents = [f"{{ __typename }} #{n}" + "x" * 3_000 for n in range(2)]
    statuses = [
        (await post(app, {"query": documents[n]}, "10.8.0.1")).status_code for n in (0, 1, 0)
    ]
    assert statuses == [200, 429, 200]  # the first is kept


async def test_an_address_makes_a_few_accounts_an_hour(gateway: Gateway) -> None:
    app = app_of(gateway, sign_ups_per_hour=2, proxy="10.9.2.9")
    names = (f"hourly{number}" for number in range(100))

    async def sign_up(address: str, **headers: str) -> list[str]:
        query = (
            f'mutation {{ signUp(input: {{username: "{next(names)}"}}) '
            "{ user { id } errors { code message } } }"
        )
        answer = (await post(app, {"query": query}, address, **headers)).json()
        payload = answer["data"]["signUp"]
        assert (payload["user"] is None) == bool(payload["errors"])
        return [f"{error['code']}: {error['message']}" for error in payload["errors"]]

    assert [await sign_up("10.9.2.1") for _ in range(2)] == [[], []]
    (refused,) = await sign_up("10.9.2.1")
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        metrics = (await client.get("/metrics")).text
    assert 'pinway_operations_refused_total{reason="accounts"} 1.0' in metrics
    assert re.fullmatch(r"RATE_LIMITED: .* sign up again in 1[78]\d\d s", refused)
    assert await sign_up("10.9.2.2") == []
    assert [await sign_up("10.9.2.9") for _ in range(3)] == [[]] * 3  # a proxy that names nobody
    named = [await sign_up("10.9.2.9", x_forwarded_for="10.9.2.3") for _ in range(3)]
    assert [bool(errors) for errors in named] == [False, False, True]


async def test_a_network_makes_a_few_times_as_many_accounts(gateway: Gateway) -> None:
    app = app_of(gateway, sign_ups_per_hour=1)
    names = (f"network{number}" for number in range(100))

    async def makes_one(address: str) -> bool:
        query = f'mutation {{ signUp(input: {{username: "{next(names)}"}}) {{ user {{ id }} }} }}'
        answer = (await post(app, {"query": query}, address)).json()
        return answer["data"]["signUp"]["user"] is not None

    made = [await makes_one(f"2001:db8:9:{number:x}::1") for number in range(6)]
    assert made == [True] * 4 + [False] * 2
    made = [await makes_one(f"2001:db8:9:{number << 8:x}::1") for number in range(1, 15)]
    assert made == [True] * 12 + [False] * 2
    assert await makes_one("2001:db8:a::1")


async def test_a_port_beside_the_address_makes_no_client_of_the_proxy(gateway: Gateway) -> None:
    app = app_of(gateway, sign_ups_per_hour=1, proxy="10.9.3.9")
    names = (f"behind{number}" for number in range(100))

    async def makes_one(forwarded: str) -> bool:
        query = f'mutation {{ signUp(input: {{username: "{next(names)}"}}) {{ user {{ id }} }} }}'
        answer = await post(app, {"query": query}, "10.9.3.9", x_forwarded_for=forwarded)
        return answer.json()["data"]["signUp"]["user"] is not None

    for n, form in enumerate(("{}:5000", '"{}"', '"{}:443"', " {} ")):
        address = form.format(f"203.0.113.{n}")
        assert [await makes_one(address), await makes_one(address)] == [True, False], form
    for n, form in enumerate(("[{}]", '"[{}]:443"', "[{}]:5000", "{}")):
        address = form.format(f"2001:db8:b{n}::1")
        assert [await makes_one(address), await makes_one(address)] == [True, False], form
    assert [await makes_one("unknown") for _ in range(3)] == [True] * 3  # like without the header


async def test_viewers_of_one_address_have_four_times_the_operations_of_one(
    gateway: Gateway,
) -> None:
    clients = Clients(Proxies(["10.9.4.9"]), None, 2, 10)

    def running(viewers: int, address: str) -> list[Any]:
        begun = [clients.of(viewer, {}, address) for viewer in range(viewers)]
        return [client for client in begun if client is not None and client.begin()]

    for address, many in (
        ("10.9.4.1", 8),
        ("2001:db8:c::1", 8),
        ("10.9.4.9", 20),  # a proxy that hides its clients
    ):
        found = running(20, address)
        assert len(found) == many, address
        for client in found:
            client.end()
    networks = [running(20, f"2001:db8:c:{number << 8:x}::1") for number in range(10)]
    assert sum(map(len, networks)) == 32
    for found in networks:
        for client in found:
            client.end()
    assert clients.running == {}
    viewers = [clients.of(viewer, {}, "10.9.4.2") for viewer in range(20)]
    assert [client.enter(10) for client in viewers if client is not None].count(True) == 4


async def test_compiling_for_other_values_of_include_is_charged(gateway: Gateway) -> None:
    app = app_of(gateway, rate_cost=1, rate_burst=2_000, max_cost=2_000)
    flags = [f"v{n}" for n in range(10)]
    fields = " ".join(f"{flag}: __typename @include(if: ${flag})" for flag in flags)
    query = f"query ({', '.join(f'${flag}: Boolean!' for flag in flags)}) {{ {fields} }}"

    async def status(number: int) -> int:
        variables = {flag: bool(number >> n & 1) for n, flag in enumerate(flags)}
        body = {"query": query, "variables": variables}
        return (await post(app, body, "10.8.0.2")).status_code

    assert [await status(5) for _ in range(30)] == [200] * 30
    assert 429 in [await status(number) for number in range(30)]


async def test_operations_at_a_time_wait_for_one_another(gateway: Gateway) -> None:
    app = app_of(gateway, max_running_cost=1)
    answers = await asyncio.gather(*(post(app, QUERY, "10.9.0.9") for _ in range(20)))
    assert {answer.status_code for answer in answers} == {200}


async def test_an_operation_that_waits_too_long_for_others_times_out(gateway: Gateway) -> None:
    executor = new_executor(Settings(http=Http(request_timeout=0.001)))
    clients = Clients(Proxies([]), None, 0, 1)
    one, another = (clients.of(None, {}, "10.9.0.2") for _ in range(2))
    assert one is not None
    assert another is not None
    assert one.enter(1)
    context = Context(gateway.stores, gateway.runtime.feeds, None, "http://pinway.test", str)
    result = await executor.run("{ __typename }", None, None, context, client=another)
    assert b"TIMEOUT" in result.body()
    one.leave(1)
    assert another.enter(1)  # a request that timed out has stopped waiting
