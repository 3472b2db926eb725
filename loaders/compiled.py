"""Chooses compiled code where it was built, else the same in Python.

PINWAY_COMPILED=0 in the environment chooses Python. The compiled file of a module lies beside its
source and would be imported first: then a finder has Python read the source.
"""

import os
import sys
from collections.abc import Sequence
from hashlib import sha256
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent


def digest(root: Path) -> str:
    """The digest of all sources that are compiled. setup.py can't import this, and has it too."""
    text = sha256()
    for folder in ("gateway", "loaders"):
        for path in sorted((root / folder).rglob("*.p[xy][dx]")):
            for source in (path, path.with_suffix(".py")):
                if source.exists():
                    text.update(source.read_bytes())
    return text.hexdigest()


def is_stale(root: Path) -> bool:
    """Whether a source was changed after it was compiled: setup.py then wrote the digest. An
    installed package has none."""
    written = root / "loaders" / "compiled.digest"
    return written.exists() and written.read_text() != digest(root)


WANTED = os.environ.get("PINWAY_COMPILED") != "0"
if WANTED and is_stale(ROOT):
    WANTED = False
    print(
        "pinway: sources were changed after they were compiled: running them uncompiled, slower."
        " `python3 bootstrap.py install` compiles them",
        file=sys.stderr,
    )
PACKAGES = ("gateway", "loaders")
"""Where compiled modules are, and in the packages below."""


class Sources(MetaPathFinder):
    """Finds modules of these packages in Python, if that is how they are written."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, name = fullname.rpartition(".")
        if package.partition(".")[0] in PACKAGES:
            for folder in path or ():
                source = os.path.join(folder, f"{name}.py")
                if os.path.isfile(source):
                    return spec_from_file_location(fullname, source)
        return None


if not WANTED:
    sys.meta_path.insert(0, Sources())

try:
    if not WANTED:
        raise ImportError
    from loaders.key_futures import SingleKeyBatch, assign_slots
except ImportError:  # there was no compiler, or it isn't wanted
    from loaders.single_keys import SingleKeyBatch, assign_slots

__all__ = ["PACKAGES", "WANTED", "SingleKeyBatch", "Sources", "assign_slots"]
