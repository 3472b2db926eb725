"""Awaitables that a position that becomes null shares with a position that stays in the response:
keys of plain loaders, tasks and futures.

graphql-core cancels what it awaits beside an awaited error, so a shared future is cancelled for the
whole request. The engine cancels nothing before the last value of the response has arrived.
"""

import asyncio
import gc
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from types import SimpleNamespace
from typing import Any

import aiodataloader
import orjson
import pytest
import strawberry.dataloader

from tests.execution.both import both, plan_of
from tests.execution.comparing import new_engine
from tests.execution.reference import Outcome
from tests.execution.watchdog import Hang

SLOW = 6
"""The turns of the event loop that a loader needs for a batch."""


async def turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def load(keys: list[int]) -> list[int]:
    await turns(SLOW)
    return [key * 10 for key in keys]


class Shared:
    """Ways to await the value of a key that other resolvers await, too."""

    def __init__(self) -> None:
        self.strawberry: Any = strawberry.dataloader.DataLoader(load)
        self.aiodataloader: Any = aiodataloader.DataLoader(load)
        self._tasks: dict[int, asyncio.Task[int]] = {}
        self._futures: dict[int, asyncio.Future[int]] = {}

    async def many_of_strawberry(self, key: int) -> int:
        return int(sum(await self.strawberry.load_many([key, key])) / 2)

    async def many_of_aiodataloader(self, key: int) -> int:
        return int(sum(await self.aiodataloader.load_many([key, key])) / 2)

    async def with_timeout(self, key: int) -> int:
        return int(await asyncio.wait_for(self.aiodataloader.load(key), 3600))

    def task(self, key: int) -> "asyncio.Task[int]":
        """A task for each key, which all callers await."""
        if key not in self._tasks:
            self._tasks[key] = asyncio.ensure_future(_first(key))
        return self._tasks[key]

    def future(self, key: int) -> "asyncio.Future[int]":
        if key not in self._futures:
            loop = asyncio.get_running_loop()
            future = self._futures[key] = loop.create_future()
            loop.call_later(0.001, lambda: future.done() or future.set_result(key * 10))
        return self._futures[key]


async def _first(key: int) -> int:
    return (await load([key]))[0]


WAYS: dict[str, Callable[[Shared, int], Awaitable[int]]] = {
    "strawberry": lambda shared, key: shared.strawberry.load(key),
    "aiodataloader": lambda shared, key: shared.aiodataloader.load(key),
    "strawberry, many": Shared.many_of_strawberry,
    "aiodataloader, many": Shared.many_of_aiodataloader,
    "wait_for": Shared.with_timeout,
    "task": Shared.task,
    "future": Shared.future,
}
ways = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())


def shown(outcome: Outcome) -> Any:
    return orjson.loads(outcome.data or b"null")


@both
@pytest.mark.parametrize("first", ["okids { loaded } kids { x }", "kids { x } okids { loaded }"])
def test_a_loader_goes_on_after_a_null_left_its_first_batch_to_nobody(
    engine: Callable[[Any], Any], first: str
) -> None:
    """strawberry's loader cancels the dispatch of a batch whose futures are all cancelled, but goes
    on to add keys to it: the next load would hang."""

    async def run() -> Outcome:
        shared = Shared()

        def loaded(key: int) -> Callable[[Any], Awaitable[int]]:
            async def resolve(info: Any) -> int:
                return int(await shared.strawberry.load(key))

            return resolve

        async def okids(info: Any) -> list[Any]:
            return [SimpleNamespace(loaded=loaded(1)), SimpleNamespace(loaded=loaded(2))]

        def kids(info: Any) -> list[Any]:
            return [SimpleNamespace(x=1), ValueError("no kid")]

        async def next_(info: Any) -> Any:
            return SimpleNamespace(okids=okids, kids=kids)

        async def aloaded(info: Any) -> Any:
            await shared.aiodataloader.load(7)
            return SimpleNamespace(loaded=loaded(3))

        sdl = """type Query { next: Next aloaded: Loaded }
          type Next { okids: [Loaded] kids: [L!]! } type Loaded { loaded: Int } type L { x: Int }"""
        plan = plan_of(engine, sdl, "{ next { " + first + " } aloaded { loaded } }")
        outcome: Outcome = await plan.run(root=SimpleNamespace(next=next_, aloaded=aloaded))
        return outcome

    outcome = asyncio.run(run())
    assert shown(outcome) == {"next": None, "aloaded": {"loaded": 30}}
    assert [(e.message, e.path) for e in outcome.errors] == [("no kid", ["next", "kids", 1])]


