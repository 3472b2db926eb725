"""The digest of all sources that are compiled: decides whether they must be compiled again.

setup.py runs this file alone, so it imports nothing of Pinway.
"""

from hashlib import sha256
from pathlib import Path

PACKAGES = ("gateway", "loaders", "datasources")
"""The top-level packages with compiled modules."""


def digest(root: Path) -> str:
    """The digest of the sources in the packages below this folder."""
    text = sha256()
    for folder in PACKAGES:
        for path in sorted((root / folder).rglob("*.p[xy][dx]")):
            for source in (path, path.with_suffix(".py")):
                if source.exists():
                    text.update(source.read_bytes())
    return text.hexdigest()
