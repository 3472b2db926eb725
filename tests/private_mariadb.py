"""A private MariaDB server with a binary log, for tests that need one of their own."""

import asyncio
import os
import pwd
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from datasources.mysql.link import Login, connect
from datasources.mysql.server import DRIVER_ERRORS
from deploy.stack import install
from tests.pinway_process import free_port

PACKAGES = {program: install.PACKAGES[program] for program in ("mariadbd", "mariadb-install-db")}
WAIT = 120.0  # seconds: the machine may be busy


@contextmanager
def mariadb(folder: Path) -> Iterator[int]:
    """Run a server. Yields its port, on which `root` needs no password."""
    install.ensure_programs(PACKAGES, print)
    owner = pwd.getpwuid(os.geteuid()).pw_name
    made = subprocess.run(
        [
            install.tool("mariadb-install-db"),
            "--no-defaults",
            f"--datadir={folder / 'data'}",
            f"--loose-user={owner}",
            "--auth-root-authentication-method=normal",
            "--skip-name-resolve",
            "--skip-test-db",
        ],
        # Two of them in one folder for temporary files would remove each other's tables.
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    program = [
        install.tool("mariadbd"),
        "--no-defaults",
        f"--datadir={folder / 'data'}",
        f"--user={owner}",
    ]
    with serving(program, folder) as port:
        yield port


@contextmanager
def serving(program: Sequence[str], folder: Path) -> Iterator[int]:
    """Run a server, which may be MySQL, with a binary log. Yields its port."""
    port = free_port()
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                *program,
                "--bind-address=127.0.0.1",
                f"--port={port}",
                f"--socket={folder / 's'}",
                "--log-bin=binlog",
                "--binlog-format=ROW",
                "--server-id=1",
                "--sql-mode=",  # an old server lets zero dates and long texts in
            ],
            stdout=log,
            stderr=log,
        )
    try:
        if not asyncio.run(_is_ready(port, process)):
            raise AssertionError((folder / "log").read_text())
        yield port
    finally:
        process.terminate()
        process.wait(WAIT)


async def _is_ready(port: int, process: "subprocess.Popen[bytes]") -> bool:
    """Wait until the server answers. False if it ended, or answered too late."""
    until = time.monotonic() + WAIT
    while process.poll() is None and time.monotonic() < until:
        try:
            link = await connect(
                Login("127.0.0.1", port, "root", ""), autocommit=True, deadline=WAIT
            )
        except DRIVER_ERRORS:
            await asyncio.sleep(0.1)
        else:
            link.close()
            return True
    return False
