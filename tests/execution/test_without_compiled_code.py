"""Without compiled modules, the executor gives the same results."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.execution.test_differential import CASES
from tests.scale import seed

HERE = Path(__file__).resolve().parents[2]
UNIT = "tests/unit/gateway/execution"
UNITS = ("again", "bulk", "calls", "coroutines", "large", "loads", "nulls", "values")
CONTEXTS = "tests/execution/test_context_variables.py"


def without(*arguments: str) -> None:
    """Run a Python module without compiled modules. Fails if it fails."""
    ended = subprocess.run(
        [sys.executable, *("-W", "ignore", "-m"), *arguments],
        cwd=HERE,
        env={**os.environ, "PINWAY_COMPILED": "0"},
        capture_output=True,
        text=True,
        timeout=1100,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-1000:]


@pytest.mark.nightly
@pytest.mark.parametrize(
    "tests",
    [
        [*(f"{UNIT}/test_{name}.py" for name in UNITS), "tests/unit/loaders", CONTEXTS],
        ["tests/execution/test_concurrency.py", "tests/execution/test_fairness.py"],
    ],
    ids=["units", "turns"],
)
def test_the_executor_tests_pass_without_compiled_code(tests: list[str]) -> None:
    without("pytest", "-q", "-p", "no:cacheprovider", *tests)


def test_the_engine_answers_as_graphql_core_does() -> None:
    chosen = ("--cases", str(CASES), "--seed", seed("fixed-3"))
    without("tests.execution.differential", *chosen)


def test_no_compiled_module_is_imported() -> None:
    code = (
        "import gateway.server.protocol, sys\n"
        "import datasources.memcached.items, datasources.mysql.result_sets\n"
        "own = ('gateway.', 'loaders', 'datasources.')\n"
        "print(*(name for name, module in sys.modules.items() if name.startswith(own)"
        " and (module.__file__ or '').endswith('.so')))"
    )
    for compiled in ("0", "1"):
        found = subprocess.run(
            [sys.executable, "-c", code],
            cwd=HERE,
            env={**os.environ, "PINWAY_COMPILED": compiled},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        assert set(found) == (built() if compiled == "1" else set())


def built() -> set[str]:
    """Returns the names of all modules that setup.py compiles."""
    return {
        ".".join(path.relative_to(HERE).with_suffix("").parts)
        for folder in ("gateway", "loaders", "datasources")
        for path in (HERE / folder).rglob("*.p[xy][dx]")
        if path.with_suffix(".py").exists() or path.with_suffix(".pyx").exists()
    }
