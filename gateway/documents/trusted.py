"""The registry of trusted documents: the documents of the operators' own clients, by their ids.

The registry is read from manifests (`gateway/documents/manifests.py`) at the start, and again when
the process gets SIGHUP. Each process has its own registry.
"""

from collections.abc import Sequence
from pathlib import Path

from datasources.errors import ConfigError
from gateway.documents.manifests import read_manifest


class TrustedDocuments:
    """The documents of all manifests. Reading replaces all of them at once, or none."""

    def __init__(self, paths: Sequence[Path] = ()) -> None:
        """Read the manifests. Raises ConfigError."""
        self._paths = tuple(paths)
        self._texts: dict[str, str] = {}
        self._known: frozenset[str] = frozenset()
        self.read()

    def __len__(self) -> int:
        return len(self._texts)

    def read(self) -> None:
        """Read the manifests again. Raises ConfigError, and then keeps the documents as they
        were."""
        texts: dict[str, str] = {}
        for path in self._paths:
            for id_, text in read_manifest(path).items():
                if texts.setdefault(id_, text) != text:
                    raise ConfigError(f"{path} has another text for the id {id_[:64]!r}")
        self._texts, self._known = texts, frozenset(texts.values())

    def text(self, id_: str) -> str | None:
        """The text of the document with this id; None if there is none."""
        return self._texts.get(id_)

    def has(self, text: str) -> bool:
        """Whether a document has exactly this text."""
        return text in self._known
