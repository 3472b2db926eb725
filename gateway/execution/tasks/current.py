"""Sets the event loop's current task, through private functions of asyncio.

CPython 3.12 and later have `_swap_current_task`; 3.11 has the dict `_current_tasks`. Tried with
3.11.7, 3.12.1 and 3.13.0; not with 3.14.
"""

from __future__ import annotations

from asyncio import current_task, tasks
from collections.abc import Callable
from typing import Any

_swap = getattr(tasks, "_swap_current_task", None)
CURRENT: dict[Any, Any] | None = None if _swap else tasks._current_tasks  # type: ignore[attr-defined]
"""The task of each loop, in CPython 3.11."""


def _entering() -> tuple[Callable[[Any, Any], Any], Callable[[Any, None], Any]]:
    if CURRENT is None:
        assert _swap is not None
        return _swap, _swap
    return CURRENT.__setitem__, CURRENT.pop


enter, leave = _entering()
"""`enter(loop, task)` makes a task the loop's current one, whichever it was; `leave(loop, None)`
makes it none. As asyncio's `_enter_task` and `_leave_task` for two tasks, in one call."""


task_of: Callable[[Any], Any] = current_task if CURRENT is None else CURRENT.get
"""The current task of a loop, which runs. As `asyncio.current_task`, which up to Python 3.11 is no
C function."""
