"""How many store calls in series the page of a new visit takes, through the whole gateway."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from feed_engine.feeds.settings import Feeds
from feed_engine.speculation import FIXED, Race
from gateway.site.runtime import Runtime
from tests.gateways import Gateway, embedded_gateway
from tests.interests import create_interest
from tests.phases import Phases

pytestmark = pytest.mark.anyio
CARD = "id title likeCount board { id name } owner { id username }"
HOME = (
    f"{{ homeFeed(first: 25) {{ edges {{ reason node {{ {CARD} }} }} health {{ mayBeStale }} }} }}"
)
PINS = f"query($ids: [ID!]!) {{ nodes(ids: $ids) {{ ... on Pin {{ {CARD} }} }} }}"


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path) as opened:
        yield opened


async def followed(gateway: Gateway) -> list[str]:
    """Somebody with followed users, a followed interest, and pins of them. The pins are of eleven
    owners, so that no pin is held back for its owner."""
    users, drinkers = [f"bob{n}" for n in range(6)], [f"cleo{n}" for n in range(5)]
    await gateway.sign_up("ann", *users, *drinkers, "dan")
    tea = await create_interest(gateway.stores, "Tea", "tea")
    for name in users:
        await gateway.mutate("ann", "followUser", "user { id }", userId=str(gateway.people[name]))
    await gateway.mutate("ann", "followInterest", "interest { id }", interestId=str(tea.id))
    pins = []
    boards = {name: await gateway.board(name, "Board") for name in (*users, *drinkers, "dan")}
    for n in range(10):
        for name, board in boards.items():
            given = {"interestIds": [str(tea.id)]} if name in drinkers else {}
            pins.append(await gateway.pin(name, board, f"{name} {n}", **given))
    await gateway.settle()
    return pins


async def counted(gateway: Gateway) -> Phases:
    phases = Phases()
    stores = phases.of(gateway.stores)
    races = [
        Race(sides, cutoff=60, deadline=120, policy=FIXED) for sides in (stores.pools, stores.feeds)
    ]
    gateway.runtime = Runtime(stores, Feeds(stores, *races))
    return phases


async def test_a_page_of_a_new_visit_takes_four_phases_when_all_is_well(gateway: Gateway) -> None:
    """With warm caches of objects. The first visit in a process does not know the viewer's
    interests, and reads their pools one phase later."""
    pins = await followed(gateway)
    for start in range(0, len(pins), 100):
        await gateway.data(PINS, "ann", ids=pins[start : start + 100])
    phases = await counted(gateway)
    for most, rows in ((5, 3 + 9), (4, 2 + 2), (4, 2 + 2)):
        phases.names.clear()
        page = await phases.run(gateway.data(HOME, "ann"))
        assert len(page["homeFeed"]["edges"]) == 25
        assert not page["homeFeed"]["health"]["mayBeStale"]
        assert {"FOLLOWED_USER", "FOLLOWED_INTEREST"} <= {
            edge["reason"] for edge in page["homeFeed"]["edges"]
        }
        assert len(phases.names) <= most, "\n".join(map(str, phases.names))
        # Popular pins are not read for a viewer whose last visit was full without them. Pins that
        # came late to an interest are read in one of four visits. An
        # interest's pool is read at its top, and behind the part that the viewer has passed.
        assert phases.names[0].count("pools.read") == rows