SDL = """type Query { nulled: Nulled, alive: Int, later: Box }
  type Nulled { fails: Int!, waits: Int } type Box { alive: Int }"""
NULLED = "nulled { fails waits }"


class Root:
    """`nulled` becomes null while `waits` awaits a key that `alive` awaits, too: at the same time,
    or after some turns of the event loop."""

    def __init__(
        self, waits: Callable[[], Awaitable[Any]], alive: Callable[[], Awaitable[Any]], after: int
    ) -> None:
        self._waits, self._alive, self._after = waits, alive, after

    async def nulled(self, info: Any) -> Any:
        async def fails(info: Any) -> Any:
            await turns(2)
            raise ValueError("nulls")

        async def waits(info: Any) -> Any:
            return await self._waits()

        return SimpleNamespace(fails=fails, waits=waits)

    async def alive(self, info: Any) -> Any:
        await turns(self._after)
        return await self._alive()

    async def later(self, info: Any) -> Any:
        await turns(self._after)
        return SimpleNamespace(alive=self.alive)


@ways
@pytest.mark.parametrize("after", [*range(10), 20])
@pytest.mark.parametrize("query", ["nulled first", "alive first", "below"])
def test_a_null_cancels_nothing_that_another_position_awaits(
    way: Callable[[Shared, int], Awaitable[int]], after: int, query: str
) -> None:
    async def run() -> Outcome:
        shared = Shared()

        async def ask() -> int:
            return await way(shared, 4)

        texts = {
            "nulled first": "{ " + NULLED + " alive }",
            "alive first": "{ alive " + NULLED + " }",
            "below": "{ " + NULLED + " later { alive } }",
        }
        plan = plan_of(new_engine, SDL, texts[query])
        outcome: Outcome = await plan.run(root=Root(ask, ask, after))
        return outcome

    outcome = asyncio.run(run())
    alive: Any = {"later": {"alive": 40}} if query == "below" else {"alive": 40}
    assert shown(outcome) == {"nulled": None, **alive}
    assert [error.message for error in outcome.errors] == ["nulls"]


@ways
def test_a_null_in_one_field_of_a_mutation_cancels_nothing_that_the_next_field_awaits(
    way: Callable[[Shared, int], Awaitable[int]],
) -> None:
    async def run() -> Outcome:
        shared = Shared()

        async def ask() -> int:
            return await way(shared, 4)

        sdl = SDL + " type Mutation { nulled: Nulled, alive: Int }"
        plan = plan_of(new_engine, sdl, "mutation { " + NULLED + " alive }")
        outcome: Outcome = await plan.run(root=Root(ask, ask, 0))
        return outcome

    assert shown(asyncio.run(run())) == {"nulled": None, "alive": 40}


def test_a_resolver_below_a_null_ends_after_the_last_value_of_the_response() -> None:
    """The resolver runs on until then, and is cancelled. The future that it awaits is not, since it
    may be a cache's. The request waits for the resolver's `finally`."""

    async def run() -> tuple[Outcome, list[str], asyncio.Future[None]]:
        events: list[str] = []
        forever = asyncio.get_running_loop().create_future()

        async def waits() -> None:
            try:
                await turns(4)
                events.append("still runs")
                await forever
            except asyncio.CancelledError:
                events.append("cancelled")
                raise
            finally:
                await turns(3)
                events.append("cleaned up")

        async def alive() -> int:
            events.append("alive")
            return 1

        plan = plan_of(new_engine, SDL, "{ " + NULLED + " alive }")
        outcome: Outcome = await plan.run(root=Root(waits, alive, 20))
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return outcome, events, forever

    outcome, events, forever = asyncio.run(run())
    assert shown(outcome) == {"nulled": None, "alive": 1}
    assert events == ["still runs", "alive", "cancelled", "cleaned up"]
    assert not forever.cancelled()


