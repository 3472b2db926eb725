"""The first pass: a file's valid lines in a temporary SQLite file, where any number of lines can be
sorted, looked up by key and counted."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from datasources.mappings import Mapping
from gateway.operate.imports.jsonl import (
    BlockLine,
    BoardLine,
    ChoiceLine,
    CollaboratorLine,
    CommentLine,
    FollowLine,
    HideLine,
    InterestLine,
    LikeLine,
    MuteLine,
    PinLine,
    PreferenceLine,
    SectionLine,
    UserLine,
    created_ms,
    sequence_of,
    target_of,
)
from gateway.operate.imports.lines import Entry
from gateway.operate.imports.scratch import Database, open_kept, open_scratch

# n is the order in the file, `line` the line's number. `name` must be unique in addition to the
# key. `choices` are blocks, mutes and preferences: `what` is the line's type, `mapping` the list
# of the viewer that the choice is in.
_SCHEMA = """
CREATE TABLE users (n INTEGER PRIMARY KEY, line INT, key TEXT, name TEXT, adopt INT, data BLOB,
                    id INT);
CREATE TABLE interests (n INTEGER PRIMARY KEY, line INT, key TEXT, name TEXT, data BLOB, id INT);
CREATE TABLE boards (n INTEGER PRIMARY KEY, line INT, key TEXT, owner TEXT, cover TEXT, data BLOB,
                     id INT);
CREATE TABLE sections (n INTEGER PRIMARY KEY, line INT, key TEXT, board TEXT, sequence TEXT,
                       data BLOB, id INT);
CREATE TABLE collaborators (n INTEGER PRIMARY KEY, line INT, board TEXT, user TEXT, invited INT,
                            created INT);
CREATE TABLE pins (n INTEGER PRIMARY KEY, line INT, key TEXT, board TEXT, owner TEXT, sequence TEXT,
                   source TEXT, wave INT, data BLOB, id INT);
CREATE TABLE pin_interests (pin INT, interest TEXT);
CREATE TABLE pin_sections (n INTEGER PRIMARY KEY, line INT, pin INT, section TEXT, sequence TEXT);
CREATE TABLE comments (n INTEGER PRIMARY KEY, line INT, key TEXT, pin TEXT, author TEXT, data BLOB,
                       id INT);
CREATE TABLE likes (n INTEGER PRIMARY KEY, line INT, user TEXT, pin TEXT, created INT);
CREATE TABLE follows (n INTEGER PRIMARY KEY, line INT, follower TEXT, kind TEXT, target TEXT,
                      created INT);
CREATE TABLE affected (user_id INTEGER PRIMARY KEY);
"""
# A kept spool of an earlier version has no such table.
_CHOICES = """
CREATE TABLE IF NOT EXISTS choices (n INTEGER PRIMARY KEY, line INT, viewer TEXT, what TEXT,
                                    mapping TEXT, kind TEXT, target TEXT, created INT)
