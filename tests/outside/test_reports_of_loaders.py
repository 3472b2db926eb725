"""Public bug reports of data loaders, tried on this project's loaders. `reports.md` says what each
report was."""

import asyncio
from collections.abc import Sequence
from typing import Any, cast

import pytest

from loaders.base import Loader


class Recording(Loader[Any, Any]):
    """A loader that records its batches. A key that is an exception is its own value; a batch with
    a key of `broken` fails as a whole."""

    def __init__(self) -> None:
        super().__init__(cast(Any, None))
        self.batches: list[list[Any]] = []
        self.broken: set[Any] = set()

    async def load_batch(self, keys: list[Any]) -> Sequence[Any]:
        self.batches.append(list(keys))
        await asyncio.sleep(0)
        if self.broken.intersection(keys):
            raise ConnectionError("the store is down")
        return [None if key == "nothing" else f"value {key}" for key in keys]


def test_many_loads_of_one_key_are_one_key_of_a_batch() -> None:
    """graphql/dataloader#377, #44 and #46."""

    async def run() -> tuple[list[Any], list[list[Any]]]:
        loader = Recording()
        values = await asyncio.gather(*(loader.load(n % 2) for n in range(1_000)))
        return values, loader.batches

    values, batches = asyncio.run(run())
    assert values == ["value 0", "value 1"] * 500
    assert batches == [[0, 1]]


def test_the_error_of_a_whole_batch_is_not_kept() -> None:
    """graphql/dataloader#61 and #258: a store that was down for a moment."""

    async def run() -> Recording:
        loader = Recording()
        loader.broken = {1}
        for _ in range(2):
            with pytest.raises(ConnectionError):
                await loader.load(1)
        loader.broken = set()
        assert await loader.load(1) == "value 1"
        return loader

    assert asyncio.run(run()).batches == [[1], [1], [1]]


def test_null_is_a_value_that_is_kept() -> None:
    """ChilliCream/graphql-platform#4203."""

    async def run() -> Recording:
        loader = Recording()
        assert await loader.load("nothing") is None
        assert await loader.load("nothing") is None
        assert await loader.many(["nothing"]) == [None]
        return loader

    assert asyncio.run(run()).batches == [["nothing"]]


def test_a_key_that_was_cleared_is_loaded_again() -> None:
    """graphql/dataloader#65: also if it is cleared while its batch is collected, or loaded."""

    async def run() -> Recording:
        loader = Recording()
        await loader.load(1)
        await loader.clear(1).load(1)
        first = loader.load(2)
        loader.clear(2)
        second = loader.load(2)
        assert await asyncio.gather(first, second) == ["value 2"] * 2
        await loader.clear_all().load(2)
        return loader

    batches = asyncio.run(run()).batches
    assert batches[:2] == [[1], [1]]
    assert [key for batch in batches[2:] for key in batch].count(2) == 2


def test_a_primed_value_is_given_and_a_known_value_stays() -> None:
    """graphql/dataloader#18 and #217, Shopify/graphql-batch#168: also a primed error."""

    async def run() -> Recording:
        loader = Recording()
        loader.prime(1, "primed").prime(1, "too late").prime(2, ValueError("known to fail"))
        assert await loader.load(1) == "primed"
        with pytest.raises(ValueError, match="known to fail"):
            await loader.load(2)
        assert await loader.load(3) == "value 3"
        loader.prime(3, "too late")
        assert await loader.load(3) == "value 3"
        return loader

    assert asyncio.run(run()).batches == [[3]]


def test_loads_after_a_known_value_share_the_batch_of_loads_after_a_new_value() -> None:
    """graphql/dataloader#113: the caller whose key is known goes on earlier, so the reporter got a
    third batch. Two turns of the event loop are enough for it here."""

    async def run() -> Recording:
        loader = Recording()
        await loader.load(1)

        async def chain(key: int) -> None:
            await loader.load(key)
            await loader.load(key + 10)

        await asyncio.gather(chain(1), chain(1))
        return loader

    assert asyncio.run(run()).batches == [[1], [11]]


def test_a_caller_that_is_cancelled_takes_no_value_from_another_caller() -> None:
    """strawberry-graphql/strawberry#3606 and #4379."""

    async def run() -> tuple[Any, Any]:
        loader = Recording()

        async def ask() -> Any:
            return await loader.load(1)

        gone, stays = asyncio.ensure_future(ask()), asyncio.ensure_future(ask())
        await asyncio.sleep(0)
        gone.cancel()
        value = await stays
        only = asyncio.ensure_future(ask())
        await asyncio.sleep(0)
        only.cancel()
        await asyncio.wait([only])
        return value, await loader.load(2)

    assert asyncio.run(run()) == ("value 1", "value 2")
