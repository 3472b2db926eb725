"""JobQueue's contract over the embedded Valkey and a real Redis."""

import asyncio
import os
import random
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import redis.asyncio

from datasources.errors import StoreTimeout, StoreUnavailable
from datasources.protocols import BULK, NORMAL, PRIORITIES, URGENT, Job, Lane
from datasources.streaq import StreaqQueue
from datasources.valkey import ValkeyServer
from deploy.stack import Stack
from tests.contract import redis_servers
from tests.proxy import proxied
from tests.servers import redis_url

pytestmark = pytest.mark.anyio
PATIENT = 60.0  # seconds: the tests' machine may be busy
TAKEOVER = 2.0
DATABASE = 12
ONE, TWO = Job(1, 1), Job(2, 1)


@pytest.fixture(scope="module", params=redis_servers.BOTH)
async def server_url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[str]:
    async for url in redis_servers.server(request, tmp_path_factory, DATABASE):
        yield url


async def emptied(url: str) -> str:
    raw = redis.asyncio.Redis.from_url(url.replace("redis+unix:", "unix:"))
    await raw.flushdb()
    await raw.aclose()
    return url


@pytest.fixture
async def url(server_url: str) -> str:
    """The queue's database, emptied."""
    return await emptied(server_url)


def open_queue(url: str, takeover: float = TAKEOVER) -> StreaqQueue:
    return StreaqQueue(url, deadline=PATIENT, takeover=takeover, first_retry=0.01, drain=0)


@pytest.fixture
async def queue(url: str) -> AsyncIterator[StreaqQueue]:
    queue = open_queue(url)
    yield queue
    await queue.close()


class Runs:
    """The jobs in the order in which they began. `until` waits for a number of jobs."""

    def __init__(self, act: Callable[[Job, int], Awaitable[None]] | None = None) -> None:
        self.jobs: list[Job] = []
        self._act, self._changed = act, asyncio.Condition()

    async def __call__(self, job: Job) -> None:
        async with self._changed:
            self.jobs.append(job)
            self._changed.notify_all()
        if self._act is not None:
            await self._act(job, self.jobs.count(job))

    async def until(self, count: int) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.jobs) >= count)


@asynccontextmanager
async def working(
    queue: StreaqQueue,
    runs: Runs,
    concurrency: int = 8,
    priorities: Sequence[str] = PRIORITIES,
) -> AsyncIterator[None]:
    work = queue.work(runs, concurrency=concurrency, priorities=priorities)
    worker = asyncio.create_task(work)
    try:
        yield
    finally:
        worker.cancel()
        with pytest.raises(asyncio.CancelledError):
            await worker


async def drained(queue: StreaqQueue, left: int = 0) -> None:
    """Wait until at most `left` jobs are queued or running."""
    while await queue.depth() > left:
        pass


async def hold(job: Job, times: int) -> None:
    await asyncio.Event().wait()


async def test_a_job_runs_once_and_is_then_gone(queue: StreaqQueue) -> None:
    runs = Runs()
    await queue.enqueue([ONE, TWO])
    assert await queue.depth() == 2
    async with working(queue, runs):
        await drained(queue)
    assert sorted(runs.jobs) == [ONE, TWO]


async def test_a_job_begins_before_all_of_lower_priorities(queue: StreaqQueue) -> None:
    runs, priorities = Runs(), [BULK, NORMAL, URGENT]
    for number, priority in enumerate(priorities * 3):
        await queue.enqueue([Job(number, 1)], priority=priority)
    async with working(queue, runs, concurrency=1):
        await drained(queue)
    assert [job.shard % 3 for job in runs.jobs] == [2, 2, 2, 1, 1, 1, 0, 0, 0]


async def test_bulk_jobs_leave_a_place_to_an_urgent_one(queue: StreaqQueue) -> None:
    done = asyncio.Event()

    async def wait(job: Job, times: int) -> None:
        if job != ONE:
            await done.wait()

    runs = Runs(wait)
    async with working(queue, runs, concurrency=3):
        await queue.enqueue([Job(5, number) for number in range(6)], priority=BULK)
        await runs.until(2)
        await queue.enqueue([ONE], priority=URGENT)
        await runs.until(3)
        assert runs.jobs[2] == ONE
        done.set()
        await runs.until(7)


