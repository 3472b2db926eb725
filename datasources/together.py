"""Runs several calls at once and waits for all of them, even if some fail."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


async def together(
    calls: Iterable[Coroutine[Any, Any, T]], *, at_a_time: int | None = None
) -> list[T]:
    """The results in order. After all calls have ended, raises the error of the first failed call
    in that order. If the caller is cancelled, all calls are cancelled, and their ends are awaited.
    """
    coroutines = list(calls)
    if len(coroutines) <= 1:
        return [await coroutine for coroutine in coroutines]
    if at_a_time is not None:
        places = asyncio.Semaphore(at_a_time)
        coroutines = [_in_turn(places, coroutine) for coroutine in coroutines]
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    try:
        await asyncio.wait(tasks)
    except asyncio.CancelledError:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
    # Each error is retrieved from its task, so that asyncio logs none.
    errors = [task.exception() for task in tasks]
    for error in errors:
        if error is not None:
            raise error
    return [task.result() for task in tasks]


async def _in_turn(places: asyncio.Semaphore, call: Coroutine[Any, Any, T]) -> T:
    try:
        async with places:
            return await call
    finally:
        call.close()  # a call that was cancelled before it started
