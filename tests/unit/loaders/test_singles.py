"""The result of `load` for a single key is a future, whether asyncio's or compiled code's."""

import asyncio
import contextvars
from collections.abc import Callable
from typing import Any

import pytest

from loaders import key_futures, single_keys

pytestmark = pytest.mark.anyio
VAR: contextvars.ContextVar[int] = contextvars.ContextVar("VAR", default=0)


@pytest.fixture(params=["asyncio", "asyncio+uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> Any:
    return "asyncio", {"use_uvloop": request.param.endswith("uvloop")}


@pytest.fixture(params=[single_keys, key_futures], ids=["asyncio's", "compiled"])
def new(request: pytest.FixtureRequest) -> Callable[..., single_keys.SingleKeyBatch[Any, Any]]:
    def singles_from(start: int = 0, **slots: int) -> single_keys.SingleKeyBatch[Any, Any]:
        made: single_keys.SingleKeyBatch[Any, Any]
        made = request.param.SingleKeyBatch(asyncio.get_running_loop(), slots, start)
        return made

    return singles_from


def asked(keys: single_keys.SingleKeyBatch[Any, Any], key: str) -> "asyncio.Future[Any]":
    future = keys.ask(key)
    assert future is not None
    return future


async def test_each_call_gets_its_own_future_and_each_key_one_slot(new: Any) -> None:
    slots = {"known": 3}
    keys = new(7, **slots)
    assert keys.ask("known") is None
    futures = [asked(keys, key) for key in "aba"]
    assert len(set(map(id, futures))) == 3
    assert keys.keys() == ["a", "b"]
    assert keys.futures() == [[futures[0], futures[2]], [futures[1]]]
    keys.end([1, 2])
    assert [future.result() for future in futures] == [1, 2, 1]


@pytest.mark.parametrize("value", [5, None, (1, 2), (), ["x"]])
async def test_a_future_can_be_awaited_before_and_after_its_value_arrives(
    new: Any, value: Any
) -> None:
    keys = new()
    future = asked(keys, "a")
    assert asyncio.isfuture(future)
    assert not future.done()
    with pytest.raises(asyncio.InvalidStateError):
        future.result()
    with pytest.raises(asyncio.InvalidStateError):
        future.exception()

    async def wait() -> Any:
        return await future

    waiting = [asyncio.create_task(wait()), asyncio.ensure_future(asyncio.shield(future))]
    gathered = asyncio.gather(future, wait())
    await asyncio.sleep(0)
    keys.end([value])
    assert await asyncio.gather(*waiting) == [value, value]
    assert await gathered == [value, value]
    assert await asyncio.wait_for(future, 300) == value == await future == future.result()
    assert future.exception() is None
    assert future.done()
    assert not future.cancel()
    assert future.get_loop() is asyncio.get_running_loop()


async def test_an_error_is_raised_in_each_waiting_task(new: Any) -> None:
    keys = new()
    error = ValueError("wrong")
    future = asked(keys, "a")

    async def wait() -> Any:
        return await future

    waiting = [asyncio.create_task(wait()) for _ in range(2)]
    await asyncio.sleep(0)
    keys.end([error])
    assert await asyncio.gather(*waiting, return_exceptions=True) == [error, error]
    assert future.exception() is error
    for _ in range(3):
        with pytest.raises(ValueError, match="wrong"):
            future.result()
    traceback, frames = error.__traceback__, 0
    while traceback is not None:
        traceback, frames = traceback.tb_next, frames + 1
    assert frames < 4  # the frames of one raise: they don't add up


async def test_cancelling_one_future_cancels_no_other_future_of_the_key(new: Any) -> None:
    keys = new()
    first, second = asked(keys, "a"), asked(keys, "a")

    async def wait(future: Any) -> Any:
        return await future

    tasks = [asyncio.create_task(wait(future)) for future in (first, second)]
    await asyncio.sleep(0)
    tasks[0].cancel("enough")
    await asyncio.sleep(0)
    assert first.cancelled()
    keys.end([1])
    with pytest.raises(asyncio.CancelledError):
        await tasks[0]
    with pytest.raises(asyncio.CancelledError):
        first.exception()
    assert await tasks[1] == 1
    assert not second.cancelled()


async def test_callbacks_are_called_in_order_in_their_contexts(new: Any) -> None:
    keys = new()
    a, b = asked(keys, "a"), asked(keys, "b")
    called: list[Any] = []

    def callback(name: str) -> Callable[[Any], None]:
        return lambda future: called.append((name, future.result(), VAR.get()))

    gone = callback("gone")
    VAR.set(1)
    b.add_done_callback(callback("b"))
    VAR.set(2)
    a.add_done_callback(callback("a"))
    a.add_done_callback(gone)
    apart = contextvars.copy_context()
    apart.run(VAR.set, 3)
    a.add_done_callback(callback("a, apart"), context=apart)
    assert a.remove_done_callback(gone) == 1
    keys.end(["of a", "of b"])
    assert not called
    await asyncio.sleep(0)
    assert called == [("a", "of a", 2), ("a, apart", "of a", 3), ("b", "of b", 1)]
    a.add_done_callback(callback("late"))
    await asyncio.sleep(0)
    assert called[3:] == [("late", "of a", 2)]


async def test_an_unhashable_key_raises_and_changes_nothing(new: Any) -> None:
    keys = new()
    with pytest.raises(TypeError):
        keys.ask([])
    assert keys.keys() == []


@pytest.mark.parametrize("module", [single_keys, key_futures], ids=["Python", "compiled"])
def test_new_keys_get_the_next_slots(module: Any) -> None:
    slots = {"a": 0, "b": 1}
    assert module.assign_slots(slots, ["b", "c", "d", "c"], 5) == ([1, 5, 6, 5], ["c", "d"])
    assert slots == {"a": 0, "b": 1, "c": 5, "d": 6}
    with pytest.raises(TypeError):
        module.assign_slots(slots, ["e", []], 7)
    assert "e" not in slots
