"""Every interleaving of a race, forced by a clock that stands still while any task can run."""

import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Callable, Sequence
from typing import cast

import pytest

from datasources.errors import StoreTimeout, StoreUnavailable
from datasources.protocols import Cell, Sides, Table, WideColumnStore
from feed_engine.speculation import Race, Raced, Side
from tests.unit.feed_engine.virtual_time import run

CUTOFF, DEADLINE = 0.050, 1.0
NEVER = float("inf")
TABLE = Table("feed")


class Script:
    """One side, controlled by hand: when it answers (seconds after the call), and with what."""

    def __init__(self, name: str, after: float = 0.0, fails: Exception | None = None) -> None:
        self.name, self.after, self.fails = name, after, fails
        self.asked: list[float] = []
        self.ended: list[str] = []

    async def read(
        self, table: Table, row: bytes, *, after: bytes | None = None, limit: int
    ) -> list[Cell]:
        loop = asyncio.get_running_loop()
        self.asked.append(loop.time())
        answer: asyncio.Future[None] = loop.create_future()
        if self.after == 0:
            answer.set_result(None)
        elif self.after != NEVER:
            loop.call_later(self.after, lambda: answer.done() or answer.set_result(None))
        try:
            await answer
        except asyncio.CancelledError:
            self.ended.append("cancelled")
            raise
        if self.fails is not None:
            self.ended.append("failed")
            raise self.fails
        self.ended.append("answered")
        return [Cell(b"from", self.name.encode(), 1)]


def race(primary: Script, standby: Script, *, cutoff: float = CUTOFF) -> Race:
    sides = Sides(cast(WideColumnStore, primary), cast(WideColumnStore, standby))
    return Race(sides, cutoff=cutoff, deadline=DEADLINE)


def read(store: WideColumnStore) -> Awaitable[list[Cell]]:
    return store.read(TABLE, b"row", limit=1)


def outcome(primary: Script, standby: Script) -> tuple[str, Side, float]:
    """The side that answered, according to the value and to the race, and the time."""

    async def ask() -> tuple[str, Side, float]:
        raced = await race(primary, standby)(read)
        return raced.value[0].value.decode(), raced.side, asyncio.get_running_loop().time()

    return run(ask())


def down(name: str) -> StoreUnavailable:
    return StoreUnavailable(f"{name} is down")


def test_a_primary_in_time_answers_alone() -> None:
    primary, standby = Script("p", 0.049), Script("s")
    assert outcome(primary, standby) == ("p", Side.PRIMARY, 0.049)
    assert standby.asked == []


def test_a_primary_that_answers_at_once_needs_no_timer_to_pass() -> None:
    assert outcome(Script("p"), Script("s")) == ("p", Side.PRIMARY, 0.0)


def test_the_standby_is_asked_at_the_cutoff_and_wins_when_it_is_first() -> None:
    primary, standby = Script("p", 0.5), Script("s", 0.010)
    assert outcome(primary, standby) == ("s", Side.STANDBY, pytest.approx(0.060))
    assert standby.asked == [pytest.approx(CUTOFF)]
    assert primary.ended == ["cancelled"]


def test_a_late_primary_that_is_still_first_wins_and_the_standby_is_cancelled() -> None:
    primary, standby = Script("p", 0.055), Script("s", 0.010)
    assert outcome(primary, standby) == ("p", Side.PRIMARY, pytest.approx(0.055))
    assert standby.ended == ["cancelled"]


def test_a_failing_primary_is_hedged_at_once() -> None:
    primary, standby = Script("p", 0.002, down("p")), Script("s", 0.010)
    assert outcome(primary, standby) == ("s", Side.STANDBY, pytest.approx(0.012))
    assert standby.asked == [pytest.approx(0.002)]


def test_a_primary_that_fails_after_the_cutoff_leaves_the_running_standby_to_answer() -> None:
    primary, standby = Script("p", 0.060, down("p")), Script("s", 0.030)
    assert outcome(primary, standby) == ("s", Side.STANDBY, pytest.approx(0.080))
    assert len(standby.asked) == 1


