"""An event loop that raises when nothing can ever happen in it any more: no callback is ready, no
timer runs, and no connection is open. A run that hangs then fails its test at once, in place of
a timeout.

Threads are not seen: the loop is for tests that start none.
"""

import asyncio
import selectors
from typing import Any


class Hang(Exception):
    """The event loop waits, with nothing scheduled."""


class _Watchful(selectors.DefaultSelector):
    """A selector that refuses to wait without a limit."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        # The loop's own pair of sockets, through which threads and signals wake it, is always
        # registered.
        if timeout is None and len(self.get_map()) <= 1:
            raise Hang("the event loop waits, with nothing scheduled")
        return super().select(timeout)


class WatchedLoop(asyncio.SelectorEventLoop):
    """The event loop of the tests of the executor."""

    def __init__(self) -> None:
        super().__init__(_Watchful())

    def run_forever(self) -> None:
        try:
            super().run_forever()
        except Hang as hang:
            tasks = [task for task in asyncio.all_tasks(self) if not task.done()]
            hang.add_note("\n".join(f"waits: {task!r}" for task in tasks))
            raise


def watched(patch: Any) -> None:
    """Have `asyncio.run` and `asyncio.Runner` use a WatchedLoop. `patch` is pytest's
    `MonkeyPatch`."""
    patch.setattr(asyncio.events, "new_event_loop", WatchedLoop)
