"""Concurrent resolvers: batches, slow fields, timeouts, cancellation.

Each test compares with graphql-core. Events and turns of the loop force the interleavings.
"""

import asyncio
import contextlib
import gc
import inspect
import warnings
from collections import deque
from collections.abc import Callable
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from aiodataloader import DataLoader

from tests.execution.both import both, plan_of
from tests.execution.comparing import ended, leftovers, new_case, new_engine, settled
from tests.execution.drawing import Seeded
from tests.execution.reference import Outcome, ReferenceEngine, idle
from tests.execution.slicing import in_slices
from tests.scale import scaled

# -- batches

TREE = (
    "type Query { nodes: [Node] node: Node a: Int b: Int } type Node { a: Int b: Int c: Int"
    " d: Int node: Node nodes: [Node] }"
)


class Schedule:
    """A tree of objects. Each resolver yields to the event loop up to `turns - 1` times, and then
    loads keys one after the other.

    If `alike` is set, all objects of a level yield and load equally often in the same field, as
    the callers of one resolver usually do.
    """

    def __init__(self, seed: int, context: "Loading", depth: int = 0, place: str = "") -> None:
        self._seed, self._context, self._depth, self._place = seed, context, depth, place
        self._at = depth if context.alike else place

    def _turns(self, name: str) -> int:
        return Random(f"{self._seed} {self._at} {name}").randrange(self._context.turns)

    def _loads(self, name: str) -> list[str]:
        random = Random(f"{self._seed} {self._at} {name} loads")
        return random.choices(["first", "second"], k=random.randrange(4))

    async def _resolve(self, name: str, value: Any) -> Any:
        for _ in range(self._turns(name)):
            await asyncio.sleep(0)
        for loader in self._loads(name):
            await self._context.loaders[loader].load(f"{self._place}.{name}")
        return value() if callable(value) else value

    def __getattr__(self, name: str) -> Any:
        if name in ("a", "b", "c", "d"):
            return lambda info: self._resolve(name, 1)
        if name == "node":
            return lambda info: self._resolve(name, lambda: self._child(name))
        if name == "nodes":
            return lambda info: self._resolve(
                name, lambda: [self._child(f"{name}{n}") for n in range(4)]
            )
        raise AttributeError(name)

    def _child(self, name: str) -> "Schedule":
        return Schedule(self._seed, self._context, self._depth + 1, f"{self._place}.{name}")


class Loading:
    """Loaders that record their batches."""

    def __init__(self, turns: int, alike: bool = True) -> None:
        self.turns, self.alike = turns, alike
        self.batches: list[tuple[str, list[str]]] = []
        self.loaders = {name: self._loader(name) for name in ("first", "second")}

    def _loader(self, name: str) -> "DataLoader[str, str]":
        async def load(keys: list[str]) -> list[str]:
            self.batches.append((name, list(keys)))
            await asyncio.sleep(0)
            return list(keys)

        return DataLoader(load)

    def keys(self) -> list[tuple[str, str]]:
        return sorted((name, key) for name, keys in self.batches for key in keys)


QUERIES = [
    "{ nodes { a b c d } }",
    "{ nodes { a node { b c } } b }",
    "{ nodes { node { nodes { a b } } a } a }",
    "{ node { node { node { nodes { a b c } } } } }",
    "{ nodes { a b node { a b c node { a b } } } a b }",
    "{ nodes { node { a } } node { node { a } } a b }",
]


async def loaded(
    engine: Callable[[Any], Any], query: str, seed: int, turns: int = 1, alike: bool = True
) -> tuple[Loading, bytes]:
    loading = Loading(turns, alike)
    outcome = await plan_of(engine, TREE, query).run(root=Schedule(seed, loading))
    assert not outcome.errors
    return loading, outcome.data


def any_query(random: Random, depth: int = 0) -> str:
    """Returns a random query of the tree, with a depth of up to four."""
    leaves = "ab" if depth == 0 else "abcd"
    fields = [leaf for leaf in leaves if random.random() < 0.4]
    if depth < 3:
        below = [name for name in ("node", "nodes") if random.random() < 0.6]
        fields += [f"{name} {any_query(random, depth + 1)}" for name in below]
    random.shuffle(fields)
    return "{ " + " ".join(fields or ["a"]) + " }"


