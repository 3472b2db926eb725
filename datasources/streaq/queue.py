"""A JobQueue over streaq: Redis Streams, a consumer group, and a sorted set for delayed jobs.

A job's name in the queue is its outbox row, so a job is queued only once. A job that failed because
of a store is retried without limit, after delays that grow to five minutes; the outbox sets aside
work that retries don't help. If the queue loses jobs (the last second, or all), the relay queues
them again.
"""

import asyncio
import contextlib
import logging
import random
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

from coredis.exceptions import RedisError

from datasources.errors import StoreTimeout, StoreUnavailable
from datasources.outages import Outages, backoff
from datasources.protocols import BULK, NORMAL, PRIORITIES, Job, Lane
from datasources.streaq.worker import PromptWorker, Run
from datasources.together import together

T = TypeVar("T")
log = logging.getLogger("pinway.queue")

TAKEOVER_SECONDS = 4.0
FIRST_RETRY_SECONDS, LAST_RETRY_SECONDS = 1.0, 300.0
RECONNECT_SECONDS = 0.5
DRAIN_SECONDS = 5.0
MARK = "pinway:made"
ENQUEUE_AT_ONCE = 100  # as many as are possible within one call's deadline


class StreaqQueue:
    """A JobQueue at `redis://host:port/db` or `redis+unix:///path?db=N`.

    `deadline`: seconds for a call. `takeover`: seconds without a sign of life after which other
    workers take a worker's jobs. The first retry of a failed job comes after `first_retry` seconds,
    and each later retry after twice as many. `drain`: seconds that a cancelled worker gives its
    jobs to end.
    """

    def __init__(
        self,
        url: str,
        *,
        deadline: float = 1.0,
        takeover: float = TAKEOVER_SECONDS,
        first_retry: float = FIRST_RETRY_SECONDS,
        drain: float = DRAIN_SECONDS,
    ) -> None:
        self._url = url.replace("redis+unix://", "unix://", 1)
        self._deadline, self._takeover, self._first_retry = deadline, takeover, first_retry
        self._drain = drain
        self._client = _Client(lambda: self._worker(_never, 1, deadline), deadline)

    async def enqueue(
        self, jobs: Sequence[Job], *, delay: float = 0.0, priority: str = NORMAL
    ) -> None:
        for start in range(0, len(jobs), ENQUEUE_AT_ONCE):
            some = jobs[start : start + ENQUEUE_AT_ONCE]
            await self._client.call(partial(_publish, jobs=some, delay=delay, priority=priority))

    async def work(
        self, run: Run, *, concurrency: int = 8, priorities: Sequence[str] = PRIORITIES
    ) -> None:
        sooner = [name for name in priorities if name != BULK]
        if concurrency > 1 and 0 < len(sooner) < len(priorities):
            # One place is kept free of bulk jobs, each of which takes seconds.
            workers = (concurrency - 1, priorities), (1, sooner)
            await together([self._work(run, *worker) for worker in workers])
        else:
            await self._work(run, concurrency, priorities)

    async def _work(self, run: Run, concurrency: int, priorities: Sequence[str]) -> None:
        outages = Outages(log, "the queue can't be reached")

        async def run_reached(job: Job) -> None:
            outages.well("")
            await run(job)

        while True:
            try:
                # It blocks in reads of `takeover` seconds, so its answers may take longer.
                patience = self._takeover + self._deadline
                await self._worker(run_reached, concurrency, patience, priorities).run_async()
            except Exception as error:
                # If a cancellation coincides with an error, only the error is raised.
                if _cancelling():
                    raise asyncio.CancelledError from error
                outages.failed("", _innermost(error))
            await asyncio.sleep(backoff(RECONNECT_SECONDS, 1, RECONNECT_SECONDS))

    async def depth(self) -> int:
        return await self._client.call(lambda worker: worker.queue_size())

    async def lanes(self) -> list[Lane]:
        return await self._client.call(lambda worker: worker.lanes())

    async def now(self) -> float:
        return await self._client.call(lambda worker: _now(worker))

    async def mark(self) -> None:
        await self._client.call(lambda worker: _mark(worker))

    async def marked(self) -> bool:
        return await self._client.call(lambda worker: _marked(worker))

    async def ping(self) -> None:
        await self._client.call(lambda worker: _ping(worker))

    async def close(self) -> None:
        await self._client.close()

    def _worker(
        self,
        run: Run,
        concurrency: int,
        answer_seconds: float,
        priorities: Sequence[str] = PRIORITIES,
    ) -> PromptWorker:
        return PromptWorker(
            self._url,
            run,
            priorities=[name for name in PRIORITIES if name in priorities],
            concurrency=concurrency,
            takeover=self._takeover,
            answer_seconds=answer_seconds,
            retry_delay=partial(retry_delay, self._first_retry),
            drain=self._drain,
        )


