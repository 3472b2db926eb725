"""Waiting for a write, in virtual time: how often both sides are checked, and for how long."""

import asyncio
from typing import cast

import pytest

from datasources.errors import StoreUnavailable
from datasources.protocols import Sides, WideColumnStore
from feed_engine.feeds.own_writes import read_seeing
from feed_engine.speculation import Race, Side, deadline
from tests.unit.feed_engine.virtual_time import run

DEADLINE = 2.0


class Applying:
    """A side that has the write from some time on, and answers after a while, or fails."""

    def __init__(self, since: float, takes: float = 0.001, down: bool = False) -> None:
        self.since, self.takes, self.down, self.looks = since, takes, down, 0

    async def has(self) -> bool:
        self.looks += 1
        loop = asyncio.get_running_loop()
        if self.down:
            raise StoreUnavailable("down")
        await asyncio.sleep(self.takes)
        return loop.time() >= self.since


NEVER = float("inf")


def seeing(primary: Applying, standby: Applying, ends: float = 60.0) -> tuple[Side, bool, float]:
    """The side that answered, whether it has the write, and when."""

    async def main() -> tuple[Side, bool, float]:
        sides = Sides(cast(WideColumnStore, primary), cast(WideColumnStore, standby))
        race = Race(sides, cutoff=0.05, deadline=DEADLINE)

        async def ask(store: WideColumnStore) -> WideColumnStore:
            return store

        deadline.ends.set(ends)
        raced, has = await read_seeing(
            race, sides, ask, lambda s: cast(Applying, s).has(), kind=("read", 1)
        )
        assert raced.value is (sides.primary if raced.side is Side.PRIMARY else sides.standby)
        return raced.side, has, asyncio.get_running_loop().time()

    return run(main())


def test_what_is_there_is_looked_at_once() -> None:
    primary, standby = Applying(0), Applying(0)
    assert seeing(primary, standby)[:2] == (Side.PRIMARY, True)
    assert (primary.looks, standby.looks) == (1, 0)


def test_looks_are_few_and_end_at_the_deadline() -> None:
    primary, standby = Applying(NEVER), Applying(NEVER)
    side, has, at = seeing(primary, standby)
    assert (side, has) == (Side.PRIMARY, False)
    assert at == pytest.approx(DEADLINE, abs=0.05)
    assert max(primary.looks, standby.looks) <= 12


def test_a_read_ends_soon_after_the_write_is_there() -> None:
    side, has, at = seeing(Applying(0.5), Applying(NEVER))
    assert (side, has) == (Side.PRIMARY, True)
    assert 0.5 <= at < 0.9


@pytest.mark.parametrize("other", [Applying(NEVER), Applying(NEVER, takes=10.0)])
def test_the_side_that_has_it_answers_whatever_the_other_does(other: Applying) -> None:
    side, has, at = seeing(other, Applying(0.3))
    assert (side, has) == (Side.STANDBY, True)
    assert at < 1.5
    side, has, at = seeing(Applying(0.3), other)
    assert (side, has) == (Side.PRIMARY, True)


def test_a_side_that_is_down_has_nothing_to_tell() -> None:
    side, has, _ = seeing(Applying(0, down=True), Applying(0.3))
    assert (side, has) == (Side.STANDBY, True)


def test_a_request_that_ends_earlier_keeps_time_for_its_answer() -> None:
    _, has, at = seeing(Applying(NEVER), Applying(NEVER), ends=1.0)
    assert not has
    assert at == pytest.approx(0.5, abs=0.05)
