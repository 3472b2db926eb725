"""The full-text index of public pins, boards and users."""

import re
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from enum import Enum
from typing import NamedTuple, Protocol

import msgspec

from datasources.ids import Kind


class Document(msgspec.Struct, frozen=True, gc=False):
    """An object's searchable text. `group`: all documents of a group are the same picture.
    `board_id`: the board of a pin; a board's own id. `weight`, above 0: the factor of quality and
    freshness by which a score is multiplied."""

    id: int
    title: str
    body: str = ""
    group: int = 0
    board_id: int = 0
    weight: float = 1.0


class Hit(NamedTuple):
    """A document that matches, as the index knows it: the object may have changed since."""

    id: int
    group: int
    score: float


class SearchRequest(NamedTuple):
    """A search for documents with all words of a text, in the title or in the body. The text is
    words only: nothing in it is an operator. `prefix`: the last word may be the beginning of a
    word. Without `kinds`, all kinds are searched."""

    text: str
    limit: int
    kinds: tuple[Kind, ...] = ()
    prefix: bool = False


class IndexState(Enum):
    """OK; ABSENT: it was never built; OLD: it was built by another version or for other settings;
    DAMAGED: it can't be read."""

    OK = "ok"
    ABSENT = "absent"
    OLD = "old"
    DAMAGED = "damaged"


class IndexStatus(NamedTuple):
    """`built`: when the building of the index began, in epoch ms. `read_to`: the index has every
    change that was noted before this epoch ms. `bytes`: its size on the disk."""

    state: IndexState
    fault: str = ""
    documents: int = 0
    built: int = 0
    read_to: int = 0
    bytes: int = 0


class IndexTimes(NamedTuple):
    """Two epoch ms of an index: when its building began, and up to when it has every change that
    was noted."""

    built: int
    read_to: int


class NewIndex(Protocol):
    """An index that is being built beside the index in use. `index` adds documents that it does not
    have yet."""

    async def index(self, documents: Sequence[Document]) -> None: ...


UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
"""The characters, as ranges of a regular expression, of scripts without spaces between words: each
is a word of its own, in all backends and in highlights."""

HANGUL = "\uac00-\ud7a3"
"""Korean syllables, as a range of a regular expression: a run of them is a word of its own, in all
backends and in highlights. `BTS의` and `2024년` are two words each."""

ACCENTS = (
    "\u0300-\u036f\u0483-\u0487\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"  # Hebrew points
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
    "\u0711\u0730-\u074a"  # Syriac points
    "\u093c\u094d\u0951-\u0954\u09bc\u09cd\u0a3c\u0a4d\u0abc\u0acd\u0b3c\u0b4d\u0bcd\u0c3c\u0c4d"
    "\u0cbc\u0ccd\u0d3b\u0d3c\u0d4d\u0dca\u0f39\u0f84"  # nuktas and viramas
    "\u00ad"  # the soft hyphen
)
"""The combining accents, vowel points, and other characters without which a word is the same, as
ranges of a regular expression. Each belongs to the letter before it, in all backends and in
highlights."""

SIGNS = "\u0900-\u0963\u0966-\u0df3\u0f40-\u0fbc"
"""The letters and vowel signs of the scripts of India and of Tibetan, as ranges of a regular
expression, whose `\\w` has no vowel signs."""


MOST_WORDS = 16
"""The words of a text that are searched for; all further words are ignored."""


def typing_errors(word: str) -> int:
    """The inserted, missing, wrong or swapped letters with which a word of a search is found in a
    title: the rule of all backends, and of highlights."""
    if word.isdecimal() or len(word) < 4:
        return 0
    return 1 if len(word) < 8 else 2


_KOREAN = re.compile(f"[{HANGUL}]+")


def has_endings(word: str) -> bool:
    """Whether a word of a search is also found with more letters at its end: Korean puts particles
    there, without a space. The rule of all backends, and of highlights."""
    return _KOREAN.fullmatch(word) is not None


class SearchStore(Protocol):
    """The index of these shards. Many processes read it. One process at a time writes it
    (`alone`): its writes are visible to all readers within a second.

    Reads raise StoreUnavailable without an index of this version, and StoreCorrupt for a damaged
    index.
    """

    async def search(self, request: SearchRequest) -> list[Hit]:
        """The best hits, best first. While the index is not written, the hits of a lower limit are
        the first hits of a higher one."""

    async def group_sizes(
        self, groups: Sequence[int], *, but: Sequence[int] = ()
    ) -> dict[int, int]:
        """The number of documents in each group, without the documents with the ids `but`."""

    def roots(self, words: Sequence[str]) -> list[frozenset[str]]:
        """For each word, the forms that the index has for it, with the word itself in lower case
        and without accents. Two words match exactly or by their stems if they share a form."""

    async def times(self) -> IndexTimes | None:
        """The times of the index; None if it must be built, because there is none that this version
        can use."""

    async def status(self) -> IndexStatus:
        """The state of the index, after a look at all its files."""

    def alone(self) -> AbstractAsyncContextManager[None]:
        """The right to write until the end of the block. Raises StoreConflict if another process
        has it."""

    async def write(
        self,
        documents: Sequence[Document],
        *,
        delete: Sequence[int] = (),
        delete_boards: Sequence[int] = (),
        since: int,
        read_to: int,
    ) -> None:
        """Replace documents, and delete the documents with these ids and the documents on these
        boards, durably and in one step; a document that is given and deleted is kept. The index
        had every change noted before `since`, and now has every change before `read_to`. Raises
        StoreConflict if it had changes up to another time, because it was replaced. The writer must
        be alone."""

    def rebuild(self, built: int) -> AbstractAsyncContextManager[NewIndex]:
        """A new index, which all readers use from the end of the block on. After an error, or if
        the process dies, the index in use stays. Raises StoreConflict if another process builds
        one. It needs no `alone`."""

    async def close(self) -> None: ...
