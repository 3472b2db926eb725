"""Writes a user's own data (`feed_engine.own_data`) as JSON Lines: `pinway user export`. The first
line is the account."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO

import msgspec

from datasources import files
from datasources.errors import ConfigError, NotFound
from datasources.protocols import Stores
from datasources.records import User
from feed_engine.own_data.parts import Line, parts
from gateway.operate.imports.report import OnProgress, Progress


async def export_user(stores: Stores, user: User, path: Path, on_progress: OnProgress) -> int:
    """Write the user's data to a new file, which its owner alone may read. Returns the number of
    lines. Raises StoreError; NotFound for an account that was deleted; ConfigError if the file
    can't be written."""
    if not user.active:
        raise NotFound(f"the account {user.id} is deleted: its data is no longer kept")
    lines = 0
    try:
        with _opened(path) as file:
            for part in parts(stores, user):
                async for found in part.pages:
                    _write(file, found)
                    lines += len(found)
                    on_progress(Progress("Lines", lines, None, "lines"))
    except OSError as error:
        raise ConfigError(f"can't write {path}: {error.strerror}") from None
    return lines


def _opened(path: Path) -> AbstractContextManager[IO[bytes]]:
    if path.exists() or path.is_symlink():
        raise ConfigError(f"{path} exists: name a new file")
    return files.replacing(path)


def _write(file: IO[bytes], lines: Sequence[Line]) -> None:
    for line in lines:
        file.write(msgspec.json.encode(line) + b"\n")
