"""Marks the words of a text that match a search.

The marks are made from the text of the object that is answered, not from the index, whose text may
be older.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from datasources.protocols import UNSPACED, typing_errors

LONGEST = 160
"""Characters of a shortened text, about."""
BEFORE = 40  # characters before the first match in a shortened text
READ = 2_000  # characters of a text that are searched for matches
MOST_PARTS = 22
"""The pieces of a text: all further words that match are not marked."""
_WORD = re.compile(f"[{UNSPACED}]|(?:(?![{UNSPACED}])[^\\W_])+")

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
        self._words = [forms for forms in roots(_WORD.findall(text)) if forms]
        self._exact = frozenset(form for forms in self._words for form in forms)
        self._last = self._words[-1] if prefix and self._words else frozenset[str]()

    def parts(self, text: str, *, forgiving: bool, whole: bool = False) -> list[Part] | None:
        """The text in pieces, shortened unless `whole`; None if no word matches. `forgiving`: words
        with typing errors match, too."""
        spans = [found.span() for found in self._matches(text[:READ], forgiving=forgiving)]
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

    def _matches(self, text: str, *, forgiving: bool) -> Iterator[re.Match[str]]:
        found = list(_WORD.finditer(text))
        for match, forms in zip(found, self._roots([it[0] for it in found]), strict=True):
            if (
                forms & self._exact
                or any(form.startswith(start) for form in forms for start in self._last)
                or (forgiving and self._is_near(forms))
            ):
                yield match

    def _is_near(self, forms: frozenset[str]) -> bool:
        """Whether a word differs from a word of the search by typing errors only."""
        written = max(forms, key=len, default="")
        for asked in self._words:
            word = max(asked, key=len)
            most = typing_errors(word)
            if most and distance(written, word, most) <= most:
                return True
            if most and asked is self._last:
                starts = range(max(1, len(word) - most), min(len(written), len(word) + most) + 1)
                if any(distance(written[:length], word, most) <= most for length in starts):
                    return True
        return False


def distance(one: str, other: str, most: int) -> int:
    """The number of inserted, missing, wrong or swapped letters between two words; `most` + 1 if
    there are more. (The optimal string alignment distance.)"""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before, last = list[int](), list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        line = [row]
        for column, wanted in enumerate(other, 1):
            cost = min(
                last[column] + 1, line[column - 1] + 1, last[column - 1] + (letter != wanted)
            )
            swapped = row > 1 and column > 1 and letter == other[column - 2]
            if swapped and one[row - 2] == wanted:
                cost = min(cost, before[column - 2] + 1)
            line.append(cost)
        if min(line) > most:
            return most + 1
        before, last = last, line
    return last[-1]


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
