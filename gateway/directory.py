"""The data directory: made for its owner alone, and checked before it is used."""

import os
from pathlib import Path

from datasources.errors import ConfigError


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
    """Raises ConfigError if the data directory exists and this user can't read and write it."""
    if os.path.exists(data) and not os.access(data, os.R_OK | os.W_OK | os.X_OK):
        raise ConfigError(
            f"the data directory {data} belongs to another user and can't be written: run `sudo "
            f"chown -R $USER {data}`, remove it as that user, or set data_dir to another"
        )
