"""A test whose time is over ends, and nothing of it runs during later tests."""

import asyncio
import subprocess
import sys
from pathlib import Path

from tests.ended_tests import Ending

ROOT = Path(__file__).parents[2]
CONFTEST = """
import pytest
from tests.ended_tests import pytest_pyfunc_call

@pytest.fixture(scope="session")
def anyio_backend():
    return ("asyncio", {})

@pytest.fixture(scope="session")
async def shared_loop():
    yield
"""
TESTS = """
import asyncio, gc, signal
import pytest

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("shared_loop"), pytest.mark.timeout(60)]
steps = []
later = asyncio.Event()

def let_the_time_be_over_soon():
    signal.setitimer(signal.ITIMER_REAL, 0.1)  # the timer of pytest-timeout

async def test_that_hangs():
    try:
        let_the_time_be_over_soon()
        await later.wait()
        steps.append("went on")
    finally:
        steps.append("ended")
        raise KeyError("of the test that hangs")

async def test_that_hangs_in_its_end():
    try:
        let_the_time_be_over_soon()
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(0.1)
        steps.append("ended slowly")

async def test_that_comes_later():
    later.set()
    for _ in range(5):
        await asyncio.sleep(0)
    gc.collect()
    await asyncio.sleep(0)
    assert steps == ["ended", "ended slowly"]

async def test_that_fails():
    pytest.fail("as it should")

async def test_that_leaves_a_cancellation():
    asyncio.current_task().cancel()
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        pass
"""
FAILING = [
    *("test_that_hangs", "test_that_hangs_in_its_end", "test_that_fails"),
    "test_that_leaves_a_cancellation",
]


def test_a_test_whose_time_is_over_does_not_fail_a_later_one(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_hanging.py").write_text(TESTS)
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null")
    run = subprocess.run(
        (*command, "--rootdir", str(tmp_path), str(tmp_path)),
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    failed = [line.split()[1] for line in run.stdout.splitlines() if line.startswith("FAILED")]
    names = [line.rpartition("::")[2] for line in failed]
    assert names == FAILING, run.stdout


def test_a_test_whose_time_is_over_before_its_first_step_never_begins() -> None:
    begun = []

    async def test() -> None:
        begun.append(True)

    ending = Ending(test)
    ending.end()
    asyncio.run(ending.run({}))
    assert not begun
