"""A wheel, built from the source distribution, runs Pinway in an empty directory."""

import re
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.packaging.attempts import attempt
from tests.packaging.builds import ROOT, environment


def test_the_source_distribution_holds_what_a_build_reads(source: Path) -> None:
    with tarfile.open(source) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    needed = {
        str(path.relative_to(ROOT))
        for folder in ("gateway", "loaders")
        for path in (ROOT / folder).rglob("*.p[xy][dx]")
        if "node_modules" not in path.parts
    }
    assert needed | {"setup.py", "pyproject.toml", "LICENSE"} <= held
    assert not {name for name in held if name.endswith(".so")}


@pytest.mark.parametrize("kind", ["compiled", pytest.param("plain", marks=pytest.mark.nightly)])
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
    assert not [name for name in held if re.match(r"(tests|bench|build)/", name)]
    for folder in ("gateway/static", "deploy/hbase"):
        assert files(folder) <= set(held)


def files(folder: str) -> set[str]:
    """The files of a folder that are read at run time."""
    return {
        str(path.relative_to(ROOT))
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
        and not {"lib", "target"} & set(path.parts)
        and path.suffix not in {".py", ".pyc"}
        and path.name not in {"Dockerfile", ".dockerignore"}
    }
