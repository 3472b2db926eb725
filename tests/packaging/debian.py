"""Runs the unit tests and the executor's tests on Debian's newest Python, in a folder:

    python -m tests.packaging.debian FOLDER [options of pytest]

It is for a Python that this machine lacks. It needs root on Debian (debootstrap, mount). The folder
becomes the Debian release that has the Python, with a C compiler, because tests of compiled modules
import them. A second run continues with the existing folder.
"""

import argparse
import os
import shutil
import subprocess
from pathlib import Path

from tests.packaging.builds import NOT_SOURCES, ROOT

RELEASE = "sid"
PYTHON = "/opt/pinway/bin/python"
CERTIFICATES = Path("/etc/ssl/certs")


def make(root: Path) -> None:
    """Install Debian with its Python, and Pinway's locked packages."""
    if not (root / "usr/bin/python3").exists():
        packages = "--include=python3,python3-venv,ca-certificates"
        subprocess.run(
            ["debootstrap", "--variant=minbase", packages, RELEASE, str(root)], check=True
        )
    # Registries may be behind a certificate of this machine's own.
    # The root's own are links, which would lead to this machine's files from outside the root.
    shutil.rmtree(root / CERTIFICATES.relative_to("/"), ignore_errors=True)
    shutil.copytree(CERTIFICATES, root / CERTIFICATES.relative_to("/"))
    for name in ("resolv.conf", "hosts"):
        shutil.copy(f"/etc/{name}", root / "etc" / name)
    if not os.path.ismount(root / "proc"):
        subprocess.run(["mount", "-t", "proc", "proc", str(root / "proc")], check=True)
    if not (root / PYTHON[1:]).is_symlink():
        inside(root, "python3 -m venv /opt/pinway")
    shutil.copytree(ROOT, root / "src", ignore=NOT_SOURCES, dirs_exist_ok=True)
    inside(root, f"{PYTHON} -m pip install -q --require-hashes -r requirements/test.lock")


def inside(root: Path, line: str, **variables: str) -> int:
    """Run a command line in the sources' folder of the root."""
    environment = {**os.environ, **variables, "PATH": "/usr/sbin:/usr/bin", "HOME": "/root"}
    environment.pop("PIP_FIND_LINKS", None)
    (root / "src").mkdir(exist_ok=True)
    command = ["chroot", str(root), "sh", "-ec", f"cd /src; {line}"]
    return subprocess.run(command, env=environment, check=True).returncode


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.packaging.debian", description=__doc__)
    parser.add_argument("folder", type=Path)
    given, options = parser.parse_known_args()
    root = given.folder.resolve()
    try:
        make(root)
        packages = "gcc libc6-dev python3-dev"
        inside(root, "apt-get update -qq -o Acquire::Check-Valid-Until=false")
        inside(root, f"apt-get install -qq -y --no-install-recommends {packages}")
        install = f"{PYTHON} -m pip install -q --no-deps --no-build-isolation -e ."
        inside(root, install, PINWAY_COMPILED="0")
        # In place, as bootstrap.py does: tests that compile one module again start from it.
        inside(root, f"{PYTHON} setup.py -q build_ext --inplace")
        tests = "tests/unit tests/execution -m 'not alone' -p no:cacheprovider"
        inside(root, f"{PYTHON} -V; {PYTHON} -m pytest -q -n 2 {tests} {' '.join(options)}")
    finally:
        if os.path.ismount(root / "proc"):
            subprocess.run(["umount", str(root / "proc")], check=False)


if __name__ == "__main__":
    main()
