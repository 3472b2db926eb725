"""Builds the distributions in dist/ and tries them on every Python of this machine: `make dist`.

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

from tests.packaging.builds import ROOT, run, sdist, wheel
from tests.serving import serving

MINORS = range(11, 15)  # of Python 3, as bootstrap.py has them
HOME = "{ homeFeed(first: 3) { edges { node { image { url } } } } }"


def pythons() -> dict[str, str]:
    """The interpreters that Pinway supports, by version, from PATH and from pyenv."""
    places = [shutil.which(f"python3.{minor}") for minor in MINORS]
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    places += [str(path) for path in sorted(root.glob("versions/3.*/bin/python"))]
    found: dict[str, str] = {}
    for place in filter(None, places):
        version = subprocess.run(
            [place, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=False,  # a version manager's shim may fail
        ).stdout.strip()
        if version in {f"3.{minor}" for minor in MINORS}:
            found.setdefault(version, place)
    return found


def attempt(python: str, source: Path, folder: Path, *, compiled: bool) -> str:
    """Install the source distribution and run it. Returns "ok" or an error."""
    run(python, "-m", "venv", str(folder / "environment"))
    own = str(folder / "environment" / "bin" / "python")
    pip = (own, "-m", "pip", "--disable-pip-version-check", "-q", "install")
    subprocess.run(
        [*pip, str(source)],
        check=True,
        env={**os.environ, "PINWAY_COMPILED": "1" if compiled else "0"},
    )
    code = "import gateway.serving.protocol, gateway.requests as r; print(r.__file__)"
    taken = run(own, "-c", code, cwd=folder).strip()
    assert taken.endswith(".so") is compiled, taken
    empty = folder / "empty"
    empty.mkdir()
    with serving(folder / "data", python=own, cwd=empty) as served:
        answer = served.ask(HOME)
        assert "errors" not in answer, answer
        assert len(answer["data"]["homeFeed"]["edges"]) == 3
        assert served.stop() == 0
    return "ok"


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
        found = pythons()
        for minor in MINORS:
            if f"3.{minor}" not in found:
                print(f"Python 3.{minor}: not on this machine", flush=True)
        for version, python in sorted(found.items(), key=lambda pair: int(pair[0][2:])):
            for compiled in (True, False):
                place = folder / f"{version}-{compiled}"
                place.mkdir()
                try:
                    outcome = attempt(python, source, place, compiled=compiled)
                except (AssertionError, subprocess.SubprocessError) as error:
                    outcome = "FAILED: " + re.sub(r"\s+", " ", str(error))[-600:]
                    failed += 1
                how = "compiled" if compiled else "plain"
                print(f"Python {version}, {how}: {outcome}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
