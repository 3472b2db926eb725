"""What there is as compiled code: that, where it was built, or else what stands in for it.

PINWAY_COMPILED=0 in the environment does without it. Of a module that was compiled from Python,
Python then has to be told to read its source: what was built lies beside it, and would come first.
"""

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from types import ModuleType

WANTED = os.environ.get("PINWAY_COMPILED") != "0"
PACKAGES = ("gateway", "gateway.execution", "gateway.serving", "loaders")


class Sources(MetaPathFinder):
    """Finds modules of these packages in Python, if that is how they are written."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, name = fullname.rpartition(".")
        if package in PACKAGES:
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
    from loaders.promised import Singles, place
except ImportError:  # there was no compiler, or it isn't wanted
    from loaders.singles import Singles, place

__all__ = ["PACKAGES", "WANTED", "Singles", "Sources", "place"]