@pytest.mark.parametrize("alike", [True, False], ids=["siblings alike", "each item differs"])
@pytest.mark.parametrize(("turns", "seldom", "share"), [(1, 1, 0.9), (4, 15, 1.0)])
def test_batches_are_fewer_than_with_graphql_core(
    turns: int, seldom: int, share: float, alike: bool
) -> None:
    """If resolvers wait for loaders alone, the engine makes 10% fewer batches, and more batches in
    at most one of 60 queries. If resolvers also yield up to three times, the engine makes no more
    batches in total. The next test explains why single queries may have more."""
    mine = theirs = more = 0
    for seed in range(60):
        query = QUERIES[seed] if seed < len(QUERIES) else any_query(Random(seed))
        reference, expected = asyncio.run(loaded(ReferenceEngine, query, seed, turns, alike))
        engine, data = asyncio.run(loaded(new_engine, query, seed, turns, alike))
        assert data == expected
        assert engine.keys() == reference.keys()
        mine += len(engine.batches)
        theirs += len(reference.batches)
        more += len(engine.batches) > len(reference.batches)
    assert mine <= share * theirs
    assert more <= seldom


def test_one_turn_more_or_less_changes_the_number_of_batches_as_with_graphql_core() -> None:
    """This test shows why an engine with bulk resolvers must have more batches than graphql-core
    for some schedules.

    Two loads share a batch if they are at most two turns apart. If an engine starts a resolver one
    turn earlier or later than graphql-core does, then for some number of yields graphql-core has
    one batch and the engine has two.

    graphql-core starts an object's fields in the turn in which the object arrives, or one turn
    later if the object has two awaited fields. A bulk resolver needs all objects that arrive in a
    turn, so the engine starts their fields in the next turn. That equals graphql-core with two
    awaited fields.
    """

    async def batches(engine: Callable[[Any], Any], query: str, yields: int) -> int:
        loading = Loading(1)

        async def loads(info: Any) -> int:
            for _ in range(yields if info.field_name == "b" else 0):
                await asyncio.sleep(0)
            await loading.loaders["first"].load(info.field_name)
            return 1

        async def idle(info: Any) -> int:
            return 1

        async def node(info: Any) -> SimpleNamespace:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            return SimpleNamespace(a=loads, c=idle)

        root = SimpleNamespace(node=node, b=loads)
        await plan_of(engine, TREE, query).run(root=root)
        return len(loading.batches)

    def counts(engine: Callable[[Any], Any], query: str) -> list[int]:
        return [asyncio.run(batches(engine, query, yields)) for yields in range(7)]

    one, two = "{ node { a } b }", "{ node { a c } b }"
    assert counts(ReferenceEngine, one) == [1, 1, 1, 1, 2, 2, 2]
    assert counts(ReferenceEngine, two) == [2, 1, 1, 1, 1, 2, 2]  # although c loads nothing
    assert counts(new_engine, one) == counts(new_engine, two) == [2, 1, 1, 1, 1, 2, 2]


@both
def test_a_load_two_turns_after_another_is_in_its_batch(engine: Callable[[Any], Any]) -> None:
    """A loader dispatches two turns after the first load, and after all callbacks that were
    scheduled for that turn before."""

    async def run() -> list[tuple[str, list[str]]]:
        loading = Loading(1)

        async def late(info: Any) -> None:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            await loading.loaders["first"].load("late")

        async def early(info: Any) -> None:
            await loading.loaders["first"].load("early")

        plan = plan_of(engine, "type Query { a: Int b: Int }", "{ a b }")
        await plan.run(root=SimpleNamespace(a=late, b=early))
        return loading.batches

    assert asyncio.run(run()) == [("first", ["early", "late"])]


# -- slow fields


def test_fields_that_do_not_depend_on_a_hanging_field_are_resolved_without_it() -> None:
    """When only hanging fields are left, the engine has called every resolver that graphql-core has
    called."""
    held = 0

    async def compare(place: Any, case: Any) -> int:
        run = place.run(shielded=True)
        free = await ended(place.reference.compile(case.document, None), run, case)
        if free.how != "answered" or free.errors:
            return 0
        answered = []
        for engine in (place.reference, place.engine):
            run = place.run(hang=True, shielded=engine is place.reference)
            plan = engine.compile(case.document, case.operation.name)
            task = asyncio.ensure_future(plan.run(context=run, variables=case.variables))
            await idle(task)
            answered.append((set(run.answered), run.hung, task.done()))
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await leftovers()
        assert answered[1][0] >= answered[0][0], case.operation.text
        assert answered[1][1:] == answered[0][1:]
        return answered[0][1]

    with asyncio.Runner() as runner:
        for world in range(scaled(12, 40)):
            place = settled(Seeded(f"held-{world}"), new_engine)
            for n in range(15):
                case = new_case(Seeded(f"held-{world}/{n}"), place)
                if case.operation.name is None:
                    held += bool(runner.run(compare(place, case)))
    assert held > scaled(7, 25)


