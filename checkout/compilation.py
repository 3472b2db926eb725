"""Compiles modules of gateway, loaders and datasources: at once, or behind a running gateway."""

import fcntl
import os
import shutil
import signal
import subprocess
import sys

from checkout.environment import (
    BUILD,
    ROOT,
    Failure,
    command_of,
    digest,
    dotted,
    installed,
    output_of,
    run_told,
    say,
    write_stamps,
)
from checkout.interpreter import apt_installs, version_of

LOCK, LOG = os.path.join(BUILD, "compiling.lock"), os.path.join(BUILD, "compiling.log")
SILENCE = 15.0  # seconds


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


def code(ending: str) -> list:
    """The files of gateway, loaders and datasources with this ending."""
    return [
        os.path.join(folder, name)
        for top in ("gateway", "loaders", "datasources")
        for folder, _, names in os.walk(os.path.join(ROOT, top))
        for name in names
        if name.endswith(ending)
    ]


def compiled() -> list:
    """The files that are compiled, and the files that say how (see setup.py)."""
    declared = code(".pxd")
    python = [path[: -len("pxd")] + "py" for path in declared]
    return sorted([*declared, *code(".pyx"), *filter(os.path.exists, python)])


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
            raise Failure("could not compile gateway, loaders and datasources: see above")
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
    begin = ["sh", "-c", '"$@" &', "sh", sys.executable, os.path.join(ROOT, "bootstrap.py")]
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
        build = subprocess.Popen(compilation(), cwd=ROOT, start_new_session=True)
        try:
            while build.poll() is None and is_running(pid):
                try:
                    build.wait(1)
                except subprocess.TimeoutExpired:
                    continue
        finally:
            stopped = build.poll() is None
            if stopped:
                kill_with_children(build)
        if stopped:
            return
        built = build.returncode == 0 and is_compiled()
        write_stamps(installed(), **{"compiled" if built else "failed": now})


def kill_with_children(process: subprocess.Popen) -> None:
    """Kill the first process of a session, and all processes that it has started in it."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:  # Windows has no sessions
        process.kill()
    process.wait()


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