def test_a_standby_that_fails_first_leaves_the_primary_to_answer() -> None:
    primary, standby = Script("p", 0.5), Script("s", 0.010, down("s"))
    assert outcome(primary, standby) == ("p", Side.PRIMARY, 0.5)
    assert standby.ended == ["failed"]


def test_a_mistake_on_the_standby_does_not_harm_a_good_primary() -> None:
    primary, standby = Script("p", 0.5), Script("s", 0.010, ZeroDivisionError())
    assert outcome(primary, standby) == ("p", Side.PRIMARY, 0.5)


def test_a_mistake_in_the_question_is_not_taken_for_a_failing_store() -> None:
    primary, standby = Script("p", 0.010, ZeroDivisionError()), Script("s")
    with pytest.raises(ZeroDivisionError):
        outcome(primary, standby)
    assert standby.asked == []


@pytest.mark.parametrize(
    ("primary_after", "standby_after"), [(0.0, 0.0), (0.010, 0.010), (0.060, 0.010), (0.055, 0.3)]
)
def test_when_both_fail_one_error_tells_both(primary_after: float, standby_after: float) -> None:
    primary = Script("p", primary_after, down("left"))
    standby = Script("s", standby_after, StoreTimeout("right is slow"))
    with pytest.raises(StoreUnavailable, match=r"left is down.*right is slow"):
        outcome(primary, standby)


@pytest.mark.parametrize(
    ("primary", "standby"),
    [
        (Script("p", NEVER), Script("s", NEVER)),
        (Script("p", 0.010, down("p")), Script("s", NEVER)),
        (Script("p", NEVER), Script("s", 0.010, down("s"))),
    ],
)
def test_the_deadline_bounds_all(primary: Script, standby: Script) -> None:
    async def ask() -> float:
        with pytest.raises(StoreTimeout):
            await race(primary, standby)(read)
        return asyncio.get_running_loop().time()

    assert run(ask()) == pytest.approx(DEADLINE)
    assert "answered" not in primary.ended + standby.ended


def test_no_standby_is_asked_when_the_cutoff_is_past_the_deadline() -> None:
    primary, standby = Script("p", NEVER), Script("s")
    with pytest.raises(StoreTimeout):
        run(race(primary, standby, cutoff=NEVER)(read))
    assert standby.asked == []


MOMENTS = [0.0, 0.010, 0.0499, CUTOFF, 0.0501, 0.060, 0.070, 0.9]


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize(
    ("primary_fails", "standby_fails"),
    list(itertools.product([None, down("p")], [None, down("s")])),
)
def test_a_cancelled_caller_leaves_nothing_behind(
    moment: float, primary_fails: Exception | None, standby_fails: Exception | None
) -> None:
    primary, standby = Script("p", 0.065, primary_fails), Script("s", 0.5, standby_fails)

    async def ask() -> None:
        caller = asyncio.ensure_future(race(primary, standby)(read))
        asyncio.get_running_loop().call_later(moment, caller.cancel)
        with contextlib.suppress(asyncio.CancelledError, StoreUnavailable):
            await caller
        assert len(primary.asked) == len(primary.ended)
        assert len(standby.asked) == len(standby.ended)

    run(ask())


TIMES = [0.0, 0.020, CUTOFF, 0.060, NEVER]
ANSWERS = [(after, fails) for after in TIMES for fails in (False, True)]


@pytest.mark.parametrize(("primary_is", "standby_is"), list(itertools.product(ANSWERS, ANSWERS)))
def test_any_pair_of_answers_gives_the_first_good_one(
    primary_is: tuple[float, bool], standby_is: tuple[float, bool]
) -> None:
    (p_after, p_fails), (s_after, s_fails) = primary_is, standby_is
    primary = Script("p", p_after, down("p") if p_fails else None)
    standby = Script("s", s_after, down("s") if s_fails else None)
    s_asked = min(CUTOFF, p_after) if p_fails else CUTOFF
    good: dict[Side, float] = {}
    if not p_fails and p_after < DEADLINE:
        good[Side.PRIMARY] = p_after
    if not s_fails and s_asked + s_after < DEADLINE:
        good[Side.STANDBY] = s_asked + s_after

    if good:
        value, side, at = outcome(primary, standby)
        assert value == side.value[0]
        assert at == pytest.approx(min(good.values()))
        assert good[side] == pytest.approx(min(good.values()))
    else:
        ends = (p_after, s_asked + s_after)
        with pytest.raises(StoreTimeout if max(ends) == NEVER else StoreUnavailable):
            outcome(primary, standby)
    assert len(primary.asked) == len(primary.ended) == 1
    assert len(standby.asked) == len(standby.ended) <= 1