def retry_delay(
    first: float, tries: int, draw: Callable[[float, float], float] = random.uniform
) -> float:
    """Seconds until the next attempt of a job that has been tried `tries` times."""
    return backoff(first, tries, LAST_RETRY_SECONDS, draw)


class _Client:
    """One task that owns the connection and makes the calls, in order.

    streaq's client must be closed by the task that entered it, and the cancellation of a caller
    must not reach the connection. So callers pass their calls to this task, and wait for a future.
    """

    def __init__(self, connect: Callable[[], PromptWorker], deadline: float) -> None:
        self._connect, self._deadline = connect, deadline
        self._calls: asyncio.Queue[_Call] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None

    async def call(self, operation: Callable[[PromptWorker], Awaitable[T]]) -> T:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._serve(), name="queue client")
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._calls.put_nowait((operation, answer))
        try:
            async with asyncio.timeout(self._deadline):
                result: T = await answer
                return result
        except TimeoutError as error:
            raise StoreTimeout(f"queue: no answer within {self._deadline} s") from error

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def _serve(self) -> None:
        call = await self._next()
        while True:
            answered = 0  # calls answered over this connection
            try:
                async with self._connect() as worker:
                    while True:
                        await self._answer(worker, call)
                        answered += 1
                        call = await self._next()
            except Exception as error:
                if _cancelling():
                    raise asyncio.CancelledError from error
                if answered:
                    continue  # the server may have restarted: retry on a new connection
                self._refuse(call, error)
                call = await self._next()

    async def _next(self) -> "_Call":
        """The next call that somebody still waits for: while the server hangs, calls come faster
        than attempts to connect fail."""
        while (call := await self._calls.get())[1].done():
            pass
        return call

    async def _answer(self, worker: PromptWorker, call: "_Call") -> None:
        """Make one call. Raises the errors after which the connection can't be used again."""
        operation, answer = call
        if answer.done():
            return
        try:
            async with asyncio.timeout(self._deadline):
                result = await operation(worker)
        except TimeoutError as error:
            raise RedisError("no answer") from error
        if not answer.done():
            answer.set_result(result)

    def _refuse(self, call: "_Call", error: Exception) -> None:
        reason = StoreUnavailable(f"queue: {_innermost(error)}")
        reason.__cause__ = error
        if not call[1].done():
            call[1].set_exception(reason)


_Call = tuple[Callable[[PromptWorker], Awaitable[Any]], "asyncio.Future[Any]"]


async def _publish(worker: PromptWorker, jobs: Sequence[Job], delay: float, priority: str) -> None:
    tasks = []
    for job in dict.fromkeys(jobs):
        task = worker.job.enqueue(job.shard, job.outbox_id)
        task.id = f"{job.shard}:{job.outbox_id}"
        later = timedelta(seconds=delay) if delay > 0 else None
        tasks.append(task.start(delay=later, priority=priority))
    await worker.enqueue_many(tasks)


async def _ping(worker: PromptWorker) -> None:
    await worker.redis.ping()


async def _now(worker: PromptWorker) -> float:
    return (await worker.redis.time()).timestamp()


async def _mark(worker: PromptWorker) -> None:
    await worker.redis.set(MARK, "1")


async def _marked(worker: PromptWorker) -> bool:
    return bool(await worker.redis.exists([MARK]))


async def _never(job: Job) -> None:
    raise AssertionError("the client runs no jobs")


def _cancelling() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _innermost(error: BaseException) -> BaseException:
    """The first single error in a tree of exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