"""
_INSERTS = {
    "users": "INSERT INTO users (line, key, name, adopt, data) VALUES (?, ?, ?, ?, ?)",
    "interests": "INSERT INTO interests (line, key, name, data) VALUES (?, ?, ?, ?)",
    "boards": "INSERT INTO boards (line, key, owner, cover, data) VALUES (?, ?, ?, ?, ?)",
    "sections": "INSERT INTO sections (line, key, board, sequence, data) VALUES (?, ?, ?, ?, ?)",
    "collaborators": "INSERT INTO collaborators (line, board, user, invited, created) "
    "VALUES (?, ?, ?, ?, ?)",
    "pins": "INSERT INTO pins (n, line, key, board, owner, sequence, source, data) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    "pin_interests": "INSERT INTO pin_interests (pin, interest) VALUES (?, ?)",
    "pin_sections": "INSERT INTO pin_sections (line, pin, section, sequence) VALUES (?, ?, ?, ?)",
    "comments": "INSERT INTO comments (line, key, pin, author, data) VALUES (?, ?, ?, ?, ?)",
    "likes": "INSERT INTO likes (line, user, pin, created) VALUES (?, ?, ?, ?)",
    "follows": "INSERT INTO follows (line, follower, kind, target, created) VALUES (?, ?, ?, ?, ?)",
    "choices": "INSERT INTO choices (line, viewer, what, mapping, kind, target, created) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)",
}
_BATCH = 5000  # rows


class Spool:
    """The lines by type, and the ids that the second pass finds for them."""

    def __init__(self, directory: str | Path | None = None) -> None:
        self._use(open_scratch("pinway-import-", _SCHEMA, directory))

    @classmethod
    def kept(cls, path: Path, more: str) -> "Spool":
        """The spool in a file, in which a later process goes on. `more`: the schema of the caller's
        own tables in it."""
        spool = cls.__new__(cls)
        spool._use(open_kept(path, f"{_SCHEMA};{more}"))
        return spool

    def _use(self, db: Database) -> None:
        self.db = db
        self.db.execute("PRAGMA cache_size = -65536")
        self.db.execute(_CHOICES)
        self._waiting: dict[str, list[tuple[Any, ...]]] = {table: [] for table in _INSERTS}
        self._pins: int = db.execute("SELECT coalesce(max(n), 0) FROM pins").fetchone()[0]

    def close(self) -> None:
        self.db.close()

    def add(self, entry: Entry) -> None:
        """Store a line. Queries find it after `flush`."""
        line, parsed, data = entry.line, entry.parsed, entry.data
        match parsed:
            case PinLine():
                self._pins += 1
                sequence = parsed.sequence or _default_place(parsed)
                named = (parsed.key, parsed.board, parsed.owner)
                self._put("pins", (self._pins, line, *named, sequence, parsed.source, data))
                for interest in dict.fromkeys(parsed.interests):
                    self._put("pin_interests", (self._pins, interest))
                if parsed.section is not None:
                    place = parsed.section_sequence or _default_place(parsed)
                    self._put("pin_sections", (line, self._pins, parsed.section, place))
            case SectionLine():
                place = parsed.sequence or _default_place(parsed)
                self._put("sections", (line, parsed.key, parsed.board, place, data))
            case CollaboratorLine():
                row = (line, parsed.board, parsed.user, int(parsed.invited), created_ms(parsed))
                self._put("collaborators", row)
            case LikeLine():
                self._put("likes", (line, parsed.user, parsed.pin, created_ms(parsed)))
            case FollowLine():
                about = (*target_of(parsed), created_ms(parsed))
                self._put("follows", (line, parsed.follower, *about))
            case BlockLine() | MuteLine() | HideLine() | PreferenceLine():
                what = parsed.__struct_config__.tag
                about = (*target_of(parsed), created_ms(parsed))
                self._put("choices", (line, parsed.viewer, what, _list_of(parsed).value, *about))
            case CommentLine():
                self._put("comments", (line, parsed.key, parsed.pin, parsed.author, data))
            case BoardLine():
                self._put("boards", (line, parsed.key, parsed.owner, parsed.cover, data))
            case UserLine():
                name = parsed.username.lower()
                self._put("users", (line, parsed.key, name, int(entry.adopt), data))
            case InterestLine():
                self._put("interests", (line, parsed.key, parsed.slug, data))

    def flush(self) -> None:
        for table in self._waiting:
            self._write(table)

    def count(self, table: str) -> int:
        found: int = self.db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        return found

    def rows(self, sql: str, args: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows, one by one. A query whose rows are updated in the meantime must sort them."""
        return self.db.execute(sql, args)

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        with self.transaction():
            self.db.executemany(sql, rows)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all that the block writes, or nothing. A block inside another is a part of it."""
        if self.db.in_transaction:
            yield
            return
        self.db.execute("BEGIN")
        try:
            yield
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")

    def _put(self, table: str, row: tuple[Any, ...]) -> None:
        waiting = self._waiting[table]
        waiting.append(row)
        if len(waiting) >= _BATCH:
            self._write(table)

    def _write(self, table: str) -> None:
        waiting = self._waiting[table]
        if waiting:
            self.many(_INSERTS[table], waiting)
            waiting.clear()


def _list_of(line: ChoiceLine) -> Mapping:
    """The list of the viewer that the choice is in."""
    match line:
        case BlockLine():
            return Mapping.USER_BLOCKS_USERS
        case MuteLine():
            return Mapping.USER_MUTES_USERS
        case HideLine():
            return Mapping.USER_HIDES_PINS
    return Mapping.USER_SEES_LESS if line.see == "less" else Mapping.USER_SEES_MORE


def _default_place(line: PinLine | SectionLine) -> str:
    return str(sequence_of(line.key, created_ms(line)))
