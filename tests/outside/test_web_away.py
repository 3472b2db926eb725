"""A shard's server is unavailable while a user looks at pins: their cards say so until it
returns."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from datasources.ids import shard_of
from datasources.topology import Topology
from gateway.app import create_site
from gateway.http.auth import Tokens
from gateway.settings import read_settings
from tests.gateways import Gateway, gateway_on_two_servers
from tests.interests import create_interest
from tests.outside.node_tools import ensure_chromium, run_client
from tests.unit.gateway.server.apps import served, usual

pytestmark = pytest.mark.anyio
SECOND = range(8, 16)  # the shards of the server that becomes unavailable


@dataclass
class Site:
    """A gateway at `url`, and a pin whose topic has pins on both servers."""

    url: str
    token: str
    viewer: str
    pin: str


@asynccontextmanager
async def site(directory: Path) -> AsyncIterator[Site]:
    """A site. POST /test/cut and /test/heal stop and restore the second server."""
    async with gateway_on_two_servers(directory) as (gateway, topology):
        viewer, pin = await fill(gateway)
        settings = read_settings(
            options={
                "data_dir": directory / "data",
                "jobs.run": False,
                "stores.topology": f"file://{directory}/topology.json",
            },
        )
        routes = [
            Route("/test/cut", using(gateway, topology, "sqlite:///nowhere"), methods=["POST"]),
            Route("/test/heal", using(gateway, topology, None), methods=["POST"]),
            Mount("/", create_site(settings, gateway.runtime).public),
        ]
        async with served(Starlette(routes=routes), usual) as port:
            token = Tokens(settings.secret, 1).issue(gateway.people[viewer])
            yield Site(f"http://127.0.0.1:{port}", token, viewer, pin)


def using(gateway: Gateway, topology: Topology, address: str | None) -> object:
    async def use(_: Request) -> Response:
        shards = gateway.stores.shards
        servers = {**topology.servers, **({"two": address} if address else {})}
        epoch = shards.objects.topology().epoch + 1
        shards.use(msgspec.structs.replace(topology, epoch=epoch, servers=servers))
        return Response(status_code=204)

    return use


async def fill(gateway: Gateway) -> tuple[str, str]:
    """A user on the first server who follows a user on the second; both have a pin of one topic.
    Returns the first user's name, and the id of their pin."""
    names = [f"user{number}" for number in range(10)]
    await gateway.sign_up(*names)
    away = {name for name in names if shard_of(gateway.people[name]) in SECOND}
    here, there = min(set(names) - away), min(away)
    number = 0
    while True:
        topic = (await create_interest(gateway.stores, f"Tea {number}", f"tea-{number}")).id
        if shard_of(topic) not in SECOND:
            break
        number += 1
    pins = {}
    for name in (here, there):
        board = await gateway.board(name, "Cups")
        pins[name] = await gateway.pin(name, board, f"cup of {name}", interestIds=[str(topic)])
    user = str(gateway.people[there])
    await gateway.mutate(here, "followUser", "user { id }", userId=user)
    await gateway.settle()
    return here, pins[here]


async def test_a_card_whose_server_is_away_says_so_until_the_server_is_back(tmp_path: Path) -> None:
    async with site(tmp_path) as found:
        seen = await asyncio.to_thread(
            run_client,
            "away",
            found.url,
            found.token,
            USERNAME=found.viewer,
            PIN=found.pin,
            CHROMIUM=str(ensure_chromium()),
        )
    assert len(seen["missing"]) == 1
    assert seen["missing"][0].startswith("This pin can't be shown right now.")
    assert seen["around"] == []
    assert seen["banner"].startswith("Some pins may be missing")
    assert len(seen["healed"]) == 1
    assert seen["healed"][0].startswith("cup of user")
    assert seen["pageErrors"] == []
