"""Calls without an awaited answer: losers that run on, warm calls, probes; and their limits."""

import asyncio
import logging
from dataclasses import replace

import pytest

from datasources.errors import StoreTimeout, StoreUnavailable
from datasources.protocols import WideColumnStore
from feed_engine.speculation import Policy, Side
from feed_engine.speculation.deadline import ends
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

RUN_ON = replace(QUIET, run_on=1.0)
WARM = replace(QUIET, warm=1.0, extra=1.0, compare=1.0)


def test_a_loser_drawn_to_run_on_does_and_is_measured() -> None:
    async def main() -> None:
        primary, standby = Store(takes(0.4)), Store(takes(0.01), "s")
        raced = race(primary, standby, RUN_ON)
        assert (await raced(ask)).side is Side.STANDBY
        assert primary.running == 1
        await asyncio.sleep(0.4)
        assert primary.running == 0
        assert raced._primary.cutoffs.of(None).quantiles(0.5) == pytest.approx([0.4], rel=0.011)
        await raced.close()

    run(main())


def test_losers_that_run_on_are_bounded_in_number_and_in_time() -> None:
    async def main() -> None:
        primary, standby = Store(takes(NEVER)), Store(takes(0.01), "s")
        raced = race(primary, standby, replace(RUN_ON, patience=1000))
        await asyncio.gather(*(raced(ask) for _ in range(10)))
        assert primary.running == raced.stats.run_ons == RUN_ON.run_on_most
        await asyncio.sleep(1.0)
        assert primary.running == 0

    run(main())


def test_a_loser_that_fails_while_running_on_is_nobodys_error() -> None:
    async def main() -> None:
        primary, standby = Store(takes(0.2), "p"), Store(takes(0.01), "s")
        raced = race(primary, standby, RUN_ON)

        async def fails_late(store: object) -> str:
            if store is primary:
                await primary.ask()
                raise StoreUnavailable("too late to matter")
            return await standby.ask()

        assert (await raced(fails_late)).value == "s"
        await asyncio.sleep(0.3)

    run(main())


@pytest.mark.parametrize("moment", [0.0, 0.03, 0.055, 0.2])
def test_a_cancelled_caller_takes_a_side_with_it_that_could_have_run_on(moment: float) -> None:
    async def main() -> None:
        primary, standby = Store(takes(NEVER)), Store(takes(NEVER))
        caller = asyncio.ensure_future(race(primary, standby, RUN_ON)(ask))
        asyncio.get_running_loop().call_later(moment, caller.cancel)
        with pytest.raises(asyncio.CancelledError):
            await caller
        assert primary.running == standby.running == 0

    run(main())


def test_close_ends_every_shadow() -> None:
    async def main() -> None:
        primary, standby = Store(takes(0.01)), Store(takes(NEVER))
        raced = race(primary, standby, WARM)
        await raced(ask)
        assert standby.running == 1
        await raced.close()
        assert standby.running == 0

    run(main())


def test_warm_calls_go_to_the_standby_and_differing_answers_are_counted() -> None:
    async def main(name: str) -> tuple[int, int, int]:
        primary, standby = Store(takes(0.01), "p"), Store(takes(0.02), name)
        raced = race(primary, standby, WARM)
        for _ in range(5):
            assert (await raced(ask)).value == "p"
            await asyncio.sleep(0.1)
        await raced.close()
        return raced.stats.warm, raced.stats.compared, raced.stats.differing

    assert run(main("p")) == (5, 5, 0)
    assert run(main("other")) == (5, 5, 5)


def test_warm_calls_are_shed_before_hedges() -> None:
    async def main() -> None:
        late = Store(takes(0.07), "p")
        raced = race(late, Store(takes(0.01), "s"), replace(WARM, extra=0.0, patience=1000))
        for _ in range(10):
            raced._extra.spend()
        assert (await raced(ask)).side is Side.STANDBY
        assert (raced.stats.warm, raced.stats.shed, raced.stats.hedges) == (0, 1, 1)
        await raced.close()

    run(main())


def test_a_standby_that_hangs_holds_a_bounded_number_of_warm_calls() -> None:
    async def main() -> None:
        standby = Store(takes(NEVER))
        raced = race(Store(takes(0.01)), standby, WARM)
        await load(raced, rate=100, seconds=0.5)
        assert standby.running == WARM.warm_most
        await raced.close()

    run(main())


def test_without_budget_a_late_call_is_waited_for_and_not_ended() -> None:
    async def main() -> None:
        standby = Store(takes(0.01), "s")
        raced = race(Store(takes(0.5), "p"), standby, replace(QUIET, extra=0.0, burst=0.0))
        assert await raced(ask) == ("p", Side.PRIMARY)
        assert (standby.asked, raced.stats.refused) == (0, 1)

    run(main())


