"""Builds the source distribution and wheels of the checkout, and environments that have a wheel.

A wheel without compiled code is built as on a machine without a C compiler. A wheel with compiled
code uses what the checkout's environment compiled: the modules for the same Python, and the C files
for another Python. These C files are compiled without optimization, which would take minutes.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

from checkout.packages import uv_environment
from tests.unpacking import unpack

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


def wheel(
    source: Path, folder: Path, *, compiled: bool, python: Path | str = sys.executable
) -> Path:
    """A wheel made in the folder from a source distribution, by a Python that has what a build
    needs. The folder must be new or empty."""
    with tarfile.open(source) as archive:
        unpack(archive, folder)
    (unpacked,) = (path for path in folder.iterdir() if path.is_dir())
    if compiled:
        _take_c_files(unpacked)
    if compiled and python == sys.executable:
        _take_modules(unpacked)
    _build(unpacked, WHEEL, folder, compiled=compiled, python=str(python))
    (made,) = folder.glob("pinway-*.whl")
    return made


def _take_c_files(unpacked: Path) -> None:
    """Copy the checkout's C files to where Cython writes its own. Cython skips C files that are
    newer than their sources."""
    for top in ("gateway", "loaders", "datasources"):
        shutil.copytree(ROOT / "build" / top, unpacked / "build" / top, copy_function=shutil.copy)


def _take_modules(unpacked: Path) -> None:
    """Copy the checkout's compiled modules to where setuptools builds them."""
    tag = f"{sysconfig.get_platform()}-{sys.implementation.cache_tag}"
    for top in ("gateway", "loaders", "datasources"):
        for built in (ROOT / top).rglob(f"*.{sys.implementation.cache_tag}-*.so"):
            copy = unpacked / "build" / f"lib.{tag}" / "pinway" / built.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(built, copy)


def _build(
    checkout: Path,
    code: str,
    folder: Path,
    *,
    compiled: bool = False,
    python: str = sys.executable,
) -> None:
    environment = {**os.environ, "PINWAY_COMPILED": "1" if compiled else "0"}
    if python != sys.executable:
        environment["CC"] = str(_quick_compiler(folder))
    run(python, "-c", code, str(folder), cwd=checkout, env=environment)


def _quick_compiler(folder: Path) -> Path:
    """A C compiler that ignores the optimization flags: it takes seconds, not a minute."""
    script = folder / "cc"
    script.write_text('#!/bin/sh\nexec cc "$@" -O0\n')
    script.chmod(0o755)
    return script


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


def locked_environment(folder: Path, python: str) -> Path:
    """The interpreter of a new virtual environment of a Python, with the packages that running and
    building Pinway need, from the registry (or from uv's cache)."""
    run(python, "-m", "venv", "--without-pip", str(folder))
    own = folder / "bin" / "python"
    install_hashed(ROOT / "requirements" / "run.lock", own)
    return own


def install(made: Path, python: Path) -> None:
    """Install a wheel in place of any other of Pinway. Raises AssertionError when a dependency is
    missing or has another version than the wheel asks for."""
    _uv("install", python, "--no-deps", "--reinstall", str(made))
    _uv("check", python)


def install_hashed(requirements: Path, python: Path) -> None:
    """Install packages that a file names with their hashes, from the registry."""
    _uv("install", python, "--no-deps", "--require-hashes", "-r", str(requirements))


def _uv(command: str, python: Path, *arguments: str) -> None:
    uv = str(Path(sys.executable).with_name("uv"))
    run(uv, "pip", command, "-q", "--python", str(python), *arguments, env=uv_environment())


def run(*command: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """The output of a command, which must succeed."""
    done = subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, timeout=1100, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout
