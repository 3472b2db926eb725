"""Lanes: the tests that share a worker when several workers run the suite, and the order in which
lanes begin.

A file's tests share its fixtures, so they stay on one worker. All tests of the real servers stay on
one worker, so that the servers start once. The same is true for all tests of pairs of MariaDB
servers, and for all tests with Node, so that a folder's packages are installed once. Slow files
come first, so that no worker ends much later than the others.
"""

import os
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

WORKERS = (os.cpu_count() or 1) + 1  # the worker with the real servers mostly waits
TESTS = Path(__file__).parent
ON_SERVERS = (
    "contract",
    "drills",
    "real",
    "run/test_documented_commands.py",
    "run/test_workers.py",
)
WITH_NODE = ("outside",)
ON_PAIRS = ("replication",)
LONG = (
    *(
        "outside",
        "packaging",
        "faults",
        "execution/test_differential.py",
        "importing",
        "replication",
    ),
    *("stack", "execution", "security", "http", "run"),
)


def lane(path: Path) -> str:
    """The name of the worker's lane for the tests of a file."""
    name = path.relative_to(TESTS).as_posix()
    if name.startswith(WITH_NODE):
        return "node"
    if name.startswith(ON_PAIRS):
        return "pairs"
    return "servers" if name.startswith(ON_SERVERS) else name


def rank(path: Path) -> int:
    """The place of a file's lane in the order, from 0."""
    name = path.relative_to(TESTS).as_posix()
    if name.startswith(ON_SERVERS):
        return 0
    return next((n for n, start in enumerate(LONG, 1) if name.startswith(start)), len(LONG) + 1)


def sort(items: list[pytest.Item]) -> None:
    """Sort the tests by the rank of their file."""
    items.sort(key=lambda item: rank(item.path))


class Lanes(LoadScopeScheduling):
    """Gives each lane to one worker. The groups of xdist 3.8 (`loadgroup`) need an attribute that
    tests of pytest 9.2 do not have."""

    def _split_scope(self, nodeid: str) -> str:
        return lane(TESTS.parent / nodeid.partition("::")[0])
