"""Runs MariaDB's own programs: they copy and read the files of servers."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from datasources.errors import ConfigError, StoreUnavailable
from datasources.mysql.replication.admin import Admin

BACKUP, BINLOG, CLIENT = "mariadb-backup", "mariadb-binlog", "mariadb"
PACKAGES = {BACKUP: "mariadb-backup", BINLOG: "mariadb-client", CLIENT: "mariadb-client-core"}


@contextmanager
def login_file(admin: Admin) -> Iterator[str]:
    """The option that names a file with the operator's login, which only this user can read."""
    login = admin.login
    with tempfile.NamedTemporaryFile("w", prefix="pinway-", suffix=".cnf") as file:
        password = login.password.replace("\\", "\\\\").replace('"', '\\"')
        file.write(
            f"[client]\nhost={login.host}\nport={login.port}\nprotocol=tcp\n"
            f'user={login.user}\npassword="{password}"\n'
        )
        file.flush()
        yield f"--defaults-extra-file={file.name}"


def _tool(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise ConfigError(f"{program} is missing: run `apt-get install {PACKAGES[program]}`")
    return path


async def run_program(program: str, *words: str) -> None:
    process = await asyncio.create_subprocess_exec(
        _tool(program),
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    _, told = await process.communicate()
    if process.returncode:
        raise StoreUnavailable(f"{program} failed: {_last(told)}")


async def pipe(giving: Sequence[str], taking: Sequence[str]) -> None:
    """`giving | taking`, with times in UTC."""
    read, write = os.pipe()
    environment = {**os.environ, "TZ": "UTC"}
    try:
        giver = await asyncio.create_subprocess_exec(
            _tool(giving[0]),
            *giving[1:],
            stdin=asyncio.subprocess.DEVNULL,
            stdout=write,
            stderr=asyncio.subprocess.PIPE,
            env=environment,
        )
        os.close(write)
        write = -1
        taker = await asyncio.create_subprocess_exec(
            _tool(taking[0]),
            *taking[1:],
            stdin=read,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env=environment,
        )
    finally:
        for end in (read, write):
            if end >= 0:
                os.close(end)
    (_, gave), (_, took) = await asyncio.gather(giver.communicate(), taker.communicate())
    for process, program, told in ((taker, taking[0], took), (giver, giving[0], gave)):
        if process.returncode:
            raise StoreUnavailable(f"{program} failed: {_last(told)}")


def _last(told: bytes) -> str:
    return told.decode(errors="replace").strip().rpartition("\n")[2]
