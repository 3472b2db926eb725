"""The peer of the embedded index: SQLite's FTS5, as a program would use it for the same requests.

Words are stemmed by `porter` over `unicode61`, with an index of prefixes. Typing errors need a
second table with the tokenizer `trigram`, which finds the words that share most of their trigrams.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
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
BATCH = 1_000  # pins that are added in one transaction
_SIMILAR = "SELECT word FROM words WHERE word MATCH ? ORDER BY rank LIMIT 8"


class Fts5:
    """One connection to the index in a file."""

    def __init__(self, path: Path) -> None:
        new = not path.exists()
        self._path = path
        self._db = sqlite3.connect(path, check_same_thread=False, timeout=60)
        if new:
            self._db.executescript(_SCHEMA)

    async def build(self, documents: Sequence[Document]) -> None:
        for start in range(0, len(documents), BATCH):
            self._index(documents[start : start + BATCH])
        with self._db:
            self._db.execute("INSERT INTO words SELECT term FROM vocabulary")

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[Callable[[Sequence[Document]], Awaitable[None]]]:
        async def add(documents: Sequence[Document]) -> None:
            self._index(documents)

        yield add

    async def search(self, text: str, limit: int, *, prefix: bool, typing_errors: bool) -> int:
        return await asyncio.to_thread(self._hits, text, limit, prefix, typing_errors)

    async def size(self) -> int:
        return sum(it.stat().st_size for it in self._path.parent.glob(f"{self._path.name}*"))

    async def close(self) -> None:
        self._db.close()

    def _hits(self, text: str, limit: int, prefix: bool, typing_errors: bool) -> int:
        words = [f'"{word}"' for word in text.split()]
        if typing_errors:
            words = [self._similar(word) for word in text.split()]
        query = " AND ".join(words) + ("*" if prefix else "")
        return len(list(self._db.execute(_SEARCH, (query, limit))))

    def _index(self, documents: Sequence[Document]) -> None:
        with self._db:
            self._db.executemany(
                "INSERT INTO texts (rowid, title, body) VALUES (?, ?, ?)",
                [(it.id, it.title, it.body) for it in documents],
            )
            self._db.executemany(
                "INSERT INTO pins VALUES (?, ?)", [(it.id, it.weight) for it in documents]
            )

    def _similar(self, word: str) -> str:
        trigrams = " OR ".join(f'"{word[n : n + 3]}"' for n in range(max(0, len(word) - 2)))
        found = [found for (found,) in self._db.execute(_SIMILAR, (trigrams,))] if trigrams else []
        return "(" + " OR ".join(f'"{each}"' for each in dict.fromkeys([word, *found])) + ")"
