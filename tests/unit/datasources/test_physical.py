"""Backups of a server with invented answers and files: the archive of its binary logs, the moments
of a replay, and the files' modes and errors."""

import os
import socket
import stat
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, cast

import pytest

from datasources.errors import ConfigError, Damaged, StoreUnavailable
from datasources.mysql.link import Login
from datasources.mysql.replication import backup_files, physical
from datasources.mysql.replication.admin import Admin
from datasources.mysql.replication.backup_files import Archive, Manifest

pytestmark = pytest.mark.anyio


class Server:
    """A master with binary logs. `starts` has the position at the start of each log."""

    name = "A"

    def __init__(self, place: Path) -> None:
        self.place = place
        self.place.mkdir()
        self.starts = dict[str, str]()
        self.position, self.flushes, self.follows = 0, 0, False
        self.login = Login("127.0.0.1", 1, "", "")

    def restart_logs(self, position: int) -> None:
        """Act as RESET MASTER does; the server then continues from a position."""
        for path in self.place.iterdir():
            path.unlink()
        self.starts.clear()
        self.log(1, "")
        self.position = position

    def log(self, number: int, start: str) -> None:
        name = f"binlog.{number:06d}"
        self.starts[name] = start
        (self.place / name).write_text(f"from {start}")

    async def slave(self) -> dict[str, str] | None:
        return {"Slave_SQL_Running": "Yes", "Gtid_IO_Pos": "1-1-103"} if self.follows else None

    async def run(self, sql: str, args: Any = ()) -> list[Any]:
        match sql.split():
            case ["SELECT", "@@hostname,", _]:
                return [(socket.gethostname().encode(), str(self.place).encode())]
            case ["SELECT", "@@log_bin_basename"]:
                return [(str(self.place / "binlog").encode(),)]
            case ["SHOW", "BINARY", "LOGS"]:
                return [(name.encode(), 0) for name in self.starts]
            case ["SELECT", "@@gtid_binlog_pos"]:
                return [(b"1-1-103",)]
            case ["SELECT", wait, _] if wait.startswith("MASTER_GTID_WAIT"):
                return [(0,)]
            case ["FLUSH", "BINARY", "LOGS"]:
                self.flushes += 1
                self.position += 10
                self.log(backup_files.number(list(self.starts)[-1]) + 1, f"1-1-{self.position}")
                return []
            case _:
                assert sql == "SELECT BINLOG_GTID_POS(%s, %s)"
                found = self.starts.get(args[0])
                return [(None if found is None else found.encode(),)]


@pytest.fixture
def server(tmp_path: Path) -> Server:
    made = Server(tmp_path / "data")
    made.position = 100
    made.log(3, "1-1-100")
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "backup"
    made.mkdir()
    manifest = Manifest(
        "A", "2026-01-31T12:00:00+00:00", "binlog.000003", 4, "1-1-100", "1-1-100", {}
    )
    backup_files.write(made / "backup.json", manifest)
    return made


def open_to_others(folder: Path) -> set[str]:
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*")}
    return {name for name, mode in modes.items() if mode & 0o077}


async def archive(server: Server, folder: Path) -> list[str]:
    return await physical.archive(cast(Admin, server), folder, print)


