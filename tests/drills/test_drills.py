"""A short run of the drills on the real servers: no failed request, no wrong page, equal clusters,
and an alert of a Prometheus that scrapes the gateway.

Latencies are measured in `python -m bench.drills`: here everything shares a few cores.
"""

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bench.drills.faults import DRILLS, Drill, Plan
from bench.drills.run import run
from bench.drills.site import Site, open_site, settle
from deploy.stack import Stack
from tests.scale import nightly_unless
from tests.telemetry.prometheus import watching

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600)]
RATE, PLAN = 20.0, Plan(begin=4.0, end=17.0, total=20.0)
TOLD_BY = {
    "killed": {"PinwayFeedSideLeft"},
    "hangs": {"PinwayFeedSideLeft"},
    "slow": {"PinwayFeedSideLeft"},
    "vanishes": {"PinwayFeedSideLeft"},
    "standby": {"PinwayStoreDown"},
    "both": {"PinwayFeedReadsFail"},
    "flaps": {"PinwayFeedSideLeft"},
    "caches": {"PinwayFeedSideLeft", "PinwayStoreDown"},
}
"""The alerts for each fault."""


@pytest.fixture(scope="module")
async def site(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    async with open_site(stack, tmp_path_factory.mktemp("drills")) as site:
        yield site


SOME = [
    pytest.param(
        drill,
        id=f"{drill.number}-{drill.name}",
        marks=nightly_unless(drill.name == "caches"),
    )
    for drill in DRILLS
]
"""The drills. `make test` runs one: each takes 20 seconds in which nothing else runs. "caches"
begins as "killed" does, and must raise the same alert."""


@pytest.mark.parametrize("drill", SOME)
async def test_no_request_fails_and_an_alert_tells(
    site: Site, drill: Drill, tmp_path: Path
) -> None:
    # A gateway from the previous drill avoids its primary, and would notice little of this drill.
    async with site.serving():
        with watching(site.client.port, tmp_path / "prometheus") as prometheus:
            began = time.time()
            outcome = await run(site, drill, rate=RATE, plan=PLAN)
            fired = prometheus.fired()
    assert len(outcome.seen) == RATE * PLAN.total
    assert outcome.failed == [], outcome.faults()
    assert max(one.latency for one in outcome.seen) < site.settings.http.request_timeout
    before = [side for one in outcome.answered(0.0, outcome.plan.begin) for side in one.sides]
    assert before.count("PRIMARY") > len(before) / 2
    during = outcome.answered(outcome.plan.begin + 2.0, outcome.fault_ends)
    sides = {side for one in during for side in one.sides}
    match drill.name:
        case "killed" | "hangs" | "vanishes" | "caches":
            assert not [one for one in during if "PRIMARY" in one.sides]
        case "standby":
            assert sides == {"PRIMARY"}
        case "both":
            assert any(one.fault for one in outcome.seen)
        case _:
            assert "STANDBY" in sides
    after = {name: at - began - PLAN.begin for name, (at, _) in fired.items()}
    print({name: f"{seconds:.1f} s" for name, seconds in after.items()})
    assert TOLD_BY[drill.name] <= fired.keys()
    assert min(after.values()) > 0
    assert min(after.values()) < 30
    visits = [one for one in outcome.seen if one.kind == "home" and not one.fault]
    if not drill.may_fail:
        assert sum(one.degraded for one in visits) <= 0.01 * len(visits)


async def test_both_clusters_end_with_equal_rows(site: Site) -> None:
    """The rows are compared after all drills, when the delayed jobs are done."""
    rows, differing = await settle(site.settings)
    assert rows > 1000
    assert differing == 0
