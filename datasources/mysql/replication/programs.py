"""Runs MariaDB's own programs, which copy and read the files of servers."""

import asyncio
import os
import shutil
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress

from datasources.errors import ConfigError, StoreUnavailable
from datasources.mysql.replication.admin import Admin
from datasources.replication.programs import PACKAGES


@contextmanager
def login_file(admin: Admin) -> Iterator[str]:
    """The option that names a file with the operator's login. Only this user can read the file."""
    login = admin.login
    with tempfile.NamedTemporaryFile("w", prefix="pinway-", suffix=".cnf") as file:
        password = login.password.replace("\\", "\\\\").replace('"', '\\"')
        file.write(
            f"[client]\nhost={login.host}\nport={login.port}\nprotocol=tcp\n"
            f'user={login.user}\npassword="{password}"\n'
        )
        if login.ca:
            file.write(f"ssl-ca={login.ca}\nssl-verify-server-cert\n")
        file.flush()
        yield f"--defaults-extra-file={file.name}"


async def run_program(program: str, *words: str) -> None:
    """Run a program to its end. If the caller is cancelled, the program is ended. Raises
    ConfigError if the program is not installed, StoreUnavailable if it fails."""
    async with _started([_tool(program), *words], stdin=DEVNULL, stdout=DEVNULL) as process:
        _, told = await process.communicate()
    _check(process, program, told)


async def pipe(giving: Sequence[str], taking: Sequence[str]) -> None:
    """Run `giving | taking`, with times in UTC. Raises as `run_program` does."""
    giver_path, taker_path = _tool(giving[0]), _tool(taking[0])
    environment = {**os.environ, "TZ": "UTC"}
    read, write = os.pipe()
    open_ends = {read, write}

    def close(end: int) -> None:
        open_ends.remove(end)
        os.close(end)

    try:
        async with _started(
            [giver_path, *giving[1:]], stdin=DEVNULL, stdout=write, env=environment
        ) as giver:
            close(write)
            async with _started(
                [taker_path, *taking[1:]], stdin=read, stdout=DEVNULL, env=environment
            ) as taker:
                close(read)
                (_, gave), (_, took) = await asyncio.gather(
                    giver.communicate(), taker.communicate()
                )
    finally:
        for end in open_ends:
            os.close(end)
    _check(taker, taking[0], took)
    _check(giver, giving[0], gave)


@asynccontextmanager
async def _started(
    command: Sequence[str],
    *,
    stdin: int,
    stdout: int,
    env: Mapping[str, str] | None = None,
) -> AsyncIterator[Process]:
    """A process, which is killed if it still runs at the end."""
    process = await asyncio.create_subprocess_exec(
        *command, stdin=stdin, stdout=stdout, stderr=PIPE, env=env
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.communicate()


def _tool(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise ConfigError(f"{program} is missing: run `apt-get install {PACKAGES[program]}`")
    return path


def _check(process: Process, program: str, told: bytes) -> None:
    if process.returncode:
        last = told.decode(errors="replace").strip().rpartition("\n")[2]
        raise StoreUnavailable(f"{program} failed: {last}")
