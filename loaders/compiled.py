"""Chooses between the compiled modules and their Python sources.

Compiled modules are used where they were built. The environment variable PINWAY_COMPILED=0 chooses
the sources instead. Python would import the compiled file, which is in the same folder as the
source; `Sources` makes it import the source.
"""

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

from loaders.digest import PACKAGES, digest

ROOT = Path(__file__).resolve().parent.parent


def is_stale(root: Path) -> bool:
    """Whether a source differs from the one that was compiled. setup.py writes the digest after it
    compiled in place; an installed package has no digest."""
    written = root / "loaders" / "compiled.digest"
    return written.exists() and written.read_text() != digest(root)


def is_built(root: Path) -> bool:
    """Whether there are compiled modules."""
    return any((root / "loaders" / f"key_futures{end}").exists() for end in EXTENSION_SUFFIXES)


WANTED = os.environ.get("PINWAY_COMPILED") != "0"
if WANTED and is_stale(ROOT):
    WANTED = False
    print(
        "pinway: sources were changed after they were compiled: running them uncompiled, slower."
        " `python3 bootstrap.py install` compiles them",
        file=sys.stderr,
    )


class Sources(MetaPathFinder):
    """Finds the Python source of a module of these packages, if it has one."""

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


# Without compiled modules, the sources stay in use even if compiled modules appear while this
# process runs, because modules of both kinds do not fit together.
if not WANTED or not is_built(ROOT):
    sys.meta_path.insert(0, Sources())

try:
    if not WANTED:
        raise ImportError
    from loaders.key_futures import SingleKeyBatch, assign_slots
except ImportError:  # not built, or PINWAY_COMPILED=0
    from loaders.single_keys import SingleKeyBatch, assign_slots

__all__ = ["PACKAGES", "WANTED", "SingleKeyBatch", "Sources", "assign_slots"]
