"""An import that kills itself with SIGKILL at its n-th seam, for `test_killed_import.py`.

A seam is before and after each call that writes to a store or drops cache entries. An import that
reaches its end prints the number of seams.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from datasources.factory import StoresConfig, close_stores, open_stores
from datasources.protocols import Stores
from gateway.operate.imports.report import ImportOptions
from tests.importing.files import import_file

_WRITES = {"transact", "load", "claim_many", "drop", "put"}


class Dying:
    """A store, or a part of a store, that counts the seams of its writes."""

    def __init__(self, real: Any, seam: Callable[[], None]) -> None:
        self._real, self._seam = real, seam

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)
        if name in ("objects", "mappings", "mod"):
            return Dying(found, self._seam)
        return self._counted(found) if name in _WRITES else found

    def _counted(self, call: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def counted(*args: Any, **kwargs: Any) -> Any:
            self._seam()
            answer = await call(*args, **kwargs)
            self._seam()
            return answer

        return counted


async def _import(config: StoresConfig, path: Path, last: int) -> None:
    seams = 0

    def seam() -> None:
        nonlocal seams
        seams += 1
        if seams == last:
            os.kill(os.getpid(), signal.SIGKILL)

    stores = await open_stores(config)
    dying = Stores(
        shards=Dying(stores.shards, seam),  # type: ignore[arg-type]
        object_cache=Dying(stores.object_cache, seam),  # type: ignore[arg-type]
        mapping_cache=Dying(stores.mapping_cache, seam),  # type: ignore[arg-type]
        queue=stores.queue,
        topology=stores.topology,
        pools=stores.pools,
        feeds=type(stores.feeds)(*(Dying(side, seam) for side in stores.feeds)),
        broadcasts=stores.broadcasts,
    )
    await import_file(dying, path, options=ImportOptions(batch=40, spool_dir=str(path.parent)))
    await close_stores(stores)
    print(seams)


if __name__ == "__main__":
    order = json.loads(sys.argv[1])
    asyncio.run(_import(StoresConfig(**order["config"]), Path(order["path"]), order["last"]))
