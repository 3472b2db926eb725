"""The places, messages and state of the environment in .venv."""

import hashlib
import json
import os
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
BIN = os.path.join(VENV, "bin")
STAMP = os.path.join(VENV, "pinway-installed.json")
BUILD = os.path.join(ROOT, "build")
OLDEST, NEWEST = (3, 11), (3, 14)
STARTED = time.time()


class Failure(Exception):
    """An error for the user, in one line."""


class Times:
    """The seconds of each phase of the set-up."""

    def __init__(self) -> None:
        self.last = STARTED
        self.phases: list = []  # of names with seconds

    def end(self, name: str) -> None:
        """Name the phase that ends now."""
        now = time.time()
        self.phases.append(f"{name} {now - self.last:.1f} s")
        self.last = now


times = Times()


def say(line: str) -> None:
    print(f"pinway: {line}", file=sys.stderr, flush=True)


def run_told(command: list, told: str, silence: float) -> int:
    """Run a command that prints nothing, and say after each `silence` seconds that it is still
    running. Returns its status."""
    started = time.time()
    process = subprocess.Popen(command, cwd=ROOT)
    while True:
        try:
            return process.wait(silence)
        except subprocess.TimeoutExpired:
            say(f"{told}, after {time.time() - started:.0f} s")
        except BaseException:
            process.kill()
            process.wait()
            raise


def dotted(version: tuple) -> str:
    return f"{version[0]}.{version[1]}"


def command_of(name: str) -> str:
    """The path of a command of the environment."""
    return os.path.join(BIN, name)


def output_of(*command: str):
    """The command's output, or None if it can't be run or fails."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return None
    return done.stdout.decode() if done.returncode == 0 else None


def digest(*paths: str) -> str:
    """A digest of the content of these files."""
    text = hashlib.sha256()
    for path in paths:
        with open(os.path.join(ROOT, path), "rb") as file:
            text.update(file.read())
    return text.hexdigest()


def installed() -> dict:
    """The state of the installation: {"root": FOLDER, LEVEL: DIGEST}."""
    try:
        with open(STAMP) as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def write_stamps(stamps: dict, **more: str) -> None:
    with open(STAMP, "w") as file:
        json.dump({**stamps, **more}, file)
