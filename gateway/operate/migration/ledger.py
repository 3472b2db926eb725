"""The ledger of a migration, in its journal: which object or edge each row of the source has
become, the objects that the row depends on, why a row was left out, and which rows must be looked
at again.

A row that is to be looked at again stays in the ledger until the stores have its present state, so
a process may be killed at any point.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gateway.operate.imports.private_keys import WITHOUT_KEY
from gateway.operate.migration.fields import FIELDS
from gateway.operate.migration.items import NAMES, Item, Ref
from gateway.operate.migration.journal import Journal, row_text

_SCHEMA = """
CREATE TABLE IF NOT EXISTS links (source_table TEXT, row TEXT, kind TEXT, a TEXT, b TEXT, id INT,
                                  PRIMARY KEY (kind, a, b)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS links_row ON links (source_table, row);
CREATE TABLE IF NOT EXISTS needs (source_table TEXT, row TEXT, kind TEXT, key TEXT,
                                  PRIMARY KEY (kind, key, source_table, row)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS needs_row ON needs (source_table, row);
CREATE TABLE IF NOT EXISTS starts (kind TEXT, key TEXT, shard INT, parent TEXT,
                                   PRIMARY KEY (kind, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS names (source_table TEXT, row TEXT, kind TEXT, key TEXT,
                                  PRIMARY KEY (source_table, row, kind, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reasons (source_table TEXT, row TEXT, reason TEXT,
                                    PRIMARY KEY (source_table, row, reason)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS todo (n INTEGER PRIMARY KEY AUTOINCREMENT, rank INT, source_table TEXT,
                                 row TEXT, UNIQUE (source_table, row));
CREATE INDEX IF NOT EXISTS todo_rank ON todo (rank, n);
"""
_INTENDED = -1  # in place of an id
_COPIED = {
    "users": ("'user'", "s.key", "''", "s.id"),
    "interests": ("'interest'", "s.key", "''", "s.id"),
    "boards": ("'board'", "s.key", "''", "s.id"),
    "pins": ("'pin'", "s.key", "''", "s.id"),
    "comments": ("'comment'", "s.key", "''", "s.id"),
    "likes": ("'like'", "s.user", "s.pin", "0"),
    "follows": ("'follow'", "s.follower", "s.kind || ':' || s.target", "0"),
}
"""The journal's tables of copied rows → the kind, the two parts and the id of their items."""
_NEEDED = (
    ("users", "'username'", "s.name", ""),
    ("interests", "'slug'", "s.name", ""),
    ("boards", "'user'", "s.owner", ""),
    ("boards", "'pin'", "s.cover", "AND s.cover IS NOT NULL"),
    ("pins", "'board'", "s.board", ""),
    ("pins", "'pin'", "s.source", "AND s.source IS NOT NULL"),
    ("comments", "'pin'", "s.pin", ""),
    ("comments", "'user'", "s.author", ""),
    ("likes", "'user'", "s.user", ""),
    ("likes", "'pin'", "s.pin", ""),
    ("follows", "'user'", "s.follower", ""),
    ("follows", "s.kind", "s.target", ""),
)


class Row(NamedTuple):
    """A row of the source: its table and its primary key."""

    table: str
    key: tuple[str, ...]

    @property
    def text(self) -> str:
        return row_text(self.key)


class Start(NamedTuple):
    """The shard on which an object is to be stored, and the parent in its key there."""

    shard: int
    parent: str


class Settled(NamedTuple):
    """The result of bringing a row to the stores. `changed`: objects that came, went or have
    another id now, and names that were freed: rows that depend on them are to be looked at.
    `items` have their ids, 0 for edges."""

    items: Mapping[Item, int]
    uses: Iterable[Ref]
    reasons: Sequence[str]
    changed: Iterable[Ref]


class Ledger:
    """The ledger of one migration. `ranks`: table → its place in the order of work, by the kinds
    that its rows become."""

    def __init__(self, journal: Journal, becomes: Sequence[tuple[str, str]]) -> None:
        self._journal, self._db = journal, journal.spool.db
        order = list(FIELDS)
        self._ranks: dict[str, int] = {}
        for table, kind in becomes:
            self._ranks[table] = min(self._ranks.get(table, len(order)), order.index(kind))
        tables = self._db.execute("SELECT name FROM sqlite_master WHERE name IN ('needs', 'names')")
        is_older = tables.fetchall() == [("needs",)]
        with journal.spool.transaction():
            for statement in _SCHEMA.split(";"):
                self._db.execute(statement)
            if is_older:
                self._take_names_over()

    def take_over(self) -> None:
        """Take over the rows that a copy has brought to the stores since the last time. The rows
        that it left out, or without a user's key, are to be looked at."""
        after = int(self._journal.fact("taken over") or 0)
        with self._journal.spool.transaction():
            for table, (kind, a, b, id) in _COPIED.items():
                self._db.execute(
                    f"INSERT OR IGNORE INTO links SELECT o.source_table, o.source_key, {kind}, {a},"
                    f" {b}, {id} FROM {table} s JOIN origins o USING (line) WHERE line > ?",
                    (after,),
                )
            for table, kind, key, also in _NEEDED:
                self._db.execute(
                    f"INSERT OR IGNORE INTO needs SELECT o.source_table, o.source_key, {kind}, "
                    f"{key} FROM {table} s JOIN origins o USING (line) WHERE line > ? {also}",
                    (after,),
                )
            self._db.execute(
                "INSERT OR IGNORE INTO needs SELECT o.source_table, o.source_key, 'interest', "
                "i.interest FROM pin_interests i JOIN pins s ON s.n = i.pin "
                "JOIN origins o USING (line) WHERE line > ?",
                (after,),
            )
            self._db.execute(
                "INSERT OR IGNORE INTO reasons SELECT source_table, source_key, message "
                "FROM faults JOIN origins USING (line) WHERE kept = 0 AND line > ?",
                (after,),
            )
            left_out = self._db.execute(
                "SELECT DISTINCT source_table, source_key FROM faults JOIN origins USING (line) "
                "WHERE (kept = 0 OR message LIKE ?) AND line > ?",
                (f"%{WITHOUT_KEY}", after),
            ).fetchall()
            self.look_at(_row(*found) for found in left_out)
            [last] = self._db.execute("SELECT coalesce(max(line), 0) FROM origins").fetchone()
            self._journal.set_fact("taken over", str(last))

    def _take_names_over(self) -> None:
        """An earlier version noted the names of `intend` among the references of its rows."""
        marks = ", ".join("?" * len(NAMES))
        self._db.execute(
            "INSERT OR IGNORE INTO names SELECT source_table, row, kind, key FROM needs "
            f"JOIN todo USING (source_table, row) WHERE kind IN ({marks})",
            [*NAMES],
        )

    def look_at(self, rows: Iterable[Row]) -> None:
        """Note rows that are to be looked at (again)."""
        self._db.executemany(
            "INSERT OR REPLACE INTO todo (rank, source_table, row) VALUES (?, ?, ?)",
            [(self._ranks.get(row.table, 0), row.table, row.text) for row in rows],
        )

    def look_at_left_out(self, table: str) -> None:
        """Note all rows of a table that were left out, or have become less than they should."""
        found = self._db.execute(
            "SELECT DISTINCT row FROM reasons WHERE source_table = ?", (table,)
        )
        self.look_at(_row(table, text) for (text,) in found.fetchall())

    def waiting(self, limit: int) -> list[tuple[int, Row]]:
        """Up to `limit` rows of one table that are to be looked at, in the order of their kinds,
        each with the number of its note."""
        first = self._db.execute("SELECT source_table FROM todo ORDER BY rank, n LIMIT 1")
        if (found := first.fetchone()) is None:
            return []
        rows = self._db.execute(
            "SELECT n, source_table, row FROM todo WHERE source_table = ? ORDER BY n LIMIT ?",
            (found[0], limit),
        )
        return [(n, _row(table, text)) for n, table, text in rows]

    def waiting_count(self) -> int:
        """The number of rows that are to be looked at."""
        found: int = self._db.execute("SELECT count(*) FROM todo").fetchone()[0]
        return found

    def items(self, row: Row) -> dict[Item, int]:
        """The objects and edges that the row has become, with their ids."""
        found = self._db.execute(
            "SELECT kind, a, b, id FROM links WHERE source_table = ? AND row = ?",
            (row.table, row.text),
        )
        return {Item(*item): id for *item, id in found}

    def uses(self, row: Row) -> set[Ref]:
        """The objects and names on which the row depended when it was looked at."""
        return self._refs("needs", row)

    def intend(
        self, row: Row, item: Item, start: Start | None = None, names: Iterable[Ref] = ()
    ) -> None:
        """Note that a row is about to become an item, or to give it up, where its object is stored
        first, and the names and keys that the object has or gets. If the process is killed, and the
        row is changed or deleted before it is looked at again, the item is known to be there, and
        rows that wait for the names are looked at when the object no longer has them."""
        values = (row.table, row.text, *item, _INTENDED)
        with self._journal.spool.transaction():
            self._db.execute("INSERT OR IGNORE INTO links VALUES (?, ?, ?, ?, ?, ?)", values)
            self._db.executemany(
                "INSERT OR IGNORE INTO names VALUES (?, ?, ?, ?)",
                [(row.table, row.text, *name) for name in names],
            )
            if start is not None:
                began = (item.kind, item.a, *start)
                self._db.execute("INSERT OR REPLACE INTO starts VALUES (?, ?, ?, ?)", began)

    def start(self, item: Item) -> Start | None:
        """Where the object of an item may have been stored since its row was settled last."""
        found = self._db.execute(
            "SELECT shard, parent FROM starts WHERE kind = ? AND key = ?", item.ref
        ).fetchone()
        return Start(*found) if found is not None and not item.b else None

    def names(self, row: Row) -> set[Ref]:
        """The names and keys that the row's objects may have had since the row was settled last."""
        return self._refs("names", row)

    def holder(self, item: Item) -> Row | None:
        """The row that has become the item."""
        found = self._db.execute(
            "SELECT source_table, row FROM links WHERE kind = ? AND a = ? AND b = ?", item
        ).fetchone()
        return _row(*found) if found else None

    def reasons(self, row: Row) -> list[str]:
        """Why the row was left out, or a part of it."""
        found = self._db.execute(
            "SELECT reason FROM reasons WHERE source_table = ? AND row = ?", (row.table, row.text)
        )
        return [reason for (reason,) in found]

    def settle(self, note: int, row: Row, settled: Settled) -> None:
        """Store the result of a row, end its note, and note the rows that depend on it."""
        at = (row.table, row.text)
        with self._journal.spool.transaction():
            self._db.execute(
                "DELETE FROM starts WHERE (kind, key) IN "
                "(SELECT kind, a FROM links WHERE source_table = ? AND row = ?)",
                at,
            )
            for table in ("links", "needs", "names", "reasons"):
                self._db.execute(f"DELETE FROM {table} WHERE source_table = ? AND row = ?", at)
            self._db.executemany(
                "INSERT INTO links VALUES (?, ?, ?, ?, ?, ?)",
                [(*at, *item, id) for item, id in settled.items.items()],
            )
            self._db.executemany(
                "INSERT OR IGNORE INTO needs VALUES (?, ?, ?, ?)",
                [(*at, *ref) for ref in settled.uses],
            )
            self._db.executemany(
                "INSERT OR IGNORE INTO reasons VALUES (?, ?, ?)",
                [(*at, reason) for reason in settled.reasons],
            )
            for ref in settled.changed:
                found = self._db.execute(
                    "SELECT source_table, row FROM needs WHERE kind = ? AND key = ?", ref
                ).fetchall()
                self.look_at(it for it in (_row(*one) for one in found) if it != row)
            self._db.execute("DELETE FROM todo WHERE n = ?", (note,))

    def _refs(self, table: str, row: Row) -> set[Ref]:
        found = self._db.execute(
            f"SELECT kind, key FROM {table} WHERE source_table = ? AND row = ?",
            (row.table, row.text),
        )
        return {Ref(*ref) for ref in found}

    def rows(self) -> Iterable[tuple[Row, Item]]:
        """All rows with what they have become."""
        found = self._db.execute("SELECT source_table, row, kind, a, b FROM links")
        for table, text, *item in found:
            yield _row(table, text), Item(*item)


def _row(table: str, text: str) -> Row:
    return Row(table, tuple(json.loads(text)))
