"""`pinway` as a process, and what it leaves in the stores, for the migration's tests."""

import json
import re
import signal
import time
from pathlib import Path
from random import Random
from typing import IO, Any

from tests.demo import copy_demo, empty_stores
from tests.forked import Forked
from tests.importing.worlds import canonical_set
from tests.migration.old_world import PASSWORD

SECONDS = 600.0
SETTINGS = "pinway.toml"
"""The settings' file in a directory of stores, if the shards are not there but on servers."""


def start(*words: str, data: Path, before: tuple[str, ...] = ("pinway",)) -> Forked:
    """A command on the stores under a directory, or with the settings that the directory has."""
    settings = data / SETTINGS
    given = ("--config", str(settings)) if settings.exists() else ()
    return Forked(
        *(*before, *words, *given, "--data-dir", str(data)),
        environment={"PATH": "/usr/bin:/bin", "PINWAY_SOURCE_PASSWORD": PASSWORD},
    )


def pinway(*words: str, data: Path, status: int = 0) -> str:
    """The output of a command that ends by itself, or its error if it is to fail."""
    process = start(*words, data=data)
    out, error = process.communicate(timeout=SECONDS)
    assert process.returncode == status, (error + out).decode()
    return (error if status == 1 else out).decode()


def copied(file: Path, data: Path) -> dict[str, Any]:
    """The result of a copy. A new directory gets empty stores."""
    if not data.exists():
        copy_demo(empty_stores(), data)
    told: dict[str, Any] = json.loads(pinway("migrate", "copy", str(file), "--json", data=data))
    return told


def verified(file: Path, data: Path, *options: str, status: int = 0) -> dict[str, Any]:
    words = ("migrate", "verify", str(file), "--json", *options)
    told: dict[str, Any] = json.loads(pinway(*words, data=data, status=status))
    return told


def followed(file: Path, data: Path) -> dict[str, Any]:
    words = ("migrate", "follow", str(file), "--until-caught-up", "--json")
    told: dict[str, Any] = json.loads(pinway(*words, data=data))
    return told


def cut_over(file: Path, data: Path) -> None:
    pinway("migrate", "cut-over", str(file), "--within", "60", data=data)


def back(file: Path, data: Path, *options: str, status: int = 0) -> dict[str, Any]:
    """The result of a way back, or of its end."""
    words = ("migrate", "back", str(file), "--json", *options)
    told: dict[str, Any] = json.loads(pinway(*words, data=data, status=status))
    return told


def exported(data: Path) -> list[bytes]:
    return pinway("export", data=data).encode().splitlines()


def everything(data: Path) -> set[bytes]:
    """All lines of an export, which doesn't say in which order and with which ids they are
    stored. Raises AssertionError if a line is there twice.

    A place on a board is the number that the source gave it: a pin whose place a deleted pin has
    stands directly above it.
    """
    lines = exported(data)
    found = canonical_set(b"\n".join(lines))
    assert len(found) == len(lines)
    return {re.sub(rb'"sequence":"(\d+)\d{25}"', rb'"sequence":"\1"', line) for line in found}


def check_like_a_copy(file: Path, data: Path, fresh: Path) -> None:
    """Check that the data is what a copy of the source makes now."""
    assert verified(file, data)["differences"] == []
    copied(file, fresh)
    assert everything(data) == everything(fresh)


def said(lines: IO[bytes]) -> str:
    """The number of rows in the next line about the lag. Raises AssertionError at the end."""
    for line in lines:
        if found := re.search(
            rb"looked at ([\d,]+) changed rows: [\d.]+ s behind, at binlog", line
        ):
            return found[1].decode()
    raise AssertionError("the follower has ended")


def killed_at(
    last: int | str,
    file: Path,
    data: Path,
    *words: str,
    module: str = "tests.migration.killed_copy",
) -> int:
    """Run a copy (or other words) that kills itself at a seam. Returns the number of its seams if
    it ended."""
    told = data.with_suffix(".seams")
    given = ("migrate", *(words or ("copy", "--json")), str(file))
    process = start(*given, data=data, before=(module, str(last), str(told)))
    _, error = process.communicate(timeout=SECONDS)
    if process.returncode == -signal.SIGKILL:
        return 0
    assert process.returncode == 0, error.decode()
    return int(told.read_text())


def killed_later(random: Random, *words: str, data: Path) -> None:
    """Begin a command, and kill it at any moment."""
    process = start("migrate", *words, data=data)
    time.sleep(random.uniform(0.5, 4))
    process.kill()
    process.communicate(timeout=SECONDS)
