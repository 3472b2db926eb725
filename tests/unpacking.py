"""Unpacks archives on every Python that Pinway supports."""

import tarfile
from pathlib import Path
from typing import Any

_SAFELY: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
"""Python has filters from 3.11.4 on."""


def unpack(archive: tarfile.TarFile, folder: Path) -> None:
    archive.extractall(folder, **_SAFELY)
