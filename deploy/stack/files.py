"""Small files that are written completely or not at all."""

import os
from pathlib import Path


def write_if_changed(path: Path, text: str, *, secret: bool = False) -> bool:
    """Write `text` in one step. Returns False, and changes nothing, if the file has this text
    already.

    Only its owner can read a secret file, from its first byte on.
    """
    mode = 0o600 if secret else 0o644
    try:
        if path.read_text() == text and path.stat().st_mode & 0o777 == mode:
            return False
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f"{path.name}.{os.getpid()}.new")
    scratch.unlink(missing_ok=True)
    with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w") as out:
        os.fchmod(out.fileno(), mode)  # Whatever the umask.
        out.write(text)
    scratch.replace(path)
    return True
