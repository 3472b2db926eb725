"""Open-loop load: requests at a constant rate. Latencies are measured from when a request was due.

So a stall counts for all requests that were due during it (no coordinated omission).
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from bench.drills.judge import FIRST, FOLLOWING, HOME, Judge, Seen, Visit
from bench.drills.site import Site

# shares of the requests; all others read following feeds
NEW_VISITS, AGAIN, NEXT = 0.05, 0.20, 0.10
GRACE = 5.0  # seconds after the deadline after which an answer is no longer awaited


@dataclass
class Load:
    """Requests the feeds of these viewers."""

    site: Site
    viewers: Sequence[str]  # users who begin visits
    readers: Sequence[str]  # users who read following feeds
    deadline: float
    rng: random.Random

    async def run(
        self, rate: float, seconds: float, drill: Callable[[float], Awaitable[None]]
    ) -> list[Seen]:
        """All requests, while `drill` runs; it gets the event loop's time of the start."""
        loop = asyncio.get_running_loop()
        judge = Judge(self.site.world, self.deadline)
        found: list[Seen] = []
        start = loop.time() + 0.2
        beside = asyncio.ensure_future(drill(start))
        async with asyncio.TaskGroup() as group:
            for number in range(int(rate * seconds)):
                due = start + number / rate
                await asyncio.sleep(max(0.0, due - loop.time()))
                group.create_task(self._one(judge, start, due, number, found))
        await beside
        return sorted(found, key=lambda seen: seen.due)

    async def _one(
        self, judge: Judge, start: float, due: float, number: int, found: list[Seen]
    ) -> None:
        loop = asyncio.get_running_loop()
        seen, viewer, visit = self._choose(judge, due - start, number)
        query, variables = FOLLOWING, {}
        if seen.kind != "following":
            query = HOME
            if visit is not None:
                variables = {"visit": visit.id}
                if seen.kind == "next":
                    variables["after"] = visit.next_cursor or ""
        token = self.site.tokens.issue(self.site.world.users[viewer])
        try:
            async with asyncio.timeout(self.deadline + GRACE):
                status, body = await self.site.client.post(token, query, variables)
        except (OSError, TimeoutError) as error:
            seen.latency, seen.fault = loop.time() - due, f"no answer: {error!r}"
        else:
            seen.latency = loop.time() - due
            judge.judge(seen, viewer, visit, status, body)
        found.append(seen)

    def _choose(self, judge: Judge, at: float, number: int) -> tuple[Seen, str, Visit | None]:
        draw = self.rng.random()
        if draw < NEW_VISITS:
            return Seen(at, "home"), self.viewers[number % len(self.viewers)], None
        kind = "again" if draw < NEW_VISITS + AGAIN else "next"
        if draw < NEW_VISITS + AGAIN + NEXT and judge.visits:
            visit = self.rng.choice(judge.visits)
            if kind == "again" or visit.next_cursor is not None:
                return Seen(at, kind), visit.viewer, visit
        return Seen(at, "following"), self.rng.choice(self.readers), None


def readers(site: Site) -> list[str]:
    """All users whose following feed fills a page."""
    following = site.world.following
    return [name for name in sorted(following) if len(following[name]) >= FIRST]
