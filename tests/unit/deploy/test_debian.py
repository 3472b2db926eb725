"""`deploy/debian.py`: packages are installed by one caller at a time."""

import os
import threading
from pathlib import Path

import pytest

from deploy import debian

APT = """#!/bin/sh
mkdir "$HERE/busy" || { echo "two at once" >> "$HERE/log"; exit 100; }
echo "$@" >> "$HERE/log"
case "$*" in *update*) touch "$HERE/lists";; esac
test -e "$HERE/lists"; result=$?
rmdir "$HERE/busy"
exit $result
"""


def test_callers_wait_for_each_other_and_fetch_missing_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apt = tmp_path / "apt-get"
    apt.write_text(APT)
    apt.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("HERE", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    results = []
    callers = [
        threading.Thread(target=lambda name=f"package{k}": results.append(debian.install([name])))
        for k in range(4)
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert [result.returncode for result in results] == [0] * 4
    calls = (tmp_path / "log").read_text().splitlines()
    assert sum("update" in call for call in calls) == 1
    assert all("DPkg::Lock::Timeout=600" in call for call in calls)
    assert len(calls) == 6
