"""Recovery and warming depend on time: a gateway with a call a minute doesn't need a thousand
calls."""

import asyncio
from dataclasses import replace

import pytest

from datasources.errors import StoreUnavailable
from feed_engine.speculation import ADAPTIVE, Side
from tests.unit.feed_engine.speculation.scenarios import lognormal
from tests.unit.feed_engine.speculation.scripts import (
    NEVER,
    QUIET,
    Act,
    Store,
    ask,
    down,
    load,
    race,
    takes,
)
from tests.unit.feed_engine.virtual_time import run

MINUTE = 1 / 60  # calls a second


@pytest.mark.parametrize("outage", [down, takes(NEVER)], ids=["fails", "hangs"])
def test_a_primary_is_trusted_half_a_minute_after_it_recovered_at_a_call_a_minute(
    outage: Act,
) -> None:
    async def main() -> None:
        primary, standby = Store(outage, "p"), Store(lognormal(2), "s")
        raced = race(primary, standby, ADAPTIVE)
        await load(raced, rate=MINUTE, seconds=3600)
        assert raced.report().sides[Side.PRIMARY].mode == "avoided"
        asked = primary.asked
        await asyncio.sleep(600)
        assert primary.asked - asked <= 600 / ADAPTIVE.probe_alone_every
        primary.act = lognormal(1)
        await asyncio.sleep(30)
        raced.report()
        assert await raced(ask) == ("p", Side.PRIMARY)
        assert raced.report().sides[Side.PRIMARY].mode == "well"
        await raced.close()

    run(main())


def test_a_standby_gets_warm_calls_by_time() -> None:
    async def main() -> tuple[int, int]:
        primary, standby = Store(lognormal(1)), Store(lognormal(2))
        raced = race(primary, standby, ADAPTIVE)
        await load(raced, rate=MINUTE, seconds=7200)
        await raced.close()
        return primary.asked, standby.asked

    primary, standby = run(main())
    assert primary == 120
    assert standby == pytest.approx(7140 / ADAPTIVE.warm_every, rel=0.05)


@pytest.mark.parametrize("side", list(Side))
def test_a_forced_race_makes_no_calls_by_itself(side: Side) -> None:
    async def main() -> None:
        stores = {Side.PRIMARY: Store(down), Side.STANDBY: Store(takes(0.01))}
        raced = race(stores[Side.PRIMARY], stores[Side.STANDBY], ADAPTIVE)
        await load(raced, rate=10, seconds=2)
        await asyncio.sleep(3)
        raced.force(side)
        asked = [store.asked for store in stores.values()]
        await asyncio.sleep(60)
        assert [store.asked for store in stores.values()] == asked
        await raced.close()

    run(main())


def test_without_a_share_of_warm_calls_there_are_none_by_time() -> None:
    async def main() -> int:
        standby = Store(takes(0.01))
        raced = race(Store(takes(0.01)), standby, replace(ADAPTIVE, warm=0.0))
        await raced(ask)
        await asyncio.sleep(600)
        await raced.close()
        return standby.asked

    assert run(main()) == 0


def test_a_closed_race_makes_no_calls_by_itself() -> None:
    async def main() -> None:
        primary, standby = Store(down), Store(takes(0.01))
        raced = race(primary, standby, ADAPTIVE)
        await load(raced, rate=10, seconds=2)
        await raced.close()
        asked = primary.asked + standby.asked
        await asyncio.sleep(60)
        assert primary.asked + standby.asked == asked

    run(main())


def test_probes_are_bounded_in_number_while_a_side_hangs() -> None:
    async def main() -> None:
        primary, standby = Store(takes(NEVER)), Store(takes(0.01))
        raced = race(primary, standby, replace(QUIET, patience=1))
        await load(raced, rate=100, seconds=3)
        await asyncio.sleep(5.4)  # the timer finds it left after 5 s at the latest
        assert 1 <= primary.running <= QUIET.probe_most
        await raced.close()
        assert primary.running == 0

    run(main())


def test_late_probes_keep_a_side_away_and_probes_as_fast_as_the_standby_bring_it_back() -> None:
    async def main(returns: float) -> tuple[str, int]:
        primary, standby = Store(lambda _: StoreUnavailable("down")), Store(takes(0.06), "s")
        raced = race(primary, standby, ADAPTIVE)
        await load(raced, rate=20, seconds=10)
        primary.act = takes(returns)
        await load(raced, rate=20, seconds=30)
        await raced.close()
        report = raced.report()
        return report.sides[Side.PRIMARY].mode, report.stats.outages

    assert run(main(0.06)) == ("well", 1)
    assert run(main(0.2)) == ("avoided", 1)