def test_a_resolver_below_a_null_may_end_by_itself() -> None:
    async def run() -> tuple[Outcome, list[str]]:
        events: list[str] = []

        async def waits() -> int:
            await turns(4)
            events.append("ended")
            return 1

        async def alive() -> int:
            return 1

        plan = plan_of(new_engine, SDL, "{ " + NULLED + " alive }")
        return await plan.run(root=Root(waits, alive, 20)), events

    outcome, events = asyncio.run(run())
    assert shown(outcome) == {"nulled": None, "alive": 1}
    assert events == ["ended"]


def test_a_null_leaves_locks_and_semaphores_as_they_were() -> None:
    """A resolver that waits for a lock below a null must neither take it nor free it."""

    async def run() -> tuple[Outcome, int, bool]:
        semaphore, lock = asyncio.Semaphore(1), asyncio.Lock()

        async def waits() -> int:
            async with semaphore, lock:
                return 1

        async def alive() -> int:
            async with semaphore, lock:
                await turns(SLOW)
                return 1

        plan = plan_of(new_engine, SDL, "{ alive " + NULLED + " }")
        outcome: Outcome = await plan.run(root=Root(waits, alive, 0))
        await semaphore.acquire()
        free = not semaphore.locked()
        semaphore.release()
        return outcome, free, lock.locked()

    outcome, free, locked = asyncio.run(run())
    assert shown(outcome) == {"alive": 1, "nulled": None}
    assert not free
    assert not locked


@pytest.mark.parametrize("kind", [lambda task: [task], lambda task: (1, [task]), lambda task: task])
@pytest.mark.parametrize("after", [0, 8])
def test_a_task_in_a_value_without_a_position_is_not_cancelled_for_another_position(
    kind: Callable[[Any], Any], after: int
) -> None:
    async def run() -> Outcome:
        shared = Shared()

        async def waits() -> Any:
            await turns(4)
            return kind(shared.task(4))

        async def alive() -> int:
            await turns(2)
            return await shared.task(4)

        plan = plan_of(new_engine, SDL, "{ " + NULLED + " alive }")
        outcome: Outcome = await plan.run(root=Root(waits, alive, after))
        return outcome

    assert shown(asyncio.run(run())) == {"nulled": None, "alive": 40}


def test_a_null_cancels_no_future_that_another_request_awaits() -> None:
    """At the end of a request, its resolvers below a null leave futures alone that other tasks
    await: the other request gets its value."""

    async def run() -> tuple[list[Outcome], bool]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[int] = loop.create_future()
        ended: list[str] = []

        async def shared() -> int:
            try:
                return await future
            finally:
                ended.append("ended")

        async def quick() -> int:
            return 1

        one = plan_of(new_engine, SDL, "{ " + NULLED + " alive }")
        other = plan_of(new_engine, SDL, "{ alive later { alive } }")
        first = asyncio.ensure_future(one.run(root=Root(shared, quick, 8)))
        second = asyncio.ensure_future(other.run(root=Root(quick, shared, 0)))
        await first
        assert ended == ["ended"]
        cancelled = future.cancelled()
        future.set_result(5)
        return [first.result(), await second], cancelled

    (first, second), cancelled = asyncio.run(run())
    assert not cancelled
    assert shown(first) == {"nulled": None, "alive": 1}
    assert shown(second) == {"alive": 5, "later": {"alive": 5}}


