"""Creates the environment in .venv and runs a command in it: the Makefile calls this script.

It runs with any Python from 3.6, with the standard library alone, and finds a Python that Pinway
supports. So this script uses old syntax only, and imports no other module of Pinway.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(ROOT, ".venv")
BIN = os.path.join(VENV, "bin")
STAMP = os.path.join(VENV, "pinway-installed.json")
OLDEST, NEWEST = (3, 11), (3, 14)
LEVELS = ("run", "test")  # requirements/NAME.lock; each holds all that the one before it holds
LOCKED_FROM = {
    level: [
        *("pyproject.toml", "requirements/build.in"),
        *(word for extra in extras for word in ("--extra", extra)),
    ]
    for level, extras in (
        ("run", ("servers", "telemetry")),
        ("test", ("servers", "telemetry", "dev")),
    )
}
CHECKS = (
    ["ruff", "format", "--check"],
    ["ruff", "check"],
    ["mypy"],
    ["pytest", "-q", "-n", "auto", "tests/unit"],
)
SILENCE = 15.0  # seconds
USAGE = """usage: python3 bootstrap.py COMMAND

  run [ARGUMENT ...]        install what running needs, then `pinway run`
  test [ARGUMENT ...]       install what testing needs, then the whole suite, or pytest with these
  check                     install what testing needs, then formatter, linter, types, unit tests
  exec NAME [ARGUMENT ...]  install what testing needs, then a command of .venv/bin
  install [run|test]        install only
  lock [--upgrade]          write requirements/*.lock anew"""


class Failure(Exception):
    """An error for the user, in one line."""


def say(line: str) -> None:
    print(f"pinway: {line}", file=sys.stderr, flush=True)


def run_told(command: list, told: str, silence: float) -> int:
    """Run a command that prints nothing, and say after each `silence` seconds that it is still
    running. Returns its status."""
    started = time.time()
    process = subprocess.Popen(command, cwd=ROOT)
    while True:
        try:
            return process.wait(silence)
        except subprocess.TimeoutExpired:
            say(f"{told}, after {time.time() - started:.0f} s")
        except BaseException:
            process.kill()
            process.wait()
            raise


def lock_file(level: str) -> str:
    return f"requirements/{level}.lock"


def dotted(version: tuple) -> str:
    return f"{version[0]}.{version[1]}"


def command_of(name: str) -> str:
    """The path of a command of the environment."""
    return os.path.join(BIN, name)


def output_of(*command: str):
    """The command's output, or None if it can't be run or fails."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return None
    return done.stdout.decode() if done.returncode == 0 else None


def version_of(python: str):
    """The (major, minor) of an interpreter, or None if it doesn't run."""
    text = output_of(python, "-c", "import sys; print(*sys.version_info[:2])")
    return tuple(int(part) for part in text.split()) if text else None


def is_supported(python: str) -> bool:
    version = version_of(python)
    return version is not None and OLDEST <= version <= NEWEST


def find_python() -> str:
    """The interpreter that runs this script if it is new enough, else the newest on the path that
    is.

    A name on the path may be a version manager's shim that refuses to run, so each name is tried.
    """
    minors = range(NEWEST[1], OLDEST[1] - 1, -1)
    for name in [sys.executable, *(f"python3.{minor}" for minor in minors), "python3"]:
        path = shutil.which(name) if name else None
        if path and is_supported(path):
            return path
    raise Failure(
        f"needs Python {dotted(OLDEST)} to {dotted(NEWEST)}, and this is "
        f"{dotted(sys.version_info)}: install one of them, so that python{dotted(NEWEST)} or the "
        "like is on the path, and run this again"
    )


def ensure_venv_module(python: str) -> None:
    """Debian has venv in a separate package: install it as root, else say which package it is."""
    if output_of(python, "-c", "import ensurepip, venv") is not None:
        return
    package = f"python{dotted(version_of(python))}-venv"
    if not shutil.which("apt-get"):
        raise Failure(f"{python} has no venv and ensurepip: install them and run this again")
    if os.geteuid() != 0:
        raise Failure(
            f"{package} is missing: run `sudo apt-get install {package}`, then this again"
        )
    if not apt_installs(package):
        raise Failure(f"apt-get could not install {package}: see above")


def apt_installs(*packages: str) -> bool:
    say("installing the Debian packages " + " ".join(packages))
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    for command in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
        done = subprocess.run(
            ["apt-get", "-qq", *command], env=environment, stdout=subprocess.DEVNULL
        )
    return done.returncode == 0


PIP_SETTINGS = {
    "PIP_INDEX_URL": "UV_INDEX_URL",
    "PIP_EXTRA_INDEX_URL": "UV_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS": "UV_FIND_LINKS",
    "PIP_CERT": "SSL_CERT_FILE",
}
"""Settings of pip in the environment, and uv's names for them."""


def pinned(package: str, text: str) -> str:
    """The lines of a lock file that pin one package, with its hashes."""
    found = re.search(rf"^{re.escape(package)}==.*(?:\n    --hash=.*)+", text, re.MULTILINE)
    return found.group(0) + "\n" if found else ""


def ensure_uv() -> bool:
    """Install the locked uv. Returns whether it is available: some machines have no wheel of it."""
    with open(os.path.join(ROOT, lock_file("test"))) as file:
        lines = pinned("uv", file.read())
    path = os.path.join(VENV, "uv.txt")
    with open(path, "w") as file:
        file.write(lines)
    pip = [command_of("python"), "-m", "pip", "--disable-pip-version-check", "--no-input", "-q"]
    options = ["install", "--require-hashes", "--only-binary", ":all:", "-r", path]
    return subprocess.run([*pip, *options], stderr=subprocess.DEVNULL).returncode == 0


def uv_environment() -> dict:
    """The environment's variables, with uv's names for pip's settings."""
    environment = dict(os.environ)
    for name, own in PIP_SETTINGS.items():
        if name in environment:
            environment.setdefault(own, environment[name])
    return environment


def install_locked(level: str) -> bool:
    """Install a lock file with uv, in a few seconds and with its progress shown. If that fails, use
    pip, which reads its own configuration (an index, a proxy) and takes minutes."""
    if ensure_uv():
        uv = [command_of("uv"), "pip", "install", "--python", command_of("python")]
        options = ["--require-hashes", "-r", lock_file(level)]
        if subprocess.run([*uv, *options], cwd=ROOT, env=uv_environment()).returncode == 0:
            return True
    say("uv can't install them here: pip does, which takes some minutes")
    pip = [command_of("python"), "-m", "pip", "--disable-pip-version-check", "--no-input"]
    options = ["install", "--require-hashes", "-r", lock_file(level)]
    return subprocess.run([*pip, *options], cwd=ROOT).returncode == 0


def ensure_compiler() -> None:
    """Install what is missing for compiling, as root: Debian has Python.h in a separate package.
    Otherwise setup.py skips the compilation."""
    code = (
        "import os, sysconfig; print(sysconfig.get_config_var('CC') or 'cc'); "
        "print(os.path.exists(os.path.join(sysconfig.get_path('include'), 'Python.h')))"
    )
    found = (output_of(command_of("python"), "-c", code) or "cc\nFalse").split("\n")
    there = shutil.which(found[0].split()[0]) and found[1] == "True"
    if not there and shutil.which("apt-get") and os.geteuid() == 0:
        version = dotted(version_of(command_of("python")))
        apt_installs("gcc", "libc6-dev", f"python{version}-dev")


def installed() -> dict:
    """The state of the installation: {"root": FOLDER, LEVEL: DIGEST}."""
    try:
        with open(STAMP) as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def ensure_venv() -> None:
    """Create .venv, or create it again if it can't be used.

    Its interpreter may be gone or too old, and its commands contain the folder in which they were
    created.
    """
    python = command_of("python")
    was_moved = installed().get("root", ROOT) != ROOT
    if not was_moved and is_supported(python) and output_of(python, "-m", "pip", "--version"):
        return
    source = find_python()
    ensure_venv_module(source)
    say(f"making .venv with Python {dotted(version_of(source))}")
    if subprocess.run([source, "-m", "venv", "--clear", VENV]).returncode != 0:
        raise Failure(f"{source} could not make {VENV}: see above")


def code(ending: str) -> list:
    """The files of gateway and loaders with this ending."""
    return [
        os.path.join(folder, name)
        for top in ("gateway", "loaders")
        for folder, _, names in os.walk(os.path.join(ROOT, top))
        for name in names
        if name.endswith(ending)
    ]


def compiled() -> list:
    """The files that are compiled, and the files that say how (see setup.py)."""
    declared = code(".pxd")
    python = [path[: -len("pxd")] + "py" for path in declared]
    return sorted([*declared, *code(".pyx"), *filter(os.path.exists, python)])


def digest(*paths: str) -> str:
    """A digest of the content of these files."""
    text = hashlib.sha256()
    for path in paths:
        with open(os.path.join(ROOT, path), "rb") as file:
            text.update(file.read())
    return text.hexdigest()


def digest_of_level(level: str) -> str:
    """A digest of everything that decides what is installed at a level."""
    return digest(lock_file(level), "pyproject.toml", "setup.py")


def ensure_compiled() -> None:
    """Compile the modules that changed since they were compiled."""
    stamps = installed()
    now = digest(*compiled())
    if stamps.get("compiled") != now:
        if "compiled" in stamps:
            say("compiling what was changed")
        stems = {os.path.splitext(path)[0] for path in compiled()}
        for path in code(".so"):
            if path[: path.index(".", path.rindex(os.sep))] not in stems:
                os.remove(path)  # otherwise Python would use it instead of the source
        build = [command_of("python"), "setup.py", "-q", "build_ext", "--inplace"]
        if run_told(build, "still compiling", SILENCE) != 0:
            raise Failure("could not compile gateway and loaders: see above")
        write_stamps(stamps, compiled=now)


def write_stamps(stamps: dict, **more: str) -> None:
    with open(STAMP, "w") as file:
        json.dump({**stamps, **more}, file)


def ensure_installed(level: str) -> None:
    """Install at least a level in .venv. Returns quickly if it is already installed."""
    stamps = installed()
    enough = LEVELS[LEVELS.index(level) :]
    is_there = any(stamps.get(name) == digest_of_level(name) for name in enough)
    if is_there and stamps.get("root") == ROOT and is_supported(command_of("python")):
        ensure_compiled()
        return
    started = time.time()
    ensure_venv()
    if os.path.exists(STAMP):
        os.remove(STAMP)
    say(f"installing the locked packages of {lock_file(level)} into .venv")
    pip = [command_of("python"), "-m", "pip", "--disable-pip-version-check", "--no-input", "-q"]
    if level == "test":
        ensure_compiler()
    for path in code(".so"):
        os.remove(path)  # if the build fails, no compiled file is better than an old one
    checkout = ["--no-deps", "--no-build-isolation", "--editable", "."]
    later = {**os.environ, "PINWAY_COMPILED": "0"}  # ensure_compiled does it, on all cores
    if (
        not install_locked(level)
        or subprocess.run([*pip, "install", *checkout], cwd=ROOT, env=later).returncode != 0
    ):
        raise Failure("could not install the packages: see above; run this again to go on")
    write_stamps({"root": ROOT, level: digest_of_level(level)})
    say("compiling the modules that do most of the work: a minute or two")
    ensure_compiled()
    if output_of(command_of("python"), "-c", "import gateway.execution.tasks.stepped_in_c") is None:
        say(
            "requests are answered without compiled code, which is slower: there is no C compiler, "
            "or no Python.h (Debian: apt-get install gcc python3-dev; then remove .venv)"
        )
    say(f"installed in {time.time() - started:.0f} s")


def become(name: str, *arguments: str) -> None:
    """Replace this process by a command of the environment: it gets the signals, and its exit
    status counts."""
    os.chdir(ROOT)
    os.environ["PATH"] = BIN + os.pathsep + os.environ.get("PATH", os.defpath)
    try:
        os.execv(command_of(name), [name, *arguments])
    except OSError:
        raise Failure(f"there is no command {name} in .venv/bin") from None


def check() -> None:
    """Run every quick check, even after one has failed."""
    failed = []
    for name, *arguments in CHECKS:
        say(" ".join([name, *arguments]))
        if subprocess.run([command_of(name), *arguments], cwd=ROOT).returncode != 0:
            failed.append(" ".join([name, *arguments]))
    if failed:
        raise Failure("failed: " + ", ".join(failed))


def lock(options: list) -> None:
    """Write the lock files: the largest first, whose versions bind the smaller one."""
    largest = LEVELS[-1]
    for level in reversed(LEVELS):
        command = [command_of("uv"), "pip", "compile", "--quiet", "--universal"]
        command += ["--generate-hashes", "--no-annotate", "--no-emit-index-url"]
        command += ["--python-version", dotted(OLDEST), "--custom-compile-command", "make lock"]
        command += ["--output-file", lock_file(level), *LOCKED_FROM[level], *options]
        if level != largest:
            command += ["--constraint", lock_file(largest)]
        if subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL).returncode != 0:
            raise Failure(f"could not write {lock_file(level)}: see above")


def main(arguments: list) -> None:
    name, rest = (arguments[0], arguments[1:]) if arguments else ("help", [])
    if name == "run":
        ensure_installed("run")
        become("pinway", "run", *rest)
    elif name == "test":
        ensure_installed("test")
        become(*(["pytest", *rest] if rest else ["python", "-m", "tests"]))
    elif name == "check" and not rest:
        ensure_installed("test")
        check()
    elif name == "exec" and rest:
        ensure_installed("test")
        become(*rest)
    elif name == "install" and rest in ([], ["run"], ["test"]):
        ensure_installed(rest[0] if rest else "run")
    elif name == "lock" and rest in ([], ["--upgrade"]):
        ensure_installed("test")
        lock(rest)
    elif name in ("help", "-h", "--help"):
        print(USAGE)
    else:
        raise Failure("there is no such command: " + " ".join(arguments) + "\n" + USAGE)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Failure as failure:
        say(str(failure))
        sys.exit(1)
    except KeyboardInterrupt:
        say("stopped")
        sys.exit(130)
