"""The peer of the embedded index: SQLite's FTS5, as a program would use it for the same requests.

Words are stemmed by `porter` over `unicode61`, with an index of prefixes. Typing errors need a
second table with the tokenizer `trigram`, which finds the words that share most of their trigrams.
"""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from datasources.protocols import Document

_SCHEMA = """
PRAGMA journal_mode = WAL;
CREATE TABLE pins (id INTEGER PRIMARY KEY, weight REAL);
CREATE VIRTUAL TABLE texts USING fts5(
    title, body, content='', prefix='2 3',
    tokenize='porter unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(texts, row);
CREATE VIRTUAL TABLE words USING fts5(word, tokenize='trigram');
"""
_SEARCH = """SELECT texts.rowid FROM texts JOIN pins ON pins.id = texts.rowid
WHERE texts MATCH ? ORDER BY bm25(texts, 3.0, 1.0) * pins.weight LIMIT ?"""
_SIMILAR = "SELECT word FROM words WHERE word MATCH ? ORDER BY rank LIMIT 8"


class Fts5:
    """One connection to the index in a file."""

    def __init__(self, path: Path) -> None:
        new = not path.exists()
        self._db = sqlite3.connect(path, check_same_thread=False, timeout=60)
        if new:
            self._db.executescript(_SCHEMA)

    def index(self, documents: Sequence[Document]) -> None:
        with self._db:
            self._db.executemany(
                "INSERT INTO texts (rowid, title, body) VALUES (?, ?, ?)",
                [(it.id, it.title, it.body) for it in documents],
            )
            self._db.executemany(
                "INSERT INTO pins VALUES (?, ?)", [(it.id, it.weight) for it in documents]
            )

    def finish(self) -> None:
        """Fill the table of words."""
        with self._db:
            self._db.execute("INSERT INTO words SELECT term FROM vocabulary")

    def search(self, text: str, limit: int, *, prefix: bool, typing_errors: bool) -> list[int]:
        words = [f'"{word}"' for word in text.split()]
        if typing_errors:
            words = [self._similar(word) for word in text.split()]
        query = " AND ".join(words) + ("*" if prefix else "")
        return [id for (id,) in self._db.execute(_SEARCH, (query, limit))]

    def _similar(self, word: str) -> str:
        trigrams = " OR ".join(f'"{word[n : n + 3]}"' for n in range(max(0, len(word) - 2)))
        found = [found for (found,) in self._db.execute(_SIMILAR, (trigrams,))] if trigrams else []
        return "(" + " OR ".join(f'"{each}"' for each in dict.fromkeys([word, *found])) + ")"

    def close(self) -> None:
        self._db.close()
