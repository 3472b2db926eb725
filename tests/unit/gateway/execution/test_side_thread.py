"""Long work runs in one thread, the shortest piece first. Cancelled work is skipped."""

import asyncio
from threading import Event

import pytest

from gateway.execution.side_thread import REST, SLICE, Aside, Overloaded

pytestmark = pytest.mark.anyio


async def held(aside: Aside) -> Event:
    """Keep the thread busy. Returns the event that ends this."""
    begun, go_on = asyncio.Event(), Event()
    loop = asyncio.get_running_loop()

    def wait() -> None:
        loop.call_soon_threadsafe(begun.set)
        go_on.wait()

    aside.task = asyncio.ensure_future(aside.do(0, wait))  # type: ignore[attr-defined]
    await begun.wait()
    return go_on


async def test_the_shortest_piece_runs_first_and_the_oldest_of_equal_pieces() -> None:
    aside, done = Aside(), []
    go_on = await held(aside)
    tasks = [
        asyncio.ensure_future(aside.do(length, lambda n=number: done.append(n)))  # type: ignore[misc]
        for number, length in enumerate([30, 10, 20, 10])
    ]
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.gather(*tasks)
    assert done == [1, 3, 2, 0]


async def test_work_that_is_cancelled_before_it_begins_is_skipped() -> None:
    aside, done = Aside(), []
    go_on = await held(aside)
    tasks = [
        asyncio.ensure_future(aside.do(1, lambda n=n: done.append(n)))  # type: ignore[misc]
        for n in range(3)
    ]
    await asyncio.sleep(0)
    tasks[1].cancel()
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert done == [0, 2]


async def test_the_longest_piece_is_dropped_when_too_many_wait() -> None:
    aside = Aside(waiting=2)
    go_on = await held(aside)
    tasks = [asyncio.ensure_future(aside.do(n, lambda n=n: n)) for n in (5, 9, 1)]  # type: ignore[misc]
    with pytest.raises(Overloaded):
        await tasks[1]
    go_on.set()
    assert await asyncio.gather(tasks[0], tasks[2]) == [5, 1]


async def test_an_error_is_raised_in_the_caller_and_the_thread_continues() -> None:
    aside = Aside()

    def fails() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        await aside.do(1, fails)
    assert await aside.do(1, lambda: 7) == 7
    assert not aside._waiting


async def test_all_pieces_of_many_callers_are_done() -> None:
    aside = Aside()
    for _ in range(50):
        found = await asyncio.gather(*[aside.do(n % 3, lambda n=n: n) for n in range(20)])  # type: ignore[misc]
        assert found == list(range(20))


async def test_the_thread_rests_in_proportion_to_the_time_of_its_work() -> None:
    now, rests = 0.0, list[float]()

    def rest(seconds: float) -> None:
        nonlocal now
        rests.append(seconds)
        now += seconds

    def work(seconds: float) -> None:
        nonlocal now
        now += seconds

    aside = Aside(clock=lambda: now, sleep=rest)
    await aside.do(1, lambda: work(0.25))
    await aside.do(1, lambda: work(0.5))
    now += 10.0  # long after
    await aside.do(1, lambda: work(1.0))
    await aside.do(1, lambda: work(0.0))
    assert rests == [REST * 0.25, REST * 1.0]


async def test_work_rests_in_between_once_it_waited_for_the_interpreter() -> None:
    now, ran, rests = 0.0, 0.0, list[float]()

    def rest(seconds: float) -> None:
        nonlocal now
        rests.append(seconds)
        now += seconds

    def work() -> None:
        nonlocal now, ran
        for part in (1.0, 1.0, 0.5, 1.0, 0.5):  # the part of a slice in which the thread runs
            now += SLICE
            ran += part * SLICE
            aside.pause()
        now += SLICE / 2
        ran += SLICE / 2
        aside.pause()  # the slice is not over

    aside = Aside(clock=lambda: now, sleep=rest, ran=lambda: ran)
    await aside.do(1, work)
    assert rests == pytest.approx([REST * 3 * SLICE, REST * 2 * SLICE])
    await aside.do(1, lambda: None)
    assert rests[2:] == pytest.approx([REST * SLICE / 2])
