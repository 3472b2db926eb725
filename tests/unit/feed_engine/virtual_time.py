"""An event loop whose clock jumps to the next timer when no task can run."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Selector(selectors.DefaultSelector):
    """A selector that polls. The time that the loop would have slept is added to the clock.

    A poll takes longer than most steps of a task, so a loop without threads and files does not
    poll. The loop itself registers one file, with which threads wake it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.polls = False

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0) if self.polls or len(self.get_map()) > 1 else []
        if not ready:
            assert timeout is not None, "deadlock: nothing is running and no timer is set"
            self.now += timeout
        return ready


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)

    def time(self) -> float:
        return self._virtual.now

    def call_soon_threadsafe(self, *arguments: Any, **options: Any) -> asyncio.Handle:
        self._virtual.polls = True  # from now on, another thread may wake this loop
        return super().call_soon_threadsafe(*arguments, **options)

    def run_in_executor(self, *arguments: Any) -> asyncio.Future[Any]:
        self._virtual.polls = True
        return super().run_in_executor(*arguments)


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run to the end. Checks that no task is left."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:

        async def alone() -> T:
            try:
                return await main
            finally:
                left = asyncio.all_tasks() - {asyncio.current_task()}
                assert not left, f"left behind: {left}"

        return runner.run(alone())