class Stubborn(Script):
    """A side whose cancellation takes a while, like a connection that must be closed first."""

    async def read(
        self, table: Table, row: bytes, *, after: bytes | None = None, limit: int
    ) -> list[Cell]:
        try:
            return await super().read(table, row, after=after, limit=limit)
        except asyncio.CancelledError:
            await asyncio.sleep(0.005)
            self.ended.append("cleaned up")
            raise


def test_the_loser_has_cleaned_up_when_the_answer_comes() -> None:
    primary, standby = Stubborn("p", 0.5), Stubborn("s", 0.010)
    outcome(primary, standby)
    assert primary.ended == ["cancelled", "cleaned up"]
    primary, standby = Stubborn("p", 0.055), Stubborn("s", 0.5)
    outcome(primary, standby)
    assert standby.ended == ["cancelled", "cleaned up"]


def test_a_caller_cancelled_while_the_loser_cleans_up_still_waits_for_it() -> None:
    primary, standby = Stubborn("p", 0.055), Stubborn("s", 0.5)

    async def ask() -> None:
        caller = asyncio.ensure_future(race(primary, standby)(read))
        asyncio.get_running_loop().call_later(0.057, caller.cancel)
        with pytest.raises(asyncio.CancelledError):
            await caller
        assert standby.ended == ["cancelled", "cleaned up"]

    run(ask())


def test_a_standby_that_wins_does_not_cancel_what_its_caller_does_next() -> None:
    async def ask() -> None:
        raced = race(Script("p", NEVER), Script("s"))
        task = asyncio.current_task()
        assert task is not None
        for _ in range(3):
            assert (await raced(read)).side is Side.STANDBY
            assert task.cancelling() == 0
            await asyncio.sleep(0.1)

    run(ask())


def test_races_inside_timeouts_and_groups_keep_their_own_cancellations_apart() -> None:
    async def one(after: float) -> Raced[list[Cell]]:
        async with asyncio.timeout(0.5):
            return await race(Script("p", after), Script("s", 0.010))(read)

    async def ask() -> Sequence[Side]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(after)) for after in (0.010, NEVER, 0.055, 0.2)]
        return [task.result().side for task in tasks]

    assert run(ask()) == [Side.PRIMARY, Side.STANDBY, Side.PRIMARY, Side.STANDBY]


def test_a_timeout_of_the_caller_is_the_callers() -> None:
    async def ask() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await race(Script("p", NEVER), Script("s", NEVER))(read)
        return asyncio.get_running_loop().time()

    assert run(ask()) == pytest.approx(0.2)


def test_a_question_of_several_steps_is_interrupted_in_any_of_them() -> None:
    def steps(name: str) -> Callable[[WideColumnStore], Awaitable[int]]:
        async def ask(store: WideColumnStore) -> int:
            for _ in range(3):
                await read(store)
            return 3

        return ask

    async def ask() -> Side:
        return (await race(Script("p", 0.045), Script("s", 0.010))(steps("three"))).side

    assert run(ask()) is Side.STANDBY


def test_a_call_that_is_over_asks_nobody_any_more() -> None:
    primary, standby = Script("p", 0.010), Script("s")

    async def ask() -> None:
        await race(primary, standby)(read)
        await asyncio.sleep(DEADLINE)

    run(ask())
    assert standby.asked == []


def test_a_timeout_raised_by_the_question_is_not_taken_for_the_deadline() -> None:
    with pytest.raises(TimeoutError) as raised:
        outcome(Script("p", 0.010, TimeoutError("its own")), Script("s"))
    assert not isinstance(raised.value, StoreTimeout)
