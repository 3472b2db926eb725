"""The ledger of the way back, in the migration's journal: the old id of each object, the state of
each object and edge that the old database has, and what it could not get.

An object's old id is stored before its row is inserted, so a process may be killed at any point.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

from datasources.ids import Kind
from datasources.mappings import Mapping
from datasources.protocols import ShardStore
from gateway.operate.imports.load import batches, patiently
from gateway.operate.migration.copying import namespace
from gateway.operate.migration.expected import FOLLOWS
from gateway.operate.migration.journal import Journal

ORDERS = "order"
"""The kind of a board's order among subjects."""
OBJECTS = tuple(f"{kind.name.lower()}" for kind in Kind)
EDGES = {mapping.value: mapping for mapping in (Mapping.USER_LIKES_PINS, *FOLLOWS.values())}
_SCHEMA = """
CREATE TABLE IF NOT EXISTS back_objects (id INTEGER PRIMARY KEY, kind TEXT, source_table TEXT,
                                         key TEXT, stands INT, digest BLOB);
CREATE INDEX IF NOT EXISTS back_keys ON back_objects (kind, key);
CREATE TABLE IF NOT EXISTS back_edges (mapping TEXT, a INT, b INT, stands INT, digest BLOB,
                                       PRIMARY KEY (mapping, a, b)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS back_orders (id INTEGER PRIMARY KEY, digest BLOB);
CREATE TABLE IF NOT EXISTS back_notes (kind TEXT, a INT, b INT, message TEXT, kept INT,
                                       PRIMARY KEY (kind, a, b, message)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS back_references (id INT, other INT, PRIMARY KEY (id, other))
                                            WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS back_referring ON back_references (other);
CREATE TABLE IF NOT EXISTS back_gone (id INTEGER PRIMARY KEY);
CREATE TABLE IF NOT EXISTS back_staying (id INTEGER PRIMARY KEY);
CREATE TEMP TABLE back_todo (kind TEXT, a INT, b INT, PRIMARY KEY (kind, a, b)) WITHOUT ROWID;
"""
_TABLES = tuple(
    f"back_{it}" for it in ["objects", "edges", "orders", "notes", "references", "gone", "staying"]
)
FILLED = "back"
"""The journal's fact that the ledger has the objects of the copy."""
_SOME = 500


class Subject(NamedTuple):
    """An object (by its kind), a board's order, or an edge (by its mapping, with two ids)."""

    kind: str
    a: int
    b: int = 0

    def told(self, old: str | None) -> dict[str, str | None]:
        """The subject for people and programs, with its old id."""
        ids = ", ".join(str(id) for id in self[1:] if id)
        return {"kind": self.kind, "id": ids, "old": old}


class Known(NamedTuple):
    """An object in the old database: its table and its old id (None: it has none yet), whether its
    row stands there, and the digest of the object's state that was brought."""

    table: str | None
    key: str | None
    stands: bool
    digest: bytes | None


class Note(NamedTuple):
    """A change that the old database could not get. `kept`: the row is there, and a value is not;
    or the row was changed there by somebody else."""

    message: str
    kept: bool


class Settled(NamedTuple):
    """The result for a subject. `digest`: the state that was brought; None if it is to be looked at
    again."""

    subject: Subject
    stands: bool
    digest: bytes | None
    notes: Sequence[Note]


