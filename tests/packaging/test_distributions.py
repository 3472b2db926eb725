"""A wheel, built from the source distribution, runs Pinway in an empty directory."""

import re
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.packaging.attempts import attempt
from tests.packaging.builds import ROOT, environment, sdist, wheel


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sdist(tmp_path_factory.mktemp("sdist"))


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


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "plain"])
def test_a_wheel_runs_in_an_empty_directory(source: Path, tmp_path: Path, compiled: bool) -> None:
    made = wheel(source, tmp_path, compiled=compiled)
    assert ("py3-none-any" in made.name) is not compiled
    with zipfile.ZipFile(made) as archive:
        held = archive.namelist()
    assert not [name for name in held if re.match(r"(tests|bench|build)/", name)]
    for folder in ("gateway/static", "deploy/hbase"):
        assert files(folder) <= set(held)
    python = environment(tmp_path / "environment", made)
    attempt(python, tmp_path, compiled=compiled)


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
