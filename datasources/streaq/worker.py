"""streaq's worker inside another program's process: without signal handlers, and with prompt
endings.

Three behaviours of streaq 7.2 are changed here. It takes SIGINT and SIGTERM for itself; here the
process keeps them. When it is cancelled it waits for running jobs without limit; here they get a
few seconds, then they are cancelled and return to the queue. It renews its claim on running jobs
only when 90% of the time has passed, so an event loop that is busy for less than a second would
make jobs run twice; here it renews four times as often.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec
from anyio import CancelScope, sleep, sleep_forever
from streaq import StreaqRetry, Worker
from streaq.constants import REDIS_GROUP, REDIS_HEALTH
from streaq.task import AsyncRegisteredTask

from datasources.errors import StoreError
from datasources.outages import Outages
from datasources.protocols import Job, Lane
from datasources.streaq.unix import mend
from datasources.tls import context

Run = Callable[[Job], Awaitable[None]]
log = logging.getLogger("pinway.queue")

logging.getLogger("coredis").setLevel(logging.CRITICAL)  # it logs each attempt to connect


def _tls(url: str) -> dict[str, Any]:
    """The driver's options for TLS. The driver's own context would not require a certificate."""
    parts = urlsplit(url)
    if parts.scheme != "rediss":
        return {}
    given = dict(parse_qsl(parts.query))
    files = (given.get(name, "") for name in ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile"))
    return {"ssl_context": context(*files)}


QUEUE = "pinway"
TASK = "job"

mend()


class PromptWorker(Worker[None]):
    """Runs `run` for each job, at most `concurrency` at once. It is also the client that queues
    jobs.

    Jobs of the first of `priorities` are taken first; a client names all priorities. `takeover`:
    seconds for which a dead worker's jobs are not taken by others. A job that failed for the nth
    time runs again after `retry_delay(n)` seconds, without limit.
    """

    def __init__(
        self,
        url: str,
        run: Run,
        *,
        priorities: Sequence[str],
        concurrency: int,
        takeover: float,
        answer_seconds: float,
        retry_delay: Callable[[int], float],
        drain: float,
    ) -> None:
        super().__init__(
            redis_url=url,
            redis_kwargs={
                "decode_components": True,
                **_tls(url),
                "connect_timeout": answer_seconds,
                "stream_timeout": answer_seconds,
            },
            queue_name=QUEUE,
            priorities=list(reversed(priorities)),  # streaq takes the lowest first
            concurrency=concurrency,
            idle_timeout=takeover,
            serializer=_serialize,
            deserializer=msgspec.json.decode,
        )
        # A job that was read but has not started waits for a takeover if this process dies: read
        # only as many as can run at once.
        self.prefetch = max(concurrency, len(priorities))
        self._run, self._retry_delay, self._drain = run, retry_delay, drain
        self._jobs: set[asyncio.Task[None]] = set()
        self._outages = Outages(log, "jobs wait for a store")
        self.job: AsyncRegisteredTask[[int, int], None] = self.task(
            name=TASK, max_tries=None, timeout=None, ttl=0, silent=True
        )(self._run_job)

    async def _read_streams_legacy(self, count: int, block: bool = False) -> Any:
        """Read up to `count` jobs. A read that waits takes at most one job of each priority: the
        server would return `count` of each, more than there is room for."""
        return await super()._read_streams_legacy(1 if block else count, block)

    async def signal_handler(self, scope: CancelScope) -> None:
        """Replaces streaq's own handler, and lives as long as the worker. At its end, running jobs
        get `drain` seconds; then it cancels them, since streaq shields them from cancellation."""
        try:
            await sleep_forever()
        finally:
            with CancelScope(shield=True):
                if self._jobs:
                    await asyncio.wait(self._jobs, timeout=self._drain)
                for job in self._jobs:
                    job.cancel()

    async def renew_idle_timeouts(self, scope: CancelScope) -> None:
        """Renew the claims on running jobs until the consumers have ended."""
        health = f"{self.prefix}{REDIS_HEALTH}:{self.id}"
        with scope:
            while True:
                async with self.redis.pipeline(transaction=False) as pipe:
                    pipe.set(health, str(self), px=self.idle_timeout)
                    for priority, messages in self._running_tasks.items():
                        if messages:
                            stream = self.stream_key + priority
                            pipe.xclaim(stream, REDIS_GROUP, self.id, 0, messages, justid=True)
                await sleep(self.idle_timeout / 1000 / 4)

    async def lanes(self) -> list[Lane]:
        """The jobs of each priority. A delayed job counts, but is not due yet."""
        priorities = list(self.priorities)
        async with self.redis.pipeline(transaction=False) as pipe:
            sizes = [pipe.xlen(self.stream_key + priority) for priority in priorities]
            waiting = [pipe.zcard(self.queue_key + priority) for priority in priorities]
            firsts = [pipe.xrange(self.stream_key + priority, count=1) for priority in priorities]
            now = pipe.time()
        seconds = int((await now).timestamp())  # coredis reads the fraction as thousandths
        return [
            Lane(
                priority,
                await size + await later,
                max(0.0, seconds - int(str(first[0].identifier).split("-")[0]) / 1000)
                if (first := await oldest)
                else None,
            )
            for priority, size, later, oldest in zip(
                priorities, sizes, waiting, firsts, strict=True
            )
        ]

    async def _run_job(self, shard: int, outbox_id: int) -> None:
        """Run one job in a task of its own, which is cancelled once and may clean up; streaq's
        cancellation would interrupt each of its awaits."""
        running = asyncio.ensure_future(self._call(Job(shard, outbox_id)))
        self._jobs.add(running)
        try:
            await asyncio.wait({running})
        except asyncio.CancelledError:
            running.cancel()
            await asyncio.wait({running})
            raise
        finally:
            self._jobs.discard(running)
        if running.cancelled():
            raise StreaqRetry(delay=timedelta(0))
        if error := running.exception():
            tries = self.job.context.tries
            delay = self._retry_delay(tries)
            if isinstance(error, StoreError):
                # One log line for an outage, in which many jobs fail repeatedly.
                self._outages.failed(str(error)[:60], error)
            else:
                log.warning(
                    "job %d:%d failed for the %d. time, again in %.1f s",
                    *(shard, outbox_id, tries, delay),
                    exc_info=error,
                )
            raise StreaqRetry(delay=timedelta(seconds=delay))

    async def _call(self, job: Job) -> None:
        await self._run(job)


def _serialize(data: Any) -> bytes:
    """Encode as JSON. streaq's pickle would execute code from the queue's data."""
    return msgspec.json.encode(data, enc_hook=str)
