"""Marks the words of a text that match a search.

The marks are made from the text of the object that is answered, not from the index, whose text may
be older.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rapidfuzz.distance import OSA
from rapidfuzz.process import extractOne

from datasources.protocols import (
    ACCENTS,
    HANGUL,
    MOST_WORDS,
    SIGNS,
    UNSPACED,
    has_endings,
    typing_errors,
)

LONGEST = 160
"""Characters of a shortened text, about."""
BEFORE = 40  # characters before the first match in a shortened text
READ = 1_000  # characters of a text that are searched for matches
MOST_PARTS = 22
"""The pieces of a text: all further words that match are not marked."""
_LETTER = f"(?![{UNSPACED}{HANGUL}])(?:[^\\W_]|[{SIGNS}])"
_WORD = re.compile(f"[{UNSPACED}]|[{HANGUL}]+|(?:{_LETTER}[{ACCENTS}]*)+")

Roots = Callable[[Sequence[str]], list[frozenset[str]]]


class Part(NamedTuple):
    """A piece of a text. `matched`: a word that the search found."""

    text: str
    matched: bool


class Asked:
    """The words of a search. `roots` are the forms of words that the index has. `prefix`: the last
    word may be unfinished."""

    def __init__(self, text: str, roots: Roots, *, prefix: bool = False) -> None:
        self._roots = roots
        words = [forms for forms in roots(_WORD.findall(text)) if forms][:MOST_WORDS]
        self._exact = frozenset(form for forms in words for form in forms)
        last = len(words) - 1
        self._starts = [
            forms
            for place, forms in enumerate(words)
            if (prefix and place == last) or has_endings(_written(forms))
        ]
        """The words that are found at the beginnings of longer words."""
        written = dict.fromkeys(_written(forms) for forms in words)
        self._nearly = [
            (most, [word for word in written if typing_errors(word) == most]) for most in (1, 2)
        ]
        """The words as they are written, by the typing errors with which they are found."""

    def parts(self, text: str, *, forgiving: bool, whole: bool = False) -> list[Part] | None:
        """The text in pieces, shortened unless `whole`; None if no word matches. `forgiving`: words
        with typing errors match, too."""
        spans = self._matches(text[:READ], forgiving=forgiving)
        if not spans:
            return None
        start, end = (0, len(text)) if whole else _window(text, spans[0][0])
        parts, at = [Part("…", False)] if start else [], start
        for first, last in spans[: MOST_PARTS // 2 - 1]:
            if last > end:
                break
            parts += [Part(text[at:first], False), Part(text[first:last], True)]
            at = last
        parts.append(Part(text[at:end] + ("…" if end < len(text) else ""), False))
        return [part for part in parts if part.text]

    def _matches(self, text: str, *, forgiving: bool) -> list[tuple[int, int]]:
        found = list(_WORD.finditer(text))
        exact = self._exact
        starts = tuple(form for forms in self._starts for form in forms)
        return [
            match.span()
            for match, forms in zip(found, self._roots([it[0] for it in found]), strict=True)
            if not exact.isdisjoint(forms)
            or (starts and any(form.startswith(starts) for form in forms))
            or (forgiving and self._is_near(forms))
        ]

    def _is_near(self, forms: frozenset[str]) -> bool:
        """Whether a word differs from a word of the search by typing errors only."""
        written = _written(forms)
        for most, words in self._nearly:
            if extractOne(written, words, scorer=OSA.distance, score_cutoff=most) is not None:
                return True
        return any(_begins_nearly(written, _written(start)) for start in self._starts)


def _written(forms: frozenset[str]) -> str:
    """A word as it is written; its stem is not longer."""
    return max(forms, key=len, default="")


def _begins_nearly(written: str, word: str) -> bool:
    """Whether a word begins with a word of the search and its typing errors."""
    most = typing_errors(word)
    lengths = range(max(1, len(word) - most), min(len(written), len(word) + most) + 1)
    return most > 0 and any(
        OSA.distance(written[:length], word, score_cutoff=most) <= most for length in lengths
    )


def _window(text: str, match: int) -> tuple[int, int]:
    """The part of a text that is shown, around its first match. It begins and ends between words,
    where there are spaces."""
    if len(text) <= LONGEST:
        return 0, len(text)
    start = 0
    if match > BEFORE:
        space = text.rfind(" ", match - BEFORE, match)
        start = match - BEFORE // 2 if space < 0 else text.find(" ", match - BEFORE, match) + 1
    end = min(len(text), start + LONGEST)
    if end < len(text):
        space = text.rfind(" ", match + 1, end)
        end = space if space > start + LONGEST // 2 else end
    return start, end
