"""The iterator of a key's future has `__next__`, `send` and `throw`, like asyncio's futures."""

import asyncio

import pytest

from loaders.compiled import SingleKeyBatch

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize("step", ["__next__", "send"])
async def test_a_step_by_name_waits_and_then_ends_with_the_value(step: str) -> None:
    singles: SingleKeyBatch[int, tuple[int, int]] = SingleKeyBatch(
        asyncio.get_running_loop(), {}, 0
    )
    future = singles.ask(7)
    assert future is not None
    awaited = future.__await__()
    given = [None] if step == "send" else []
    assert getattr(awaited, step)(*given) is future
    future._asyncio_future_blocking = False
    singles.end([(1, 2)])
    with pytest.raises(StopIteration) as stop:
        getattr(awaited, step)(*given)
    assert stop.value.value == (1, 2)


async def test_an_error_that_is_thrown_in_is_raised() -> None:
    singles: SingleKeyBatch[int, int] = SingleKeyBatch(asyncio.get_running_loop(), {}, 0)
    future = singles.ask(7)
    assert future is not None
    awaited = future.__await__()
    next(awaited)
    with pytest.raises(LookupError, match="thrown"):
        awaited.throw(LookupError("thrown"))
