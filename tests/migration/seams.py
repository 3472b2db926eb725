"""Runs `pinway` with seams, at the n-th of which the process kills itself with SIGKILL.

A seam is before and after each call of chosen functions. A command that reaches its end writes the
number of its seams to a file. In place of a number, a function's name stands for the seam after its
first call, and "before" with a function's name for the seam before it.
"""

import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from gateway.cli import main


class Seams:
    """Counts seams, and kills the process at the `last`."""

    def __init__(self, last: str) -> None:
        self._last, self.passed = last, 0

    def counted(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """The function with a seam before it and a seam after it."""

        def around(*args: Any, **options: Any) -> Any:
            self._pass(f"before {call.__name__}")
            found = call(*args, **options)
            self._pass(call.__name__)
            return found

        return around

    def awaited(self, call: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        """The coroutine function with a seam before it and a seam after it."""

        async def around(*args: Any, **options: Any) -> Any:
            self._pass(f"before {call.__name__}")
            found = await call(*args, **options)
            self._pass(call.__name__)
            return found

        return around

    def _pass(self, place: str) -> None:
        self.passed += 1
        if self._last in (str(self.passed), place):
            os.kill(os.getpid(), signal.SIGKILL)


def run(install: Callable[[Seams], None]) -> None:
    """Run the command of the arguments: the last seam, the file for the number, and the words."""
    last, told, *words = sys.argv[1:]
    seams = Seams(last)
    install(seams)
    main(words, standalone_mode=False)
    Path(told).write_text(str(seams.passed))
