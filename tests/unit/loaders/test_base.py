"""A loader makes the same batches as aiodataloader, turn for turn, for single keys and for
columns of keys."""

import asyncio
import gc
import random
from collections.abc import Sequence
from typing import Any, cast

import pytest
from aiodataloader import DataLoader

from datasources.protocols import Stores
from loaders.base import Loader
from loaders.batches import Batch

pytestmark = pytest.mark.anyio
NO_STORES = cast(Stores, None)
KEYS = 30


class Wrong(Exception):
    """The error of a key or of a batch."""


class Table:
    """A table that answers after some turns of the event loop. Some keys and some batches fail.
    `batches` records the keys of each read."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []

    async def read(self, keys: list[int]) -> list[Any]:
        number, keys = len(self.batches), list(dict.fromkeys(keys))
        self.batches.append(keys)
        for _ in range(sum(keys) % 5):
            await asyncio.sleep(0)
        if sum(keys) % 11 == 3:
            raise Wrong(f"batch {number}")
        return [Wrong(f"key {key}") if key % 7 == 3 else f"{key} in {number}" for key in keys]


class Ours(Loader[int, str]):
    def __init__(self, table: Table) -> None:
        super().__init__(NO_STORES)
        self.table = table

    async def load_batch(self, keys: list[int]) -> Sequence[str | BaseException]:
        return await self.table.read(keys)


class Theirs(DataLoader[int, str]):
    """aiodataloader itself. `many` loads each key by itself, then awaits each future."""

    def __init__(self, table: Table) -> None:
        super().__init__()
        self.table = table

    async def batch_load_fn(self, keys: list[int]) -> list[str]:
        values = dict(zip(dict.fromkeys(keys), await self.table.read(keys), strict=True))
        return [values[key] for key in keys]

    async def many(self, keys: Sequence[int]) -> list[str | BaseException]:
        found: list[str | BaseException] = []
        for future in [self.load(key) for key in keys]:
            try:
                found.append(await future)
            except Wrong as error:
                found.append(error)
        return found


Step = tuple[str, int, list[int]]


def scripts(rng: random.Random) -> list[list[Step]]:
    """Random steps for each of several tasks: what to do, the number of the loader, the keys."""

    def step() -> Step:
        what = rng.choices(["pause", "load", "many", "clear", "prime"], [4, 4, 4, 1, 1])[0]
        count = rng.randrange(1, 8) if what == "many" else 1
        return what, rng.randrange(2), [rng.randrange(KEYS) for _ in range(count)]

    return [[step() for _ in range(rng.randrange(1, 9))] for _ in range(rng.randrange(1, 9))]


async def play(kind: type[Ours] | type[Theirs], tasks: list[list[Step]]) -> tuple[Any, ...]:
    """Run the tasks together. Returns the batches of each table, and the values that each task
    got."""
    tables = [Table(), Table()]
    loaders = [kind(table) for table in tables]
    got: list[list[Any]] = [[] for _ in tasks]

    async def act(number: int, steps: list[Step]) -> None:
        for what, which, keys in steps:
            loader = loaders[which]
            match what:
                case "pause":
                    for _ in range(keys[0] % 6):
                        await asyncio.sleep(0)
                case "load":
                    try:
                        got[number].append(await loader.load(keys[0]))
                    except Wrong as error:
                        got[number].append(str(error))
                case "many":
                    got[number].append([str(value) for value in await loader.many(keys)])
                case "clear":
                    loader.clear(keys[0])
                case "prime":
                    loader.prime(keys[0], "primed")

    await asyncio.gather(*(act(number, steps) for number, steps in enumerate(tasks)))
    return [table.batches for table in tables], got


async def test_batches_and_answers_are_aiodataloaders_for_random_interleavings() -> None:
    shared = 0
    for seed in range(1500):
        tasks = scripts(random.Random(seed))
        ours, theirs = await play(Ours, tasks), await play(Theirs, tasks)
        assert ours == theirs, f"seed {seed}"
        shared += any(len(batch) > 7 for batches in ours[0] for batch in batches)
    assert shared > 100  # batches with keys of several tasks


async def test_a_load_keeps_its_values_when_a_key_is_cleared() -> None:
    loader = Ours(Table())
    twice = loader.many([5, 5, 6])
    assert await twice == ["5 in 0", "5 in 0", "6 in 0"]
    loader.clear(5)
    assert twice.result() == ["5 in 0", "5 in 0", "6 in 0"]
    rest = loader.many([6, 8])
    loader.clear(6)
    assert await rest == ["6 in 0", "8 in 1"]
    assert await loader.many([5, 6, 8]) == ["5 in 2", "6 in 2", "8 in 1"]
    loader.clear(8)
    assert await loader.many([8, 6]) == ["8 in 3", "6 in 2"]


def test_many_keys_make_no_more_futures_than_one() -> None:
    async def count() -> list[int]:
        loop, made = asyncio.get_running_loop(), 0
        create = loop.create_future

        def counted() -> Any:
            nonlocal made
            made += 1
            return create()

        loop.create_future = counted  # type: ignore[method-assign]
        counts = []
        for keys in ([5], list(range(KEYS)), list(range(KEYS)) * 40):
            made = 0
            await Ours(Table()).many(keys)
            counts.append(made)
        return counts

    counts = asyncio.run(count())  # in a new loop, where nothing else makes futures
    assert counts == [counts[0]] * 3


async def test_a_key_is_loaded_once_however_many_callers_request_it() -> None:
    table = Table()
    loader = Ours(table)
    first, second, third = await asyncio.gather(
        loader.many([1, 2, 1]), loader.load(2), loader.many([4, 2])
    )
    assert [sorted(batch) for batch in table.batches] == [[1, 2, 4]]
    assert (first, second, third) == (
        ["1 in 0", "2 in 0", "1 in 0"],
        "2 in 0",
        ["4 in 0", "2 in 0"],
    )
    assert await loader.many([4, 1]) == ["4 in 0", "1 in 0"]
    assert len(table.batches) == 1
    assert await loader.many([]) == []


async def test_an_error_of_one_key_affects_no_other_key_and_is_kept() -> None:
    table = Table()
    loader = Ours(table)
    one, wrong, two = await loader.many([1, 3, 4])
    assert (one, str(wrong), two) == ("1 in 0", "key 3", "4 in 0")
    with pytest.raises(Wrong, match="key 3"):
        await loader.load(3)
    assert len(table.batches) == 1


async def test_the_keys_of_a_failed_batch_are_loaded_again_on_the_next_call() -> None:
    table = Table()
    loader = Ours(table)
    assert [str(error) for error in await loader.many([14])] == ["batch 0"]
    with pytest.raises(Wrong, match="batch 1"):
        await loader.load(14)
    assert await loader.many([14, 15]) == ["14 in 2", "15 in 2"]


async def test_a_batch_with_too_few_values_raises_and_does_not_hang() -> None:
    class Short(Ours):
        async def load_batch(self, keys: list[int]) -> Sequence[str | BaseException]:
            return ["one"]

    found = await Short(Table()).many([1, 2])
    assert [type(value) for value in found] == [ValueError, ValueError]


class Held(Ours):
    """A loader whose batches begin, and then wait until the test sets `proceed`."""

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self.begun, self.proceed = asyncio.Event(), asyncio.Event()

    async def load_batch(self, keys: list[int]) -> Sequence[str | BaseException]:
        self.begun.set()
        await self.proceed.wait()
        return await super().load_batch(keys)


@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("cancelled", [0, 1, 2, 3])
async def test_a_cancelled_caller_affects_no_other_caller_of_the_same_keys(
    cancelled: int, *, started: bool
) -> None:
    loader = Held(Table())

    async def one(key: int) -> str:
        return await loader.load(key)

    async def two(*keys: int) -> Any:
        return await loader.many(keys)

    tasks: list[asyncio.Task[Any]] = [
        asyncio.create_task(call) for call in (two(1, 4), two(4, 1), one(4), one(4))
    ]
    await asyncio.sleep(0)
    if started:
        await loader.begun.wait()
    tasks[cancelled].cancel()
    loader.proceed.set()
    found = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(found.pop(cancelled), asyncio.CancelledError)
    wanted: list[Any] = [["1 in 0", "4 in 0"], ["4 in 0", "1 in 0"], "4 in 0", "4 in 0"]
    del wanted[cancelled]
    assert found == wanted
    assert [sorted(batch) for batch in loader.table.batches] == [[1, 4]]


async def test_a_loader_is_freed_without_the_garbage_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        for _ in range(3):
            loader = Ours(Table())
            await asyncio.gather(loader.many([1, 4]), loader.load(4))
            await asyncio.sleep(0)
            del loader
        await asyncio.sleep(0)
        kept = [found for found in gc.get_objects() if isinstance(found, Ours | Batch)]
        assert not kept
    finally:
        gc.enable()


class AtHand(Ours):
    """A loader that has the values of even keys without waiting, or raises if `fails` is set."""

    has_at_hand = True
    fails = False

    def at_hand(self, keys: Sequence[int]) -> dict[int, str | BaseException]:
        if self.fails:
            raise Wrong("at hand")
        return {key: f"{key} at hand" for key in keys if key % 2 == 0}


async def test_values_at_hand_wait_for_no_batch() -> None:
    loader = AtHand(Table())
    both = loader.many([2, 4, 2])
    assert both.done()
    assert both.result() == ["2 at hand", "4 at hand", "2 at hand"]
    assert await loader.many([1, 2, 5, 6, 1]) == [
        *("1 in 0", "2 at hand", "5 in 0", "6 at hand", "1 in 0")
    ]
    assert await loader.load(6) == "6 at hand"
    assert loader.table.batches == [[1, 5]]


async def test_a_call_of_many_that_raises_leaves_no_key_behind() -> None:
    loader = AtHand(Table())
    loader.fails = True
    with pytest.raises(Wrong, match="at hand"):
        loader.many([1, 2])
    loader.fails = False
    with pytest.raises(TypeError, match="unhashable"):
        loader.many(cast(Any, [1, 8, []]))
    assert await loader.many([1, 2]) == ["1 in 0", "2 at hand"]
    assert loader.table.batches == [[1]]