def nulled_root(waits: Callable[[], Awaitable[Any]]) -> Any:
    """The root of a query whose `nulled` becomes null at once, while `waits` is awaited."""

    def fails(info: Any) -> Any:
        raise ValueError("nulls")

    async def slow(info: Any) -> Any:
        return await waits()

    return SimpleNamespace(nulled=SimpleNamespace(fails=fails, waits=slow))


async def in_turns(running: "asyncio.Future[Any]") -> Any:
    """Returns the outcome of a request that ends within 60 turns of the event loop."""
    await turns(60)
    if not running.done():
        running.cancel()
        pytest.fail("the request hangs")
    return running.result()


SHARED = pytest.mark.parametrize(
    "way", ["strawberry", "aiodataloader", "strawberry, many", "aiodataloader, many"]
)


@both
@SHARED
@pytest.mark.parametrize("after", range(4))
def test_a_loader_of_several_requests_goes_on_after_one_of_them_left_its_batch_to_nobody(
    engine: Callable[[Any], Any], way: str, after: int
) -> None:
    """The first request ends before the loader begins its batch."""

    async def run() -> tuple[Any, Any]:
        shared = Shared()
        plan = plan_of(engine, SDL, "{ nulled { fails waits } }")
        first = await plan.run(root=nulled_root(lambda: WAYS[way](shared, 1)))
        await turns(after)
        other = plan_of(engine, SDL, "{ alive }")
        root = SimpleNamespace(alive=lambda info: WAYS[way](shared, 2))
        second = await in_turns(asyncio.ensure_future(other.run(root=root)))
        return shown(first), shown(second)

    assert asyncio.run(run()) == ({"nulled": None}, {"alive": 20})


def each_way(first: bool, second: bool) -> list[Any]:
    return [
        pytest.param(one, other, id=f"{one} and {other}")
        for loader in ("strawberry", "aiodataloader")
        for one in [f"{loader}, many" if first else loader]
        for other in [f"{loader}, many" if second else loader]
    ]


@pytest.mark.parametrize(
    ("below", "beside"),
    [
        *each_way(False, False),
        *each_way(False, True),
        *each_way(True, False),
        *each_way(True, True),
    ],
)
def test_a_null_cancels_no_key_that_another_request_awaits(below: str, beside: str) -> None:
    """Keys that are gathered are shared like others."""

    async def run() -> tuple[Any, Any]:
        shared = Shared()
        plan = plan_of(new_engine, SDL, "{ alive }")
        root = SimpleNamespace(alive=lambda info: WAYS[beside](shared, 1))
        second = asyncio.ensure_future(plan.run(root=root))
        await turns(1)
        nulled = plan_of(new_engine, SDL, "{ nulled { fails waits } }")
        first = await nulled.run(root=nulled_root(lambda: WAYS[below](shared, 1)))
        assert not second.done()
        return shown(first), shown(await in_turns(second))

    assert asyncio.run(run()) == ({"nulled": None}, {"alive": 10})


@pytest.mark.parametrize(
    "way", ["strawberry", "aiodataloader", "strawberry, many", "aiodataloader, many", "future"]
)
def test_a_null_leaves_a_cache_of_several_requests_without_cancelled_values(way: str) -> None:
    """Nobody but the resolver below the null awaits the key when its request ends."""

    async def run() -> tuple[Any, Any]:
        shared = Shared()
        nulled = plan_of(new_engine, SDL, "{ nulled { fails waits } }")
        first = await nulled.run(root=nulled_root(lambda: WAYS[way](shared, 1)))
        plan = plan_of(new_engine, SDL, "{ alive }")
        second = await plan.run(root=SimpleNamespace(alive=lambda info: WAYS[way](shared, 1)))
        return shown(first), shown(second)

    assert asyncio.run(run()) == ({"nulled": None}, {"alive": 10})


async def _steps(semaphore: asyncio.Semaphore) -> AsyncIterator[int]:
    async with semaphore:
        yield 1


@asynccontextmanager
async def _held(semaphore: asyncio.Semaphore) -> AsyncIterator[None]:
    async with semaphore:
        yield


