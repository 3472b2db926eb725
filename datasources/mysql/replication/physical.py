"""Physical backups of a MariaDB server with `mariadb-backup`, an archive of its binary logs, and
restores from both.

A backup is a folder: `base` is a prepared copy of the data directory, `backup.json` says of which
server and up to which event, with a checksum of each file, and `logs` has the binary logs since.
Everything but the position is the work of MariaDB's own programs, which read the server's files: so
they run on the server's host.
"""

import asyncio
import hashlib
import os
import shutil
import socket
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from datasources.errors import ConfigError, Damaged, StoreConflict
from datasources.mysql.replication.admin import Admin
from datasources.mysql.replication.programs import (
    BACKUP,
    BINLOG,
    CLIENT,
    login_file,
    pipe,
    run_program,
)

APPLY_SECONDS = 600
_LIST = "backup.json"
_POSITIONS = ("mariadb_backup_binlog_info", "xtrabackup_binlog_info")
Tell = Callable[[str], None]


class Manifest(msgspec.Struct, frozen=True):
    """A backup's files, and the place in its server's binary log up to which it has all."""

    server: str
    made: str
    file: str
    offset: int
    gtids: str
    files: dict[str, str]  # SHA-256 by path in `base`


async def back_up(admin: Admin, folder: Path, tell: Tell) -> Manifest:
    """Copy a slave into a new folder, with all writes that were acknowledged before. Raises
    ConfigError, StoreError; then no part of the folder stays."""
    _check_new(folder)
    data = await _data_directory(admin)
    if await admin.slave() is None:
        raise ConfigError(
            f"{admin.name} is nobody's slave: a backup is made of a slave, so that no write waits "
            "for it"
        )
    await _apply_received(admin)
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    base = unfinished / "base"
    base.mkdir(parents=True)
    try:
        tell(f"copying {admin.name}")
        with login_file(admin) as login:
            await run_program(
                BACKUP, login, "--backup", f"--target-dir={base}", f"--datadir={data}"
            )
        await run_program(BACKUP, "--prepare", f"--target-dir={base}")
        file, offset, gtids = _position(base)
        made = datetime.now(UTC).isoformat(timespec="seconds")
        files = await asyncio.to_thread(_sums, base)
        manifest = Manifest(admin.name, made, file, offset, gtids, files)
        (unfinished / _LIST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest)))
        unfinished.rename(folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    tell(f"{folder} has {admin.name} up to {gtids}")
    return manifest


async def archive(admin: Admin, folder: Path, tell: Tell) -> list[str]:
    """Copy the binary logs since a backup that are not in its folder yet; their names. They have
    all writes that were acknowledged before. Raises ConfigError when the server has deleted one of
    them: then a new backup is needed."""
    manifest = read(folder)
    if manifest.server != admin.name:
        raise ConfigError(f"{folder} is a backup of {manifest.server}, not of {admin.name}")
    await _data_directory(admin)
    if await admin.slave() is not None:
        await _apply_received(admin)
    [[basename]] = await admin.run("SELECT @@log_bin_basename")
    place = Path(basename.decode()).parent
    await admin.run("FLUSH BINARY LOGS")
    *closed, _ = [row[0].decode() for row in await admin.run("SHOW BINARY LOGS")]
    logs = folder / "logs"
    logs.mkdir(exist_ok=True)
    done = sorted(path.name for path in logs.iterdir() if path.suffix != ".part")
    following = _after(done[-1]) if done else manifest.file
    if following not in closed:
        raise ConfigError(
            f"{admin.name} has deleted its binary log {following}: make a new backup, and archive "
            "more often than binlog-expire-logs-seconds"
        )
    wanted = closed[closed.index(following) :]
    for name in wanted:
        await asyncio.to_thread(_copy, place / name, logs / name)
        tell(f"archived {name}")
    return wanted


def read(folder: Path) -> Manifest:
    """Raises ConfigError for a folder that is no backup."""
    try:
        return msgspec.json.decode((folder / _LIST).read_bytes(), type=Manifest)
    except FileNotFoundError:
        raise ConfigError(f"{folder} is no backup: it has no {_LIST}") from None
    except msgspec.MsgspecError as error:
        raise Damaged(f"{folder / _LIST} can't be read: {error}") from error


async def restore(folder: Path, data: Path, tell: Tell) -> Manifest:
    """Make a data directory of a backup, after every file was checked. Raises ConfigError,
    Damaged."""
    manifest = read(folder)
    _check_empty(data)
    found = await asyncio.to_thread(_sums, folder / "base")
    if found != manifest.files:
        wrong = sorted(
            name
            for name in manifest.files.keys() | found.keys()
            if found.get(name) != manifest.files.get(name)
        )
        raise Damaged(f"{folder}: {wrong[0]} is not as it was saved; nothing was restored")
    tell(f"copying {len(found)} files to {data}")
    await run_program(BACKUP, "--copy-back", f"--target-dir={folder / 'base'}", f"--datadir={data}")
    return manifest


async def replay(admin: Admin, folder: Path, until: datetime | None, tell: Tell) -> str:
    """Apply the archived logs to a restored server, with the ids of their transactions, up to a
    moment; the position that it has then. Run again after it was killed, it continues. Raises
    StoreConflict for a server that takes writes, or follows a master."""
    manifest = read(folder)
    role = await admin.role()
    if not role.read_only or await admin.slave() is not None:
        raise StoreConflict(f"{admin.name} is a master or a slave, and no restored server")
    position = await _position_of(admin, manifest)
    logs = sorted(path for path in (folder / "logs").glob("*") if path.suffix != ".part")
    if logs:
        tell(f"applying {len(logs)} binary logs after {position}")
        with login_file(admin) as login:
            await pipe(
                [BINLOG, f"--start-position={position}", *_stop(until), *map(str, logs)],
                [CLIENT, login, "--binary-mode"],
            )
    position = await _position_of(admin, manifest)
    await admin.run("SET GLOBAL gtid_slave_pos = %s", (position,))
    tell(f"{admin.name} has all up to {position}")
    return position


async def _apply_received(slave: Admin) -> None:
    """Wait until a slave has applied what it had received: all that was acknowledged so far."""
    status = await slave.slave()
    if status is None or status["Slave_SQL_Running"] != "Yes":
        raise ConfigError(
            f"{slave.name} does not apply its master's writes: see SHOW SLAVE STATUS there"
        )
    [[late]] = await slave.run(
        "SELECT MASTER_GTID_WAIT(%s, %s)", (status["Gtid_IO_Pos"], APPLY_SECONDS)
    )
    if late:
        raise StoreConflict(
            f"{slave.name} has not applied what it received in {APPLY_SECONDS} s: run the command "
            "again when it is less behind"
        )


async def _position_of(admin: Admin, manifest: Manifest) -> str:
    """The position of a restored server: of the backup, and of what was applied since."""
    [[applied]] = await admin.run("SELECT @@gtid_binlog_pos")
    return later(manifest.gtids, applied.decode())


def later(one: str, other: str) -> str:
    """The last transaction of each domain in two positions, `domain-server-sequence[,...]`."""
    found: dict[int, tuple[int, int]] = {}
    for part in filter(None, f"{one},{other}".split(",")):
        domain, server, sequence = map(int, part.split("-"))
        if sequence >= found.get(domain, (0, 0))[1]:
            found[domain] = server, sequence
    return ",".join(f"{domain}-{server}-{last}" for domain, (server, last) in found.items())


def _check_new(folder: Path) -> None:
    if folder.exists():
        raise ConfigError(f"{folder} exists already: name a new folder for each backup")


def _check_empty(data: Path) -> None:
    if data.exists() and any(data.iterdir()):
        raise ConfigError(f"{data} is not empty: name an empty data directory")


def _stop(until: datetime | None) -> list[str]:
    if until is None:
        return []
    return [f"--stop-datetime={until.astimezone(UTC):%Y-%m-%d %H:%M:%S}"]


async def _data_directory(admin: Admin) -> Path:
    """The server's data directory, which must be on this host."""
    [[host, data]] = await admin.run("SELECT @@hostname, @@datadir")
    if host.decode() != socket.gethostname():
        raise ConfigError(
            f"{admin.name} runs on {host.decode()}, and this is {socket.gethostname()}: run the "
            "command there, since it reads the server's files"
        )
    return Path(data.decode())


def _position(base: Path) -> tuple[str, int, str]:
    """The file, the offset and the global transaction ids that `mariadb-backup` wrote down."""
    for name in _POSITIONS:
        if (base / name).exists():
            file, offset, *gtids = (base / name).read_text().split()
            return file, int(offset), "".join(gtids)
    raise StoreConflict("mariadb-backup wrote no position down: does the server write a binlog?")


def _after(log: str) -> str:
    """The name of the next binary log."""
    stem, _, number = log.rpartition(".")
    return f"{stem}.{int(number) + 1:0{len(number)}d}"


def _sums(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): _sum(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _sum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _copy(source: Path, target: Path) -> None:
    """Copy a file; it is durable, or not there."""
    part = target.with_name(f"{target.name}.part")
    with source.open("rb") as read, part.open("wb") as written:
        shutil.copyfileobj(read, written)
        written.flush()
        os.fsync(written.fileno())
    part.rename(target)
