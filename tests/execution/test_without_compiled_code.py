"""Where there was no C compiler, all is as with one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.execution.test_differential import CASES

HERE = Path(__file__).resolve().parents[2]
UNIT = "tests/unit/gateway/execution"


def without(*arguments: str) -> None:
    """Run a module of Python's so; it has to succeed."""
    ended = subprocess.run(
        [sys.executable, *("-W", "ignore", "-m"), *arguments],
        cwd=HERE,
        env={**os.environ, "PINWAY_COMPILED": "0"},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-1000:]


@pytest.mark.parametrize(
    "tests",
    [
        f"{UNIT}/test_again.py {UNIT}/test_bulk.py {UNIT}/test_calls.py {UNIT}/test_coroutines.py",
        f"{UNIT}/test_large.py {UNIT}/test_loads.py {UNIT}/test_nulls.py tests/unit/loaders",
        "tests/execution/test_concurrency.py tests/execution/test_fairness.py",
    ],
)
def test_the_same_tests_hold(tests: str) -> None:
    without("pytest", "-q", "-p", "no:cacheprovider", *tests.split())


def test_the_engine_answers_as_graphql_core_does() -> None:
    without("tests.execution.differential", "--cases", str(CASES // 4), "--seed", "fixed-3")


def test_nothing_compiled_is_used_then() -> None:
    code = "import gateway.http, sys; print(*sorted(sys.modules))"
    for compiled in ("0", "1"):
        modules = subprocess.run(
            [sys.executable, "-c", code],
            cwd=HERE,
            env={**os.environ, "PINWAY_COMPILED": compiled},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        found = {"gateway.execution.driven", "gateway.execution.written", "loaders.promised"}
        assert found & set(modules) == (found if compiled == "1" else set())