async def test_a_backup_has_the_transactions_that_its_slave_does_not_count_as_applied_yet(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run_program(program: str, *words: str) -> None:
        if "--backup" in words:
            [target] = [word for word in words if word.startswith("--target-dir=")]
            base = Path(target.removeprefix("--target-dir="))
            (base / "xtrabackup_binlog_info").write_text("binlog.000003\t900\t1-1-100,2-7-5\n")

    monkeypatch.setattr(physical, "run_program", run_program)
    server.follows, server.starts["binlog.000003"] = True, "1-1-103"
    manifest = await physical.back_up(cast(Admin, server), tmp_path / "new", print)
    assert (manifest.gtids, manifest.logged) == ("1-1-103,2-7-5", "1-1-103")
    assert backup_files.read(tmp_path / "new") == manifest
    assert open_to_others(tmp_path / "new") == set()


async def test_an_archive_continues_after_the_last_log(server: Server, folder: Path) -> None:
    assert await archive(server, folder) == ["binlog.000003"]
    assert await archive(server, folder) == ["binlog.000004"]
    found = [path.read_text() for path in backup_files.archived(folder)]
    assert found == ["from 1-1-100", "from 1-1-110"]
    done = backup_files.read_archive(folder)
    assert done is not None
    assert (done.log, done.logged) == ("binlog.000004", "1-1-120")


@pytest.mark.parametrize("before", [0, 2])
async def test_logs_that_were_restarted_are_refused_however_often_the_command_is_run(
    server: Server, folder: Path, before: int
) -> None:
    for _ in range(before):
        await archive(server, folder)
    kept = [path.name for path in backup_files.archived(folder)]
    server.restart_logs(200)
    flushes = server.flushes
    for _ in range(8):
        with pytest.raises(ConfigError, match=r"were restarted .* make a new backup"):
            await archive(server, folder)
        assert server.flushes == flushes
        await server.run("FLUSH BINARY LOGS")  # as the server does for a log of full size
        flushes += 1
    assert [path.name for path in backup_files.archived(folder)] == kept


async def test_a_log_that_was_deleted_is_refused(server: Server, folder: Path) -> None:
    await archive(server, folder)
    await server.run("FLUSH BINARY LOGS")
    del server.starts["binlog.000003"], server.starts["binlog.000004"]
    with pytest.raises(ConfigError, match=r"has deleted its binary log binlog.000004"):
        await archive(server, folder)


async def test_the_archive_after_999999_logs_continues_in_order(
    server: Server, folder: Path
) -> None:
    (folder / "logs").mkdir()
    backup_files.write(folder / "archived.json", Archive("binlog.999998", "1-1-100", ""))
    server.starts.clear()
    server.log(999_999, "1-1-100")
    assert await archive(server, folder) == ["binlog.999999"]
    assert await archive(server, folder) == ["binlog.1000000"]
    names = [path.name for path in backup_files.archived(folder)]
    assert names == ["binlog.999999", "binlog.1000000"]


async def test_a_moment_before_the_backup_is_refused(server: Server, folder: Path) -> None:
    backup_files.write(
        folder / "archived.json", Archive("binlog.000003", "1-1-110", "2026-01-31T13:00:00+00:00")
    )
    for second in (-1, 0):
        until = datetime(2026, 1, 31, 12, tzinfo=UTC) + timedelta(seconds=second)
        with pytest.raises(
            ConfigError, match=r"earlier one. Its logs reach up to 2026-01-31T13:00"
        ):
            await physical.replay(cast(Admin, server), folder, until, print)


async def test_only_their_owner_reads_the_files(server: Server, folder: Path) -> None:
    umask = os.umask(0o022)
    try:
        await archive(server, folder)
        (folder / "base" / "mysql").mkdir(parents=True)
        (folder / "base" / "mysql" / "user.frm").touch()
        backup_files.make_private(folder / "base")
    finally:
        os.umask(umask)
    assert open_to_others(folder) == set()


async def test_a_log_that_can_t_be_copied_is_an_error_and_leaves_nothing(
    server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("shutil.copyfileobj", full)
        with pytest.raises(StoreUnavailable, match=r"No space left"):
            await archive(server, folder)
    assert list((folder / "logs").iterdir()) == []
    await server.run("FLUSH BINARY LOGS")
    (server.place / "binlog.000004").unlink()
    with pytest.raises(StoreUnavailable, match=r"binlog.000004: No such file"):
        await archive(server, folder)
    assert backup_files.read_archive(folder) is None


def test_a_file_of_another_user_is_told_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> bytes:
        raise PermissionError(13, "Permission denied", "backup.json")

    monkeypatch.setattr(Path, "read_bytes", refused)
    with pytest.raises(ConfigError, match="Permission denied: run the command as a user"):
        backup_files.read(tmp_path)


def test_binary_logs_are_counted_on() -> None:
    assert backup_files.after("binlog.000009") == "binlog.000010"
    assert backup_files.after("my.logs.999999") == "my.logs.1000000"


def test_a_moment_is_told_in_utc() -> None:
    moment = datetime(2026, 1, 31, 12, tzinfo=timezone(timedelta(hours=2)))
    assert physical._stop(moment) == ["--stop-datetime=2026-01-31 10:00:00"]
    assert physical._stop(datetime(2026, 1, 31, 12, tzinfo=UTC))[0].endswith(" 12:00:00")
    assert physical._stop(None) == []


def test_a_folder_that_is_no_backup_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is no backup"):
        backup_files.read(tmp_path)
    (tmp_path / "backup.json").write_text("{}")
    with pytest.raises(Damaged, match="can't be read"):
        backup_files.read(tmp_path)
