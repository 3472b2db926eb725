"""Physical backups of a MariaDB server with `mariadb-backup`, an archive of its binary logs, and
restores from both.

A backup is a folder. `base` is a prepared copy of the data directory. `backup.json` names the
server, the last event, and a checksum of each file. `logs` has the binary logs since then, and
`archived.json` names their last event. The commands read the server's files, so they run on the
server's host.
"""

import asyncio
import shutil
import socket
from datetime import UTC, datetime
from pathlib import Path

from datasources import files
from datasources.errors import ConfigError, Damaged, StoreConflict
from datasources.mysql.replication import backup_files, gtids
from datasources.mysql.replication.admin import Admin, applied
from datasources.mysql.replication.backup_files import Archive, Manifest, file_errors, read
from datasources.mysql.replication.programs import login_file, pipe, run_program
from datasources.replication.programs import BACKUP, BINLOG, CLIENT
from datasources.replication.steps import Tell

APPLY_SECONDS = 600
HEAD = 4  # the offset of a binary log's first event
_POSITIONS = ("mariadb_backup_binlog_info", "xtrabackup_binlog_info")


@file_errors()
async def back_up(admin: Admin, folder: Path, tell: Tell) -> Manifest:
    """Copy a slave into a new folder, with all writes that were acknowledged before. Raises
    ConfigError, StoreError; after an error no part of the folder stays."""
    _check_new(folder)
    data = await _data_directory(admin)
    if await admin.slave() is None:
        raise ConfigError(
            f"{admin.name} is nobody's slave: a backup is made of a slave, so that no write waits "
            "for it"
        )
    await _apply_received(admin)
    [[logged]] = await admin.run("SELECT @@gtid_binlog_pos")
    if not logged:  # A position without a transaction does not identify the server's binary logs.
        raise StoreConflict(
            f"{admin.name} has logged nothing since its binary logs began: run the command again "
            "when its master has written"
        )
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    base = unfinished / "base"
    unfinished.mkdir(mode=0o700, parents=True)
    base.mkdir(mode=0o700)
    try:
        tell(f"copying {admin.name}")
        with login_file(admin) as login:
            await run_program(
                BACKUP, login, "--backup", f"--target-dir={base}", f"--datadir={data}"
            )
        made = _text(datetime.now(UTC))
        await run_program(BACKUP, "--prepare", f"--target-dir={base}")
        file, offset, noted = _position(base)
        begins = await _logged(admin, file, offset)
        if begins is None:
            raise StoreConflict(
                f"{admin.name} has deleted its binary log {file}: run the command again"
            )
        backup_files.make_private(base)
        sums = await asyncio.to_thread(backup_files.sums, base)
        # `noted` may lack transactions that the backup has: a slave counts a transaction as applied
        # a moment after its commit. The binary log has it before the commit.
        position = gtids.later(noted, begins)
        manifest = Manifest(admin.name, made, file, offset, position, begins, sums)
        backup_files.write(unfinished / backup_files.LIST, manifest)
        files.rename(unfinished, folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    tell(f"{folder} has {admin.name} up to {position}")
    return manifest


@file_errors()
async def archive(admin: Admin, folder: Path, tell: Tell) -> list[str]:
    """Copy the binary logs since the backup that are missing in its folder. Returns their names.
    The folder then has all writes that were acknowledged before. Raises ConfigError if the next log
    was deleted, or if the server's logs were restarted: a new backup is needed then."""
    manifest = read(folder)
    if manifest.server != admin.name:
        raise ConfigError(f"{folder} is a backup of {manifest.server}, not of {admin.name}")
    await _data_directory(admin)
    done = backup_files.read_archive(folder)
    if done is None:
        first, offset, logged = manifest.file, manifest.offset, manifest.logged
    else:
        first, offset, logged = backup_files.after(done.log), HEAD, done.logged
    await _check_continues(admin, first, offset, logged)
    moment = _text(datetime.now(UTC))
    if await admin.slave() is not None:
        await _apply_received(admin)
    [[basename]] = await admin.run("SELECT @@log_bin_basename")
    place = Path(basename.decode()).parent
    await admin.run("FLUSH BINARY LOGS")
    *closed, current = await _logs(admin)
    end = await _logged(admin, current, HEAD)
    logs = folder / "logs"
    logs.mkdir(mode=0o700, exist_ok=True)
    wanted = [log for log in closed if backup_files.number(log) >= backup_files.number(first)]
    for log in wanted:
        await asyncio.to_thread(backup_files.copy, place / log, logs / log)
        tell(f"archived {log}")
    try:  # The logs may have been restarted since the first check.
        await _check_continues(admin, first, offset, logged)
    except ConfigError:
        for log in wanted:
            (logs / log).unlink()
        raise
    backup_files.write(folder / backup_files.ARCHIVED, Archive(closed[-1], end or "", moment))
    return wanted


@file_errors()
async def restore(folder: Path, data: Path, tell: Tell) -> Manifest:
    """Make a data directory from a backup, after a check of every file. Raises ConfigError,
    StoreError; after an error nothing was restored, or a part that the next run refuses."""
    manifest = read(folder)
    _check_empty(data)
    found = await asyncio.to_thread(backup_files.sums, folder / "base")
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


@file_errors()
async def replay(admin: Admin, folder: Path, until: datetime | None, tell: Tell) -> str:
    """Apply the archived logs to a restored server, with their transaction ids, up to a moment.
    Returns the server's position afterwards. A replay that was killed continues when it is run
    again. Raises ConfigError for a moment before the backup, StoreConflict for a server that takes
    writes, or follows a master."""
    manifest, done = read(folder), backup_files.read_archive(folder)
    reached = manifest.made if done is None else done.moment
    if until is not None and until <= datetime.fromisoformat(manifest.made):
        raise ConfigError(
            f"{folder} is a backup of {manifest.made}, not from before {_text(until)}: restore an "
            f"earlier one. Its logs reach up to {reached}"
        )
    role = await admin.role()
    if not role.read_only or await admin.slave() is not None:
        raise StoreConflict(f"{admin.name} is a master or a slave, and no restored server")
    position = await _position_of(admin, manifest)
    if logs := backup_files.archived(folder):
        # mariadb-binlog fails if the logs have no transaction of a domain at which it should start.
        # A slave may know a domain that it never logged: of the other pair, after a move of shards.
        after = gtids.only_logged(position, manifest.gtids, manifest.logged)
        tell(f"applying {len(logs)} binary logs after {position}, which reach up to {reached}")
        with login_file(admin) as login:
            await pipe(
                [BINLOG, f"--start-position={after}", *_stop(until), *map(str, logs)],
                [CLIENT, login, "--binary-mode"],
            )
    position = await _position_of(admin, manifest)
    await admin.run("SET GLOBAL gtid_slave_pos = %s", (position,))
    tell(f"{admin.name} has all up to {position}")
    return position


async def _apply_received(slave: Admin) -> None:
    """Wait until a slave has applied all events that it had received: all that were
    acknowledged."""
    status = await slave.slave()
    if status is None or status["Slave_SQL_Running"] != "Yes":
        raise ConfigError(
            f"{slave.name} does not apply its master's writes: see SHOW SLAVE STATUS there"
        )
    if not await applied(slave, status["Gtid_IO_Pos"], APPLY_SECONDS):
        raise StoreConflict(
            f"{slave.name} has not applied what it received in {APPLY_SECONDS} s: run the command "
            "again when it is less behind"
        )


async def _check_continues(admin: Admin, log: str, offset: int, logged: str) -> None:
    """Check that a server still has a binary log, and that the log has a position at an offset. A
    name alone proves nothing, because logs are numbered from 1 again after RESET MASTER and on a
    restored server. Raises ConfigError."""
    logs = await _logs(admin)
    if log not in logs and backup_files.number(logs[0]) > backup_files.number(log):
        raise ConfigError(
            f"{admin.name} has deleted its binary log {log}: make a new backup, and archive "
            "more often than binlog-expire-logs-seconds"
        )
    found = await _logged(admin, log, offset) if log in logs else None
    if found is None or set(gtids.parsed(found)) != set(gtids.parsed(logged)):
        raise ConfigError(
            f"{admin.name}: its binary logs were restarted since they were archived: make a new "
            "backup"
        )


async def _logs(admin: Admin) -> list[str]:
    return [row[0].decode() for row in await admin.run("SHOW BINARY LOGS")]


async def _logged(admin: Admin, log: str, offset: int) -> str | None:
    """The position at an offset of a binary log; None if the server doesn't have the log."""
    [[found]] = await admin.run("SELECT BINLOG_GTID_POS(%s, %s)", (log, offset))
    return None if found is None else found.decode()


async def _position_of(admin: Admin, manifest: Manifest) -> str:
    """The position of a restored server: the backup's position, and events that were applied
    since."""
    [[since]] = await admin.run("SELECT @@gtid_binlog_pos")
    return gtids.later(manifest.gtids, since.decode())


def _check_new(folder: Path) -> None:
    if folder.exists():
        raise ConfigError(f"{folder} exists already: name a new folder for each backup")


def _check_empty(data: Path) -> None:
    if data.exists() and any(data.iterdir()):
        raise ConfigError(f"{data} is not empty: name an empty data directory")


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")


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
            f"command on {host.decode()}, since it reads the server's files"
        )
    return Path(data.decode())


def _position(base: Path) -> tuple[str, int, str]:
    """The file, the offset and the global transaction ids that `mariadb-backup` wrote."""
    for name in _POSITIONS:
        if (base / name).exists():
            file, offset, *ids = (base / name).read_text().split()
            return file, int(offset), "".join(ids)
    raise StoreConflict("mariadb-backup wrote no position down: does the server write a binlog?")
