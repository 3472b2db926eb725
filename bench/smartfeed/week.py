"""A population's week with a gateway: every user acts by GraphQL operations over HTTP, sent to the
gateway's ASGI application in this process. The gateway's clock shows the time of the simulation.

A viewer reads a page of 25 pins, and now and then the next page. Of the new pins the viewer likes
some (`liking`), saves some of the liked ones to a board, and hides a few of other topics. Other
users publish, repin and like. Jobs are done at the end of each STEP, and the graph of related pins
is built again each day.
"""

import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx

from bench.smartfeed.filling import Ids, find_ids
from bench.smartfeed.liking import LIKED, OTHER, draw, likes
from bench.smartfeed.population import Like, Population, Visit
from datasources.protocols import Job
from feed_engine.outbox.completion import settle
from feed_engine.outbox.jobs import run_job
from feed_engine.related import pool
from feed_engine.related.build import build
from feed_engine.times import DAY, MINUTE
from gateway.app import create_site
from gateway.http.auth import Tokens
from gateway.settings import Settings, read_settings
from gateway.site.runtime import Runtime, running
from tests.embedded_stores import patient_stores
from tests.gateways import PATIENT

STEP = 10 * MINUTE
FURTHER, SAVE, HIDE = 0.25, 0.3, 0.02
"""The probabilities that a viewer reads a second page, saves a liked pin, and hides a new pin that
is not of a liked topic."""
PAGE = 25
TOLD_EVERY = 20.0  # seconds
_HOME = """query Home($first: Int!, $after: String, $visit: ID) {
  homeFeed(first: $first, after: $after, visitId: $visit) {
    visitId edges { reason node { id title } } pageInfo { hasNextPage endCursor }
  }
}"""


@dataclass
class Found:
    """The outcome of an order's week. The keys of `shown` and `liked` are reasons."""

    likes: Counter[int] = field(default_factory=Counter)  # by viewer
    shown: Counter[str] = field(default_factory=Counter)
    liked: Counter[str] = field(default_factory=Counter)
    repeats: int = 0  # pictures that came again as new
    hidden: int = 0  # hidden pictures that were shown
    visit_seconds: float = 0.0  # of processor time, for all pages
    seconds: float = 0.0  # of processor time, for the week


def settings_of(data: Path, given: Mapping[str, Any] | None = None) -> Settings:
    """The settings of a gateway on embedded stores in `data`."""
    options = {
        "data_dir": data,
        "jobs.run": False,  # the week does the jobs
        "stores.search": "",
        "limits.profile": "trusted",
        "telemetry.log_level": "warning",
        **PATIENT,
        **(given or {}),
    }
    return read_settings(options=options)


@asynccontextmanager
async def gateway(settings: Settings) -> AsyncIterator[Runtime]:
    """A gateway without HTTP. Its stores may take as long as a busy machine needs."""
    async with AsyncExitStack() as stack:
        with patient_stores():
            runtime = await stack.enter_async_context(running(settings))
        yield runtime


@contextmanager
def clock(read: Callable[[], int]) -> Iterator[None]:
    """In the block, the product's clock shows the epoch ms that `read` returns."""
    with patch("time.time_ns", lambda: read() * 1_000_000):
        yield


async def week(
    name: str, settings: Settings, population: Population, liked_before: Mapping[int, set[int]]
) -> Found:
    """Run the week on a filled gateway. `liked_before`: viewer → the roots that the viewer liked
    before the week."""
    now = population.shape.begin
    with clock(lambda: now):
        async with gateway(settings) as runtime:
            ids = await find_ids(runtime.stores, population)
    this = _Week(name, settings, population, ids, liked_before)
    with clock(lambda: this.now):
        async with gateway(settings) as runtime:
            return await this.run(runtime)