def test_hedges_in_flight_go_on_when_the_budget_runs_out() -> None:
    async def main() -> None:
        raced = race(
            Store(takes(0.9), "p"),
            Store(takes(0.2), "s"),
            replace(QUIET, extra=0.0, extra_when_ill=0.0, burst=2.0, patience=5),
        )
        seen = await asyncio.gather(*(raced(ask) for _ in range(7)))
        # Two from the general bound, two from the bound for a side that answers nobody.
        assert sorted(one.value for one in seen) == ["p"] * 3 + ["s"] * 4

    run(main())


def test_a_failure_is_charged_to_the_bound_for_failures() -> None:
    async def main() -> None:
        raced = race(Store(down), Store(takes(0.01), "s"), replace(QUIET, extra=0.0, burst=1.0))
        assert (await raced(ask)).value == "s"
        assert raced._extra.tokens == 1

    run(main())


def test_a_failure_without_budget_says_that_the_other_side_was_not_asked() -> None:
    async def main() -> None:
        raced = race(Store(down), Store(takes(0.01)), replace(QUIET, extra_when_ill=0.0, burst=0.0))
        with pytest.raises(StoreUnavailable, match="primary failed, and the standby may not"):
            await raced(ask)
        assert raced.stats.failed == 1

    run(main())


@pytest.mark.parametrize("side", list(Side))
def test_a_forced_side_is_asked_alone(side: Side) -> None:
    async def main() -> None:
        stores = {Side.PRIMARY: Store(takes(0.2), "p"), Side.STANDBY: Store(takes(0.2), "s")}
        raced = race(stores[Side.PRIMARY], stores[Side.STANDBY], WARM)
        raced.force(side)
        assert (await raced(ask)).side is side
        stores[side].act = down
        with pytest.raises(StoreUnavailable):
            await raced(ask)
        assert sum(store.asked for store in stores.values()) == stores[side].asked == 2
        raced.force(None)
        for store in stores.values():
            store.act = takes(0.01)
        assert (await raced(ask)).side is Side.PRIMARY
        await raced.close()

    run(main())


def test_a_requests_deadline_bounds_the_call_and_nothing_begins_past_it() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        primary, standby = Store(takes(NEVER)), Store(takes(NEVER))
        raced = race(primary, standby)
        ends.set(loop.time() + 0.2)
        with pytest.raises(StoreTimeout):
            await raced(ask)
        assert loop.time() == pytest.approx(0.2)
        with pytest.raises(StoreTimeout, match="the request's time is over"):
            await raced(ask)
        assert primary.asked == standby.asked == 1

    run(main())


def test_a_process_that_was_busy_itself_gives_the_answer_time_to_be_read() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        primary, standby = Store(takes(0.052)), Store(takes(0.01))
        call = asyncio.ensure_future(race(primary, standby)(ask))
        await asyncio.sleep(0.04)
        loop._virtual.now += 0.03  # type: ignore[attr-defined]
        assert (await call).side is Side.PRIMARY
        assert standby.asked == 0

    run(main())


