"""`pinway feed`, and the metrics that it reads."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from starlette.applications import Starlette

from datasources.factory import open_switches
from feed_engine.speculation import Side
from gateway.app import create_site
from gateway.cli import main
from gateway.cli.feed import lines
from gateway.observe.exposition import of_workers
from gateway.settings import read_settings
from gateway.site.embedded_stores import topology_url
from gateway.site.feed_routes import follow_routes
from tests.gateways import Gateway, embedded_gateway

FOLLOWING = "{ followingFeed { health { store } edges { cursor } } }"


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path) as gateway:
        await gateway.sign_up("ann")
        yield gateway


def pinway(directory: Path, *arguments: str) -> tuple[int, str]:
    found = CliRunner().invoke(main, ["feed", *arguments, "--data-dir", str(directory)])
    return found.exit_code, found.output


async def asked(gateway: Gateway) -> str:
    feed = (await gateway.data(FOLLOWING, "ann"))["followingFeed"]
    return str(feed["health"]["store"])


@pytest.mark.anyio
async def test_a_running_gateway_asks_the_side_that_a_person_names(
    gateway: Gateway, tmp_path: Path
) -> None:
    races = gateway.runtime.races
    assert await asked(gateway) == "PRIMARY"

    async def until(*forced: Side | None) -> None:
        while [race.report().forced for race in races.values()] != list(forced):  # noqa: ASYNC110
            await asyncio.sleep(0.02)

    code, told = await asyncio.to_thread(pinway, tmp_path, "route", "standby", "--feeds")
    assert (code, told) == (0, "pools: route auto\nfeeds: route standby\n")
    await until(None, Side.STANDBY)
    assert await asked(gateway) == "STANDBY"
    await asyncio.to_thread(pinway, tmp_path, "route", "primary")
    await until(Side.PRIMARY, Side.PRIMARY)
    assert await asked(gateway) == "PRIMARY"
    await asyncio.to_thread(pinway, tmp_path, "route", "auto", "--pools", "--feeds")
    await until(None, None)


@pytest.mark.anyio
async def test_a_gateway_that_starts_later_takes_the_route_and_ignores_what_it_does_not_know(
    gateway: Gateway, tmp_path: Path
) -> None:
    switches = open_switches(topology_url(read_settings(options={"data_dir": tmp_path})))
    await switches.change({"route.pools": "sideways", "route.feeds": "standby", "other": "x"})
    races = gateway.runtime.races
    task = asyncio.create_task(follow_routes(switches, races))
    while races["feeds"].report().forced is None:  # noqa: ASYNC110
        await asyncio.sleep(0.02)
    assert races["pools"].report().forced is None
    task.cancel()
    await asyncio.wait([task])


@pytest.mark.anyio
async def test_status_tells_what_the_metrics_hold(gateway: Gateway, tmp_path: Path) -> None:
    for _ in range(3):
        await gateway.data(FOLLOWING, "ann")
    app: Starlette = create_site(
        read_settings(options={"data_dir": tmp_path}), gateway.runtime
    ).public
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app)) as client:
        text = (await client.get("http://localhost/metrics")).text
    assert 'pinway_feed_calls_total{store="feeds"} 3.0' in text
    told = lines(text)
    assert "feeds: 3 calls, 0 failed; answered by the primary 3, by the standby 0" in told
    assert "pools: 0 calls, 0 failed; answered by the primary 0, by the standby 0" in told
    assert sum("primary: well; p50" in line for line in told) == 1
    assert sum("primary: well; not measured" in line for line in told) == 1
    assert any("cutoff 50.0 ms" in line for line in told)
    up = 'pinway_store_up{store="feeds_primary"} '
    assert f"{up}1.0" in text
    dead = lines(text.replace(f"{up}1.0", f"{up}0.0"))
    assert sum("primary: does not answer; p50" in line for line in dead) == 1
    assert sum("primary: well; not measured" in line for line in dead) == 1


@pytest.mark.anyio
async def test_status_tells_of_all_workers(gateway: Gateway, tmp_path: Path) -> None:
    for _ in range(3):
        await gateway.data(FOLLOWING, "ann")
    app: Starlette = create_site(
        read_settings(options={"data_dir": tmp_path}), gateway.runtime
    ).public
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app)) as client:
        text = (await client.get("http://localhost/metrics")).text
    doubted = text.replace('trust_ratio{store="feeds"} 1.0', 'trust_ratio{store="feeds"} 0.25')
    of_all = await of_workers({1: text.encode(), 2: doubted.encode(), 3: None})
    told = lines(of_all.decode())
    assert "feeds: 6 calls, 0 failed; answered by the primary 6, by the standby 0" in told
    assert "  trust in the primary 25%, outages 0, returns 0" in told
    assert "  trust in the primary 100%, outages 0, returns 0" in told
    assert sum("primary: well; p50" in line for line in told) == 1
    assert any("cutoff 50.0 ms" in line for line in told)


def test_status_without_a_gateway_says_so_in_a_line(tmp_path: Path) -> None:
    code, told = pinway(tmp_path, "status", "--url", "http://127.0.0.1:1")
    assert code == 1
    assert "no gateway answers at http://127.0.0.1:1" in told.splitlines()[-1]
