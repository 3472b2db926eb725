"""The journal of a copy: a file with all rows read so far, how far each table was read, the new ids
so far, and every report. The next run of a killed copy continues from the journal."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from datasources.errors import ConfigError, StoreUnavailable
from gateway.operate.imports.lines import Entry
from gateway.operate.imports.report import Complaints, ImportReport
from gateway.operate.imports.spool import Spool
from gateway.operate.migration.conversion import Converted
from gateway.operate.migration.mapping import Mapping
from gateway.operate.migration.stored_keys import StoredKeys

JOURNAL = "journal.sqlite"
"""The journal's file in its folder."""
_KEYS, _NAMED, _PLAIN = "keys", "name and old id", "old id"
"""The journal's fact with the form of the objects' keys (`stored_keys`), and its values. A journal
that an earlier version began has none: the keys are old ids alone."""
_SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE origins (line INTEGER PRIMARY KEY, source_table TEXT, source_key TEXT);
CREATE TABLE cursors (place INTEGER PRIMARY KEY, after TEXT, rows INT);
CREATE TABLE faults (line INT, message TEXT, kept INT, PRIMARY KEY (line, message));
"""


def row_text(key: Sequence[str]) -> str:
    """A primary key as the journal stores it."""
    return json.dumps(list(key))


def shown_row(text: str) -> str:
    """A stored primary key for people."""
    return ", ".join(json.loads(text))


class Journal:
    """The journal of one migration in a folder. One process at a time may have it open."""

    def __init__(self, folder: Path, mapping: Mapping) -> None:
        self.folder, self._name = folder, mapping.name
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise ConfigError(f"can't make {folder}: {error.strerror}") from None
        self.spool = Spool.kept(folder / JOURNAL, _SCHEMA)
        self._line: int = self._one("SELECT coalesce(max(line), 0) FROM origins")
        try:
            self._check_mapping(mapping)
        except BaseException:
            self.spool.close()
            raise

    def close(self) -> None:
        self.spool.close()

    def cursor(self, place: int) -> tuple[list[str] | None, int]:
        """The last primary key that was read of the mapping's n-th table (None: nothing was read),
        and the number of its rows so far."""
        found = self.spool.db.execute(
            "SELECT after, rows FROM cursors WHERE place = ?", (place,)
        ).fetchone()
        return (json.loads(found[0]), found[1]) if found else (None, 0)

    def add_page(
        self, place: int, table: str, keys: Sequence[Sequence[str]], rows: Sequence[Converted]
    ) -> None:
        """Store a page of rows and the cursor after it, all or nothing."""
        _, count = self.cursor(place)
        line = self._line
        origins, faults = [], []
        with self.spool.transaction():
            for key, row in zip(keys, rows, strict=True):
                line += 1
                origins.append((line, table, row_text(key)))
                faults += [(line, change, 1) for change in row.changes]
                if row.parsed is None:
                    faults.append((line, row.fault, 0))
                else:
                    self.spool.add(Entry(line, row.parsed, row.data))
            self.spool.flush()
            self.spool.many("INSERT INTO origins VALUES (?, ?, ?)", origins)
            self.spool.many("INSERT OR IGNORE INTO faults VALUES (?, ?, ?)", faults)
            self.spool.db.execute(
                "INSERT OR REPLACE INTO cursors VALUES (?, ?, ?)",
                (place, json.dumps(keys[-1]), count + len(keys)),
            )
        self._line = line

    def place(self, line: int) -> str:
        """The table and the primary key of a row."""
        found = self.spool.db.execute(
            "SELECT source_table, source_key FROM origins WHERE line = ?", (line,)
        ).fetchone()
        return f"{found[0]} {shown_row(found[1])}"

    def note(self, line: int, message: str, *, kept: bool) -> None:
        """Store a report. A report that is there already stays one."""
        fault = (line, message, int(kept))
        self.spool.db.execute("INSERT OR IGNORE INTO faults VALUES (?, ?, ?)", fault)

    def fact(self, name: str) -> str | None:
        """A stored fact about the migration; None if there is none."""
        found = self.spool.db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return found[0] if found else None

    def set_fact(self, name: str, value: str) -> None:
        self.spool.db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    def forget_fact(self, name: str) -> None:
        self.spool.db.execute("DELETE FROM facts WHERE name = ?", (name,))

    @property
    def keys(self) -> StoredKeys:
        """The keys of the migration's objects."""
        is_named = self.fact(_KEYS) == _NAMED
        return StoredKeys(self._name, self._name if is_named else "")

    def keep_plain_keys(self) -> None:
        """Let old ids alone be the keys, because an earlier copy has stored such objects."""
        self.set_fact(_KEYS, _PLAIN)

    def counts(self) -> dict[str, int]:
        """Rows that were read, rows that were left out, and changes of values."""
        return {
            "rows": self._one("SELECT coalesce(sum(rows), 0) FROM cursors"),
            "left_out": self._one("SELECT count(DISTINCT line) FROM faults WHERE kept = 0"),
            "changes": self._one("SELECT count(*) FROM faults WHERE kept = 1"),
        }

    def write_report(self) -> Path:
        """Write every report to the file `report.jsonl`, in the order of reading."""
        path = self.folder / "report.jsonl"
        new = path.with_suffix(".new")
        try:
            with new.open("wb") as file:
                for fault in self._faults():
                    file.write(msgspec.json.encode(fault) + b"\n")
            new.replace(path)
        except OSError as error:
            raise StoreUnavailable(f"can't write {path}: {error.strerror}") from None
        return path

    def _faults(self) -> Iterator[dict[str, Any]]:
        found = self.spool.rows(
            "SELECT source_table, source_key, message, kept FROM faults JOIN origins USING (line) "
            "ORDER BY line, message"
        )
        for table, key, message, kept in found:
            shown = shown_row(key)
            yield {"table": table, "row": shown, "left_out": not kept, "message": message}

    def _check_mapping(self, mapping: Mapping) -> None:
        """Raises ConfigError if the journal has rows that were read by another mapping."""
        # The way back may be told later.
        tables = [table._replace(place=())[:-1] for table in mapping.tables]
        whole = msgspec.json.encode([mapping.source, tables], order="sorted")
        digest = hashlib.sha256(whole).hexdigest()
        begun = self.fact("copied") is not None or self._one("SELECT count(*) FROM cursors")
        is_same = self.fact("mapping") == digest
        if begun and not is_same:
            raise ConfigError(
                f"{mapping.file} has changed since the copy in {self.folder} began: take the "
                "former mapping to go on, or move the folder away to read all tables again "
                "(objects that were copied already are recognized by their old ids)"
            )
        if begun:
            return
        with self.spool.transaction():  # nothing was read yet: the mapping may be mended
            if not is_same:
                self.spool.db.execute("DELETE FROM facts")
            self.set_fact("mapping", digest)
            self.set_fact(_KEYS, _NAMED)

    def _one(self, sql: str) -> Any:
        return self.spool.db.execute(sql).fetchone()[0]


class JournalComplaints(Complaints):
    """Stores the reports of an import's second pass in the journal."""

    def __init__(self, journal: Journal, report: ImportReport) -> None:
        super().__init__(report, False, None)
        self._journal = journal

    def place(self, line: int) -> str:
        return self._journal.place(line)

    def add(self, line: int, message: str, *, kept: bool = False) -> None:
        self._journal.note(line, message, kept=kept)
