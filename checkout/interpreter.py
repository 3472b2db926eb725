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

FASTER = 1.2
"""How much faster another build of the same Python must be, to be used in place of this one. Some
builds lack the compiler's optimization by profiles, and need 1.4 times as long for most code."""
WORK = """
import json, time

class Pin:
    def __init__(self, number):
        self.number = number
    def name(self):
        return "pin %d" % self.number

def seconds():
    began, found = time.process_time(), {}
    for number in range(20000):
        found[number % 100] = Pin(number).name()
    json.dumps(found)
    return time.process_time() - began

print(min(seconds() for _ in range(5)))
"""
"""A program that prints how many seconds of processor time some work takes."""
NEEDS = """
import ensurepip, os, sqlite3, ssl, sysconfig, venv
assert os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))
"""


def version_of(python: str):
    """The (major, minor) of an interpreter, or None if it doesn't run."""
    text = output_of(python, "-c", "import sys; print(*sys.version_info[:2])")
    return tuple(int(part) for part in text.split()) if text else None


def is_supported(python: str) -> bool:
    version = version_of(python)
    return version is not None and OLDEST <= version <= NEWEST


def find_python() -> str:
    """The interpreter for .venv: `supported_python()`, or another build of the same version that is
    much faster. PINWAY_KEEP_PYTHON=1 turns the search for a faster one off: the Makefile sets it if
    PYTHON is given."""
    python = supported_python()
    if os.environ.get("PINWAY_KEEP_PYTHON"):
        return python
    own = seconds_of_work(python)
    others = [(seconds_of_work(other), other) for other in other_builds(python)]
    seconds, fastest = min(others) if others else (own, python)
    if own < FASTER * seconds:
        return python
    say(
        f"using {fastest}, which is {own / seconds:.1f} times as fast as {python} "
        f"(`make PYTHON={python}` keeps that one)"
    )
    return fastest


def seconds_of_work(python: str) -> float:
    return float(output_of(python, "-c", WORK) or "inf")


def other_builds(python: str) -> list:
    """The other interpreters on the path that have the same version and all that .venv, the
    compiled modules and Pinway need. None is named "python3" alone: on macOS, that may be a program
    that opens a window to install Python."""
    version, found = version_of(python), {os.path.realpath(python): python}
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder, f"python{dotted(version)}")
        is_new = os.access(path, os.X_OK) and os.path.realpath(path) not in found
        if is_new and version_of(path) == version and output_of(path, "-c", NEEDS) is not None:
            found[os.path.realpath(path)] = path
    return list(found.values())[1:]


def supported_python() -> str:
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
