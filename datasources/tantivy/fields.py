"""The fields of the index, and how a text becomes the words that it has.

The words of a title are kept twice: as they are written, without case and accents, and as English
stems. Scripts that put no spaces between words are indexed character by character.
"""

import re
import unicodedata
from collections.abc import Sequence
from secrets import token_hex
from typing import Any

import tantivy

from datasources.ids import kind_of
from datasources.protocols import UNSPACED, Document

VERSION = 1
"""The version of fields and words. An index of another version is built again."""
LONGEST_WORD = 40  # bytes; longer words are not indexed
_UNSPACED = re.compile(f"([{UNSPACED}])")
_MARK = token_hex(16)  # a word that no text has
_BETWEEN = f" {_MARK} "


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for name in ("id", "group"):
        builder.add_unsigned_field(name, indexed=True, fast=True)
    for name in ("kind", "board"):
        builder.add_unsigned_field(name, indexed=True)
    builder.add_float_field("weight", fast=True)
    builder.add_text_field("title", tokenizer_name="plain", index_option="freq")
    builder.add_text_field("stems", tokenizer_name="stems", index_option="freq")
    builder.add_text_field("body", tokenizer_name="stems", index_option="freq")
    return builder.build()


def _analyzer(*filters: tantivy.Filter) -> tantivy.TextAnalyzer:
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    shared = (
        tantivy.Filter.remove_long(LONGEST_WORD),
        tantivy.Filter.lowercase(),
        tantivy.Filter.ascii_fold(),
    )
    for filter in (*shared, *filters):
        builder = builder.filter(filter)
    return builder.build()


SCHEMA = _schema()
PLAIN, STEMS = _analyzer(), _analyzer(tantivy.Filter.stemmer("english"))


def open_index(folder: str) -> tantivy.Index:
    """The index in a folder; a new index in an empty folder."""
    index = tantivy.Index(SCHEMA, folder)
    index.register_tokenizer("plain", PLAIN)
    index.register_tokenizer("stems", STEMS)
    return index


def normal(text: str) -> str:
    """The text in the form in which it is split into words, without halves of surrogate pairs,
    which have no UTF-8."""
    whole = text.encode("utf-8", "ignore").decode()
    return _UNSPACED.sub(r" \1 ", unicodedata.normalize("NFKC", whole))


def words(text: str) -> list[str]:
    """The words as they are written, without case and accents."""
    return [str(word) for word in PLAIN.analyze(normal(text))]


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


def stored(document: Document) -> tantivy.Document:
    """A document for the index."""
    title = normal(document.title)
    values: dict[str, Any] = {
        "id": document.id,
        "group": document.group or document.id,
        "kind": int(kind_of(document.id)),
        "board": document.board_id,
        "weight": document.weight,
        "title": title,
        "stems": title,
        "body": normal(document.body),
    }
    return tantivy.Document.from_dict(values, SCHEMA)