async def _plainly(semaphore: asyncio.Semaphore) -> None:
    async with semaphore:
        pass


async def _in_a_context_manager(semaphore: asyncio.Semaphore) -> None:
    async with _held(semaphore):
        pass


async def _in_a_generator(semaphore: asyncio.Semaphore) -> None:
    async for _ in _steps(semaphore):
        pass


async def _with_anext(semaphore: asyncio.Semaphore) -> None:
    await anext(_steps(semaphore), None)


@pytest.mark.parametrize("wait", [_plainly, _in_a_context_manager, _in_a_generator, _with_anext])
def test_a_null_leaves_a_semaphore_of_several_requests_as_it_was(
    wait: Callable[[asyncio.Semaphore], Awaitable[None]],
) -> None:
    """In Python 3.11, `acquire` gives a place back if its future is not cancelled."""

    async def run() -> tuple[Any, bool]:
        semaphore = asyncio.Semaphore(1)
        await semaphore.acquire()
        plan = plan_of(new_engine, SDL, "{ nulled { fails waits } }")
        outcome = await plan.run(root=nulled_root(lambda: wait(semaphore)))
        return shown(outcome), semaphore.locked()

    assert asyncio.run(run()) == ({"nulled": None}, True)


def test_a_null_leaves_a_socket_without_a_reader() -> None:
    """The event loop stops reading when the resolver below the null ends."""

    async def run() -> tuple[Any, bytes]:
        loop = asyncio.get_running_loop()
        here, there = socket.socketpair()
        with here, there:
            here.setblocking(False)
            plan = plan_of(new_engine, SDL, "{ nulled { fails waits } }")
            outcome = await plan.run(root=nulled_root(lambda: loop.sock_recv(here, 9)))
            there.send(b"later")
            await turns(3)
            return shown(outcome), here.recv(9)

    assert asyncio.run(run()) == ({"nulled": None}, b"later")


def test_work_in_a_thread_that_has_not_begun_is_cancelled_with_the_request() -> None:
    """asyncio itself listens to the future, to pass a cancellation on."""

    async def run() -> tuple[bool, bool]:
        loop, begun, may = asyncio.get_running_loop(), [], threading.Event()
        with ThreadPoolExecutor(1) as pool:
            pool.submit(may.wait)
            waits = loop.run_in_executor(pool, begun.append, 1)

            async def wait() -> None:
                await waits

            plan = plan_of(new_engine, SDL, "{ nulled { fails waits } }")
            assert shown(await plan.run(root=nulled_root(wait))) == {"nulled": None}
            may.set()
        return waits.cancelled(), bool(begun)

    assert asyncio.run(run()) == (True, False)


def test_an_error_that_nobody_awaits_any_more_is_not_logged() -> None:
    """A future that a loader keeps gets its error after the resolver below a null has ended."""

    async def run() -> list[str]:
        logged: list[str] = []
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: logged.append(str(context["message"])))

        async def fails(keys: list[int]) -> list[int]:
            raise ValueError("no batch")

        loader: Any = strawberry.dataloader.DataLoader(fails, cache=False)
        plan = plan_of(new_engine, SDL, "{ nulled { fails waits } }")
        assert shown(await plan.run(root=nulled_root(partial(loader.load, 1)))) == {"nulled": None}
        await turns(9)
        del loader
        gc.collect()
        return logged

    assert asyncio.run(run()) == []


def test_what_a_resolver_below_a_null_gathers_ends_with_the_request() -> None:
    """A task is cancelled, beside a loader's key and a future that are not."""

    async def run() -> tuple[list[str], bool, bool]:
        shared, events = Shared(), list[str]()
        own = asyncio.get_running_loop().create_future()
        key = shared.strawberry.load(1)

        async def task() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                await turns(3)
                events.append("task ended")

        async def waits() -> None:
            try:
                await asyncio.gather(key, own, asyncio.gather(task()))
            finally:
                events.append("resolver ended")

        plan = plan_of(new_engine, SDL, "{ nulled { fails waits } }")
        assert shown(await plan.run(root=nulled_root(waits))) == {"nulled": None}
        assert asyncio.all_tasks() <= {
            asyncio.current_task(),
            shared.strawberry.batch._dispatch_task,
        }
        return events, own.cancelled(), await key == 10

    assert asyncio.run(run()) == (["resolver ended", "task ended"], False, True)


