"""Accounts can't be created in large numbers, tokens of unknown users write nothing, and aliases
share a visit."""

from collections.abc import AsyncIterator
from pathlib import Path

import orjson
import pytest

from gateway.http.peers import Proxies
from gateway.server.fairness.clients import Clients
from gateway.settings import Settings
from resolvers.context import Context
from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path) as gateway:
        await gateway.sign_up("ann")
        yield gateway


async def test_a_request_makes_one_account(gateway: Gateway) -> None:
    fields = " ".join(
        f'n{n}: signUp(input: {{username: "many{n}"}}) {{ user {{ id }} token }}' for n in range(2)
    )
    answer = await gateway.ask(f"mutation {{ {fields} }}")
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["COST_EXCEEDED"]
    assert "data" not in answer
    found = await gateway.data('{ user(username: "many0") { id } }')
    assert found == {"user": None}


async def test_no_request_of_the_address_waits_after_a_sign_up(gateway: Gateway) -> None:
    most, runtime = 4_000, gateway.runtime
    client = Clients(Proxies(()), None, 0, most).of(None, {}, "198.51.100.7")
    assert client is not None
    text = 'mutation { signUp(input: {username: "dora"}) { user { username } } }'
    context = Context(runtime.stores, runtime.feeds, None, "http://pinway.test", str)
    result = await gateway.executor.run(text, None, None, context, client=client)
    assert orjson.loads(result.body()) == {"data": {"signUp": {"user": {"username": "dora"}}}}
    assert result.cost is not None
    assert result.cost > Settings().limits.max_cost / 2
    assert client.enter(most)


async def test_an_account_makes_no_accounts(gateway: Gateway) -> None:
    payload = await gateway.data(
        'mutation { signUp(input: {username: "bob"}) { user { id } token errors { code } } }', "ann"
    )
    assert payload["signUp"] == {"user": None, "token": None, "errors": [{"code": "FORBIDDEN"}]}


async def test_aliases_of_the_home_feed_share_a_visit(gateway: Gateway) -> None:
    board = await gateway.board("ann", "A")
    await gateway.pin("ann", board, "a")
    aliases = " ".join(f"f{n}: homeFeed(first: {n}) {{ visitId }}" for n in range(1, 8))
    found = await gateway.data(f"{{ {aliases} }}", "ann")
    assert len({feed["visitId"] for feed in found.values()}) == 1
    later = await gateway.data("{ homeFeed { visitId } }", "ann")
    assert later["homeFeed"] != found["f1"]


async def test_a_token_of_a_user_who_never_was_writes_nothing(gateway: Gateway) -> None:
    gateway.people["nobody"] = gateway.people["ann"] + 1000
    for mutation, given in (
        ("createBoard", {"name": "A"}),
        ("followUser", {"userId": str(gateway.people["ann"])}),
    ):
        name = mutation[0].upper() + mutation[1:]
        answer = await gateway.ask(
            f"mutation($input: {name}Input!) {{ {mutation}(input: $input) {{ __typename }} }}",
            "nobody",
            input=given,
        )
        assert answer["data"] == {mutation: None}
        [error] = answer["errors"]
        assert error["extensions"]["code"] == "UNAUTHENTICATED"
    followers = await gateway.data('{ user(username: "ann") { followerCount boardCount } }')
    assert followers["user"] == {"followerCount": 0, "boardCount": 0}
