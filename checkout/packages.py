"""Installs the locked packages in .venv, links the checkout there, and writes the locks."""

import os
import re
import shutil
import subprocess
import sys

from checkout.environment import (
    BIN,
    OLDEST,
    ROOT,
    VENV,
    Failure,
    command_of,
    digest,
    dotted,
    output_of,
    say,
)

LEVELS = ("run", "test")  # requirements/NAME.lock; each holds all that the one before it holds
LOCKED_FROM = {
    level: [
        *("pyproject.toml", "requirements/build.in"),
        *(word for extra in extras for word in ("--extra", extra)),
    ]
    for level, extras in (
        ("run", ("servers", "telemetry")),
        ("test", ("servers", "telemetry", "dump", "migrate", "dev")),
    )
}
PIP_SETTINGS = {
    "PIP_INDEX_URL": "UV_INDEX_URL",
    "PIP_EXTRA_INDEX_URL": "UV_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS": "UV_FIND_LINKS",
    "PIP_CERT": "SSL_CERT_FILE",
}
"""Settings of pip in the environment, and uv's names for them."""


def lock_file(level: str) -> str:
    return f"requirements/{level}.lock"


def digest_of_level(level: str) -> str:
    """A digest of everything that decides what is installed at a level."""
    return digest(lock_file(level), "pyproject.toml", "setup.py")


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


def ensure_uv() -> bool:
    """Install the locked uv. Returns whether it is available: some machines have no wheel of it."""
    with open(os.path.join(ROOT, lock_file("test"))) as file:
        lines = pinned("uv", file.read())
    path = os.path.join(VENV, "uv.txt")
    with open(path, "w") as file:
        file.write(lines)
    options = ["-q", "install", "--require-hashes", "--only-binary", ":all:", "-r", path]
    return run_pip(*options, stderr=subprocess.DEVNULL)


def pinned(package: str, text: str) -> str:
    """The lines of a lock file that pin one package, with its hashes."""
    found = re.search(rf"^{re.escape(package)}==.*(?:\n    --hash=.*)+", text, re.MULTILINE)
    return found.group(0) + "\n" if found else ""


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
