"""The place of Pinway's packages on the path of modules."""

import sys
from pathlib import Path


def put_first() -> None:
    """Make Pinway's packages come before all others of the same names."""
    sys.path.insert(0, str(_folder()))


def _folder() -> Path:
    """The folder of Pinway's packages: this one in a wheel, the one above it in a checkout."""
    here = Path(__file__).resolve().parent
    return here if (here / "gateway").is_dir() else here.parent