@both
def test_a_slow_list_item_delays_no_other_item(engine: Callable[[Any], Any]) -> None:
    async def run() -> None:
        gate, seen = asyncio.Event(), []

        def item(n: int) -> SimpleNamespace:
            async def child(info: Any) -> SimpleNamespace:
                if n == 0:
                    await gate.wait()
                return SimpleNamespace(leaf=leaf)

            async def leaf(info: Any) -> int:
                await asyncio.sleep(0)
                seen.append(n)
                return n

            return SimpleNamespace(child=child)

        sdl = "type Query { items: [Item] } type Item { child: Leaf } type Leaf { leaf: Int }"
        plan = plan_of(engine, sdl, "{ items { child { leaf } } }")
        items = [item(n) for n in range(4)]
        task = asyncio.ensure_future(plan.run(root=SimpleNamespace(items=items)))
        await idle(task)
        assert sorted(seen) == [1, 2, 3]
        gate.set()
        outcome = await task
        assert outcome.data == (
            b'{"items":[' + b",".join(b'{"child":{"leaf":%d}}' % n for n in range(4)) + b"]}"
        )

    asyncio.run(run())


# -- timeouts, tasks, cancellation


@both
def test_a_timeout_ends_only_its_own_resolver(engine: Callable[[Any], Any]) -> None:
    async def run() -> Outcome:
        async def never(info: Any) -> int:
            async with asyncio.timeout(0):
                await asyncio.get_running_loop().create_future()
            raise AssertionError

        async def caught(info: Any) -> int:
            try:
                async with asyncio.timeout(0):
                    await asyncio.get_running_loop().create_future()
            except TimeoutError:
                await asyncio.sleep(0)
                return 5
            raise AssertionError

        async def nested(info: Any) -> int:
            async with asyncio.timeout(3600):
                return await caught(info)

        async def waited(info: Any) -> int:
            return await asyncio.wait_for(caught(info), 3600)

        root = SimpleNamespace(a=never, b=caught, c=nested, d=waited, e=1)
        sdl = "type Query { a: Int b: Int c: Int d: Int e: Int }"
        return await plan_of(engine, sdl, "{ a b c d e }").run(root=root)

    outcome = asyncio.run(run())
    assert outcome.data == b'{"a":null,"b":5,"c":5,"d":5,"e":1}'
    assert [type(e.original_error) for e in outcome.errors] == [TimeoutError]


@both
def test_a_task_group_in_a_resolver(engine: Callable[[Any], Any]) -> None:
    async def run() -> Outcome:
        async def add(info: Any) -> int:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(asyncio.sleep(0, n)) for n in range(4)]
            return sum(task.result() for task in tasks)

        async def fail() -> None:
            await asyncio.sleep(0)
            raise ValueError("inside")

        async def broken(info: Any) -> int:
            found = 0
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(fail())
                    group.create_task(asyncio.Event().wait())
            except* ValueError as errors:
                found = len(errors.exceptions)
            return found

        root = SimpleNamespace(a=add, b=broken, c=add)
        return await plan_of(engine, "type Query { a: Int b: Int c: Int }", "{ a b c }").run(
            root=root
        )

    outcome = asyncio.run(run())
    assert outcome.data == b'{"a":6,"b":1,"c":6}'


@both
@pytest.mark.parametrize("query", ["{ a }", "{ a b }", "{ b nest { a b } }", "{ nests { a b } }"])
def test_a_resolver_that_cancels_its_task_ends_the_request(
    engine: Callable[[Any], Any], query: str
) -> None:
    async def run() -> bool:
        async def cancels(info: Any) -> int:
            task = asyncio.current_task()
            assert task is not None
            task.cancel("enough")
            await asyncio.sleep(0)
            raise AssertionError

        async def slow(info: Any) -> int:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            return 1

        nest = SimpleNamespace(a=cancels, b=slow)
        root = SimpleNamespace(a=cancels, b=slow, nest=nest, nests=[nest, nest])
        sdl = "type Query { a: Int b: Int nest: Query nests: [Query] }"
        task = asyncio.ensure_future(plan_of(engine, sdl, query).run(root=root))
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(run())


