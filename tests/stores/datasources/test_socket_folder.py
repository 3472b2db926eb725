"""A folder for sockets is removed after its owner's death, and never before."""

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from datasources.socket_folder import SocketFolder, remove_abandoned

OWNER = """
from datasources.socket_folder import SocketFolder
with SocketFolder() as folder:
    print(folder, flush=True)
    input()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@contextmanager
def owner(temporary: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Another process that has a folder with a socket's file in it."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        (folder / "1.sock").touch()
        yield process, folder
    finally:
        process.kill()
        process.communicate()


def test_only_the_user_can_enter_it(temporary: Path) -> None:
    with SocketFolder() as folder:
        assert folder.parent == temporary
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not list(temporary.iterdir())


def test_the_folder_of_a_killed_process_goes_with_the_next_start(temporary: Path) -> None:
    with owner(temporary) as (process, left), owner(temporary) as (_, used):
        with SocketFolder():
            assert left.exists()
        process.kill()
        process.wait()
        with SocketFolder() as folder:
            assert set(temporary.iterdir()) == {used, folder}
            assert (used / "1.sock").exists()


def test_a_process_removes_its_own_folder_when_it_ends(temporary: Path) -> None:
    with owner(temporary) as (process, folder):
        assert folder.exists()
        process.communicate("\n", timeout=300)
        assert not folder.exists()


def test_what_has_no_lock_or_leads_elsewhere_is_left_alone(temporary: Path) -> None:
    other, elsewhere = temporary / "pinway-bench", temporary / "elsewhere"
    for folder in (other, elsewhere):
        folder.mkdir()
    (elsewhere / "lock").touch()
    (temporary / "pinway-link").symlink_to(elsewhere)
    remove_abandoned()
    assert len(list(temporary.iterdir())) == 3
    assert (elsewhere / "lock").exists()


def test_a_folder_that_is_being_made_is_left_alone(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file has no name before the lock is taken, so a look then finds nothing to take."""
    rename = Path.rename

    def looked_at_first(path: Path, target: Path) -> Path:
        remove_abandoned()
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", looked_at_first)
    with SocketFolder() as folder:
        assert (folder / "lock").exists()
        remove_abandoned()
        assert (folder / "lock").exists()


def test_the_folder_of_another_user_is_left_alone(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with owner(temporary) as (process, left):
        process.kill()
        process.wait()
        own = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: own + 1)
        remove_abandoned()
        assert left.exists()
