"""A wheel, built from the source distribution, runs Pinway in an empty directory."""

import re
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.packaging.attempts import attempt, attempt_workers
from tests.packaging.builds import ROOT, environment, install_hashed, run

JAVA = ("deploy/hbase", "deploy/opensearch")
FOREIGN = Path(__file__).with_name("foreign.txt")
FIND = "from importlib.util import find_spec as find; print(find('gateway'), find('loaders'))"
USE_FOREIGN = "import schema; print(schema.Schema({'answer': int}).validate({'answer': 42}))"


def test_the_source_distribution_holds_what_a_build_reads(source: Path) -> None:
    with tarfile.open(source) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    needed = {
        str(path.relative_to(ROOT))
        for folder in ("gateway", "loaders", "datasources")
        for path in (ROOT / folder).rglob("*.p[xy][dx]")
        if "node_modules" not in path.parts
    }
    assert needed | {"setup.py", "pyproject.toml", "LICENSE"} <= held
    assert not {name for name in held if name.endswith(".so")}


@pytest.mark.nightly  # the next test but one runs it beside another package
@pytest.mark.parametrize("kind", ["compiled", "plain"])
def test_a_wheel_runs_in_an_empty_directory(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str
) -> None:
    python = environment(tmp_path / "environment", request.getfixturevalue(kind))
    attempt(python, tmp_path, compiled=kind == "compiled")


@pytest.mark.parametrize("kind", ["compiled", "plain"])
def test_a_wheel_holds_what_runs_and_nothing_else(
    request: pytest.FixtureRequest, kind: str
) -> None:
    made: Path = request.getfixturevalue(kind)
    assert ("py3-none-any" in made.name) is (kind == "plain")
    with zipfile.ZipFile(made) as archive:
        held = archive.namelist()
    tops = {name.partition("/")[0] for name in held}
    assert tops == {"pinway", f"{made.name.partition('-py3-')[0].partition('-cp')[0]}.dist-info"}
    assert not [name for name in held if re.match(r"pinway/(tests|bench|build|pinway)/", name)]
    for folder in ("gateway/static", "gateway/demo/files", "schema", *JAVA):
        assert {f"pinway/{name}" for name in files(folder)} <= set(held)


def test_a_wheel_runs_beside_another_package_of_the_name_schema(
    compiled: Path, tmp_path: Path
) -> None:
    python = environment(tmp_path / "environment", compiled)
    install_hashed(FOREIGN, python)
    found = run(str(python), "-I", "-c", FIND)
    assert found == "None None\n"  # Pinway's packages are there for its commands alone
    attempt(python, tmp_path, compiled=True)
    attempt_workers(python, tmp_path)
    assert run(str(python.with_name("pinway")), "--help").startswith("Usage: pinway")
    assert run(str(python), "-I", "-c", USE_FOREIGN) == "{'answer': 42}\n"


def files(folder: str) -> set[str]:
    """The files of a folder that are read at run time."""
    return {
        str(path.relative_to(ROOT))
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
        and not {"home", "lib", "target"} & set(path.relative_to(ROOT).parts)
        and path.suffix not in {".py", ".pyc"}
        and path.name not in {"Dockerfile", ".dockerignore"}
    }