class _Week:
    def __init__(
        self,
        name: str,
        settings: Settings,
        population: Population,
        ids: Ids,
        liked_before: Mapping[int, set[int]],
    ) -> None:
        self.now = population.shape.begin
        self._name, self._population, self._ids = name, population, ids
        self._tokens, self._headers = Tokens(settings.secret, 24), dict[int, dict[str, str]]()
        self._settings, self._found = settings, Found()
        self._known = liked_before
        self._seen: dict[int, set[int]] = {user: set() for user in population.viewers}
        self._hidden: dict[int, set[int]] = {user: set() for user in population.viewers}

    async def run(self, runtime: Runtime) -> Found:
        self._runtime = runtime
        transport = httpx.ASGITransport(create_site(self._settings, runtime).public)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            self._client = client
            began = time.process_time()
            await self._relate_earlier_likes()
            await self._act()
            self._found.seconds = time.process_time() - began
        return self._found

    async def _relate_earlier_likes(self) -> None:
        """Fill the viewers' pools of related pins, as an import with a graph does."""
        if (walks := self._runtime.walks) is not None:
            for user in self._population.viewers:
                id = int(self._ids.users[user])
                await pool.fill(self._runtime.stores, walks, id, at=self.now)

    async def _act(self) -> None:
        population, shape = self._population, self._population.shape
        events: list[tuple[int, int | Like | Visit]] = [
            *((int(population.at[pin]), pin) for pin in range(population.published, shape.pins)),
            *((like.at, like) for like in population.likes_of_others()),
            *((visit.at, visit) for visit in population.visits()),
        ]
        events.sort(key=lambda event: event[0])
        until, day, began = shape.begin + STEP, 0, time.monotonic()
        told = began
        for done, (at, event) in enumerate(events):
            if at >= until:
                await self._do_jobs()
                until = at + STEP
            if (today := (at - shape.begin) // DAY) > day:
                day = today
                await self._build_graph()
            self.now = max(self.now, at)
            await self._do(event)
            if (moment := time.monotonic()) - told >= TOLD_EVERY:
                told, left = moment, (moment - began) / (done + 1) * (len(events) - done - 1)
                _tell(f"{self._name}: {done + 1:,} of {len(events):,} actions, {left:.0f} s left")
        await self._do_jobs()

    async def _do(self, event: int | Like | Visit) -> None:
        match event:
            case Like():
                await self._like(event.user, int(self._ids.pins[event.pin]))
            case Visit():
                await self._visit(event)
            case _:
                await self._publish(event)

    async def _publish(self, pin: int) -> None:
        population, ids = self._population, self._ids
        owner, root = int(population.owner[pin]), int(population.root[pin])
        board = str(ids.boards[owner, population.place[pin]])
        if root != pin:
            made = await self._write(owner, "repin", pinId=str(ids.pins[root]), boardId=board)
        else:
            interests = [str(ids.interests[population.topic[pin]])]
            made = await self._write(
                owner, "createPin", boardId=board, title=str(pin), interestIds=interests
            )
        ids.pins[pin] = int(made["pin"]["id"])

    async def _visit(self, visit: Visit) -> None:
        variables: dict[str, Any] = {"first": PAGE}
        goes_on = draw("further", visit.user, visit.number) < FURTHER
        while True:
            began = time.process_time()
            page = (await self._ask(visit.user, _HOME, variables))["homeFeed"]
            self._found.visit_seconds += time.process_time() - began
            for edge in page["edges"]:
                await self._look(visit.user, edge["reason"], edge["node"])
            if not (goes_on and page["pageInfo"]["hasNextPage"]):
                break
            goes_on = False
            after = page["pageInfo"]["endCursor"]
            variables = {"first": PAGE, "after": after, "visit": page["visitId"]}

    async def _look(self, user: int, reason: str, pin: dict[str, str]) -> None:
        """Look at a pin of a page."""
        population, found = self._population, self._found
        root = int(population.root[int(pin["title"])])
        found.hidden += root in self._hidden[user]
        if reason == "SHOWN_BEFORE":
            return
        found.shown[reason] += 1
        if root in self._seen[user]:
            found.repeats += 1
            return
        self._seen[user].add(root)
        if root in self._known.get(user, ()):
            return
        topic = int(population.topic[root])
        is_liked_topic = topic in population.tastes(user, self._day)
        if likes(user, root, LIKED if is_liked_topic else OTHER):
            found.likes[user] += 1
            found.liked[reason] += 1
            await self._like(user, int(pin["id"]))
            if draw("save", user, root) < SAVE:
                places = population.topics_of[user].tolist()
                place = places.index(topic) if topic in places else 0
                board = str(self._ids.boards[user, place])
                await self._write(user, "repin", pinId=pin["id"], boardId=board)
        elif not is_liked_topic and draw("hide", user, root) < HIDE:
            self._hidden[user].add(root)
            await self._write(user, "hidePin", pinId=pin["id"])

    @property
    def _day(self) -> int:
        return (self.now - self._population.shape.begin) // DAY

    async def _like(self, user: int, pin_id: int) -> None:
        await self._write(user, "likePin", pinId=str(pin_id))

    async def _write(self, user: int, mutation: str, **input: Any) -> dict[str, Any]:
        """The payload of a mutation."""
        type_ = f"{mutation[0].upper()}{mutation[1:]}Input"
        query = (
            f"mutation Write($input: {type_}!) {{ {mutation}(input: $input) "
            "{ pin { id } errors { message } } }"
        )
        payload: dict[str, Any] = (await self._ask(user, query, {"input": input}))[mutation]
        if payload["errors"]:
            raise RuntimeError(f"{mutation} of user {user}, {input}: {payload['errors']}")
        return payload

    async def _ask(self, user: int, query: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        self.now += 1
        if (headers := self._headers.get(user)) is None:
            token = self._tokens.issue(int(self._ids.users[user]))
            headers = self._headers[user] = {"authorization": f"Bearer {token}"}
        body = {"query": query, "variables": variables}
        response = await self._client.post("/graphql", json=body, headers=headers)
        answer: dict[str, Any] = response.json()
        if "errors" in answer:
            raise RuntimeError(f"an operation of user {user}: {answer['errors']}")
        data: dict[str, Any] = answer["data"]
        return data

    async def _do_jobs(self) -> None:
        runtime = self._runtime
        stores = runtime.stores
        await settle()
        while rows := await stores.shards.outbox.pending(2**62, 1000):
            for row in rows:
                job = Job(row.shard, row.id)
                await run_job(stores, job, settings=runtime.feeds.settings, walks=runtime.walks)

    async def _build_graph(self) -> None:
        if (walks := self._runtime.walks) is not None:
            await build(self._runtime.stores, walks.path)
            walks.forget_file()


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
