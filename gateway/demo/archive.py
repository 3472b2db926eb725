"""The ready demo content: filled embedded stores in an archive, which a first start unpacks.

Filling the stores through the importer takes twenty seconds of processor time; unpacking takes less
than one. `make demo` writes the archive again, after a change of the content or of what the stores
keep. `tests/importing/test_demo.py` compares the archive with the content.
"""

import shutil
import tarfile
from pathlib import Path

from datasources import files

ARCHIVE = Path(__file__).with_name("stores.tar.xz")
FOLDERS = ("feeds", "shards")
"""The folders of a data directory that are in the archive. The shards come last: they have the mark
that the content is complete, so a start that was killed between the two fills the stores again."""


def unpack_demo(data: Path) -> None:
    """Unpack the archive into a data directory, unless the directory has shards or feeds.

    The caller holds the directory's lock.
    """
    if any((data / name).exists() for name in FOLDERS):
        return
    unfinished = data / "demo.unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        with tarfile.open(ARCHIVE) as archive:
            for member in archive:
                if (content := archive.extractfile(member)) is not None:
                    path = unfinished / member.name
                    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                    files.write(path, content.read())
        for name in FOLDERS:
            files.rename(unfinished / name, data / name)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
