"""Creates the environment in .venv and runs a command in it: the Makefile calls this script.

It runs with any Python from 3.6, with the standard library alone, and finds a Python that Pinway
supports. So this script and the folder `checkout` use old syntax only, and import no other module
of Pinway.
"""

import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # also where Python leaves it out

from checkout.compilation import (
    code,
    compile_behind,
    compile_while,
    ensure_compiled,
    ensure_compiler,
    has_compiler,
    is_compiled,
)
from checkout.environment import (
    BIN,
    ROOT,
    STAMP,
    STARTED,
    Failure,
    command_of,
    installed,
    say,
    times,
    write_stamps,
)
from checkout.interpreter import ensure_venv, is_supported
from checkout.packages import (
    LEVELS,
    digest_of_level,
    install_locked,
    link_checkout,
    lock,
    lock_file,
)

CHECKS = (
    ["ruff", "format", "--check"],
    ["ruff", "check"],
    ["mypy"],
    ["python", "-m", "tests.words"],
    ["pytest", "-q", "-n", "auto", "tests/unit"],
)
USAGE = """usage: python3 bootstrap.py COMMAND

  run [ARGUMENT ...]        install what running needs, then `pinway run`; `--times` prints the
                            seconds of each phase
  test [ARGUMENT ...]       install what testing needs, then the whole suite, or pytest with these
  check                     install what testing needs, then formatter, linter, types, words and
                            unit tests
  exec NAME [ARGUMENT ...]  install what testing needs, then a command of .venv/bin
  install [run|test]        install only
  lock [--upgrade]          write requirements/*.lock anew"""


def ensure_installed(level: str) -> None:
    """Install at least a level in .venv. Returns quickly if it is already installed."""
    stamps = installed()
    enough = LEVELS[LEVELS.index(level) :]
    is_there = any(stamps.get(name) == digest_of_level(name) for name in enough)
    if is_there and stamps.get("root") == ROOT and is_supported(command_of("python")):
        return
    ensure_venv()
    if os.path.exists(STAMP):
        os.remove(STAMP)
    times.end("environment")
    say(f"installing the locked packages of {lock_file(level)} into .venv")
    if level == "test":
        ensure_compiler()
    for path in code(".so"):
        os.remove(path)  # if the build fails, no compiled file is better than an old one
    if not install_locked(level):
        raise Failure("could not install the packages: see above; run this again to go on")
    link_checkout()
    write_stamps({"root": ROOT, level: digest_of_level(level)})
    times.end("packages")
    say(f"installed in {time.time() - STARTED:.0f} s")


def ensure_ready(level: str) -> None:
    """Install a level, and compile what is not compiled."""
    ensure_installed(level)
    ensure_compiled()
    if not is_compiled():
        say(
            "there is no compiled code, which is slower: "
            + ("see above" if has_compiler() else "there is no C compiler, or no Python.h")
        )


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


def main(arguments: list) -> None:
    name, rest = (arguments[0], arguments[1:]) if arguments else ("help", [])
    if name == "run":
        ensure_installed("run")
        compile_behind()
        if "--times" in rest:
            say(", ".join(times.phases) or "the environment is there")
        os.environ["PINWAY_STARTED"] = str(time.time())
        become("pinway", "run", *rest)
    elif name == "test":
        ensure_ready("test")
        become(*(["pytest", *rest] if rest else ["python", "-m", "tests"]))
    elif name == "check" and not rest:
        ensure_ready("test")
        check()
    elif name == "exec" and rest:
        ensure_ready("test")
        become(*rest)
    elif name == "install" and rest in ([], ["run"], ["test"]):
        ensure_ready(rest[0] if rest else "run")
    elif name == "compile" and len(rest) == 1:
        compile_while(int(rest[0]))
    elif name == "lock" and rest in ([], ["--upgrade"]):
        ensure_ready("test")
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
