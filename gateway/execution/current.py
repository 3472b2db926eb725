"""Which task is the event loop's current one."""

from __future__ import annotations

from asyncio import tasks
from collections.abc import Callable
from typing import Any


def _entering() -> tuple[Callable[[Any, Any], Any], Callable[[Any, None], Any]]:
    swap = getattr(tasks, "_swap_current_task", None)
    if swap is not None:  # from Python 3.12 on
        return swap, swap
    current: dict[Any, Any] = tasks._current_tasks  # type: ignore[attr-defined]
    return current.__setitem__, current.pop


enter, leave = _entering()
"""`enter(loop, task)` makes a task the loop's current one, whichever it was; `leave(loop, None)`
makes it none. As asyncio's `_enter_task` and `_leave_task` for two tasks, in one call."""
