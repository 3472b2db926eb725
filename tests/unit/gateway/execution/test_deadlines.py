"""One timer serves the deadlines of all requests, and each request ends at its own deadline."""

import asyncio
import sys

import pytest

from feed_engine.speculation.deadline import ends
from gateway.execution.tasks.deadlines import Deadlines
from tests.unit.feed_engine.virtual_time import run

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def hang(deadlines: Deadlines, began: list[float]) -> float:
    """Wait until the deadline passes. Returns that time."""
    loop = asyncio.get_running_loop()
    began.append(loop.time())
    with pytest.raises(TimeoutError), deadlines.begin():
        await asyncio.Event().wait()
    return loop.time()


def test_each_request_ends_at_its_own_deadline() -> None:
    async def main() -> None:
        deadlines, began = Deadlines(5), list[float]()
        first = asyncio.create_task(hang(deadlines, began))
        await asyncio.sleep(2)
        second = asyncio.create_task(hang(deadlines, began))
        assert [await first, await second] == pytest.approx([5, 7])
        # The timer fired twice, and fires again for a later request.
        assert await hang(deadlines, began) == pytest.approx(12)

    run(main())


async def test_many_deadlines_use_one_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, timers = asyncio.get_running_loop(), 0
    call_at = loop.call_at

    def counted(*given: object, **named: object) -> object:
        nonlocal timers
        timers += 1
        return call_at(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(loop, "call_at", counted)
    deadlines = Deadlines(60, ends)
    for _ in range(3):
        with deadlines.begin(), deadlines.begin():
            pass
    assert timers == 1
    assert not deadlines.running


async def test_calls_inside_see_the_time_of_the_deadline() -> None:
    deadlines = Deadlines(60, ends)
    with deadlines.begin():
        told = ends.get()
        assert told is not None
        assert 59 < told - asyncio.get_running_loop().time() <= 60
    assert ends.get() is None


async def test_a_request_that_is_cancelled_from_outside_stays_cancelled() -> None:
    deadlines = Deadlines(60, ends)
    task = asyncio.create_task(hang(deadlines, []))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not deadlines.running


async def test_a_cancellation_in_the_turn_of_the_deadline_wins() -> None:
    deadlines = Deadlines(60, ends)

    async def request() -> None:
        with deadlines.begin():
            await asyncio.Event().wait()

    task = asyncio.create_task(request())
    await asyncio.sleep(0)
    next(iter(deadlines.running)).expire()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_another_error_is_raised_unchanged_although_the_deadline_has_passed() -> None:
    deadlines, task = Deadlines(60, ends), asyncio.current_task()
    assert task is not None
    before = task.cancelling()

    def fail() -> None:
        with deadlines.begin():
            next(iter(deadlines.running)).expire()
            raise LookupError

    with pytest.raises(LookupError):
        fail()
    assert task.cancelling() == before
    if sys.version_info < (3, 13):  # the cancellation stays requested, as with asyncio.timeout
        with pytest.raises(asyncio.CancelledError):
            await asyncio.sleep(0)
    await asyncio.sleep(0)


def test_a_new_event_loop_gets_a_new_timer() -> None:
    deadlines = Deadlines(5)
    for _ in range(2):
        assert run(hang(deadlines, [])) == pytest.approx(5)