async def test_a_worker_of_some_priorities_leaves_the_others_to_other_workers(
    queue: StreaqQueue,
) -> None:
    runs, others = Runs(), Runs()
    for number, priority in enumerate(PRIORITIES):
        await queue.enqueue([Job(number, 1)], priority=priority)
    async with working(queue, runs, priorities=[URGENT, NORMAL]):
        await drained(queue, left=1)
        await queue.enqueue([Job(9, 1)], priority=URGENT)
        await drained(queue, left=1)
    assert sorted(runs.jobs) == [Job(0, 1), Job(1, 1), Job(9, 1)]
    async with working(queue, others, priorities=[BULK]):
        await drained(queue)
    assert others.jobs == [Job(2, 1)]


async def test_jobs_of_all_priorities_that_come_at_once_run_all(queue: StreaqQueue) -> None:
    runs = Runs()
    async with working(queue, runs, concurrency=1):
        await asyncio.gather(
            *(
                queue.enqueue([Job(10 * n + m, 1) for m in range(9)], priority=priority)
                for n, priority in enumerate(PRIORITIES)
            )
        )
        await drained(queue)
    assert len(runs.jobs) == len(set(runs.jobs)) == 27


async def test_a_worker_that_stops_lets_its_jobs_end(url: str) -> None:
    queue = StreaqQueue(url, deadline=PATIENT, takeover=TAKEOVER, drain=PATIENT)
    go_on, ended = asyncio.Event(), list[Job]()

    async def act(job: Job, times: int) -> None:
        await go_on.wait()
        ended.append(job)

    runs = Runs(act)
    await queue.enqueue([ONE])
    worker = asyncio.create_task(queue.work(runs))
    await runs.until(1)
    worker.cancel()
    await asyncio.sleep(0)
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await worker
    assert ended == [ONE]
    await queue.close()


async def test_a_queue_that_lost_its_data_has_lost_its_mark(queue: StreaqQueue, url: str) -> None:
    assert not await queue.marked()
    await queue.mark()
    assert await queue.marked()
    await emptied(url)
    assert not await queue.marked()


async def test_a_worker_that_waits_takes_new_jobs(queue: StreaqQueue) -> None:
    runs = Runs()
    async with working(queue, runs):
        await queue.enqueue([ONE])
        await runs.until(1)
        await queue.enqueue([TWO])
        await runs.until(2)
        await drained(queue)
        await queue.enqueue([ONE])
        await runs.until(3)
    assert runs.jobs == [ONE, TWO, ONE]


async def test_two_of_the_same_job_are_not_queued_at_once(queue: StreaqQueue) -> None:
    runs = Runs()
    await queue.enqueue([ONE, ONE])
    await queue.enqueue([ONE], delay=60)
    await queue.enqueue([TWO], delay=60)
    await queue.enqueue([TWO])
    assert await queue.depth() == 2
    async with working(queue, runs):
        await runs.until(1)
        await queue.enqueue([ONE])
        await drained(queue, left=1)
    assert runs.jobs[0] == ONE


async def test_a_delayed_job_runs_after_one_that_is_not(queue: StreaqQueue) -> None:
    runs = Runs()
    await queue.enqueue([ONE], delay=1.0)
    await queue.enqueue([TWO])
    async with working(queue, runs):
        await runs.until(2)
    assert runs.jobs == [TWO, ONE]


async def test_a_failed_job_runs_until_it_succeeds(queue: StreaqQueue) -> None:
    async def fail_thrice(job: Job, times: int) -> None:
        if times <= 3:
            raise ValueError("not yet")

    runs = Runs(fail_thrice)
    await queue.enqueue([ONE])
    async with working(queue, runs):
        await runs.until(4)
        await drained(queue)
    assert runs.jobs == [ONE] * 4


