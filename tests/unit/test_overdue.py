"""A test whose time is over ends, and nothing of it goes on under later tests."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONFTEST = """
import pytest
from tests.overdue import pytest_pyfunc_call

@pytest.fixture(scope="session")
def anyio_backend():
    return ("asyncio", {})

@pytest.fixture(scope="session")
async def shared_loop():
    yield
"""
TESTS = """
import asyncio, gc
import pytest

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("shared_loop")]
steps = []

@pytest.mark.timeout(0.2)
async def test_that_hangs():
    try:
        await asyncio.sleep(0.4)
        steps.append("went on")
    finally:
        steps.append("ended")
        raise KeyError("of the test that hangs")

@pytest.mark.timeout(0.2)
async def test_that_hangs_in_its_end():
    try:
        await asyncio.sleep(10)
    finally:
        await asyncio.sleep(0.1)
        steps.append("ended slowly")

async def test_that_comes_later():
    assert steps == ["ended", "ended slowly"]
    await asyncio.sleep(0.5)
    gc.collect()
    await asyncio.sleep(0)

async def test_that_fails():
    pytest.fail("as it should")
"""


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
    assert names == ["test_that_hangs", "test_that_hangs_in_its_end", "test_that_fails"], run.stdout
