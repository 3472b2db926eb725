"""Runs the tests of units, the executor and the schema on every other Python: `make pythons`.

    python -m tests.packaging.suites [VERSION ...] [options of pytest]

Each Python gets a copy of the checkout, with an environment and compiled modules of its own.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.packaging.builds import NOT_SOURCES, ROOT
from tests.packaging.pythons import IN_MAVEN, OTHERS, interpreter

FOLDERS = ("unit", "stores", "processes", "execution", "schema")  # without real servers
TESTS = tuple(f"tests/{folder}" for folder in FOLDERS)
OPTIONS = ("-q", "-n", "auto", "-p", "no:cacheprovider")


def suite(version: str, options: list[str]) -> int:
    """Run the tests on a Python; pytest's exit status."""
    python = interpreter(version)
    with tempfile.TemporaryDirectory(prefix=f"pinway-python-{version}-") as folder:
        copy = Path(folder) / "pinway"
        shutil.copytree(ROOT, copy, ignore=NOT_SOURCES)
        command = (python, "bootstrap.py", "test", *OPTIONS, *TESTS, *options)
        return subprocess.run(command, cwd=copy, check=False).returncode


def main(arguments: list[str]) -> int:
    named = [word for word in arguments if re.fullmatch(r"3\.\d+", word)]
    options = [word for word in arguments if word not in named]
    if unknown := set(named) - set(IN_MAVEN):
        print(f"Pinway runs on Python {', '.join(IN_MAVEN)}, and not on {', '.join(unknown)}.")
        return 2
    ended = {}
    for version in named or OTHERS:
        started = time.monotonic()
        print(f"\nPython {version}\n", flush=True)
        status = suite(version, options)
        ended[version] = status
        told = "ok" if status == 0 else f"FAILED with status {status}"
        print(f"Python {version}: {told}, in {time.monotonic() - started:.0f} s", flush=True)
    print("; ".join(f"Python {v}: {'FAILED' if ended[v] else 'ok'}" for v in ended))
    return max(ended.values())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
