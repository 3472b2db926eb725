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

seams = 0


def install(last: int) -> None:
    def seam() -> None:
        global seams
        seams += 1
        if seams == last:
            os.kill(os.getpid(), signal.SIGKILL)

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def around(*args: Any, **options: Any) -> Any:
            seam()
            found = call(*args, **options)
            seam()
            return found

        return around

    def awaited(call: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def around(*args: Any, **options: Any) -> Any:
            seam()
            found = await call(*args, **options)
            seam()
            return found

        return around

    for owner, name in ((Spool, "many"), (Journal, "add_page"), (Journal, "note")):
        setattr(owner, name, counted(getattr(owner, name)))
    for name in ("transact", "rows"):
        setattr(Load, name, awaited(getattr(Load, name)))


if __name__ == "__main__":
    last, told, *words = sys.argv[1:]
    install(int(last))
    main(words, standalone_mode=False)
    Path(told).write_text(str(seams))
