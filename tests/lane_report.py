"""Tells `make test` how the tests of one lane go: a plugin of pytest.

`--lane NAME` runs only the lane's tests. `--tell FD` writes a line of JSON to a file descriptor
when a test fails, and for each test that has ended.
"""

import json
import os
import resource
import time
from collections.abc import Generator
from typing import Any

import pytest

from tests import forked, lanes


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("lanes")
    group.addoption("--lane", choices=lanes.LANES, help="run only the tests of this lane")
    group.addoption("--tell", type=int, metavar="FD", help="tell here how the tests go")


def pytest_configure(config: pytest.Config) -> None:
    lane = config.getoption("--lane")
    if lane is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, lanes.processors_of(lane, os.sched_getaffinity(0)))
    told = config.getoption("--tell")
    if told is not None:
        os.set_inheritable(told, False)  # its end is the end of this process
        config.pluginmanager.register(Teller(told))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wanted = config.getoption("--lane")
    if wanted is None:
        return
    chosen = [item for item in items if lanes.lane_of(item) == wanted]
    known = set(chosen)
    config.hook.pytest_deselected(items=[item for item in items if item not in known])
    # HBase takes processor time while it is idle, so it starts as late as possible.
    items[:] = sorted(chosen, key=lambda item: "clusters" in lanes.parts_of(item))


def processor_seconds() -> float:
    """The processor time of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    own = sum(usage.ru_utime + usage.ru_stime for usage in used)
    return own + forked.processor_seconds()


class Teller:
    """Writes to a pipe: {"failed": TEST, "why": TEXT} and {"ended": TEST, "how": "passed", ...}."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._how = "passed"

    def _report(self, **what: Any) -> None:
        os.write(self._pipe, json.dumps(what).encode() + b"\n")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        began, used, self._how = time.monotonic(), processor_seconds(), "passed"
        self._report(began=item.nodeid)
        try:
            return (yield)
        finally:
            self._report(
                ended=item.nodeid,
                how=self._how,
                seconds=time.monotonic() - began,
                processor=processor_seconds() - used,
            )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._how = "failed"
            self._report(failed=report.nodeid, why=reason(report))
        elif report.skipped and self._how == "passed":
            self._how = "skipped"

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._report(failed=report.nodeid, why=reason(report))
            self._report(ended=report.nodeid, how="failed", seconds=0.0, processor=0.0)

    def pytest_sessionfinish(self) -> None:
        self._report(finished=True, processor=processor_seconds())


def reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """The line that says most about a failure."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash:
        return str(crash.message).partition("\n")[0][:200]
    return str(report.longrepr).strip().rpartition("\n")[2][:200]