async def test_one_failing_job_does_not_hold_up_the_others(queue: StreaqQueue) -> None:
    async def fail_first(job: Job, times: int) -> None:
        if job == ONE:
            raise ValueError("never")

    runs = Runs(fail_first)
    others = [Job(3, n) for n in range(1, 101)]
    await queue.enqueue([ONE, *others])
    async with working(queue, runs, concurrency=1):
        while not set(others) <= set(runs.jobs):
            await runs.until(len(runs.jobs) + 1)
    assert await queue.depth() == 1


async def test_no_more_jobs_run_at_once_than_asked_for(url: str) -> None:
    queue = open_queue(url, takeover=PATIENT)
    running = most = 0
    gate = asyncio.Event()

    async def wait(job: Job, times: int) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == 3:
            gate.set()
        await gate.wait()
        running -= 1

    runs = Runs(wait)
    await queue.enqueue([Job(4, n) for n in range(1, 31)])
    async with working(queue, runs, concurrency=3):
        await drained(queue)
    await queue.close()
    assert (most, len(runs.jobs)) == (3, 30)


async def test_a_cancelled_worker_gives_its_job_back_at_once(queue: StreaqQueue) -> None:
    cleaned = []

    async def clean(job: Job, times: int) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned.append(job)

    held, runs = Runs(clean), Runs()
    await queue.enqueue([ONE])
    async with working(queue, held):
        await held.until(1)
    assert cleaned == [ONE]
    assert await queue.depth() == 1
    async with working(queue, runs):
        await runs.until(1)
        await drained(queue)


async def test_a_job_that_cancels_itself_is_tried_again(queue: StreaqQueue) -> None:
    async def cancel_once(job: Job, times: int) -> None:
        if times == 1:
            raise asyncio.CancelledError

    runs = Runs(cancel_once)
    await queue.enqueue([ONE])
    async with working(queue, runs):
        await runs.until(2)
        await drained(queue)


async def test_a_killed_workers_job_is_taken_over(queue: StreaqQueue, url: str) -> None:
    await queue.enqueue([ONE])
    worker = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.contract.queue_worker", url, str(TAKEOVER)),
        stdout=asyncio.subprocess.PIPE,
    )
    assert worker.stdout
    assert await worker.stdout.readline() == b"1:1\n"
    worker.kill()
    await worker.wait()
    runs = Runs()
    async with working(queue, runs):
        await runs.until(1)
        await drained(queue)
    assert runs.jobs == [ONE]


async def test_a_live_workers_long_job_is_not_taken_over(queue: StreaqQueue, url: str) -> None:
    """The job takes longer than the takeover time, and an idle worker looks for dead workers in the
    meantime."""
    done = asyncio.Event()

    async def outlast(job: Job, times: int) -> None:
        await asyncio.sleep(2 * TAKEOVER)
        done.set()

    runs, idle = Runs(outlast), Runs(outlast)
    other = open_queue(url)
    await queue.enqueue([ONE])
    async with working(queue, runs, concurrency=1), working(other, idle, concurrency=1):
        await done.wait()
        await drained(queue)
    assert runs.jobs + idle.jobs == [ONE]
    await other.close()


async def test_stopping_a_worker_leaves_the_signal_handlers_alone(queue: StreaqQueue) -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    runs = Runs()
    await queue.enqueue([ONE])
    async with working(queue, runs):
        await runs.until(1)
        assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


async def test_cancelled_calls_leave_every_later_answer_its_own_question(
    queue: StreaqQueue,
) -> None:
    dice, cancelled, answered = random.Random(7), 0, 0
    await queue.enqueue([Job(9, n) for n in range(1, 12)], delay=3600)

    async def ask() -> None:
        nonlocal cancelled, answered
        # Only jobs that are already queued: so there are eleven, whichever calls succeeded.
        again = [Job(9, dice.randint(1, 11))]
        question: Coroutine[object, object, int | None] = (
            queue.depth() if dice.random() < 0.5 else queue.enqueue(again, delay=3600)
        )
        expected = 11 if question.__name__ == "depth" else None
        task = asyncio.create_task(question)
        if dice.random() < 0.5:
            await asyncio.sleep(dice.random() * 0.004)
            task.cancel()
        try:
            assert await task == expected
            answered += 1
        except asyncio.CancelledError:
            cancelled += 1

    while cancelled < 300 or answered < 300:
        await asyncio.gather(*(ask() for _ in range(12)))
    assert await queue.depth() == 11


