"""`make demo`: fills embedded stores with the demo's content, and writes the archive of them."""

import asyncio
import tarfile
import tempfile
from pathlib import Path

from datasources.protocols import Stores
from gateway.demo.archive import ARCHIVE, FOLDERS
from gateway.demo.fill import fill_demo
from gateway.operate import backup
from gateway.operate.progress import Bars
from gateway.settings import Settings
from gateway.site.installation import install
from gateway.site.runtime import running


async def pack_demo(archive: Path) -> None:
    """Fill new stores in a temporary directory, and write the archive."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data_dir=Path(folder, "data"))
        copy = Path(folder, "copy")
        with Bars() as bars:
            await install(settings, bars)
            async with running(settings) as runtime:
                await fill_demo(runtime.stores, settings.data_dir, bars)
                await _until_done(runtime.stores)
                await backup.make(runtime.stores, settings.data_dir, copy, bars)
        with tarfile.open(archive, "w:xz", preset=9) as packed:
            for name in FOLDERS:
                packed.add(copy / name, name, filter=_anonymous)


async def _until_done(stores: Stores) -> None:
    """Wait until the jobs of the content have ended, because the archive has no queue."""
    while (await stores.shards.outbox.due(2**62, 1, behind={})).rows:  # noqa: ASYNC110 (a job tells nobody)
        await asyncio.sleep(0.1)


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """A member without its owner, its permissions and its time on the machine that packs it."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    member.mode = 0o700 if member.isdir() else 0o600
    return member


if __name__ == "__main__":
    asyncio.run(pack_demo(ARCHIVE))