@both
def test_a_cancellation_in_a_rest_of_the_run_reaches_its_resolvers_in_the_same_turn(
    engine: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The turns, with what is in the event loop's queue (the run rests between two objects):

    0  schedule 1; finish `first`
    1  schedule 2; the first resolver ends, and wakes the run
    2  schedule the cancellation, finish `second`; the run begins its objects, and rests
    3  the cancellation; the second resolver; the run
    """
    in_slices(monkeypatch, size=1, budget=-1.0)
    gone_on: list[str] = []

    async def run() -> bool:
        loop = asyncio.get_running_loop()
        first, second = loop.create_future(), loop.create_future()

        async def nest(info: Any) -> Any:
            await first
            return [SimpleNamespace(a=1), SimpleNamespace(a=2)]

        async def waits(info: Any) -> int:
            await second
            gone_on.append("second")
            return 1

        def cut() -> None:
            loop.call_soon(task.cancel)
            second.set_result(None)

        def begin() -> None:
            loop.call_soon(loop.call_soon, cut)
            first.set_result(None)

        sdl = "type Query { nest: [Nest] b: Int } type Nest { a: Int }"
        plan = plan_of(engine, sdl, "{ nest { a } b }")
        task = asyncio.ensure_future(plan.run(root=SimpleNamespace(nest=nest, b=waits)))
        await idle(task)
        begin()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(run())
    assert not gone_on


def test_a_resolver_may_take_back_its_cancellation() -> None:
    async def run(engine: Callable[[Any], Any]) -> Any:
        async def survives(info: Any) -> int:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                return 10 * task.uncancel() + task.cancelling()
            raise AssertionError

        root = SimpleNamespace(a=survives, b=survives)
        return await plan_of(engine, "type Query { a: Int b: Int }", "{ a b }").run(root=root)

    assert asyncio.run(run(new_engine)).data == asyncio.run(run(ReferenceEngine)).data


def test_a_cancellation_that_was_taken_back_acts_as_in_asyncio() -> None:
    async def run(engine: Callable[[Any], Any]) -> list[bool]:
        cancelled: list[bool] = []

        async def resolve(info: Any) -> int:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            task.uncancel()
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                cancelled.append(True)
            else:
                cancelled.append(False)
            return 1

        root = SimpleNamespace(a=resolve, b=resolve)
        await plan_of(engine, "type Query { a: Int b: Int }", "{ a b }").run(root=root)
        return cancelled

    assert asyncio.run(run(new_engine)) == asyncio.run(run(ReferenceEngine))


def test_no_field_starts_below_a_resolver_that_caught_its_cancellation() -> None:
    """The object has no position in the response any more. graphql-core starts the fields below it,
    and waits for them; the engine does not."""

    async def run() -> tuple[Outcome, list[str]]:
        events: list[str] = []
        may_fail = asyncio.Event()

        async def survives(info: Any) -> Any:
            may_fail.set()
            try:
                await asyncio.get_running_loop().create_future()
            except asyncio.CancelledError:
                events.append("survived")
            return SimpleNamespace(a=below)

        async def below(info: Any) -> int:
            events.append("begun")
            return 1

        async def fails(info: Any) -> int:
            await may_fail.wait()
            raise ValueError("no")

        plan = plan_of(
            new_engine, "type Query { a: Int! b: Nest } type Nest { a: Int }", "{ a b { a } }"
        )
        return await plan.run(root=SimpleNamespace(a=fails, b=survives)), events

    outcome, events = asyncio.run(run())
    assert outcome.data == b"null"
    assert [error.message for error in outcome.errors] == ["no"]
    assert events == ["survived"]


@pytest.mark.parametrize("steps", range(12))
def test_a_cancelled_request_leaves_nothing_running(steps: int) -> None:
    """The request is cancelled after a number of turns of the event loop."""
    state = {"started": 0, "ended": 0}

    class Node:
        def __getattr__(self, name: str) -> Any:
            if name not in ("a", "node", "nodes"):
                raise AttributeError(name)
            return lambda info: self._resolve(name)

        async def _resolve(self, name: str) -> Any:
            state["started"] += 1
            try:
                for _ in range(3 if name == "a" else 1):
                    await asyncio.sleep(0)
                if name == "a":
                    await asyncio.get_running_loop().create_future()
                return Node() if name == "node" else [Node(), self._item(), Node()]
            finally:
                state["ended"] += 1

        async def _item(self) -> Any:
            await asyncio.sleep(0)
            return Node()

    async def run() -> None:
        sdl = "type Query { a: Int node: Query nodes: [Query!] }"
        plan = plan_of(new_engine, sdl, "{ a node { a nodes { a } } nodes { node { a } } }")
        task = asyncio.ensure_future(plan.run(root=Node()))
        for _ in range(steps):
            await asyncio.sleep(0)
        assert not task.done()
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        for _ in range(3):
            await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asyncio.run(run())
        gc.collect()
    assert state["started"] == state["ended"]


def test_a_request_that_times_out_leaves_nothing_running() -> None:
    async def run() -> None:
        ended: list[str] = []

        async def slow(info: Any) -> None:
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                ended.append(info.field_name)

        plan = plan_of(new_engine, "type Query { a: Int b: Int }", "{ a b }")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await plan.run(root=SimpleNamespace(a=slow, b=slow))
        assert sorted(ended) == ["a", "b"]
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())


@pytest.mark.parametrize(
    "kind", [list, tuple, deque, lambda items: dict(enumerate(items)).values()]
)
@pytest.mark.parametrize(
    "how", ["nulled", "generator", "async generator", "cancelled", "cancelled at its value"]
)
def test_awaitables_without_a_position_are_closed(how: str, kind: Callable[[Any], Any]) -> None:
    async def item() -> int:
        raise AssertionError

    async def run() -> None:
        dropped = item()
        task = asyncio.ensure_future(asyncio.Event().wait())

        async def items(info: Any) -> Any:
            if how == "nulled":
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.Event().wait()
            await asyncio.sleep(0)
            value = kind([1, dropped, task])
            if how == "cancelled":
                asking.cancel()
            if how == "cancelled at its value":
                future = asyncio.get_running_loop().create_future()
                asyncio.get_running_loop().call_soon(settle, future, value)
                return await future
            return value

        def settle(future: Any, value: Any) -> None:
            future.set_result(value)
            asking.cancel()

        def generated(info: Any) -> Any:
            yield dropped
            yield task
            raise ValueError

        async def generated_later(info: Any) -> Any:
            yield dropped
            yield task
            raise ValueError

        async def fails(info: Any) -> Any:
            for _ in range(1 if how != "cancelled at its value" else 9):
                await asyncio.sleep(0)
            return 1 if how.startswith("cancelled") else None

        ways = {"generator": generated, "async generator": generated_later}
        root = SimpleNamespace(a=ways.get(how, items), b=fails)
        plan = plan_of(new_engine, "type Query { a: [Int] b: Int! }", "{ a b }")
        asking = asyncio.ensure_future(plan.run(root=root))
        await asyncio.wait([asking])
        for _ in range(3):
            await asyncio.sleep(0)
        assert asking.cancelled() == how.startswith("cancelled")
        assert task.cancelled()
        assert inspect.getcoroutinestate(dropped) == inspect.CORO_CLOSED

    asyncio.run(run())


def test_the_error_of_a_future_that_a_cancelled_resolver_awaits_is_reported() -> None:
    """asyncio reports an error that no task retrieved, as it does with asyncio.Task."""
    complaints: list[dict[str, Any]] = []

    async def run() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: complaints.append(context))

        async def fails(info: Any) -> int:
            future = loop.create_future()
            loop.call_soon(future.set_exception, ValueError())
            task = asyncio.current_task()
            assert task is not None
            loop.call_soon(task.cancel)
            return await future  # type: ignore[no-any-return]

        plan = plan_of(new_engine, "type Query { a: Int b: Int }", "{ a b }")
        task = asyncio.ensure_future(plan.run(root=SimpleNamespace(a=fails, b=fails)))
        await asyncio.wait([task])
        assert task.cancelled()
        gc.collect()

    asyncio.run(run())
    assert not complaints
