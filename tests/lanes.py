"""Lanes: the groups of tests that `make test` runs side by side, each in a process of its own.

A lane's tests share a process, so they share the fixtures of a session: real servers, a gateway
with demo content, installed Node packages. They run one after the other. Long lanes stand first, so
that no lane ends much later than the others.
"""

from pathlib import Path

import pytest

from tests.servers import PARTS

TESTS = Path(__file__).parent
LANES: dict[str, tuple[str, ...]] = {
    "real": ("real", "run/test_documented_commands.py"),
    "clusters": ("contract", "faults", "run/test_live_workers.py", "run/test_workers.py"),
    "feeds": ("stores/feed_engine",),
    "outside": ("outside",),
    "migration": ("migration",),
    "back": ("migration/test_back.py",),
    "replication": ("replication",),
    "units": ("",),
    "faults": ("faults", "importing"),
    "execution": ("execution", "schema", "unit/gateway/execution"),
    "stores": ("contract", "stores"),
    "http": ("http", "telemetry"),
    "databases": ("contract", "faults", "migration"),
    "engines": ("contract", "stores"),
    "packaging": ("packaging", "stack", "unit/gateway/execution/test_collector.py"),
    "security": ("security",),
    "run": ("run",),
    "alone": ("drills",),
}
"""Each lane, and the folders and files of its tests, relative to `tests`. A file belongs to the
lane that names it most exactly."""
LAST = "alone"
"""The lane of the tests that judge the whole machine. It begins when all other lanes have ended."""
ON_ONE_STACK = frozenset({"real", "clusters", LAST})
"""Lanes that run one after the other, on the same servers, because HBase takes much
processor time to start. The servers start once, and run until the suite ends."""
ON_ONE_PROCESSOR = frozenset({"feeds"})
"""Lanes whose process stays on one processor. Its threads do little but hand work to each other: on
one processor, that takes an eighth less processor time."""
ON_SERVERS = {
    "databases": frozenset({"databases"}),
    "engines": frozenset({"engines"}),
    "clusters": frozenset(PARTS),
    "real": frozenset(PARTS),
    LAST: frozenset(PARTS),
}
"""The parts of the real servers that a lane's tests may start. Each lane starts its own; only
the lanes of ON_ONE_STACK share them. A test that uses servers is in a lane with as few parts as it
needs."""
_BACKENDS = {
    "mysql": "databases",
    "zookeeper": "databases",
    "redis": "caches",
    "memcached": "caches",
    "hbase": "clusters",
    "opensearch": "engines",
}
"""The parameter of a fixture that opens a store → the part of the real servers that it uses."""


def files(lane: str) -> list[Path]:
    """The files that may have tests of a lane."""
    return [path for path in sorted(TESTS.rglob("test_*.py")) if _may_hold(path, lane)]


def processors_of(lane: str, processors: set[int]) -> set[int]:
    """The processors, of the given, on which a lane's process runs."""
    return {max(processors)} if lane in ON_ONE_PROCESSOR else processors


def lane_of(item: pytest.Item) -> str:
    """The lane of a test. Raises UsageError for a test that its lane would not find."""
    lane = _lane(item)
    if not _may_hold(item.path, lane):
        raise pytest.UsageError(
            f"{item.path} has tests of the lane {lane!r}, which doesn't look there: "
            "name the file in tests/lanes.py"
        )
    return lane


def parts_of(item: pytest.Item) -> set[str]:
    """The parts of the real servers that a test uses."""
    used = {name for name in getattr(item, "fixturenames", ()) if name in PARTS}
    parameters = getattr(item, "callspec", None)
    for value in parameters.params.values() if parameters else ():
        if isinstance(value, str) and value in _BACKENDS:
            used.add(_BACKENDS[value])
    return used


def _lane(item: pytest.Item) -> str:
    parts = parts_of(item)
    if not parts:
        return _home(item.path)
    able = [lane for lane, started in ON_SERVERS.items() if parts <= started]
    return min(able, key=lambda lane: (len(ON_SERVERS[lane]), -_named(item.path, lane)))


def _home(path: Path) -> str:
    """The lane of a file's tests that use no real server."""
    return max((lane for lane in LANES if lane not in ON_SERVERS), key=lambda it: _named(path, it))


def _may_hold(path: Path, lane: str) -> bool:
    return _named(path, lane) >= 0 if lane in ON_SERVERS else _home(path) == lane


def _named(path: Path, lane: str) -> int:
    """How exactly a lane names a file: the length of the name; -1 if it does not name it."""
    file = path.relative_to(TESTS).as_posix()
    return max((len(name) for name in LANES[lane] if _is_below(file, name)), default=-1)


def _is_below(file: str, name: str) -> bool:
    return not name or file == name or file.startswith(f"{name}/")
