"""Installs Debian packages, one caller at a time."""

import fcntl
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from deploy.commands import run

WAIT = 600
"""Seconds to wait for another program that installs packages."""


def install(
    packages: Sequence[str], prefix: Sequence[str] = ()
) -> "subprocess.CompletedProcess[str]":
    """Install packages with apt-get. The result is apt's, and `stdout` also has its errors.

    `prefix` is the command that makes the caller root. apt's own lock covers only its last step:
    processes of this host that call this function together also share the lists of packages.
    """
    apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y"]
    apt += ["-o", f"DPkg::Lock::Timeout={WAIT}"]
    command = [*apt, "install", "--no-install-recommends", *packages]
    lock = Path(tempfile.gettempdir()) / f"pinway-debian-packages-{os.getuid()}.lock"
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = run(command)
        if done.returncode != 0:  # A fresh image has no lists, an old one has stale ones.
            run([*apt, "update"])
            done = run(command)
    return done
