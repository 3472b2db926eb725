"""The keys with which a migration's objects are stored: the old ids after the migration's name, so
that no other migration and no import has the same objects.

A migration that began with a version before these keys continues with the old ids alone.
"""

from typing import NamedTuple

from gateway.operate.imports.load import stored_key


class StoredKeys(NamedTuple):
    """The keys of the migration `name`. `source` stands before the old ids; it is empty for old ids
    alone."""

    name: str
    source: str

    def of(self, old: str) -> str:
        """The key of the object with an old id."""
        return stored_key(self.source, old)

    def has(self, key: str) -> bool:
        """Whether a key is certainly one of the migration's: an old id alone may be an import's."""
        return bool(self.source) and key.startswith(self.of(""))

    def old(self, key: str) -> str:
        """The old id in the key of one of the migration's objects. Other keys stay as they are."""
        return key.removeprefix(self.of(""))
