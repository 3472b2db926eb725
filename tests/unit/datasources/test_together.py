"""Calls that run at once end together, whether they succeed or fail."""

import asyncio

import pytest

from datasources.together import together

pytestmark = pytest.mark.anyio


class Probe:
    """Calls that wait until they may continue, and the calls that ran."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.running = self.most = self.ended = 0

    async def call(self, answer: int) -> int:
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await self.go.wait()
            if answer < 0:
                raise ValueError(answer)
            return answer
        finally:
            self.running -= 1
            self.ended += 1


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.mark.parametrize("at_a_time", [None, 1, 3])
async def test_answers_come_in_the_order_of_the_calls(at_a_time: int | None) -> None:
    probe = Probe()
    probe.go.set()
    answers = await together((probe.call(n) for n in range(10)), at_a_time=at_a_time)
    assert answers == list(range(10))
    assert await together([]) == []


async def test_no_more_run_than_are_allowed() -> None:
    probe = Probe()
    task = asyncio.ensure_future(together((probe.call(n) for n in range(10)), at_a_time=3))
    await settle()
    assert probe.running == 3
    probe.go.set()
    assert await task == list(range(10))
    assert probe.most == 3


@pytest.mark.parametrize("at_a_time", [None, 2])
async def test_the_first_error_is_raised_when_all_have_ended(at_a_time: int | None) -> None:
    probe = Probe()
    probe.go.set()
    with pytest.raises(ValueError, match="-1"):
        await together((probe.call(n) for n in (1, -1, 2, -2)), at_a_time=at_a_time)
    assert probe.ended == 4


@pytest.mark.parametrize("at_a_time", [None, 2])
async def test_cancelling_the_caller_cancels_every_call(at_a_time: int | None) -> None:
    probe = Probe()
    task = asyncio.ensure_future(together((probe.call(n) for n in range(5)), at_a_time=at_a_time))
    await settle()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert probe.running == 0
