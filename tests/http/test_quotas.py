"""The error of a viewer who has written as much as a day allows."""

from collections.abc import AsyncIterator

import pytest

from feed_engine.times import DAY
from feed_engine.transactions import quotas
from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio
NOON = 20_000 * DAY + DAY // 2


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quotas, "now_ms", lambda: NOON)


@pytest.fixture
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateway]:
    directory = tmp_path_factory.mktemp("data")
    async with embedded_gateway(directory, {"limits.writes_per_day": 10}) as gateway:
        await gateway.sign_up("ann")
        yield gateway


async def test_the_error_says_which_bound_was_met_and_until_when(gateway: Gateway) -> None:
    await gateway.board("ann", "first")
    query = """mutation { createBoard(input: {name: "second"}) {
      board { id } errors { code message field retryAfter } } }"""
    assert (await gateway.data(query, "ann"))["createBoard"] == {
        "board": None,
        "errors": [
            {
                "code": "QUOTA_EXCEEDED",
                "message": "An account may not make more than 1 new boards on one day: write "
                "again from 2024-10-05 00:00 UTC on.",
                "field": None,
                "retryAfter": 12 * 3600,
            }
        ],
    }
    boards = "{ viewer { boards { edges { node { name } } } } }"
    [edge] = (await gateway.data(boards, "ann"))["viewer"]["boards"]["edges"]
    assert edge["node"]["name"] == "first"


async def test_a_home_feed_above_the_bound_has_no_new_visit_and_no_error(gateway: Gateway) -> None:
    at = gateway.runtime.feeds.clock() // DAY
    query = "query($visit: ID) { homeFeed(visit: $visit) { visitId health { mayBeStale } } }"
    stale = [
        (await gateway.data(query, "ann", visit=f"v{n}"))["homeFeed"]["health"]["mayBeStale"]
        for n in range(11)
    ]
    if gateway.runtime.feeds.clock() // DAY == at:  # not at midnight
        assert stale == [False] * 10 + [True]
    again = (await gateway.data(query, "ann", visit="v0"))["homeFeed"]
    assert again == {"visitId": "v0", "health": {"mayBeStale": False}}
