"""Gateways whose search index is in OpenSearch: fed by the outbox, rebuilt while they answer, never
telling what is secret."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest

from datasources import opensearch
from datasources.opensearch import Cluster, OpenSearch
from datasources.protocols import IndexState, SearchRequest, SearchStore
from deploy.stack import Stack
from feed_engine.search.upkeep import Upkeep, keep_indexed
from gateway.observe.health import readiness
from gateway.operate import doctor
from gateway.operate.imports.report import Progress
from gateway.operate.requests import rebuild_search
from tests.contract.search_stores import PATIENT
from tests.contract.search_stores import opened as opened_store
from tests.gateways import Gateway, embedded_gateway
from tests.servers import opensearch_url

pytestmark = pytest.mark.anyio

SEARCH = """query($text: String!) { search(text: $text) { edges { node {
  ... on Pin { title } ... on Board { name } } } pageInfo { hasNextPage } } }"""


@pytest.fixture
def url(engines: Stack) -> str:
    return opensearch_url(engines, f"t{token_hex(8)}")


@pytest.fixture
async def gateway(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Gateway]:
    monkeypatch.setattr(opensearch, "OpenSearch", partial(OpenSearch, deadline=PATIENT))
    async with embedded_gateway(tmp_path, {"stores.search": url}) as made:
        await made.sign_up("ann")
        yield made


def index_of(gateway: Gateway) -> SearchStore:
    assert gateway.runtime.search is not None
    return gateway.runtime.search


async def catch_up(gateway: Gateway) -> None:
    """Run all jobs, and bring the index up to date."""
    await gateway.settle()
    index = index_of(gateway)
    async with index.alone():
        await Upkeep(gateway.stores, index).catch_up()


async def names(gateway: Gateway, text: str) -> list[str]:
    page = (await gateway.data(SEARCH, text=text))["search"]
    nodes = [edge["node"] for edge in page["edges"]]
    assert not page["pageInfo"]["hasNextPage"]
    return [node.get("title") or node["name"] for node in nodes]


async def hits(gateway: Gateway, text: str) -> int:
    """The documents that the index has for a text, whether they may be shown or not."""
    return len(await index_of(gateway).search(SearchRequest(text, 10)))


async def test_changes_are_found_and_what_became_secret_is_in_no_answer(gateway: Gateway) -> None:
    await catch_up(gateway)
    board = await gateway.board("ann", "Birds of the pond")
    await gateway.pin("ann", board, "Grey heron")
    pin = await gateway.pin("ann", board, "Heron at night")
    await catch_up(gateway)
    assert set(await names(gateway, "herons")) == {"Grey heron", "Heron at night"}
    await gateway.mutate("ann", "deletePin", "deletedPinId", pinId=pin)
    assert await hits(gateway, "heron") == 2
    assert await names(gateway, "heron") == ["Grey heron"]
    await gateway.mutate("ann", "updateBoard", "board { id }", boardId=board, secret=True)
    assert await hits(gateway, "birds") == 1
    assert await names(gateway, "heron") == await names(gateway, "birds") == []
    await catch_up(gateway)
    assert await hits(gateway, "heron") == await hits(gateway, "birds") == 0


async def test_a_rebuild_tells_its_progress_while_searches_are_answered(gateway: Gateway) -> None:
    board = await gateway.board("ann", "Birds")
    await gateway.pin("ann", board, "Grey heron")
    await catch_up(gateway)
    told, answers = list[Progress](), list[list[str]]()

    async def search() -> None:
        while True:
            answers.append(await names(gateway, "heron"))

    searching = [asyncio.create_task(search()) for _ in range(3)]
    found = await rebuild_search(gateway.runtime, told.append)
    for task in searching:
        assert not task.done(), task.exception()
        task.cancel()
    assert found["state"] == IndexState.OK.value
    assert found["documents"] == 3
    assert {it.stage for it in told} >= {"counting saves", "indexing pins"}
    assert answers
    assert all(answer == ["Grey heron"] for answer in answers)


async def test_one_host_writes_and_another_goes_on_when_it_ends(gateway: Gateway, url: str) -> None:
    there = opened_store(url)
    tasks = [
        asyncio.create_task(keep_indexed(gateway.stores, index))
        for index in (index_of(gateway), there)
    ]
    board = await gateway.board("ann", "Birds")
    for task in tasks:
        title = f"Heron {token_hex(4)}"
        await gateway.pin("ann", board, title)
        await gateway.settle()
        await _found(gateway, title)
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await there.close()


async def _found(gateway: Gateway, title: str) -> None:
    """Wait until a pin is found."""
    while True:
        response: dict[str, Any] = await gateway.ask(SEARCH, text=title)
        if "errors" in response:  # until the index is built
            (error,) = response["errors"]
            assert error["extensions"]["code"] == "UNAVAILABLE"
        elif response["data"]["search"]["edges"]:
            return
        await asyncio.sleep(0.1)  # nothing tells when the index has changed


async def test_an_engine_that_is_away_is_told_and_the_rest_is_answered(
    gateway: Gateway,
) -> None:
    away = OpenSearch(Cluster((("127.0.0.1", 1),), "away"))
    state = (await readiness(gateway.stores, search=away))["stores"]["search"]
    assert "no server listens there" in state["state"]
    assert "UNAVAILABLE" in state["costs"]
    (finding,) = await doctor._search(away)
    assert (finding.check, finding.state) == ("search index", doctor.FAULT)
    await away.close()

    index = index_of(gateway)
    (absent,) = await doctor._search(index)
    assert (absent.state, absent.detail) == (doctor.WARNING, "absent")
    assert "pinway search rebuild" in absent.advice
    state = (await readiness(gateway.stores, PATIENT, search=index))["stores"]["search"]
    assert "being built" in state["state"]
    query = '{ search(text: "a") { edges { cursor } } user(username: "ann") { username } }'
    response = await gateway.ask(query)
    assert response["data"] == {"search": None, "user": {"username": "ann"}}
    await catch_up(gateway)
    (well,) = await doctor._search(index)
    assert (well.state, well.detail) == (doctor.OK, "1 documents")
    found = await readiness(gateway.stores, PATIENT, search=index)
    assert found["stores"]["search"] == {"state": "well"}
