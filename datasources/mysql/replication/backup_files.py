"""The files of a backup: `backup.json`, `archived.json` and the binary logs. Only their owner may
read them."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from datasources import files
from datasources.errors import ConfigError, Damaged, PinwayError, StoreUnavailable

LIST, ARCHIVED = "backup.json", "archived.json"


class Manifest(msgspec.Struct, frozen=True):
    """A backup's files, and the place in its server's binary log up to which the backup has all
    events."""

    server: str
    made: str  # UTC; the backup has nothing that was written later
    file: str
    offset: int
    gtids: str  # the last transactions
    logged: str  # the position in the binary log at `offset` of `file`
    files: dict[str, str]  # SHA-256 by path inside `base`


class Archive(msgspec.Struct, frozen=True):
    """The end of a backup's archived binary logs."""

    log: str  # the last archived log
    logged: str  # the position at its end
    moment: str  # UTC; the logs have all writes that were acknowledged before


@asynccontextmanager
async def file_errors() -> AsyncIterator[None]:
    """Raises ConfigError for files that this user may not use, and StoreUnavailable for other
    errors of files, such as a full disk."""
    try:
        yield
    except OSError as error:
        raise _told(error) from error


def read(folder: Path) -> Manifest:
    """The manifest of a backup. Raises ConfigError if the folder is not a backup, Damaged if the
    manifest can't be decoded."""
    try:
        return msgspec.json.decode((folder / LIST).read_bytes(), type=Manifest)
    except (FileNotFoundError, NotADirectoryError):
        raise ConfigError(f"{folder} is no backup: it has no {LIST}") from None
    except OSError as error:
        raise _told(error) from error
    except msgspec.MsgspecError as error:
        raise Damaged(f"{folder / LIST} can't be read: {error}") from error


def read_archive(folder: Path) -> Archive | None:
    """The end of the archived logs; None before the first log was archived. Raises Damaged."""
    try:
        return msgspec.json.decode((folder / ARCHIVED).read_bytes(), type=Archive)
    except FileNotFoundError:
        return None
    except msgspec.MsgspecError as error:
        raise Damaged(f"{folder / ARCHIVED} can't be read: {error}") from error


def archived(folder: Path) -> list[Path]:
    """The archived binary logs, in the order in which they were written."""
    return sorted(
        (path for path in (folder / "logs").glob("*") if path.suffix[1:].isdecimal()),
        key=lambda path: number(path.name),
    )


def number(log: str) -> int:
    """The number of a binary log, 7 of `binlog.000007`."""
    return int(log.rpartition(".")[2])


def after(log: str) -> str:
    """The name of the next binary log."""
    stem, _, digits = log.rpartition(".")
    return f"{stem}.{int(digits) + 1:0{len(digits)}d}"


def sums(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file, by its path in the folder."""
    return {
        path.relative_to(folder).as_posix(): files.sha256(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def make_private(folder: Path) -> None:
    """Make a folder and all files in it accessible to their owner only."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)


def copy(source: Path, target: Path) -> None:
    """Copy a file. Afterwards the copy is durable; after an error there is no copy."""
    with source.open("rb") as original, files.replacing(target) as written:
        shutil.copyfileobj(original, written)


def write(path: Path, content: msgspec.Struct) -> None:
    """Write a durable file of JSON, in one step."""
    files.write(path, msgspec.json.format(msgspec.json.encode(content)))


def _told(error: OSError) -> PinwayError:
    told = f"{error.filename}: {error.strerror}" if error.filename else str(error)
    if isinstance(error, PermissionError):
        return ConfigError(f"{told}: run the command as a user that may use the server's files")
    return StoreUnavailable(told)
