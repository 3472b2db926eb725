"""The generated cases catch each deliberate fault in the engine."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.execution.differential import PER_WORLD
from tests.execution.faults import FAULTS, Fault
from tests.scale import nightly_unless

HERE = Path(__file__).resolve().parents[2]
CASES = 4_000
"""The maximum number of cases of a seed. Most faults are caught within a few hundred cases."""
SEEDS = ("e", "fault", "a", "c")
"""The seeds, in turn until one catches the fault."""
SOME = [
    pytest.param(
        fault,
        id=fault.name.replace(" ", "-"),
        marks=nightly_unless(number % 6 == 0),
    )
    for number, fault in enumerate(FAULTS)
]
"""The faults. `make test` tries every sixth, because each takes a copy of the package, and compiled
faults a compiler."""


@pytest.mark.parametrize("fault", SOME)
def test_the_differential_test_catches_each_fault(fault: Fault, tmp_path: Path) -> None:
    package = tmp_path / "gateway" / "execution"
    shutil.copytree(HERE / "gateway", tmp_path / "gateway", ignore=_not_python)
    fault.apply(package)
    path = package / fault.file
    if path.suffix == ".pyx" or fault.compiled:
        setup = (HERE / "setup.py").read_text()
        assert '"-O3"' in setup
        (tmp_path / "setup.py").write_text(setup.replace('"-O3"', '"-O0"'))
        for folder in ("build", "loaders"):  # only the faulty module is compiled again
            shutil.copytree(HERE / folder, tmp_path / folder)
        build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
        subprocess.run(build, cwd=tmp_path, capture_output=True, check=True)
    # The compiled form of a Python file does not have the fault.
    in_python = path.suffix == ".py" and path.with_suffix(".pxd").exists() and not fault.compiled
    known = [(*fault.caught_by, PER_WORLD)] if fault.caught_by else []
    for seed, first, cases in (*known, *((seed, 0, CASES) for seed in SEEDS)):
        ended = subprocess.run(
            [
                *(sys.executable, "-W", "ignore", "-m", "tests.execution.differential"),
                *("--cases", str(cases), "--seed", seed, "--first", str(first)),
                *(["--cut"] if fault.cut else []),
                *(["--slices", "1"] if fault.sliced else []),
            ],
            cwd=tmp_path,
            env={
                **os.environ,
                "PYTHONPATH": str(HERE),
                "PINWAY_COMPILED": "0" if in_python else "1",
            },
            capture_output=True,
            text=True,
            timeout=1100,
            check=False,
        )
        if ended.returncode != 0:
            break
    assert ended.returncode == 1, ended.stderr[-2000:]
    assert "1 failed" in ended.stdout, ended.stdout[-500:] + ended.stderr[-2000:]


def test_the_text_that_each_fault_replaces_is_in_the_source(tmp_path: Path) -> None:
    for number, fault in enumerate(FAULTS):
        path = tmp_path / str(number) / fault.file
        path.parent.mkdir(parents=True)
        shutil.copy(HERE / "gateway" / "execution" / fault.file, path)
        fault.apply(tmp_path / str(number))


def _not_python(folder: str, names: list[str]) -> list[str]:
    # The web pages with their packages take 200 MB a copy.
    return [
        name for name in names if name in ("static", "graphiql", "web", "files", "stores.tar.xz")
    ]
