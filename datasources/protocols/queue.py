"""The queue of background jobs, and its priorities."""

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol


class Job(NamedTuple):
    """The request to do the work of outbox row `outbox_id` of `shard`. It may run twice."""

    shard: int
    outbox_id: int


class Lane(NamedTuple):
    """The jobs of one priority that are queued or running, and the seconds for which the oldest has
    been due (None: there is none)."""

    priority: str
    jobs: int
    oldest: float | None


URGENT, NORMAL, BULK = "urgent", "normal", "bulk"
PRIORITIES = (URGENT, NORMAL, BULK)
"""The queue's priorities, highest first. Somebody waits for urgent jobs: the pins of a new follow,
the saving of a visit. Bulk jobs are batches of large fan-outs, and whole boards."""


class JobQueue(Protocol):
    """Durable background work. A job runs at least once, and again (with growing delays) if it
    fails or its worker dies. A job is queued only once at a time. Waiting jobs with a higher
    priority start first; running jobs are not interrupted."""

    async def enqueue(
        self, jobs: Sequence[Job], *, delay: float = 0.0, priority: str = NORMAL
    ) -> None:
        """Queue jobs. `delay` is in seconds; `priority` is one of PRIORITIES."""

    async def work(
        self,
        run: Callable[[Job], Awaitable[None]],
        *,
        concurrency: int = 8,
        priorities: Sequence[str] = PRIORITIES,
    ) -> None:
        """Take jobs of these priorities and run them, until cancelled. A cancelled job returns to
        the queue. Of several places, bulk jobs leave one to other jobs."""

    async def depth(self) -> int:
        """The number of jobs that are queued or running."""

    async def lanes(self) -> list[Lane]:
        """The jobs by priority, with the age of the oldest."""

    async def now(self) -> float:
        """The time of the queue's server, in seconds since 1970."""

    async def mark(self) -> None:
        """Leave a mark that lasts as long as the queue's data."""

    async def marked(self) -> bool:
        """Whether the mark exists. If not, the queue has lost its data."""

    async def ping(self) -> None: ...

    async def close(self) -> None: ...
