"""Files that are written durably, in one step, and the checksums of files."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

PRIVATE = 0o600


def write(path: Path, data: bytes, *, mode: int = PRIVATE) -> None:
    """Replace a file's content, as `replacing` does."""
    with replacing(path, mode=mode) as file:
        file.write(data)


@contextmanager
def replacing(path: Path, *, mode: int = PRIVATE) -> Iterator[BinaryIO]:
    """A new file that replaces `path` at the end of the block. Afterwards the new file is durable;
    after an error the old file stays. `mode` gives the permissions, from which the umask is taken
    away. A link is replaced, not followed. Concurrent writers must hold a lock. Raises OSError."""
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)  # of a process that was killed
    # A file or link of somebody else, put there since, is not opened.
    new = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    file = os.fdopen(os.open(part, new, mode), "wb")
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        rename(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def rename(path: Path, target: Path) -> None:
    """Rename a file or a folder, durably. Raises OSError."""
    path.rename(target)
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
