"""nginx, HAProxy and Caddy from Debian, in the foreground, on free ports of the loopback."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from socket import create_connection

from deploy import debian
from tests.outside.node_tools import ToolError
from tests.pinway_process import free_port

PACKAGES = {
    "nginx": "nginx-light",
    "haproxy": "haproxy",
    "caddy": "caddy",
    "openssl": "openssl",
}
"""Program → Debian package."""
SERVICES = ("nginx", "haproxy", "caddy")
_PATH = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin"])
_POLICY = Path("/usr/sbin/policy-rc.d")
START_SECONDS = 60


def ensure() -> None:
    """Install the programs that are missing, if the user is root. No service is started or enabled.
    Raises ToolError."""
    missing = _missing()
    if missing and shutil.which("apt-get") and os.geteuid() == 0:
        with _without_services():
            debian.install(missing)
        missing = _missing()
    if missing:
        raise ToolError(
            f"missing: {', '.join(missing)}; install them (Debian: apt-get install "
            f"{' '.join(missing)})"
        )


def _missing() -> list[str]:
    return [package for program, package in PACKAGES.items() if _find(program) is None]


def _find(program: str) -> str | None:
    return shutil.which(program, path=_PATH)


@contextmanager
def _without_services() -> Iterator[None]:
    """Packages that are installed meanwhile start nothing now, nor when the machine starts."""
    present = {name for name in SERVICES if _find(name)}
    has_policy = _POLICY.exists()
    if not has_policy:
        _POLICY.write_text("#!/bin/sh\nexit 101\n")
        _POLICY.chmod(0o755)
    try:
        yield
    finally:
        if not has_policy:
            _POLICY.unlink()
        if systemctl := shutil.which("systemctl"):
            new = [name for name in SERVICES if name not in present]
            subprocess.run([systemctl, "disable", *new], capture_output=True)


@dataclass(frozen=True)
class Certificate:
    """A certificate of pins.example that signs itself: the folder of its files."""

    folder: Path

    @property
    def certificate(self) -> Path:
        return self.folder / "certificate.pem"

    @classmethod
    def make(cls, folder: Path) -> "Certificate":
        made = cls(folder)
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt"]
        command += ["ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
        command += ["-subj", "/CN=pins.example", "-addext", "subjectAltName=DNS:pins.example"]
        command += ["-keyout", str(folder / "key.pem"), "-out", str(made.certificate)]
        subprocess.run(command, check=True, capture_output=True)
        both = made.certificate.read_text() + (folder / "key.pem").read_text()
        (folder / "both.pem").write_text(both)
        return made


@contextmanager
def nginx(lines: str, folder: Path, port: int) -> Iterator[None]:
    """nginx with these lines of its part `http`."""
    temporary = " ".join(
        f"{kind}_temp_path {folder / kind};"
        for kind in ("client_body", "proxy", "fastcgi", "scgi", "uwsgi")
    )
    user = "user root;" if os.geteuid() == 0 else ""
    text = (
        f"{user} daemon off; pid {folder / 'nginx.pid'}; error_log stderr; worker_processes 1;\n"
        f"events {{}}\nhttp {{ access_log off; {temporary}\n{lines}\n}}\n"
    )
    path = folder / "nginx.conf"
    path.write_text(text)
    with _running(["nginx", "-p", str(folder), "-c", str(path)], folder, port):
        yield


@contextmanager
def haproxy(lines: str, folder: Path, port: int) -> Iterator[None]:
    path = folder / "haproxy.cfg"
    path.write_text(f"global\n    maxconn 100\n{lines}\n")
    with _running(["haproxy", "-db", "-f", str(path)], folder, port):
        yield


@contextmanager
def caddy(lines: str, folder: Path, port: int) -> Iterator[None]:
    path = folder / "Caddyfile"
    path.write_text(f"{{\n    admin off\n    auto_https disable_redirects\n}}\n{lines}\n")
    command = ["caddy", "run", "--config", str(path), "--adapter", "caddyfile"]
    with _running(command, folder, port):
        yield


@contextmanager
def _running(command: list[str], folder: Path, port: int) -> Iterator[None]:
    program = _find(command[0])
    assert program is not None
    log = folder / "log"
    home = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [program, *command[1:]],
            env={**os.environ, **home},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        deadline = time.monotonic() + START_SECONDS
        while True:
            with suppress(OSError), create_connection(("127.0.0.1", port)):
                break
            if process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"{command[0]} does not answer:\n{log.read_text()[-3000:]}")
            time.sleep(0.02)  # nothing tells when a process begins to listen
        yield
    finally:
        ended = process.poll()
        process.terminate()
        process.wait(30)
        print(f"{command[0]}, which {'ran' if ended is None else f'had ended with {ended}'}:")
        print(log.read_text()[-3000:])  # pytest shows it if the test fails


def replaced(lines: str, changes: dict[str, str]) -> str:
    """The lines with other texts in the place of some, each of which must be there."""
    for old, new in changes.items():
        assert old in lines, old
        lines = lines.replace(old, new)
    return lines


__all__ = ["Certificate", "caddy", "ensure", "free_port", "haproxy", "nginx", "replaced"]
