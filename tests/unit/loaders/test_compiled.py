"""Compiled modules are used only while their sources are unchanged."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from loaders.compiled import ROOT, digest, is_stale


@pytest.mark.parametrize(
    "name", ["levels/execution.py", "levels/execution.pxd", "levels/json_writer.pyx"]
)
def test_a_source_that_changes_after_compiling_is_noticed(name: str, tmp_path: Path) -> None:
    for folder in ("gateway", "loaders", "datasources"):
        for source in (ROOT / folder).rglob("*.p*"):
            copy = tmp_path / source.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(source.read_bytes())
    assert not is_stale(tmp_path), "an installed package has no digest"
    (tmp_path / "loaders" / "compiled.digest").write_text(digest(tmp_path))
    assert not is_stale(tmp_path)
    with (tmp_path / "gateway" / "execution" / name).open("a") as file:
        file.write("# changed\n")
    assert is_stale(tmp_path)


def test_setup_computes_the_digest_without_the_packages_that_pinway_needs() -> None:
    code = (
        "from pathlib import Path; from runpy import run_path; "
        "print(run_path('loaders/digest.py')['digest'](Path()))"
    )
    alone = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    assert alone.stdout.split() == [digest(ROOT)], alone.stderr


def test_a_process_that_began_with_the_sources_stays_with_them(tmp_path: Path) -> None:
    folder = tmp_path / "loaders"
    shutil.copytree(ROOT / "loaders", folder, ignore=shutil.ignore_patterns("*.so", "*.digest"))
    (folder / "late.py").write_text("text = 'of the source'\n")
    code = (
        "import loaders.compiled, pathlib, sys\n"
        "from importlib.machinery import EXTENSION_SUFFIXES as ends\n"
        "pathlib.Path(sys.argv[1], f'late{ends[0]}').write_bytes(b'not a library')\n"
        "import loaders.late; print(loaders.late.text)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, folder],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "of the source\n", done.stderr