class BackLedger:
    def __init__(self, journal: Journal) -> None:
        self._journal, self._db = journal, journal.spool.db
        for statement in _SCHEMA.split(";"):
            self._db.execute(statement)

    async def fill(self, shards: ShardStore, name: str) -> None:
        """Take over the objects, likes and follows that the migration has brought to the shards."""
        if self._journal.fact(FILLED) is not None:
            return
        with self._journal.spool.transaction():
            for table in _TABLES:
                self._db.execute(f"DELETE FROM {table}")
            for kind in OBJECTS:
                found = self._db.execute(
                    "SELECT a, source_table FROM links WHERE kind = ?", (kind,)
                ).fetchall()
                for batch in batches(iter(found), _SOME):
                    keys = [key for key, _ in batch]
                    ids = await patiently(partial(shards.mod.find, namespace(name, kind), keys))
                    self._db.executemany(
                        "INSERT OR IGNORE INTO back_objects VALUES (?, ?, ?, ?, 1, NULL)",
                        [(ids[key], kind, table, key) for key, table in batch if key in ids],
                    )
            for kind, mapping, target in (
                ("like", Mapping.USER_LIKES_PINS, "pin"),
                *(("follow", mapping, of) for of, mapping in FOLLOWS.items()),
            ):
                prefix = "" if kind == "like" else f"{target}:"
                self._db.execute(
                    "INSERT OR IGNORE INTO back_edges SELECT ?, u.id, t.id, 1, NULL FROM links l "
                    "JOIN back_objects u ON u.kind = 'user' AND u.key = l.a "
                    "JOIN back_objects t ON t.kind = ? AND ? || t.key = l.b WHERE l.kind = ?",
                    (mapping.value, target, prefix, kind),
                )
            self._journal.set_fact(FILLED, "yes")

    def digests(self, kind: str, after: int, up_to: int) -> dict[int, bytes | None]:
        """The digests of a kind of objects, or of the boards' orders, with ids in a range."""
        table, chosen = "back_objects", "kind = ? AND "
        if kind == ORDERS:
            table, chosen = "back_orders", "? IS NOT NULL AND "
        return dict(
            self._db.execute(
                f"SELECT id, digest FROM {table} WHERE {chosen} id > ? AND id <= ?",
                (kind, after, up_to),
            ).fetchall()
        )

    def edge_digests(
        self, mapping: str, after: tuple[int, int], up_to: tuple[int, int]
    ) -> dict[tuple[int, int], bytes | None]:
        """The digests of a mapping's edges in a range."""
        found = self._db.execute(
            "SELECT a, b, digest FROM back_edges WHERE mapping = ? AND (a, b) > (?, ?) "
            "AND (a, b) <= (?, ?)",
            (mapping, *after, *up_to),
        )
        return {(a, b): digest for a, b, digest in found}

    def look_at(self, subjects: Iterable[Subject]) -> None:
        """Note subjects that are to be looked at in this run."""
        self._db.executemany("INSERT OR IGNORE INTO back_todo VALUES (?, ?, ?)", subjects)

    def refer(self, id: int, to: Iterable[int]) -> None:
        """Store the objects to which an object refers, or on which it is."""
        self._db.execute("DELETE FROM back_references WHERE id = ?", (id,))
        self._db.executemany(
            "INSERT OR IGNORE INTO back_references VALUES (?, ?)", [(id, other) for other in to]
        )

    def went(self, ids: Iterable[int]) -> None:
        """Note that objects went away, and that all that stands and refers to them, and all edges
        of them, are to be looked at: also in the next run, unless this run calls `all_seen`."""
        with self._journal.spool.transaction():
            new = [(id,) for id in ids]
            self._db.executemany("INSERT OR IGNORE INTO back_gone VALUES (?)", new)
            self._db.execute(
                "INSERT OR IGNORE INTO back_todo SELECT o.kind, o.id, 0 FROM back_references r "
                "JOIN back_objects o ON o.id = r.id "
                "WHERE o.stands AND r.other IN (SELECT id FROM back_gone)"
            )
            self._db.execute(
                "INSERT OR IGNORE INTO back_todo SELECT mapping, a, b FROM back_edges "
                "WHERE stands AND (a IN (SELECT id FROM back_gone) "
                "OR b IN (SELECT id FROM back_gone))"
            )

    def has_gone(self, kind: str, key: str) -> bool:
        """Whether an object with this old id is one of `went`."""
        found = self._db.execute(
            "SELECT 1 FROM back_objects JOIN back_gone USING (id) WHERE kind = ? AND key = ?",
            (kind, key),
        )
        return found.fetchone() is not None

    def all_seen(self) -> None:
        """Forget the objects of `went`."""
        self._db.execute("DELETE FROM back_gone")

    def expect(self, subjects: Sequence[Subject]) -> None:
        """Note before rows are inserted that they will stand. If this run ends before it has stored
        the results, the next run takes the rows away that are gone in Pinway by then."""
        with self._journal.spool.transaction():
            for subject in subjects:
                self._store(subject, True, None)

    def waiting(self, kind: str, limit: int) -> list[Subject]:
        """Up to `limit` subjects of a kind that are to be looked at; they are noted no longer."""
        found = self._db.execute(
            "SELECT kind, a, b FROM back_todo WHERE kind = ? ORDER BY a, b LIMIT ?", (kind, limit)
        ).fetchall()
        self._db.executemany("DELETE FROM back_todo WHERE kind = ? AND a = ? AND b = ?", found)
        return [Subject(*one) for one in found]

    def known(self, ids: Iterable[int]) -> dict[int, Known]:
        """The objects that the ledger knows."""
        found, wanted = dict[int, Known](), list(ids)
        for start in range(0, len(wanted), _SOME):
            some = wanted[start : start + _SOME]
            places = ", ".join("?" * len(some))
            rows = self._db.execute(
                "SELECT id, source_table, key, stands, digest FROM back_objects "
                f"WHERE id IN ({places})",
                some,
            )
            found |= {
                id: Known(table, key, bool(stands), it) for id, table, key, stands, it in rows
            }
        return found

    def edge_stands(self, subject: Subject) -> bool:
        """Whether an edge's row stands in the old database."""
        found = self._db.execute(
            "SELECT stands FROM back_edges WHERE mapping = ? AND a = ? AND b = ?", subject
        ).fetchone()
        return found is not None and bool(found[0])

    def id_of(self, kind: str, key: str) -> int | None:
        """The object with an old id."""
        found = self._db.execute(
            "SELECT id FROM back_objects WHERE kind = ? AND key = ?", (kind, key)
        ).fetchone()
        return found[0] if found else None

    def keys(self, kind: str, table: str) -> list[str]:
        """The old ids that objects of a table have got, of which no row may stand."""
        found = self._db.execute(
            "SELECT key FROM back_objects WHERE kind = ? AND source_table = ? "
            "AND (stands = 0 OR digest IS NULL) AND key IS NOT NULL",
            (kind, table),
        )
        return [key for (key,) in found]

    def keep(self, id: int, kind: str, table: str, key: str) -> None:
        """Store the old id that a new object gets, and `expect` its row. It never gets another
        one."""
        self._db.execute(
            "INSERT INTO back_objects VALUES (?, ?, ?, ?, 1, NULL) ON CONFLICT (id) DO UPDATE "
            "SET source_table = excluded.source_table, key = excluded.key, stands = 1",
            (id, kind, table, key),
        )

    def settle(self, results: Iterable[Settled]) -> None:
        """Store results."""
        with self._journal.spool.transaction():
            for subject, stands, digest, notes in results:
                self._store(subject, stands, digest)
                self._db.execute(
                    "DELETE FROM back_notes WHERE kind = ? AND a = ? AND b = ?", subject
                )
                self._db.executemany(
                    "INSERT OR IGNORE INTO back_notes VALUES (?, ?, ?, ?, ?)",
                    [(*subject, note.message, int(note.kept)) for note in notes],
                )

    def notes(self) -> list[tuple[Subject, str | None, Note]]:
        """All notes, with the old ids of objects."""
        found = self._db.execute(
            "SELECT n.kind, n.a, n.b, o.key, n.message, n.kept FROM back_notes n "
            "LEFT JOIN back_objects o ON o.id = n.a AND n.b = 0 ORDER BY n.kind, n.a, n.b, message"
        )
        return [
            (Subject(kind, a, b), key, Note(message, bool(kept)))
            for kind, a, b, key, message, kept in found
        ]

    def told(self, subject: Subject) -> set[str]:
        """The fields of a subject that have notes."""
        found = self._db.execute(
            "SELECT message FROM back_notes WHERE kind = ? AND a = ? AND b = ?", subject
        )
        return {message.partition(":")[0] for (message,) in found}

    def look_at_noted(self) -> None:
        """Note the subjects that have notes, as subjects that are to be looked at in this run: the
        reason may have gone, in Pinway or in the old database."""
        self._db.execute(
            "INSERT OR IGNORE INTO back_todo SELECT DISTINCT kind, a, b FROM back_notes"
        )

    def note_count(self) -> int:
        """The number of notes."""
        found: int = self._db.execute("SELECT count(*) FROM back_notes").fetchone()[0]
        return found

    def set_staying(self, id: int, *, stays: bool) -> None:
        """Store whether a user stays in Pinway."""
        change = "INSERT OR IGNORE INTO back_staying VALUES (?)"
        self._db.execute(change if stays else "DELETE FROM back_staying WHERE id = ?", (id,))

    def staying_count(self) -> int:
        """The number of users who stay in Pinway."""
        found: int = self._db.execute("SELECT count(*) FROM back_staying").fetchone()[0]
        return found

    def _store(self, subject: Subject, stands: bool, digest: bytes | None) -> None:
        kind, a, b = subject
        if kind == ORDERS:
            self._db.execute("INSERT OR REPLACE INTO back_orders VALUES (?, ?)", (a, digest))
        elif b:
            values = (*subject, stands, digest)
            self._db.execute("INSERT OR REPLACE INTO back_edges VALUES (?, ?, ?, ?, ?)", values)
        else:
            self._db.execute(
                "INSERT INTO back_objects VALUES (?, ?, NULL, NULL, ?, ?) ON CONFLICT (id) "
                "DO UPDATE SET stands = excluded.stands, digest = excluded.digest",
                (a, kind, stands, digest),
            )
