"""The wheels run Pinway in an empty directory on every supported Python beside the suite's own:
`make test-all`.

A Python that this machine lacks comes from Maven (pythons.py). Where it can't be had, its tests
fail and say so. `make pythons` runs the unit tests and the executor's tests on these Pythons.
"""

from pathlib import Path

import pytest

from checkout.environment import NEWEST, OLDEST
from tests.packaging.attempts import attempt
from tests.packaging.builds import install, locked_environment, wheel
from tests.packaging.pythons import IN_MAVEN, OTHERS, interpreter


@pytest.fixture(scope="module", params=OTHERS)
def python(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("environment")
    return locked_environment(folder, interpreter(request.param))


def test_the_pythons_are_those_that_a_checkout_takes() -> None:
    minors = range(OLDEST[1], NEWEST[1] + 1)
    assert list(IN_MAVEN) == [f"3.{minor}" for minor in minors]


@pytest.mark.nightly
def test_the_wheel_without_compiled_code_runs(python: Path, plain: Path, tmp_path: Path) -> None:
    install(plain, python)
    attempt(python, tmp_path, compiled=False)


@pytest.mark.nightly
def test_a_wheel_that_the_python_compiled_runs(python: Path, source: Path, tmp_path: Path) -> None:
    (tmp_path / "wheel").mkdir()
    install(wheel(source, tmp_path / "wheel", compiled=True, python=python), python)
    attempt(python, tmp_path, compiled=True)
