"""Sets the event loop's current task. All uses of asyncio's private names for this are here.

CPython 3.12 and later have `_swap_current_task`; CPython 3.11 has the dict `_current_tasks`. Tested
with 3.11.7, 3.12.1, 3.13.0 and 3.14.10.
"""

from __future__ import annotations

from asyncio import current_task, tasks
from collections.abc import Callable
from typing import Any

_swap = getattr(tasks, "_swap_current_task", None)
CURRENT: dict[Any, Any] | None = None if _swap else tasks._current_tasks  # type: ignore[attr-defined]
"""The current task of each loop in CPython 3.11; None in later versions."""


def _entering() -> tuple[Callable[[Any, Any], Any], Callable[[Any, None], Any]]:
    if CURRENT is None:
        assert _swap is not None
        return _swap, _swap
    return CURRENT.__setitem__, CURRENT.pop


enter, leave = _entering()
"""`enter(loop, task)` makes a task the loop's current task, and `leave(loop, None)` makes no task
current. asyncio's own `_enter_task` raises if another task is current, so replacing a task would
take two calls."""


task_of: Callable[[Any], Any] = current_task if CURRENT is None else CURRENT.get
"""Returns the current task of a running loop. `asyncio.current_task` does the same, but is not
written in C in Python 3.11."""
