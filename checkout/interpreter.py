"""Finds a Python that Pinway supports, and makes .venv with it."""

import os
import shutil
import subprocess
import sys

from checkout.environment import (
    NEWEST,
    OLDEST,
    ROOT,
    VENV,
    Failure,
    command_of,
    dotted,
    installed,
    output_of,
    say,
)


def version_of(python: str):
    """The (major, minor) of an interpreter, or None if it doesn't run."""
    text = output_of(python, "-c", "import sys; print(*sys.version_info[:2])")
    return tuple(int(part) for part in text.split()) if text else None


def is_supported(python: str) -> bool:
    version = version_of(python)
    return version is not None and OLDEST <= version <= NEWEST


def find_python() -> str:
    """The interpreter that runs this script if it is new enough, else the newest on the path that
    is.

    A name on the path may be a version manager's shim that refuses to run, so each name is tried.
    """
    minors = range(NEWEST[1], OLDEST[1] - 1, -1)
    for name in [sys.executable, *(f"python3.{minor}" for minor in minors), "python3"]:
        path = shutil.which(name) if name else None
        if path and is_supported(path):
            return path
    raise Failure(
        f"needs Python {dotted(OLDEST)} to {dotted(NEWEST)}, and this is "
        f"{dotted(sys.version_info)}: install one of them, so that python{dotted(NEWEST)} or the "
        "like is on the path, and run this again"
    )


def ensure_venv_module(python: str) -> None:
    """Debian has venv in a separate package: install it as root, else say which package it is."""
    if output_of(python, "-c", "import ensurepip, venv") is not None:
        return
    package = f"python{dotted(version_of(python))}-venv"
    if not shutil.which("apt-get"):
        raise Failure(f"{python} has no venv and ensurepip: install them and run this again")
    if os.geteuid() != 0:
        raise Failure(
            f"{package} is missing: run `sudo apt-get install {package}`, then this again"
        )
    if not apt_installs(package):
        raise Failure(f"apt-get could not install {package}: see above")


def apt_installs(*packages: str) -> bool:
    say("installing the Debian packages " + " ".join(packages))
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    for command in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
        done = subprocess.run(
            ["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=600", *command],
            env=environment,
            stdout=subprocess.DEVNULL,
        )
    return done.returncode == 0


def ensure_venv() -> None:
    """Create .venv, or create it again if it can't be used.

    Its interpreter may be gone or too old, and its commands contain the folder in which they were
    created.
    """
    python = command_of("python")
    was_moved = installed().get("root", ROOT) != ROOT
    if not was_moved and is_supported(python):
        return
    source = find_python()
    ensure_venv_module(source)
    say(f"making .venv with Python {dotted(version_of(source))}")
    if subprocess.run([source, "-m", "venv", "--clear", "--without-pip", VENV]).returncode != 0:
        raise Failure(f"{source} could not make {VENV}: see above")