def test_a_task_that_only_resolvers_below_nulls_await_ends_with_the_request() -> None:
    async def run() -> bool:
        task = asyncio.ensure_future(asyncio.Event().wait())

        async def waits() -> Any:
            return await task

        async def alive() -> int:
            return 1

        root = Root(waits, alive, 8)
        plan = plan_of(new_engine, SDL, "{ one: " + NULLED + " two: " + NULLED + " alive }")
        assert shown(await plan.run(root=root)) == {"one": None, "two": None, "alive": 1}
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(run())


def test_a_cancelled_request_cancels_what_its_resolvers_below_nulls_await() -> None:
    async def run() -> None:
        nulled = asyncio.Event()
        forever = asyncio.get_running_loop().create_future()

        async def waits() -> None:
            await turns(8)
            nulled.set()
            await forever

        async def alive() -> int:
            await asyncio.Event().wait()
            return 1

        plan = plan_of(new_engine, SDL, "{ " + NULLED + " alive }")
        asking = asyncio.ensure_future(plan.run(root=Root(waits, alive, 0)))
        await nulled.wait()
        assert not asking.done()
        asking.cancel()
        await asyncio.wait([asking])
        assert asking.cancelled()
        assert forever.cancelled()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())


@pytest.mark.parametrize("fields", ["alive", "alive other: alive", "later { alive }"])
def test_a_cancelled_mutation_cancels_at_once_what_runs_below_a_null_of_an_earlier_field(
    fields: str,
) -> None:
    """The resolver's future is done in the turn in which the request is cancelled: the resolver
    takes no further step, although the request's task learns of the cancellation later."""

    async def run() -> tuple[list[str], bool]:
        loop = asyncio.get_running_loop()
        first, second = loop.create_future(), loop.create_future()
        events: list[str] = []

        async def waits() -> None:
            await first
            events.append("went on")

        async def alive() -> Any:
            return await second

        sdl = SDL + " type Mutation { nulled: Nulled, alive: Int, later: Box }"
        plan = plan_of(new_engine, sdl, "mutation { " + NULLED + fields + " }")
        asking = asyncio.ensure_future(plan.run(root=Root(waits, alive, 0)))
        await turns(20)
        first.set_result(None)
        asking.cancel()
        await asyncio.wait([asking])
        return events, asking.cancelled()

    assert asyncio.run(run()) == ([], True)


def test_a_cancelled_request_waits_for_the_cleanup_of_tasks_in_dropped_values() -> None:
    """A dropped task is cancelled once, and the request returns when its `finally` has run."""

    async def run() -> list[str]:
        events: list[str] = []
        forever = asyncio.get_running_loop().create_future()

        async def task() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                await turns(5)
                events.append("cleaned up")

        async def waits() -> Any:
            await turns(4)
            return [asyncio.ensure_future(task())]

        async def alive() -> Any:
            return await forever

        plan = plan_of(new_engine, SDL, "{ " + NULLED + " alive }")
        asking = asyncio.ensure_future(plan.run(root=Root(waits, alive, 0)))
        await turns(20)
        asking.cancel()
        await asyncio.wait([asking])
        assert asking.cancelled()
        return events

    assert asyncio.run(run()) == ["cleaned up"]


def test_the_watchdog_sees_a_run_that_hangs() -> None:
    async def run() -> None:
        async def never() -> int:
            return int(await asyncio.get_running_loop().create_future())

        await plan_of(new_engine, SDL, "{ alive later { alive } }").run(root=Root(never, never, 1))

    with pytest.raises(Hang):
        asyncio.run(run())