def test_a_hedge_that_fails_is_told_at_debug_alone(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        assert (await race(Store(takes(0.2), "p"), Store(down))(ask)).value == "p"

    with caplog.at_level(logging.DEBUG, "pinway.speculation"):
        run(main())
    assert [(r.levelname, r.message) for r in caplog.records] == [("DEBUG", "a hedge failed: down")]


def test_what_the_caller_does_to_its_answer_does_not_make_it_differ() -> None:
    async def main() -> int:
        primary, standby = Store(takes(0.01)), Store(takes(0.02))
        raced = race(primary, standby, WARM)

        async def cells(store: WideColumnStore) -> list[str]:
            return [await ask(store)]

        (await raced(cells)).value.clear()
        await asyncio.sleep(0.1)
        assert raced.stats.compared == 1
        return raced.stats.differing

    assert run(main()) == 0


def test_a_standby_asked_first_that_hangs_is_distrusted_once_the_primary_beats_it() -> None:
    async def main() -> None:
        primary, standby = Store(down), Store(takes(0.01))
        raced = race(primary, standby)
        for _ in range(int(QUIET.enough) + 5):  # until its usual latency is known
            await raced(ask)
        primary.act, standby.act = takes(0.01), takes(NEVER)
        for _ in range(9):
            assert (await raced(ask)).side is Side.PRIMARY
        asked = standby.asked
        await raced(ask)
        assert standby.asked == asked
        await raced.close()

    run(main())


@pytest.mark.parametrize(
    ("behind", "counted"), [(0.3, (1, 0)), (NEVER, (0, 1))], ids=["catches up", "never does"]
)
def test_a_standby_that_differs_is_asked_until_it_has_caught_up(
    behind: float, counted: tuple[int, int]
) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        primary, standby = Store(takes(0.01), "new"), Store(takes(0.01), "old")
        raced = race(primary, standby, WARM)
        await raced(ask)
        if behind != NEVER:
            loop.call_later(behind, setattr, standby, "name", "new")
        await asyncio.sleep(1.5)
        stats = raced.stats
        assert (stats.differing, stats.caught_up, stats.left_behind) == (1, *counted)
        assert standby.asked <= 8
        if behind != NEVER:
            assert 0.3 <= stats.lag_seconds < 0.7
        await raced.close()

    run(main())


@pytest.mark.parametrize("side", list(Side))
def test_a_call_for_one_side_alone_asks_no_other(side: Side) -> None:
    async def main() -> None:
        stores = {Side.PRIMARY: Store(takes(0.2), "p"), Side.STANDBY: Store(takes(0.2), "s")}
        raced = race(stores[Side.PRIMARY], stores[Side.STANDBY], WARM)
        assert (await raced(ask, only=side)).side is side
        stores[side].act = down
        with pytest.raises(StoreUnavailable):
            await raced(ask, only=side)
        assert sum(store.asked for store in stores.values()) == 2

    run(main())


@pytest.mark.parametrize("late", [0.3, 0.055], ids=["the primary loses", "the standby loses"])
def test_losers_may_run_to_their_end_so_many_at_a_time(late: float) -> None:
    async def main() -> None:
        primary, standby = Store(takes(late), "p"), Store(takes(0.1), "s")
        raced = race(primary, standby, replace(QUIET, finish_most=2))
        ended: list[str] = []

        async def asked(store: WideColumnStore) -> str:
            try:
                answer = await ask(store)
            except asyncio.CancelledError:
                ended.append("cancelled")
                raise
            ended.append(answer)
            return answer

        answers = await asyncio.gather(*(raced(asked) for _ in range(4)))
        winner, loser = ("s", "p") if late == 0.3 else ("p", "s")
        assert [answer.value for answer in answers] == [winner] * 4
        assert sorted(ended) == ["cancelled"] * 2 + [winner] * 4
        await asyncio.sleep(1.0)
        assert ended.count(loser) == 2
        assert primary.running == standby.running == 0

    run(main())


@pytest.mark.parametrize("policy", [RUN_ON, replace(QUIET, finish_most=1)])
def test_a_loser_that_never_ends_is_ended_at_the_deadline_or_when_the_race_is_closed(
    policy: Policy,
) -> None:
    async def main() -> None:
        primary, standby = Store(takes(NEVER)), Store(takes(0.01), "s")
        raced = race(primary, standby, policy)
        await raced(ask)
        assert primary.running == 1
        await asyncio.sleep(1.0)
        assert primary.running == 0
        await raced(ask)
        assert primary.running == 1
        await raced.close()
        assert primary.running == 0

    run(main())


def test_a_cancelled_caller_leaves_nothing_to_finish() -> None:
    async def main() -> None:
        primary, standby = Store(takes(NEVER)), Store(takes(NEVER))
        caller = asyncio.ensure_future(race(primary, standby, replace(QUIET, finish_most=9))(ask))
        await asyncio.sleep(0.1)
        assert primary.running == standby.running == 1
        caller.cancel()
        await asyncio.wait([caller])
        assert primary.running == standby.running == 0

    run(main())


@pytest.mark.parametrize("outage", [down, takes(NEVER)], ids=["is down", "hangs"])
def test_a_standby_that_fails_once_while_the_primary_is_left_is_asked_again(outage: Act) -> None:
    async def main() -> None:
        primary, standby = Store(outage, "p"), Store(takes(0.01), "s")
        raced = race(primary, standby)
        while raced.report().sides[Side.PRIMARY].mode != "avoided":
            await raced(ask)
        for _ in range(5):
            failures = iter([StoreUnavailable("once"), 0.01])
            standby.act = lambda _, failures=failures: next(failures)  # type: ignore[misc]
            assert await raced(ask) == ("s", Side.STANDBY)
        standby.act = down
        with pytest.raises((StoreUnavailable, StoreTimeout)):
            await raced(ask)
        await raced.close()
        assert primary.running == standby.running == 0

    run(main())


def test_a_standby_that_was_left_is_probed_until_it_is_trusted_again() -> None:
    """Otherwise the standby could not help when the primary fails next."""

    async def main() -> None:
        primary, standby = Store(down), Store(down)
        raced = race(primary, standby)
        for _ in range(10):
            with pytest.raises(StoreUnavailable):
                await raced(ask)
        assert {side.mode for side in raced.report().sides.values()} == {"avoided"}
        primary.act = standby.act = takes(0.01)
        await load(raced, rate=20, seconds=30)
        assert {side.mode for side in raced.report().sides.values()} == {"well"}
        await raced.close()

    run(main())
