"""Builds the source distribution and wheels of the checkout, and environments that have a wheel.

A wheel without compiled code is built as on a machine without a C compiler. A wheel with compiled
code uses the modules that the checkout's environment compiled, because compiling them again takes a
minute.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
NOT_SOURCES = shutil.ignore_patterns(
    *(".*", "build", "dist", "node_modules", "__pycache__", "*.egg-info", "*.so", "target", "lib")
)
SDIST = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
WHEEL = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"


def sdist(folder: Path) -> Path:
    """The source distribution of a copy of the checkout, made in the folder."""
    copy = folder / "checkout"
    shutil.copytree(ROOT, copy, ignore=NOT_SOURCES)
    _build(copy, SDIST, folder)
    (made,) = folder.glob("pinway-*.tar.gz")
    return made


def wheel(source: Path, folder: Path, *, compiled: bool) -> Path:
    """A wheel made in the folder from a source distribution, for the Python that runs this."""
    with tarfile.open(source) as archive:
        archive.extractall(folder, filter="data")
    (unpacked,) = (path for path in folder.iterdir() if path.is_dir())
    if compiled:
        _take_compiled(unpacked)
    _build(unpacked, WHEEL, folder, compiled=compiled)
    (made,) = folder.glob("pinway-*.whl")
    return made


def _take_compiled(unpacked: Path) -> None:
    """Copy the checkout's C files and compiled modules to where Cython and setuptools create
    theirs: they skip files that are newer than their sources."""
    for top in ("gateway", "loaders"):
        shutil.copytree(ROOT / "build" / top, unpacked / "build" / top, copy_function=shutil.copy)
    tag = f"{sysconfig.get_platform()}-{sys.implementation.cache_tag}"
    for top in ("gateway", "loaders"):
        for built in (ROOT / top).rglob("*.so"):
            copy = unpacked / "build" / f"lib.{tag}" / built.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(built, copy)


def _build(checkout: Path, code: str, folder: Path, *, compiled: bool = False) -> None:
    run(
        *(sys.executable, "-c", code, str(folder)),
        cwd=checkout,
        env={**os.environ, "PINWAY_COMPILED": "1" if compiled else "0"},
    )


def environment(folder: Path, made: Path) -> Path:
    """The interpreter of a new virtual environment with the wheel, and with the dependencies of the
    present environment."""
    run(sys.executable, "-m", "venv", "--without-pip", str(folder))
    python = folder / "bin" / "python"
    run(
        *(sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"),
        *("--python", str(python), "install", "--no-deps", "--no-index", str(made)),
    )
    purelib = sysconfig.get_path("purelib")
    site = sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)})
    # As a folder of modules only: its .pth files, which point to the checkout, are not read.
    (Path(site) / "dependencies.pth").write_text(f"{purelib}\n")
    return python


def run(*command: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """The output of a command, which must succeed."""
    done = subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout
