"""Builds the distributions into dist/ and tries them on every supported Python: `make dist`.

Each Python that Pinway supports gets two new environments with all dependencies from the registry:
one with a wheel compiled there, one without compiled code. In each, `pinway run` starts in an empty
directory and answers the home feed.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from deploy.stack.errors import StackError
from tests.packaging.attempts import attempt
from tests.packaging.builds import ROOT, run, sdist, wheel
from tests.packaging.pythons import IN_MAVEN, interpreter


def install_and_attempt(version: str, source: Path, folder: Path, *, compiled: bool) -> None:
    """Install the source distribution with its dependencies, and run it. Raises AssertionError,
    StackError or SubprocessError."""
    python = interpreter(version)
    run(python, "-m", "venv", str(folder / "environment"))
    own = str(folder / "environment" / "bin" / "python")
    pip = (own, "-m", "pip", "--disable-pip-version-check", "-q", "install")
    subprocess.run(
        [*pip, str(source)],
        check=True,
        env={**os.environ, "PINWAY_COMPILED": "1" if compiled else "0"},
    )
    attempt(own, folder, compiled=compiled)


def main() -> None:
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "source").mkdir()
        source = sdist(folder / "source")
        (folder / "wheel").mkdir()
        dist.mkdir()
        for made in (source, wheel(source, folder / "wheel", compiled=True)):
            print(shutil.copy(made, dist), flush=True)
        for version in IN_MAVEN:
            for compiled in (True, False):
                place = folder / f"{version}-{compiled}"
                place.mkdir()
                try:
                    install_and_attempt(version, source, place, compiled=compiled)
                    outcome = "ok"
                except (AssertionError, StackError, subprocess.SubprocessError) as error:
                    outcome = "FAILED: " + re.sub(r"\s+", " ", str(error))[-600:]
                    failed += 1
                how = "compiled" if compiled else "plain"
                print(f"Python {version}, {how}: {outcome}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
