"""Finds an interpreter for each Python that Pinway supports.

Interpreters on PATH and in pyenv come first. For a version that the machine lacks, Maven downloads
`org.bytedeco:cpython`: CPython with its headers for Linux on x86-64, 25 MB in a few seconds.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path, PurePosixPath

from deploy.stack.install import tool
from tests.packaging.builds import ROOT, run

IN_MAVEN = {
    "3.11": "3.11.3-1.5.9",
    "3.12": "3.12.1-1.5.10",
    "3.13": "3.13.5-1.5.12",
    "3.14": "3.14.3-1.5.13",
}
"""Each Python that Pinway supports (`checkout`), and its version in Maven's repository."""
OWN = "{}.{}".format(*sys.version_info)
OTHERS = tuple(version for version in IN_MAVEN if version != OWN)
_FOLDER = ROOT / "build" / "pythons"
_PLATFORM = "linux-x86_64"


def interpreter(version: str) -> str:
    """The path of an interpreter. Raises AssertionError or StackError, which say why there is
    none."""
    return sys.executable if version == OWN else _of_this_machine(version) or _of_maven(version)


def _of_this_machine(version: str) -> str | None:
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    places = [
        shutil.which(f"python{version}"),
        *map(str, root.glob(f"versions/{version}.*/bin/python")),
    ]
    return next((place for place in places if place and _is(place, version)), None)


def _is(place: str, version: str) -> bool:
    """Whether an interpreter has this version and can make environments and compile. A version
    manager's command may refuse to run, and Debian's Python may lack both."""
    code = (
        "import ensurepip, os, sqlite3, ssl, sys, sysconfig, venv; "
        "print('%d.%d' % sys.version_info[:2], "
        "os.path.exists(os.path.join(sysconfig.get_path('include'), 'Python.h')))"
    )
    told = subprocess.run([place, "-c", code], capture_output=True, text=True, check=False)
    return told.stdout.split() == [version, "True"]


def _of_maven(version: str) -> str:
    machine = sysconfig.get_platform()
    assert machine == _PLATFORM.replace("_x86", "-x86"), (
        f"install Python {version}: this machine ({machine}) has none, and Maven's is for Linux"
    )
    folder = _FOLDER / version
    python = folder / "bin" / f"python{version}"
    _FOLDER.mkdir(parents=True, exist_ok=True)
    with (_FOLDER / f"{version}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not python.exists():
            fresh = _FOLDER / f"{version}.fresh"
            shutil.rmtree(fresh, ignore_errors=True)
            _unpack(_jar(IN_MAVEN[version], fresh), fresh)
            fresh.rename(folder)
    assert _is(str(python), version), f"Maven's Python {version} does not run here: {python}"
    return str(python)


def _jar(version: str, folder: Path) -> Path:
    artifact = f"org.bytedeco:cpython:{version}:jar:{_PLATFORM}"
    copy = ("-q", "-B", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={folder}")
    run(tool("mvn"), *copy, cwd=_FOLDER)
    [jar] = folder.glob("cpython-*.jar")
    return jar


def _unpack(jar: Path, folder: Path) -> None:
    top = f"org/bytedeco/cpython/{_PLATFORM}"
    with zipfile.ZipFile(jar) as archive:
        for entry in archive.infolist():
            path = PurePosixPath(entry.filename)
            if entry.is_dir() or not path.is_relative_to(top) or "test" in path.parts:
                continue
            target = folder / path.relative_to(top)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.read(entry))
            if target.parent.name == "bin":
                target.chmod(0o755)
    jar.unlink()
