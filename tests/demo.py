"""Data directories that are made once, and copied for the gateways that begin with them: with demo
content, or with empty stores.

In `make test` all lanes share one directory with demo content, which `PINWAY_TEST_DEMO` names.
"""

import asyncio
import atexit
import fcntl
import os
import shutil
import stat
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest

from gateway.demo.archive import unpack_demo
from gateway.settings import read_settings
from gateway.site.installation import install

FOLDER = "PINWAY_TEST_DEMO"


@pytest.fixture(scope="session")
def filled_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with all demo content. No process uses it: copy it with `copy_demo`."""
    given = os.environ.get(FOLDER)
    folder = Path(given) if given else tmp_path_factory.mktemp("demo")
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "filled").exists():
            asyncio.run(_fill(folder))
    return folder / "filled"


async def _fill(folder: Path) -> None:
    data = folder / "data"
    shutil.rmtree(data, ignore_errors=True)  # of a run that was killed
    await install(
        read_settings(options={"data_dir": data}), lambda progress: None, prepare=unpack_demo
    )
    data.rename(folder / "filled")


@cache
def empty_stores() -> Path:
    """A data directory with new stores, made once in a process. No process uses it: copy it. It is
    deleted at the end of this process, or of the suite if a lane is killed."""
    suite = os.environ.get(FOLDER)
    if suite:
        Path(suite).mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="pinway-empty-", dir=suite))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    data = folder / "data"
    with ThreadPoolExecutor(1) as thread:  # the caller's thread may run a loop
        settings = read_settings(options={"data_dir": data})
        thread.submit(asyncio.run, install(settings, lambda progress: None)).result()
    return data


def copy_demo(filled: Path, data: Path) -> Path:
    """Copy a filled data directory to a new place. Returns the place."""
    return Path(shutil.copytree(filled, data, ignore=ignore_sockets))


def ignore_sockets(folder: str, names: list[str]) -> list[str]:
    """The names of the sockets in a folder, for `shutil.copytree`."""
    return [name for name in names if stat.S_ISSOCK(os.lstat(os.path.join(folder, name)).st_mode)]
