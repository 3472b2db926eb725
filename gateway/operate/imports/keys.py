"""The keys that an export gives to objects. They are in a temporary file, because memory may be too
small for all."""

from collections.abc import Iterable, Iterator

from datasources.ids import Kind
from gateway.operate.imports.scratch import open_scratch

_SCHEMA = """
CREATE TABLE keys (id INTEGER PRIMARY KEY, kind INT, key TEXT);
CREATE UNIQUE INDEX names ON keys (kind, key);
"""
_CHUNK = 5000


class Keys:
    """id → key, unique within a kind."""

    def __init__(self, directory: str | None = None) -> None:
        self._db = open_scratch("pinway-export-", _SCHEMA, directory)
        self.count = 0
        self._counts: dict[Kind, int] = {}

    def close(self) -> None:
        self._db.close()

    def add(self, kind: Kind, objects: Iterable[tuple[int, str | None]]) -> None:
        """Give each object a unique key. An object without a key, or with the key of another
        object, gets its id as key."""
        wanted = [(id, kind, key or str(id)) for id, key in objects]
        self._insert(wanted)
        missing = {id for id, *_ in wanted} - self.of(id for id, *_ in wanted).keys()
        attempt = 0
        while missing:
            # The id may be taken, too: another file may have used this number as a key.
            suffix = f"-{attempt}" if attempt else ""
            self._insert([(id, kind, f"{id}{suffix}") for id in missing])
            missing -= self.of(missing).keys()
            attempt += 1
        self.count += len(wanted)
        self._counts[kind] = self._counts.get(kind, 0) + len(wanted)

    def count_of(self, kind: Kind) -> int:
        return self._counts.get(kind, 0)

    def of(self, ids: Iterable[int]) -> dict[int, str]:
        """Returns the keys by id, of the objects that have a key."""
        found: dict[int, str] = {}
        for chunk in _chunks(dict.fromkeys(ids)):
            marks = ", ".join("?" * len(chunk))
            rows = self._db.execute(f"SELECT id, key FROM keys WHERE id IN ({marks})", chunk)
            found.update(rows.fetchall())
        return found

    def _insert(self, rows: list[tuple[int, Kind, str]]) -> None:
        self._db.execute("BEGIN")
        self._db.executemany("INSERT OR IGNORE INTO keys VALUES (?, ?, ?)", rows)
        self._db.execute("COMMIT")


def _chunks(ids: Iterable[int]) -> Iterator[list[int]]:
    some = list(ids)
    for start in range(0, len(some), _CHUNK):
        yield some[start : start + _CHUNK]
