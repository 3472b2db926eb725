"""The data directory: made for its owner alone, and checked before it is used."""

import os
from collections.abc import Iterator
from pathlib import Path

from datasources.errors import ConfigError

STORES = ("shards", "feeds", "valkey")


def make_directory(data: Path) -> None:
    """Create the data directory if it is missing, for its owner alone: the files have what is on
    secret boards. Raises ConfigError if it can't be used."""
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"can't make the data directory {data}: {error.strerror}; set data_dir to another"
        ) from None
    check_directory(data)


def check_directory(data: Path) -> None:
    """Raises ConfigError if the data directory exists and this user can't read and write it, or
    a file or folder of a store in it that belongs to another user."""
    if os.path.exists(data) and not os.access(data, os.R_OK | os.W_OK | os.X_OK):
        raise ConfigError(
            f"the data directory {data} belongs to another user and can't be written: run `sudo "
            f"chown -R $USER {data}`, remove it as that user, or set data_dir to another"
        )
    for store in STORES:
        for path in _paths(data / store):
            if _is_closed(path):
                raise ConfigError(
                    f"{path} belongs to another user and can't be written: run `sudo chown -R "
                    f"$USER {data}`, or set data_dir to another"
                )


def _paths(folder: Path) -> Iterator[Path]:
    """A folder and all below it, each folder before what is in it."""
    yield folder
    for parent, folders, files in os.walk(folder):
        yield from (Path(parent, name) for name in (*folders, *files))


def _is_closed(path: Path) -> bool:
    """Whether a file or folder belongs to another user, and this user can't read and write it."""
    search = os.X_OK if path.is_dir() else 0
    if os.access(path, os.R_OK | os.W_OK | search):
        return False
    try:
        return path.stat().st_uid != os.geteuid()
    except FileNotFoundError:
        return False  # a store that runs removes files, such as a log that was merged
