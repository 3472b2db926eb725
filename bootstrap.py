"""Creates the environment in .venv and runs a command in it: the Makefile calls this script.

It runs with any Python from 3.6, with the standard library alone, and finds a Python that Pinway
supports. So this script uses old syntax only, and imports no other module of Pinway.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(ROOT, ".venv")
BIN = os.path.join(VENV, "bin")
STAMP = os.path.join(VENV, "pinway-installed.json")
BUILD = os.path.join(ROOT, "build")
LOCK, LOG = os.path.join(BUILD, "compiling.lock"), os.path.join(BUILD, "compiling.log")
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
    ["python", "-m", "tests.words"],
    ["pytest", "-q", "-n", "auto", "tests/unit"],
)
SILENCE = 15.0  # seconds
USAGE = """usage: python3 bootstrap.py COMMAND

  run [ARGUMENT ...]        install what running needs, then `pinway run`; `--times` prints the
                            seconds of each phase
  test [ARGUMENT ...]       install what testing needs, then the whole suite, or pytest with these
  check                     install what testing needs, then formatter, linter, types, words and
                            unit tests
  exec NAME [ARGUMENT ...]  install what testing needs, then a command of .venv/bin
  install [run|test]        install only
  lock [--upgrade]          write requirements/*.lock anew"""


STARTED = time.time()


class Failure(Exception):
    """An error for the user, in one line."""


class Times:
    """The seconds of each phase of the set-up."""

    def __init__(self) -> None:
        self.last = STARTED
        self.phases: list = []  # of names with seconds

    def end(self, name: str) -> None:
        """Name the phase that ends now."""
        now = time.time()
        self.phases.append(f"{name} {now - self.last:.1f} s")
        self.last = now


times = Times()


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
            ["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=600", *command],
            env=environment,
            stdout=subprocess.DEVNULL,
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
    options = ["-q", "install", "--require-hashes", "--only-binary", ":all:", "-r", path]
    return run_pip(*options, stderr=subprocess.DEVNULL)


def run_pip(*options: str, **more: object) -> bool:
    """Run pip in the environment, from the wheel that Python has of it: installing pip first takes
    longer than all the rest. Returns whether it succeeds."""
    python = command_of("python")
    find = (
        "import ensurepip, glob, os, sysconfig; print(*(path for folder in ("
        "sysconfig.get_config_var('WHEEL_PKG_DIR') or '', os.path.dirname(ensurepip.__file__) + "
        "'/_bundled') for path in glob.glob(os.path.join(folder, 'pip-*.whl'))), sep=os.linesep)"
    )
    wheels = (output_of(python, "-c", find) or "").split("\n")
    environment = dict(os.environ)
    if wheels[0]:
        environment["PYTHONPATH"] = wheels[0]
    elif output_of(python, "-m", "ensurepip") is None:
        raise Failure(f"{python} has no pip: install ensurepip and run this again")
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--no-input"]
    done = subprocess.run([*pip, *options], cwd=ROOT, env=environment, **more)
    return done.returncode == 0


def uv_environment() -> dict:
    """The environment's variables, with uv's names for pip's settings."""
    environment = dict(os.environ)
    for name, own in PIP_SETTINGS.items():
        if name in environment:
            environment.setdefault(own, environment[name])
    cache = output_of(command_of("uv"), "cache", "dir")
    if cache and on_another_device(cache.strip()):
        environment.setdefault("UV_LINK_MODE", "copy")  # otherwise uv warns that it must copy
    return environment


def on_another_device(folder: str) -> bool:
    """Whether no file of a folder, which may not exist yet, can be linked into .venv."""
    while not os.path.exists(folder):
        folder = os.path.dirname(folder)
    return os.stat(folder).st_dev != os.stat(ROOT).st_dev


def bytecode_option() -> list:
    """uv's option to compile the packages, if Python writes no bytecode itself here: each command
    would compile them again, which takes longer than most commands' own work."""
    return ["--compile-bytecode"] if sys.dont_write_bytecode else []


def install_locked(level: str) -> bool:
    """Install a lock file with uv, in a few seconds and with its progress shown. If that fails, use
    pip, which reads its own configuration (an index, a proxy) and takes minutes."""
    if ensure_uv():
        uv = [command_of("uv"), "pip", "install", "--python", command_of("python")]
        options = ["--require-hashes", *bytecode_option(), "-r", lock_file(level)]
        if subprocess.run([*uv, *options], cwd=ROOT, env=uv_environment()).returncode == 0:
            return True
    say("uv can't install them here: pip does, which takes some minutes")
    return run_pip("install", "--require-hashes", "-r", lock_file(level))


def has_compiler() -> bool:
    """Whether the C compiler and Python.h are there. Debian has Python.h in a separate package."""
    code = (
        "import os, sysconfig; print(sysconfig.get_config_var('CC') or 'cc'); "
        "print(os.path.exists(os.path.join(sysconfig.get_path('include'), 'Python.h')))"
    )
    found = (output_of(command_of("python"), "-c", code) or "cc\nFalse").split("\n")
    return bool(shutil.which(found[0].split()[0])) and found[1] == "True"


def ensure_compiler() -> None:
    """Install what is missing for compiling, as root. Otherwise setup.py skips the compilation."""
    if not has_compiler() and shutil.which("apt-get") and os.geteuid() == 0:
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
    if not was_moved and is_supported(python):
        return
    source = find_python()
    ensure_venv_module(source)
    say(f"making .venv with Python {dotted(version_of(source))}")
    if subprocess.run([source, "-m", "venv", "--clear", "--without-pip", VENV]).returncode != 0:
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


def compilation() -> list:
    """The command that compiles the modules. Before, it removes modules that have no source any
    more, because Python would use them."""
    stems = {os.path.splitext(path)[0] for path in compiled()}
    for path in code(".so"):
        if path[: path.index(".", path.rindex(os.sep))] not in stems:
            os.remove(path)
    return [command_of("python"), "setup.py", "-q", "build_ext", "--inplace"]


def ensure_compiled() -> None:
    """Compile the modules that changed since they were compiled."""
    now = digest(*compiled())
    if installed().get("compiled") == now:
        return
    with only_compilation(end_another=True):
        say("compiling the modules that do most of the work: a minute or two")
        if run_told(compilation(), "still compiling", SILENCE) != 0:
            raise Failure("could not compile gateway and loaders: see above")
        write_stamps(installed(), compiled=now)


def compile_behind() -> None:
    """Begin to compile in a process of its own with the lowest priority, for the next start. This
    start uses the Python sources."""
    now, stamps = digest(*compiled()), installed()
    if stamps.get("compiled") == now or os.environ.get("PINWAY_COMPILED") == "0":
        return
    if not has_compiler():
        say(
            "requests are answered without compiled code, which is slower: there is no C compiler, "
            "or no Python.h (Debian: apt-get install gcc python3-dev)"
        )
        return
    if stamps.get("failed") == now:
        say(f"requests are answered without compiled code: compiling failed, see {LOG}")
        return
    say("this start uses the Python sources; the next one is faster: it is compiled meanwhile")
    os.makedirs(BUILD, exist_ok=True)
    # The shell ends at once, so that the process is no child of the program that follows.
    begin = ["sh", "-c", '"$@" &', "sh", sys.executable, os.path.abspath(__file__)]
    with open(LOG, "w") as log:
        subprocess.call(
            [*begin, "compile", str(os.getpid())],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def compile_while(pid: int) -> None:
    """Compile with the lowest priority, while a process runs."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    os.nice(19)
    if hasattr(os, "SCHED_IDLE"):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    now = digest(*compiled())
    with only_compilation(end_another=False):
        build = subprocess.Popen(compilation(), cwd=ROOT)
        try:
            while build.poll() is None and is_running(pid):
                try:
                    build.wait(1)
                except subprocess.TimeoutExpired:
                    continue
        finally:
            stopped = build.poll() is None
            build.kill()
            build.wait()
        if stopped:
            return
        built = build.returncode == 0 and is_compiled()
        write_stamps(installed(), **{"compiled" if built else "failed": now})


def is_compiled() -> bool:
    """Whether the compiled modules can be imported."""
    module = "gateway.execution.tasks.stepped_in_c"
    return output_of(command_of("python"), "-c", f"import {module}") is not None


class only_compilation:  # noqa: N801 (a context manager)
    """Holds the lock of the compilation. If another process holds it, end that process, or else
    this process."""

    def __init__(self, end_another: bool) -> None:
        self.end_another = end_another

    def __enter__(self) -> None:
        os.makedirs(BUILD, exist_ok=True)
        self.file = open(LOCK, "a+")
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if not self.end_another:
                sys.exit(0)
            self.file.seek(0)
            other = self.file.read()
            if other:
                os.kill(int(other), signal.SIGTERM)
            fcntl.flock(self.file, fcntl.LOCK_EX)
        self.file.truncate(0)
        self.file.write(str(os.getpid()))
        self.file.flush()

    def __exit__(self, *error: object) -> None:
        self.file.truncate(0)
        self.file.close()


def write_stamps(stamps: dict, **more: str) -> None:
    with open(STAMP, "w") as file:
        json.dump({**stamps, **more}, file)


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


def link_checkout() -> None:
    """Let the environment import the checkout and run its commands, as an editable installation
    does in ten times the time: a .pth file, the commands, and what pip and `importlib.metadata`
    read of a package."""
    python = command_of("python")
    site = output_of(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    for name in os.listdir(site):
        if re.match(r"__editable__.*pinway|pinway[-.]", name):
            path = os.path.join(site, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    with open(os.path.join(ROOT, "pyproject.toml")) as file:
        project = file.read()
    version = re.search(r'^version = "(.+)"$', project, re.MULTILINE).group(1)
    commands = re.search(r"^\[project\.scripts\]\n((?:.+\n)+)", project, re.MULTILINE).group(1)
    folder = f"pinway-{version}.dist-info"
    written = {
        os.path.join(site, "pinway.pth"): ROOT + "\n",
        os.path.join(site, folder, "METADATA"): (
            f"Metadata-Version: 2.1\nName: pinway\nVersion: {version}\n"
        ),
        os.path.join(site, folder, "INSTALLER"): "bootstrap.py\n",
    }
    for name, module, function in re.findall(r'(\w+) = "([\w.]+):(\w+)"', commands):
        written[command_of(name)] = (
            f"#!{python}\nimport sys\n\nfrom {module} import {function}\n\nsys.exit({function}())\n"
        )
    record = os.path.join(site, folder, "RECORD")
    lines = [f"{os.path.relpath(path, site)},,\n" for path in (*written, record)]
    written[record] = "".join(lines)
    os.makedirs(os.path.join(site, folder))
    for path, text in written.items():
        with open(path, "w") as file:
            file.write(text)
        if os.path.dirname(path) == BIN:
            os.chmod(path, 0o755)


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
