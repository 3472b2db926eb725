"""`pinway` with a migration that kills itself with SIGKILL at its n-th seam, for `test_copy.py`.

A seam is before and after each write to the journal and to the shards. A copy that reaches its end
writes the number of seams to a file.
"""

import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from gateway.cli import main
from gateway.operate.imports.load import Load
from gateway.operate.imports.spool import Spool
from gateway.operate.migration.journal import Journal


class Seams:
    """Counts seams, and kills the process at the `last`."""

    def __init__(self, last: int) -> None:
        self._last, self.passed = last, 0

    def counted(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """The function with a seam before it and a seam after it."""

        def around(*args: Any, **options: Any) -> Any:
            self._pass()
            found = call(*args, **options)
            self._pass()
            return found

        return around

    def awaited(self, call: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        """The coroutine function with a seam before it and a seam after it."""

        async def around(*args: Any, **options: Any) -> Any:
            self._pass()
            found = await call(*args, **options)
            self._pass()
            return found

        return around

    def _pass(self) -> None:
        self.passed += 1
        if self.passed == self._last:
            os.kill(os.getpid(), signal.SIGKILL)


def install(seams: Seams) -> None:
    for owner, name in ((Spool, "many"), (Journal, "add_page"), (Journal, "note")):
        setattr(owner, name, seams.counted(getattr(owner, name)))
    for name in ("transact", "rows"):
        setattr(Load, name, seams.awaited(getattr(Load, name)))


if __name__ == "__main__":
    last, told, *words = sys.argv[1:]
    seams = Seams(int(last))
    install(seams)
    main(words, standalone_mode=False)
    Path(told).write_text(str(seams.passed))
