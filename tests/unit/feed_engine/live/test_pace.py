"""The pace of looks: as soon as one is wanted, but not more often than allowed."""

import pytest

from feed_engine.live.pace import Pace

pytestmark = pytest.mark.anyio


async def test_turns_begin_some_seconds_after_each_other() -> None:
    now, slept = [100.0], list[float]()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    pace = Pace(1.0, clock=lambda: now[0], sleep=sleep)
    await pace.turn()
    assert slept == []
    now[0] += 0.25
    await pace.turn()
    assert slept == [0.75]
    now[0] += 5.0
    await pace.turn()
    assert slept == [0.75]