async def test_an_outage_gives_our_errors_and_ends_when_the_server_is_back(
    caches: Stack,
) -> None:
    server = urlsplit(await emptied(redis_url(caches, DATABASE)))
    assert server.port
    async with proxied("127.0.0.1", server.port) as proxy:
        url = f"redis://127.0.0.1:{proxy.port}/{DATABASE}"
        queue = StreaqQueue(url, deadline=2.0, takeover=TAKEOVER)
        await queue.ping()
        runs = Runs()
        async with working(queue, runs):
            await queue.enqueue([ONE])
            await runs.until(1)
            await proxy.cut()
            for call in (queue.enqueue([TWO]), queue.depth(), queue.ping()):
                with pytest.raises(StoreUnavailable):
                    await call
            await proxy.mend()
            await queue.enqueue([TWO])
            await runs.until(2)
            proxy.stall()
            with pytest.raises(StoreTimeout):
                await queue.ping()
            await proxy.mend()
            await queue.enqueue([Job(3, 3)])
            await runs.until(3)
            await drained(queue)
        await queue.close()


async def test_jobs_survive_a_valkey_that_is_killed(tmp_path: Path) -> None:
    server = ValkeyServer(tmp_path)
    await server.start()
    queue, runs, held = open_queue(server.url(1)), Runs(), Runs(hold)
    await queue.enqueue([ONE])
    async with working(queue, held):
        await held.until(1)
        await queue.enqueue([TWO, Job(3, 3)], delay=0.5)
        assert server.pid
        os.kill(server.pid, signal.SIGKILL)
    await server.stop()
    await server.start()
    assert await queue.depth() == 3
    async with working(queue, runs):
        await runs.until(3)
        await drained(queue)
    assert set(runs.jobs) == {ONE, TWO, Job(3, 3)}
    await queue.close()
    await server.stop()


async def test_a_server_that_came_back_without_its_functions_is_taught_them_again(
    tmp_path: Path,
) -> None:
    """A Redis without a file on disk restarts without functions."""
    async with ValkeyServer(tmp_path) as server:
        queue, runs = open_queue(server.url(1)), Runs()
        await queue.enqueue([ONE])
        raw = redis.asyncio.Redis.from_url(server.url(1).replace("redis+unix:", "unix:"))
        await raw.execute_command("FUNCTION", "FLUSH", "SYNC")
        await raw.flushall()
        await raw.aclose()
        await queue.enqueue([TWO])
        assert await queue.depth() == 1
        async with working(queue, runs):
            await runs.until(1)
            await drained(queue)
        assert runs.jobs == [TWO]
        await queue.close()


async def test_lanes_tell_jobs_and_the_age_of_the_oldest_that_is_due(queue: StreaqQueue) -> None:
    def told(lanes: list[Lane]) -> dict[str, tuple[int, float | None]]:
        return {lane.priority: (lane.jobs, lane.oldest) for lane in lanes}

    empty = dict.fromkeys(PRIORITIES, (0, None))
    assert told(await queue.lanes()) == empty
    await queue.enqueue([ONE], delay=100.0)
    assert told(await queue.lanes()) == {**empty, NORMAL: (1, None)}
    await queue.enqueue([TWO])
    before, after = told(await queue.lanes()), told(await queue.lanes())
    assert before[URGENT] == before[BULK] == (0, None)
    (jobs, first), (_, second) = before[NORMAL], after[NORMAL]
    assert jobs == 2
    assert first is not None
    assert second is not None
    assert 0 <= first <= second
