"""How a text becomes the words that an index has, with the library's analyzers.

The words are in two forms: as they are written, without case and accents, and as English stems.
Scripts that put no spaces between words are split into their characters, and Korean syllables from
other letters. All search stores have these words, so all find the same.
"""

import re
import unicodedata
from collections.abc import Sequence
from secrets import token_hex

import tantivy

from datasources.protocols import ACCENTS, HANGUL, UNSPACED

LONGEST_WORD = 120
"""The bytes of the longest words that are indexed: 40 letters in nearly all scripts."""
_APART = re.compile(f"([{UNSPACED}]|[{HANGUL}]+)")
_ACCENTS = re.compile(f"[{ACCENTS}]+")
_MARK = token_hex(16)  # a word that no text has
_BETWEEN = f" {_MARK} "


def _analyzer(*filters: tantivy.Filter) -> tantivy.TextAnalyzer:
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    shared = (
        tantivy.Filter.remove_long(LONGEST_WORD + 1),
        tantivy.Filter.lowercase(),
        tantivy.Filter.ascii_fold(),
    )
    for filter in (*shared, *filters):
        builder = builder.filter(filter)
    return builder.build()


PLAIN, STEMS = _analyzer(), _analyzer(tantivy.Filter.stemmer("english"))


def normal(text: str) -> str:
    """The text in the form in which it is split into words: without accents, at which the analyzers
    would split a word, with one small sigma, and without halves of surrogate pairs, which have no
    UTF-8."""
    whole = text.encode("utf-8", "ignore").decode()
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", whole)).replace("ς", "σ")
    return _APART.sub(r" \1 ", unicodedata.normalize("NFKC", bare))


def words(text: str) -> list[str]:
    """The words as they are written, without case and accents."""
    return [str(word) for word in PLAIN.analyze(normal(text))]


def stems(text: str) -> list[str]:
    """The stems of the words."""
    return [str(word) for word in STEMS.analyze(normal(text))]


def stem(word: str) -> str:
    """The stem of one word; the word itself if it has none."""
    found = STEMS.analyze(word)
    return str(found[0]) if found else word


def roots_of(texts: Sequence[str]) -> list[frozenset[str]]:
    """The words of each text as they are written, and their stems, in the form that the index has.
    The engine splits all texts in one call, because each call takes as long as many words."""
    whole = normal(_BETWEEN.join(texts))
    found, forms = list[frozenset[str]](), set[str]()
    for word, root in zip(PLAIN.analyze(whole), STEMS.analyze(whole), strict=True):
        if word == _MARK:
            found.append(frozenset(forms))
            forms.clear()
        else:
            forms.add(word)
            forms.add(root)
    return [*found, frozenset(forms)] if texts else []
